package flow

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"flow/compiler/pass"
	"flow/ir/plan"
	"flow/memory"
)

// A chain of twenty elementwise operators on a matrix takes the memory of one matrix, whether it is
// fused or each operator writes where its operand lay; two and a fifth are what it may take. The
// buffer pool counts, so nothing else on the machine matters.
func TestMemoryOfAChain(t *testing.T) {
	const bytes = 8 * 2048 * 2048
	text, err := os.ReadFile("bench/chain.flow")
	if err != nil {
		t.Fatal(err)
	}
	for _, disable := range [][]string{nil, {"fuse"}, {"fuse", "partition"}} {
		p, err := Compile(t.Context(), "chain.flow", text, CompileOptions{Disable: disable, Set: []Setting{{Name: "n", Text: "2048"}}})
		if err != nil {
			t.Fatal(err)
		}
		report, err := p.Run(t.Context(), RunOptions{Threads: 2})
		if err != nil {
			t.Fatal(err)
		}
		switch peak := report.Ranks[0].BytesPeak; {
		case peak < bytes:
			t.Errorf("without %v: %d bytes at most, which is less than the matrix", disable, peak)
		case 10*peak > 22*bytes:
			t.Errorf("without %v: %d bytes at most, more than 2.2 matrices", disable, peak)
		}
	}
}

// TestMemoryOfSparseInLoops: the memory of a sparse matrix that a loop makes from one outside is
// predicted from the entries of the outer one, here at most 100 000 of 12 bytes, and row pointers.
func TestMemoryOfSparseInLoops(t *testing.T) {
	p := compiled(t, "W = f64(rand_graph(30000, 100000, seed = 1))\n"+
		"iterate r = fill(1.0, 30000, 1) times 20 {\n  next r = t(W) @ r\n}\nemit max(r)\n", 2)
	for rank, peak := range plan.LeastMemory(p.Compiled().Plan).Peak {
		if peak > 4<<20 {
			t.Errorf("rank %d takes %d bytes", rank, peak)
		}
	}
}

// TestPredictedMemoryIsEnough: dense programs run on one thread in the memory that is predicted, though
// the runtime lends memory in classes of sizes. A program with less is refused before it starts, unless
// the smaller branches fit: then it fails where it takes a larger one.
func TestPredictedMemoryIsEnough(t *testing.T) {
	texts := []string{
		"iterate lo = A, hi = A + 1, k = 0 until k == 3 {\n  m = (lo + hi) / 2\n  next lo = ifelse(m < 0.5, m, lo)\n" +
			"  next hi = ifelse(m < 0.5, hi, m)\n  next k = k + 1\n}\nemit sum(lo)",
		"S = rand_spd(600, seed = 1)\niterate x = ones(600, 1) times 5 { next x = cholesky(S + max(x) * eye(600)) @ x / 600 }\nemit sum(x + colmax(A)[0, 0])",
		"emit sum(sort(A, by = 1) @ A)",
		// two loops that know nothing of each other
		"iterate x = A times 3 { next x = sort(x @ A, by = 1) }\niterate y = rand(900, 900, seed = 2) times 2 { next y = sort(y, by = 0) @ y }\nemit sum(x) + sum(y)",
		// a branch that takes more than the other one
		"x = if sum(A) > 0 { sum(sort(A @ A, by = 1) @ t(A)) } else { 1.0 }\nemit x",
		"x = if sum(A) < 0 { 1.0 } else { sum(sort(A @ A, by = 1) @ t(A)) }\nemit x + max(A)",
		// a branch that shows something waits for what may fail before it
		"L = cholesky(rand_spd(900, seed = 4))\nif sum(A) > 0 { emit sum(sort(A, by = 0)) } else { emit sum(sort(A, by = 1)) }\nemit max(L)",
		"L = cholesky(rand_spd(600, seed = 4))\nif sum(A) > 0 { emit max(A) }\nemit max(L)",
	}
	for seed := range 12 {
		texts = append(texts, drawnForMemory(rand.New(rand.NewPCG(uint64(seed), 12))))
	}
	for _, text := range texts {
		text = "A = rand(600, 600, seed = 1) / 600\n" + text
		m := plan.Summarise(compiled(t, text, 1).Compiled().Plan, nil, 1).Memory
		bytes, refused, branches := m.Most(), 0, m.Smaller < m.Most()
		for _, part := range []int64{100, 99, 90, 75, 60, 45, 30, 15} { // of 100
			limit := memory.Limit{Bytes: bytes * part / 100, By: "this test"}
			p, err := Compile(t.Context(), "a.flow", []byte(text), CompileOptions{Memory: limit})
			if err != nil {
				refused++
				continue
			}
			if refused > 0 {
				t.Errorf("%s\n%v: admitted, and refused with more", text, limit)
			}
			_, err = p.Run(t.Context(), RunOptions{Threads: 1, Memory: limit})
			if _, all := p.Compiled().Plan.Sparing(pass.DepthFirst(p.Compiled().Plan.Graph), 1, limit.Bytes); !branches && !all {
				t.Errorf("%s\n%v: no branch is larger, and only smaller ones fit", text, limit)
			} else if err != nil && (all || !strings.Contains(err.Error(), "E605")) {
				t.Errorf("%s\n%d bytes are predicted, of which %d %% were admitted: %v", text, bytes, part, err)
			}
		}
		limit := memory.Limit{Bytes: m.Smaller + m.Smaller/100, By: "this test"}
		if _, err := Compile(t.Context(), "a.flow", []byte(text), CompileOptions{Memory: limit}); branches && err != nil {
			t.Errorf("%s\n%v: refused, although the smaller branches fit: %v", text, limit, err)
		}
		if refused == 0 && !branches {
			t.Errorf("%s\nadmitted with 15 %% of %d bytes", text, bytes)
		}
	}
}

// drawnForMemory draws a program of matrices of 600 x 600 and 900 x 900, with loops and branches.
func drawnForMemory(r *rand.Rand) string {
	var b strings.Builder
	size := []int{600, 900}
	names := [][]string{{"A"}, {"B"}}
	b.WriteString("B = rand(900, 900, seed = 3) / 900\n")
	pick := func(k int) string { return names[k][r.IntN(len(names[k]))] }
	matrix := func(k int, own string) string {
		x, y := pick(k), pick(k)
		if own != "" {
			x = own
		}
		return []string{x + " @ " + y, "sort(" + x + ", by = 1)", "t(" + x + ") @ " + y, x + " * 0.5 + t(" + y + ")", "cumsum(" + x + ")",
			"sort(" + x + " @ " + y + ", by = 0) @ " + x}[r.IntN(6)]
	}
	for i := range 3 + r.IntN(5) {
		k, name := r.IntN(2), fmt.Sprintf("m%d", i)
		switch r.IntN(5) {
		case 0, 1:
			fmt.Fprintf(&b, "%s = %s\n", name, matrix(k, ""))
		case 2:
			fmt.Fprintf(&b, "iterate %s = %s times %d {\n  w%d = %s\n  next %[1]s = %s / %d\n}\n", name, pick(k), 1+r.IntN(3), i, matrix(k, name), []string{fmt.Sprintf("(w%d @ %s)", i, name), matrix(k, fmt.Sprintf("w%d", i)), fmt.Sprintf("(w%d + t(%s))", i, pick(k))}[r.IntN(3)], size[k])
		case 3:
			fmt.Fprintf(&b, "%s = if sum(%s) > %d { %s } else { %s }\n", name, pick(k), r.IntN(2)*1000000-1, matrix(k, ""), pick(k)+" * 2.0")
		case 4:
			fmt.Fprintf(&b, "emit sum(%s)\n", matrix(k, ""))
			continue
		}
		names[k] = append(names[k], name)
	}
	for k := range names {
		fmt.Fprintf(&b, "emit max(%s) + sum(%s)\n", names[k][len(names[k])-1], pick(k))
	}
	return b.String()
}

// TestPredictedMemoryAdmits: a program that is admitted runs in that memory, whatever else its
// process takes: texts of files, messages, the operands of tasks on other threads. With half of it no
// plan fits, unless files that ranks can read in parts are most of it.
func TestPredictedMemoryAdmits(t *testing.T) {
	dir := t.TempDir()
	var csv, mtx bytes.Buffer
	for i := range 150_000 {
		fmt.Fprintf(&csv, "0.%03d,0.%03d,0.%03d\n", i%997, i%991, i%983)
	}
	fmt.Fprintf(&mtx, "%%%%MatrixMarket matrix coordinate real general\n2000 800 160000\n")
	for i := range 160_000 {
		fmt.Fprintf(&mtx, "%d %d 0.%03d\n", i/80+1, i%80*10+1, i%997)
	}
	for name, text := range map[string][]byte{"a.csv": csv.Bytes(), "s.mtx": mtx.Bytes()} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	if _, err := compiled(t, "emit rand(1000000, 2, seed = 1) < 0.5 to \"b.npy\"", 1).Run(t.Context(), RunOptions{}); err != nil {
		t.Fatal(err)
	}
	defer BoundMemory(memory.Limit{})
	for _, text := range []string{
		"X = read(\"a.csv\")\nemit colsum(X)\nemit sum(X * X[:, 0])",
		"X = read(\"a.csv\")\nY = X - colmean(X)\nemit sum(Y ^ 3 @ ones(3, 1))\nemit Y[3, 1]",
		"S = read(\"s.mtx\", sparse = true)\nemit sum(S @ ones(800, 3)) + nnz(S)",
		"A = rand(500, 500, seed = 1)\nB = rand(500, 500, seed = 2)\nC = A @ B\nD = B @ A\nemit sum(C * D) + sum(sort(C, by = 0)) + max(D)",
		// little is read of a value between two operators that is larger than what is admitted
		"B = read(\"b.npy\")\nemit sum(reverse(B * 1.5)[0..100, :])",
		"B = read(\"b.npy\")\nY = t(B + 0.5)[:, 7..300] ^ 2\nemit Y[0, :] - Y[1, :]",
	} {
		for _, ranks := range []int{1, 2} {
			p := compiled(t, text, ranks)
			limit := memory.Limit{Bytes: plan.LeastMemory(p.Compiled().Plan).On(ranks), By: "this test"}
			for run := range 6 {
				BoundMemory(limit)
				if _, err := p.Run(t.Context(), RunOptions{Threads: 1 + run%2, Memory: limit}); err != nil {
					t.Errorf("%s\n%d ranks, run %d in %v: %v", text, ranks, run, limit, err)
				}
			}
			BoundMemory(memory.Limit{})
			half := memory.Limit{Bytes: limit.Bytes / 2, By: "this test"}
			if p, err := Compile(t.Context(), "a.flow", []byte(text), CompileOptions{Ranks: ranks, Memory: half}); err == nil && strings.Contains(text, "read(") {
				if _, err := p.Run(t.Context(), RunOptions{Threads: 1, Memory: half}); err != nil {
					t.Errorf("%s\n%d ranks, in half of %v: %v", text, ranks, limit, err)
				}
			} else if err == nil {
				t.Errorf("%s\n%d ranks: compiled for half of %v", text, ranks, limit)
			}
		}
	}
}

// TestMemoryOfSortsInLoops: a sort in a loop holds its keys in each round.
func TestMemoryOfSortsInLoops(t *testing.T) {
	p := compiled(t, "iterate x = rand(100000, 1, seed = 1) times 3 { next x = sort(x) * 0.5 }\nemit sum(x)", 1)
	if got := plan.LeastMemory(p.Compiled().Plan).Most(); got < 100000*(17+8) {
		t.Errorf("%d bytes are predicted", got)
	}
}

// TestMemoryPredictedAndMeasured: what `flowrun plan` predicts for rows that the run chooses and for
// sparse matrices, and with what sorts and transforms hold beside values, is within a factor of 1.5 of
// what the run takes, and no more than that is sure before it.
func TestMemoryPredictedAndMeasured(t *testing.T) {
	const grid = `m = 150
n = m * m
at = seq(0, n)
r = at // m
c = at % m
near = rbind([at - m, at + m, at - 1, at + 1, at])
here = rbind([at, at, at, at, at])
v = rbind([fill(-1.0, 4 * n, 1), fill(4.0, n, 1)])
keep = rbind([r > 0, r < m - 1, c > 0, c < m - 1, c >= 0])
S = ctable(here[keep, :], near[keep, :], weights = v[keep, :], n = n, m = n, sparse = true)
`
	const lists = "# lists\n" // the program has lists of keys or numbers on the heap, and values elsewhere
	for _, text := range []string{
		lists + "emit sum(fft(seq(1, 100004)))",
		grid + "iterate x = rand(n, 1, seed = 2) times 3 { next x = S @ x / 8 }\nemit sum(x)",
		grid + "emit nnz(S - t(S))",
		lists + "emit sum(sort(rand(200000, 1, seed = 1)) * 2.0)",
		"x = rand(200000, 1, seed = 1)\ny = x[x > 0.1, :]\nemit sum(cumsum(y) * 2.0)",
		lists + "u = unique(i64(rand(300000, 1, seed = 1) * 1e9))\nemit sum(u)",
		"U = rand_graph(20000, 200000, seed = 5)\nG = f64(U or t(U))\nL = lower(G)\nP = L @ L\nemit sum(P * L) + nnz(P)",
		"G = rand_graph(100000, 400000, seed = 1)\niterate c = seq(1, 100001) times 3 { next c = max(rowmax(G * t(c)), c) }\nemit sum(c)",
	} {
		p := compiled(t, text, 1)
		if strings.HasPrefix(text, lists) { // the first run of a process makes tables that later ones find
			if _, err := p.Run(t.Context(), RunOptions{Threads: 2}); err != nil {
				t.Fatal(err)
			}
		}
		least, most := plan.LeastMemory(p.Compiled().Plan).Most(), plan.Summarise(p.Compiled().Plan, nil, 2).Memory.Most()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		report, err := p.Run(t.Context(), RunOptions{Threads: 2})
		if err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		peak := report.Ranks[0].BytesPeak
		if strings.HasPrefix(text, lists) {
			peak += int64(after.TotalAlloc - before.TotalAlloc)
		}
		if least > peak+peak/4 || 2*most > 3*peak || 2*peak > 3*most {
			t.Errorf("%s\ntakes %d bytes; %d are predicted, and at least %d", text, peak, most, least)
		}
	}
}
