package flow

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"flow/ir/plan"
)

// This file tests what each rank reads of files, and what a plan says of values that ranks do not
// share.

// So is a mistake in a file that one rank reads, or that ranks parse together.
func TestMistakesInWholeFiles(t *testing.T) {
	const n = 100000 // enough for blocks of each rank
	lines := func(head, line string, mistake bool) []byte {
		var b strings.Builder
		b.WriteString(head)
		for i := range n {
			if mistake && i == n-7 {
				b.WriteString("1 2x 3\n")
			}
			b.WriteString(fmt.Sprintf(line, 1+i%3000, 1+i*7%3000) + "\n")
		}
		return []byte(b.String())
	}
	head := fmt.Sprintf("%%%%MatrixMarket matrix coordinate real general\n3000 3000 %d\n", n)
	dense := "X = read(%q)\nemit sum(X * 2)\nemit sum(t(X) @ X)\n"
	for _, x := range []struct{ name, head, line, text string }{
		{"x.csv.gz", "", "%d,%d,4.5", dense},
		{"x.mtx", strings.Replace(strings.Replace(head, "coordinate", "array", 1), "3000 3000 100000", "100000 2", 1), "%d\n%d", dense},
		{"x.mtx.gz", head, "%d %d 1.5", "X = read(%q, sparse = true)\nemit sum(X @ ones(X.cols, 40))\n"},
		{"x.mtx", head, "%d %d 1.5", "X = read(%q, sparse = true)\nemit sum(X @ ones(X.cols, 40))\n"},
		{"x.mtx", strings.Replace(head, "real", "pattern", 1), "%d %d", "X = read_graph(%q)\nemit sum(X @ ones(X.cols, 40))\n"},
		{"x.txt", "# edges\n", "%d %d", "X = read_graph(%q)\nemit sum(X @ ones(X.cols, 40))\n"},
		{"x.txt.gz", "# edges\n", "%d %d", "X = read_graph(%q)\nemit sum(X @ ones(X.cols, 40))\n"},
	} {
		for _, wrong := range []string{"", "line", "cut"} {
			path := filepath.Join(t.TempDir(), x.name)
			text := lines(x.head, x.line, wrong == "line")
			if strings.HasSuffix(x.name, ".gz") {
				text = zipped(t, text)
			}
			if wrong == "cut" {
				text = text[:len(text)-len(text)/7]
			}
			if err := os.WriteFile(path, text, 0o644); err != nil {
				t.Fatal(err)
			}
			program := "emit \"first\"\n" + fmt.Sprintf(x.text, path)
			want, _, told := readTogether(t, 1, program)
			if (told[0] != nil) != (wrong != "") && (wrong != "cut" || x.name != "x.txt") { // edges may be cut between two
				t.Errorf("%s, %s: %v", x.name, wrong, told[0])
			}
			got, _, errs := readTogether(t, 2, program)
			var one bytes.Buffer
			p, err := Compile(context.Background(), "a.flow", []byte(program), CompileOptions{Ranks: 2})
			if err == nil {
				_, err = p.Run(context.Background(), RunOptions{Stdout: &one, Threads: 1})
			}
			if got != want || one.String() != want {
				t.Errorf("%s, %s: two ranks print %q and %q, not %q", x.name, wrong, got, one.String(), want)
			}
			for rank, e := range append(errs, err) {
				if onRank.ReplaceAllString(fmt.Sprint(e), "") != fmt.Sprint(told[0]) {
					t.Errorf("%s, %s: rank %d fails with\n%v\nnot\n%v", x.name, wrong, rank, e, told[0])
				}
			}
		}
	}
}

// Ranks that read their own rows of a .csr refuse it with the words of one rank if it is damaged
// anywhere, cut off or not square. They print the same of a whole one.
func TestDamagedGraphs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g.csr")
	for _, made := range []string{"rand_graph(3000, 60000, seed = 2)", "rand_sparse(2000, 3000, 0.02, seed = 1)", "rand_sparse(3000, 3000, 0.02, seed = 1)"} {
		if _, err := compiled(t, fmt.Sprintf("emit %s to %q\n", made, path), 1).Run(context.Background(), RunOptions{}); err != nil {
			t.Fatal(err)
		}
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		program := fmt.Sprintf("emit 1\nG = read_graph(%q)\nemit nnz(G)\nemit sum(G @ seq(0, G.cols))\nemit sum(t(G) @ ones(G.rows, 30))\n", path)
		for k := range 8 {
			at := -2 + k + max(0, k-1)*len(whole)/7
			text := bytes.Clone(whole)
			switch {
			case at == -1:
				text = text[:len(text)-9]
			case at >= 0:
				text[at] ^= 0x40
			}
			if err := os.WriteFile(path, text, 0o644); err != nil {
				t.Fatal(err)
			}
			want, _, told := readTogether(t, 1, program)
			got, _, errs := readTogether(t, 3, program)
			if (told[0] != nil) != (at > -2 || strings.Contains(made, "2000")) || got != want {
				t.Errorf("%s, damaged at %d: three ranks print %q, not %q (%v)", made, at, got, want, told[0])
			}
			for rank, e := range errs {
				if onRank.ReplaceAllString(fmt.Sprint(e), "") != fmt.Sprint(told[0]) {
					t.Errorf("%s, damaged at %d: rank %d fails with\n%v\nnot\n%v", made, at, rank, e, told[0])
				}
			}
		}
	}
}

// zipped returns a text, compressed.
func zipped(t *testing.T, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(text); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Of a file that can be cut each rank reads about its share, for all that its size needs as well.
// Another file rank 0 reads once and sends on.
func TestRanksCountWhatTheyRead(t *testing.T) {
	dir := t.TempDir()
	dense := "A = read(%q)\nemit sum(A * 2)\nemit sum(t(A) @ A)\n"
	sparse := "S = read(%q, sparse = true)\nemit sum(S @ ones(S.cols, 40))\n"
	graph := "S = read_graph(%q)\nemit sum(S @ ones(S.cols, 40))\n"
	for _, x := range []struct {
		name, text string
		passes     float64 // over the file, of all ranks together
		cut        bool
	}{
		{"a.npy", dense, 1, true}, {"a.npy.gz", dense, 1, false}, {"a.csv", dense, 2, true}, {"a.csv.gz", dense, 1, false},
		{"a.tsv", dense, 2, true}, {"a.mtx", dense, 1, true}, {"a.mtx.gz", dense, 1, false},
		{"s.mtx", sparse, 1, true}, {"s.mtx.gz", sparse, 1, false}, {"s.csr", sparse, 2, true}, {"s.csr.gz", sparse, 1, false},
		{"g.txt", graph, 1, true}, {"g.txt.gz", graph, 1, false}, {"g.mtx", graph, 1, true}, {"g.csr", graph, 1, false},
		{"pattern.mtx", graph, 1, true}, {"pattern.csr", graph, 1, true}, {"g.csr.gz", graph, 1, false},
	} {
		path := filepath.Join(dir, x.name)
		rows, density, most := 10000, 0.004, 2.0*(1<<20)
		if strings.HasSuffix(x.name, ".gz") { // rank 0 reads all of it, and compressing takes most of the time
			rows, density, most = 5000, 0.001, 1<<20 // more rows than a reader takes between two looks at the memory
		}
		made := fmt.Sprintf("emit rand(%d, 30, seed = 3) to %q\n", rows, path)
		if x.text != dense {
			made = fmt.Sprintf("emit rand_sparse(9000, 9000, %v, seed = 2) to %q\n", density, path)
		}
		if strings.HasPrefix(x.name, "pattern") {
			made = fmt.Sprintf("emit rand_graph(9000, 900000, seed = 2) to %q\n", path)
		}
		if strings.HasPrefix(x.name, "g.txt") {
			writeEdges(t, path)
		} else if _, err := compiled(t, made, 1).Run(context.Background(), RunOptions{}); err != nil {
			t.Fatal(err)
		}
		st, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		size := float64(st.Size())
		text := fmt.Sprintf(x.text, path)
		want, _, _, alone := reportTogether(t, 1, text)
		if read := float64(alone.Ranks[0].BytesRead); read < size || read > 2.1*size {
			t.Errorf("%s: one rank reads %.0f of %.0f bytes", x.name, read, size)
		}
		out, _, errs, report := reportTogether(t, 3, text)
		if out != want || report == nil {
			t.Fatalf("%s: three ranks print %q, not %q (%v)", x.name, out, want, errs)
		}
		sum := 0.0
		for _, r := range report.Ranks {
			read := float64(r.BytesRead)
			sum += read
			switch share := x.passes * size / 3 * 1.2; { // blocks are not split
			case x.cut && (read < 0.8*share/1.2 || read > share+3<<18):
				t.Errorf("%s: rank %d reads %.0f of %.0f bytes", x.name, r.Rank, read, size)
			case !x.cut && r.Rank > 0 && read > 1<<18:
				t.Errorf("%s: rank %d reads %.0f bytes and not none", x.name, r.Rank, read)
			case !x.cut && r.Rank == 0 && r.ReadSent == 0:
				t.Errorf("%s: rank 0 sends on nothing of it", x.name)
			case x.text != dense && (x.name == "g.txt" || x.name == "s.mtx" || x.name == "pattern.mtx") && r.ReadSent == 0:
				t.Errorf("%s: rank %d sends on nothing of the entries that it keeps", x.name, r.Rank)
			case x.text == dense && float64(r.ReadSent) > float64(rows)*30*8*0.67:
				t.Errorf("%s: rank %d sends on %d bytes, not the rows of each rank", x.name, r.Rank, r.ReadSent)
			}
		}
		if sum < x.passes*size || sum > x.passes*size+most {
			t.Errorf("%s: three ranks read %.0f bytes of %.0f", x.name, sum, size)
		}
	}
}

// writeEdges writes a list of edges, compressed if its name says so.
func writeEdges(t *testing.T, path string) {
	t.Helper()
	var b bytes.Buffer
	for i := range 400000 {
		fmt.Fprintf(&b, "%d\t%d\n", i%9000, i*7919%8999)
	}
	text := b.Bytes()
	if strings.HasSuffix(path, ".gz") {
		text = zipped(t, text)
	}
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
}

// The first rows of a graph in a .csr have most edges. Before the run ranks read the columns of the
// rows that they get, so they read hardly any of them again.
func TestRanksReadTheirRows(t *testing.T) {
	dir := t.TempDir()
	edges, path := filepath.Join(dir, "g.txt"), filepath.Join(dir, "g.csr")
	var b bytes.Buffer
	for i := range 20000 {
		for k := range 1 + 400*max(0, min(1, 500-i)) {
			fmt.Fprintf(&b, "%d\t%d\n", i, (i+k*37+1)%20000)
		}
	}
	if err := os.WriteFile(edges, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := compiled(t, fmt.Sprintf("emit read_graph(%q) to %q\n", edges, path), 1).Run(context.Background(), RunOptions{}); err != nil {
		t.Fatal(err)
	}
	st, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("S = read_graph(%q)\niterate c = seq(1, S.rows + 1), k = 0 until k == 9 {\n  next c = max(c, rowmax(S * t(c)))\n"+
		"  next k = k + 1\n}\nemit sum(c)\n", path)
	want, _, _, _ := reportTogether(t, 1, text)
	for _, ranks := range []int{2, 3} {
		out, _, errs, report := reportTogether(t, ranks, text)
		if out != want || report == nil {
			t.Fatalf("%d ranks print %q, not %q (%v)", ranks, out, want, errs)
		}
		read := 0
		for _, r := range report.Ranks {
			if r.BytesRead < 1<<16 {
				t.Errorf("rank %d of %d reads %d bytes only", r.Rank, ranks, r.BytesRead)
			}
			read += int(r.BytesRead)
		}
		// Row pointers are read for the lengths of rows and to count columns. Blocks are not split.
		if again := read - int(st.Size()); again > 2*8*20000+6<<16 {
			t.Errorf("%d ranks read %d of %d bytes again", ranks, again, st.Size())
		}
	}
}

// A brief Input refuses programs that need all of a file before the run, or whose ranks read it
// together then, and has read none of it.
func TestBriefInput(t *testing.T) {
	dir := t.TempDir()
	for name, all := range map[string]bool{"a.csv": true, "a.csv.gz": true, "a.npy": false, "a.mtx": true, "a.mtx.gz": false, "small.mtx": false,
		"s.mtx": true, "s.csr": true, "s.csr.gz": false, "g.txt": true} {
		path := filepath.Join(dir, name)
		read, args, made := "read", "", "rand(60000, 3, seed = 3)"
		switch {
		case name == "small.mtx":
			made = "rand(60, 3, seed = 3)"
		case name[0] == 's':
			args, made = ", sparse = true", "rand_sparse(60000, 30, 0.1, seed = 2)"
		}
		if name == "g.txt" {
			read = "read_graph"
			writeEdges(t, path)
		} else if _, err := compiled(t, fmt.Sprintf("emit %s to %q\n", made, path), 1).Run(context.Background(), RunOptions{}); err != nil {
			t.Fatal(err)
		}
		in := &Input{Brief: true}
		_, err := Compile(context.Background(), "a.flow", fmt.Appendf(nil, "A = %s(%q%s)\nemit A.rows\n", read, path, args), CompileOptions{Input: in})
		if (err != nil) != all || in.Postponed() != all || in.TakeRead() > 1<<18 {
			t.Errorf("%s: postponed is %v: %v", name, in.Postponed(), err)
		}
	}
}

// A plan for ranks says of everything that they do not share why.
func TestPlansSayWhy(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.csv.gz")
	if _, err := compiled(t, fmt.Sprintf("emit rand(30000, 20, seed = 3) to %q\n", file), 1).Run(context.Background(), RunOptions{}); err != nil {
		t.Fatal(err)
	}
	layouts := func(text string) map[string]plan.Layout {
		of := map[string]plan.Layout{}
		p := compiled(t, text, 3).Compiled().Plan
		for _, x := range plan.Layouts(p) {
			alone := x.Where == "replicated" || strings.HasPrefix(x.Where, "rank ")
			if (x.Why != "") != alone {
				t.Errorf("%s %s lies on %s: %q\n%s", x.At, x.Op, x.Where, x.Why, text)
			}
			of[x.Op] = x
		}
		if p.Shares == "" || strings.Contains(p.Shares, "in blocks") && !strings.Contains(p.Shares, "` at ") {
			t.Errorf("ranks share matrices %q:\n%s", p.Shares, text)
		}
		return of
	}
	for _, name := range []string{"kmeans", "gnmf", "pca", "normal", "pagerank", "cc", "lu", "heat2d", "nbody", "multilogreg"} {
		layouts(string(program(t, name+".flow")))
	}
	for _, x := range []struct{ text, op, where, why string }{
		{fmt.Sprintf("A = read(%q)\nemit colsum(A)\n", file), "read", "rank 0", "a file that one rank reads"},
		{"S = rand_sparse(40000, 300, 0.05, seed = 1)\nemit max(rowsum(S ^ 3))\n", "sp.map", "rows", ""},
		{"S = rand_sparse(40000, 300, 0.05, seed = 1)\nemit max(S)\nemit max(t(S) @ rand(40000, 40, seed = 2))\n", "sp.matmul.chain", "rows", ""},
		{"S = rand_sparse(30000, 30000, 0.001, seed = 1)\nemit max(S @ ones(30000, 40))\n", "ones", "replicated", "little work"},
		{"A = rand(60000, 20, seed = 1)\nemit colsum(A)\nemit reverse(colsum(A))\n", "reverse", "replicated", "fewer rows than ranks"},
		{"A = rand(60000, 20, seed = 1)\nB = rand(60000, 20, seed = 2)\nemit t(A) @ B\n", "matmul.panels.chain", "partial", ""},
		{"A = rand(60000, 20, seed = 1)\nemit colsum(A)\nemit exp(rand(9, 9, seed = 3))\n", "map", "replicated", "little work"},
		{"A = rand(60000, 20, seed = 1)\nemit colsum(A)\nemit parfor i in 0..300 with (place = replicated) { sum(A[i, :]) }\n", "parfor", "replicated", "the program says so"},
		{"A = rand(60000, 20, seed = 1)\nemit sum(A @ t(A[3..9, :] * 2))\n", "slice", "replicated", "little work"},
		{"A = rand(60000, 20, seed = 1)\nemit t(onehot(i64(A[:, 0] * 5), 5, sparse = true)) @ A\n", "onehot.sums.chain", "partial", ""},
		{"A = rand(60000, 20, seed = 1)\nemit prod(A + 0.5)\n", "prod.runs", "rows", ""},
		{"A = rand(60000, 20, seed = 1)\nemit identical(A, A[:, 0] + A)\n", "identical.runs", "rows", ""},
		{"A = rand(60000, 20, seed = 1)\nemit colsum(exp(A)[3..50000, :])\n", "slice", "rows", ""},
		{"A = rand(60000, 20, seed = 1)\nemit colsum(A)\nemit eigvals(rand_spd(500, seed = 2))\n", "eigvals", "rank 0", "one rank runs it: it has no form by blocks"},
		{"A = rand(900, 900, seed = 1)\nemit sum(svdu(A + 1))\n", "lay", "rank 0", "brought together for what needs all of it"},
		{"emit sum(abs(fft(rand(300000, 1, seed = 1))))\n", "sum.join", "rank 0", "joins what blocks have given"},
		{"A = rand(900000, 20, seed = 1)\nemit colsum(exp(A))\nemit eigvals(rand_spd(90, seed = 2))\n", "eigvals", "rank 0", "one rank runs it: it makes no row alone"},
	} {
		if got := layouts(x.text)[x.op]; got.Where != x.where || got.Why != x.why {
			t.Errorf("%s lies on %s (%s), not on %s (%s):\n%s", x.op, got.Where, got.Why, x.where, x.why, x.text)
		}
	}
}
