package flow

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"flow/ir"
	"flow/memory"
)

// TestFilesInParts: loops over rows read files part by part where the whole files do not fit in memory.
// They print the bytes that they print with all memory, on any number of threads and ranks.
func TestFilesInParts(t *testing.T) {
	t.Chdir(t.TempDir())
	const n = 200_000
	var csv strings.Builder
	csv.WriteString("a,b,name,c\n")
	for i := range n {
		fmt.Fprintf(&csv, "%d,0.%03d,x%d,%g\n", i%1009, i%997, i%7, float64(i%83)*1e-3)
	}
	written := "X = rand(200000, 3, seed = 1) - 0.5\nemit X * 10 ^ (X * 20) to \"x.npy\"\nemit f32(X) to \"f.npy\"\nemit i64(X * 1000) to \"i.npy\"\nemit X > 0 to \"b.npy\"\nemit t(rand(5, 200000, seed = 2)) to \"y.npy\"\nemit rand(600000, 5, seed = 3) to \"z.npy\"\n"
	if _, err := compiled(t, written, 1).Run(t.Context(), RunOptions{}); err != nil {
		t.Fatal(err)
	}
	var quoted strings.Builder // texts with lines, so that a part may begin in a text; no newline at the end
	for i := range n {
		fmt.Fprintf(&quoted, "%d,\"a\n%d,\"\"\n\",0.%03d\n", i%1009, i%7, i%997)
	}
	for name, text := range map[string]string{"t.csv": csv.String(), "q.csv": "a,b,c\n" + strings.TrimSuffix(quoted.String(), "\n"), "h.csv": "a,b\n", "s.csv": "1,2\n3,4\n"} {
		if err := os.WriteFile(filepath.Clean(name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		text  string
		loops int // at least so many read files in parts
		ranks int // at most
		limit int64
	}{
		{"emit colsum(read(\"x.npy\"))", 1, 3, 3600 << 10},
		{"X = read(\"x.npy\")\nemit mean(X)\nemit var(X)\nemit min(X)\nemit max(X)", 1, 1, 3600 << 10},
		{"X = read(\"x.npy\")\nemit sum(abs(X - 1))\nemit norm(X)\nemit rowsum(colsum(X * 1e300 - X * 1e-300))", 1, 3, 3600 << 10},
		{"X = read(\"x.npy\")\nZ = (X - colmean(X)) / colstddev(X)\nemit colmax(Z)\nemit colmin(Z)", 2, 3, 3600 << 10},
		{"emit cov(read(\"x.npy\"))", 2, 2, 3600 << 10},
		{"X = read(\"y.npy\")\nemit t(X) @ X", 1, 1, 3600 << 10},
		{"X = read(\"y.npy\")\nZ = X - colmean(X)\nemit t(Z) @ Z", 2, 2, 6200 << 10},
		{"X = read(\"y.npy\")\nemit sum(X @ seq(1, 6))\nemit sum(rowmax(X))", 2, 1, 3600 << 10},
		{"X = read(\"y.npy\")\ny = read(\"x.npy\")\nemit sum(X[:, 1] * y[:, 2])\nemit max(y)", 1, 3, 3600 << 10},
		{"X = read(\"i.npy\")\nemit colsum(X)\nemit sum(X // 7)", 1, 3, 3600 << 10},
		// other columns in each loop, and columns that none reads
		{"X = read(\"z.npy\")\nemit sum(X[:, 0] * X[:, 1])\nemit max(X[:, 1] - X[:, 3])", 2, 1, 6 << 20},
		{"X = read(\"q.csv\", columns = \"c, a\")\nemit sum(X[:, 0] * X[:, 0])\nemit count(X[:, 0] * X[:, 1] > 5)", 2, 1, 2400 << 10},
		{"X = read(\"z.npy\")\nemit sum(X[X[:, 0] > 0.5 and X[:, 1] < 0.5, 2])", 1, 1, 6 << 20},
		{"emit count(read(\"b.npy\"))", 0, 3, 3600 << 10}, // few bytes
		{"X = read(\"t.csv\", columns = \"c, a\")\nemit colmean(X)\nemit colvar(X)\nemit count(X > 0.05)", 1, 1, 2100 << 10},
		{"X = read(\"q.csv\", columns = \"c, a\")\nemit colsum(X)\nemit sum(abs(X[:, 0] - mean(X)))", 2, 2, 2400 << 10},
		{"X = read(\"h.csv\", head = true)\nY = read(\"x.npy\")\nemit colsum(X)\nemit count(X > 0)\nemit sum(Y)", 1, 1, 3600 << 10},
		// each loop makes the elements of Z again
		{"X = read(\"x.npy\")\nZ = X * 2 - 1\nemit sum(abs(Z))\nemit colmax(Z)", 2, 3, 3600 << 10},
		{"X = read(\"x.npy\")\nZ = (X - colmean(X)) / colstddev(X)\nemit Z[3..5, :]\nemit colmin(Z) + colmax(abs(Z))", 3, 1, 3600 << 10},
		// windows are copied
		{"X = read(\"y.npy\")\nemit X[0..3, :]\nemit X[199990..200000, 1..3]\nemit max(sort(X[100..20000, 2], by = 0)[3..9, :])\nemit colmean(X)", 3, 1, 3600 << 10},
		{"X = read(\"t.csv\", columns = \"c, a\")\nemit X[70000..70003, :]\nemit count(X > 0.05)", 2, 1, 2100 << 10},
		// windows that are shifted against each other, and what is beside them
		{"X = read(\"x.npy\")\nn = nrow(X)\nD = X[1..n, :] - X[0..n-1, :]\nemit colmean(D)\nemit colmax(abs(D))", 2, 1, 3600 << 10},
		{"X = read(\"t.csv\", columns = \"c, a\")\nn = nrow(X)\nemit count((X[5..n, 0] > X[4..n-1, 0]) and (X[3..n-2, 1] <= X[0..n-5, 1]))", 1, 1, 2100 << 10},
		{"X = read(\"x.npy\")\nn = nrow(X)\nS = (X[2..n, :] + 2 * X[1..n-1, :] + X[0..n-2, :]) / 4\nemit sum(S[1..n-2, :] - S[0..n-3, :])", 1, 1, 3600 << 10},
		{"X = read(\"x.npy\")\nemit colmean(X[100000..199000, 1..3])\nA = cbind([X, ones(nrow(X), 1)])\nemit t(A) @ A", 2, 1, 3600 << 10},
		// elements and rows at numbers of the run
		{"X = read(\"x.npy\")\nemit X[nrow(X)-1, 2]\nk = argmax(X[:, 1])\nemit X[k, :]\nemit X[k // 2, 0]", 4, 1, 3600 << 10},
		// rows that a condition chooses, and rows of a list
		{"X = read(\"x.npy\")\nY = X[X[:, 0] > X[:, 1] + 1000, :]\nemit colmax(Y)\nemit nrow(Y)\nemit X[X[:, 2] > 29000, :]", 3, 2, 3600 << 10},
		{"X = read(\"t.csv\", columns = \"c, a\")\nY = X * 2 + 1\nemit Y[Y[:, 0] > 1.16 and Y[:, 1] < 5, :]\nemit Y[[199999, 3, 3, -1, 0], :]\nemit Y[X[:, 0] < 0, :]", 3, 2, 2100 << 10},
		// sorts: of a few rows, by their places; places themselves, of one column
		{"X = read(\"z.npy\")\nS = sort(X, by = 1)\nemit S[0..5, :]\nemit S[599990..600000, 1..4]\nemit S[70, 2]", 4, 3, 30 << 20},
		{"X = read(\"z.npy\")\nemit X[argsort(X, by = -1, desc = true)[3..9, :], :]\nemit colsum(X)", 3, 3, 30 << 20},
		{"X = read(\"z.npy\")\np = argsort(X, by = 2)\nemit sum(p * seq(1, 600001))\nemit p[5, 0]", 1, 3, 34 << 20},
		{"X = read(\"q.csv\", columns = \"c, a\")\nS = sort(X, by = 1, desc = true)\nemit S[100..700, :]\nemit max(S[0..300, 0])", 3, 1, 12 << 20},                  // many are equal
		{"X = read(\"x.npy\")\nZ = sqrt(X - 1)\nemit sort(Z, by = 0)[0..3, :]\nemit sort(round(X * 1e-9), by = 2, desc = true)[199000..199100, :]", 4, 1, 10 << 20}, // nan, -0
		// rows of other ranks are read from the file, or one rank reads all
		{"X = read(\"z.npy\")\nn = nrow(X)\nD = X[1..n, :] - X[0..n-1, :]\nemit colmean(D)\nemit colmax(abs(D))\nemit median(X[:, 3])", 3, 3, 12 << 20},
		{"X = read(\"q.csv\", columns = \"c, a\")\nn = nrow(X)\nemit sum(abs(X[1..n, :] - X[0..n-1, :]))\nemit X[n-1, 1]", 2, 3, 2400 << 10},
		// bodies over rows: one alone, and nearest centres
		{"X = read(\"x.npy\")\nr = parfor i in 0..nrow(X) { sqrt(sum(X[i, :] ^ 2)) }\nemit sum(r)\nemit max(r)", 1, 3, 5 << 20},
		{"X = read(\"x.npy\")\nC = [[0.0, 1, 2], [3, 4, 5]]\nD = parfor i in 0..nrow(X), j in 0..2 { sum((X[i, :] - C[j, :]) ^ 2) }\nemit t(onehot(rowargmin(D), 2)) @ X", 1, 3, 7 << 20},
		// products: one starts from a matrix that is read in parts, one has a chain on it
		{"X = read(\"y.npy\")\ny = read(\"x.npy\")\nr = y[:, 0] - X @ seq(1, 6)\nemit sum(r)\nemit norm(r)", 1, 1, 4200 << 10},
		{"X = read(\"y.npy\")\ny = read(\"x.npy\")\nr = y[:, 0] - X @ (seq(1, 6) / 7)\nemit sum(r)\nemit norm(r)", 1, 1, 4200 << 10},
		{"X = read(\"y.npy\")\np = sigmoid(X @ fill(0.1, 5, 1))\nemit t(X) @ p", 1, 1, 4200 << 10},
		{"X = read(\"z.npy\")\np = sigmoid(X @ fill(0.1, 5, 1)) - X[:, 2]\nemit t(X) @ p", 1, 1, 12 << 20},
		{"X = read(\"x.npy\")\nr = rowsum(X * 1e300 - X * 1e-300)\nemit sum(r * 1e-300)\nemit max(r)\nemit sum(rowargmax(X))", 1, 3, 3600 << 10},
		// sums by a column of the file
		{"X = read(\"z.npy\")\ng = i64(floor(X[:, 0] * 7))\nemit t(onehot(g, 7)) @ X\nemit colsum(onehot(g, 7))", 2, 3, 12 << 20},
		// rounds read the file again: gradient descent, nearest centroids, a file beside one that fits
		{"X = read(\"z.npy\")\niterate w = zeros(4, 1), k = 0 until k >= 3 {\n  g = t(X[:, 0..4]) @ (sigmoid(X[:, 0..4] @ w) - X[:, 4])\n  next w = w - g / nrow(X)\n  next k = k + 1\n}\nemit w", 2, 3, 12 << 20},
		{"X = read(\"z.npy\")\niterate C = X[0..3, :], k = 0 until k >= 3 {\n  a = rowargmin(t(rowsum(C ^ 2)) - 2 * X @ t(C))\n  H = onehot(a, 3)\n  next C = (t(H) @ X) / max(t(colsum(H)), 1)\n  next k = k + 1\n}\nemit C", 2, 1, 16 << 20},
		{"X = read(\"x.npy\")\niterate s = 0.5, k = 0 until k >= 3 {\n  next s = sum(X * s)\n  next k = k + 1\n}\nemit s", 2, 3, 3600 << 10},
		{"X = read(\"t.csv\", columns = \"c, a\")\nY = read(\"s.csv\")\niterate s = 0.0, k = 0 until k >= 3 {\n  next s = s / 2 + sum(abs(X - s)) + sum(Y * s)\n  next k = k + 1\n}\nemit s", 2, 2, 2900 << 10},
		// the larger branch fits beside parts of the file only
		{"X = read(\"x.npy\")\ns = if mean(X) > 1e300 { sum(sort(rand(600, 600, seed = 1) @ rand(600, 600, seed = 2), by = 0)) } else { 2.0 }\nemit max(X * s)", 2, 1, 12 << 20},
		{"X = read(\"x.npy\")\ns = if mean(X) < 1e300 { sum(sort(rand(600, 600, seed = 1) @ rand(600, 600, seed = 2), by = 0)) } else { 2.0 }\nemit max(X * s)", 2, 1, 12 << 20},
	} {
		want := inPartsOf(t, c.text, 1, 1, 0, 0)
		for ranks := range c.ranks {
			for threads := 1; threads <= 2; threads++ {
				if got := inPartsOf(t, c.text, ranks+1, threads, c.limit, c.loops); got != want {
					t.Errorf("%s\n%d ranks, %d threads: %s, want %s", c.text, ranks+1, threads, got, want)
				}
			}
		}
	}
	branch := "X = read(\"t.csv\", columns = \"a, b, c\")\nS = X * 2\nemit sum(S)\nif sum(S) > 0 { emit max(X) }" // needs all of X
	far := "X = read(\"x.npy\")\nemit sum(X[100000..200000, :] * X[0..100000, :])"                                // parts would be far from each other
	columns := "X = read(\"x.npy\")\nemit parfor j in 0..3 { sum(ifelse(X[:, 0] > j, X[:, 1], 0.0)) }"
	for _, text := range []string{branch, far, columns} {
		for ranks := range 2 {
			_, err := Compile(t.Context(), "a.flow", []byte(text), CompileOptions{Ranks: 1 + ranks, Memory: memory.Limit{Bytes: 2400 << 10, By: "this test"}})
			if err == nil || !strings.Contains(err.Error(), "E605") {
				t.Errorf("%s\n%d ranks: %v, although it needs the whole file", text, 1+ranks, err)
			}
		}
	}
}

// inPartsOf returns what a program prints, and its failure, with bytesOf bytes of memory, or all of
// it if bytesOf is 0. At least so many loops read files in parts, and none if loops is 0.
func inPartsOf(t *testing.T, text string, ranks, threads int, bytesOf int64, loops int) string {
	limit := memory.Limit{Bytes: bytesOf, By: "this test"}
	p, err := Compile(t.Context(), "a.flow", []byte(text), CompileOptions{Ranks: ranks, Memory: limit})
	if err != nil {
		t.Errorf("%s\n%d ranks: %v", text, ranks, err)
		return ""
	}
	made := inPartsIn(p.Compiled().Plan.Graph)
	if made < loops || loops == 0 && made > 0 {
		t.Errorf("%s\n%d ranks: %d loops read in parts, want %d", text, ranks, made, loops)
	}
	var out bytes.Buffer
	_, err = p.Run(t.Context(), RunOptions{Threads: threads, Memory: limit, Stdout: io.Writer(&out)})
	if err != nil {
		fmt.Fprintf(&out, "%v", err)
	}
	return out.String()
}

// inPartsIn returns how many loops of g, and of the rounds in it, read files in parts.
func inPartsIn(g *ir.Graph) (made int) {
	for _, n := range g.All() {
		if strings.HasPrefix(n.Op.Name, "inparts") {
			made++
			continue
		}
		for r := n.Region; r != nil; r = r.Next {
			made += inPartsIn(r.Graph)
		}
	}
	return made
}

// TestMistakesReadInParts: a file with a mistake in its last row fails a run at the place where it
// would fail if it were read whole, and the run shows what is above it in the program. Of two such
// files the first one is named, although the loop meets the other mistake first.
func TestMistakesReadInParts(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, wrong := range map[string]int{"good.csv": -1, "late.csv": 199_990, "early.csv": 10} {
		var b bytes.Buffer
		for i := range 200_000 {
			if i == wrong {
				b.WriteString("1,x,3\n")
			} else {
				fmt.Fprintf(&b, "%d,0.%03d,3\n", i%1009, i%997)
			}
		}
		if err := os.WriteFile(filepath.Clean(name), b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	defer func(files int, kept int64) {
		if f, k := openForParts(t); f != files || k != kept {
			t.Errorf("%d files are open and %d KiB are mapped after failed runs, before %d and %d", f, k, files, kept)
		}
	}(openForParts(t))
	for _, text := range []string{
		"emit 7\nX = read(\"late.csv\")\nemit 8\nemit colsum(X)\nemit 9",
		"X = read(\"late.csv\")\nY = read(\"early.csv\")\nemit sum(X * Y)",
		"X = read(\"good.csv\")\nY = read(\"early.csv\")\nemit sum(X)\nassert sum(X) < 0, \"no\"\nemit sum(Y)",
		"X = read(\"late.csv\")\nY = read(\"early.csv\")\nr = Y[:, 0] - X @ seq(1, 4)\nemit sum(r)\nemit max(r)",
		"X = read(\"late.csv\")\nemit X[0..2, :]\nemit colsum(X)",
		"X = read(\"late.csv\")\nemit X[7, 1]",
		"X = read(\"late.csv\")\nk = i64(X[0, 2]) * 100000\nemit X[[5, k, -7], :]", // the file is read first
		"X = read(\"good.csv\")\nk = i64(X[0, 2]) * 100000\nemit X[[5, k, 0 - k], :]",
		"X = read(\"late.csv\")\nemit X[X[:, 0] > 2000, :]",
		"X = read(\"early.csv\")\nk = 150000\nemit sum(X[k..k+2, :])",
		"X = read(\"late.csv\")\nn = nrow(X)\nemit sum(X[1..n, :] - X[0..n-1, :])",
		"X = read(\"late.csv\")\nk = i64(mean(X[:, 2])) * 40000\nemit X[k, :]",
		// rounds: none, or one that would fail before it reads the file
		"emit 7\nX = read(\"late.csv\")\nemit 8\niterate s = 0.0, k = 0 until k >= 0 {\n  next s = sum(X * s)\n  next k = k + 1\n}\nemit s",
		"X = read(\"late.csv\")\niterate s = 0.0, k = 0 until k >= 2 {\n  assert k < 0, \"no\"\n  next s = sum(X * s)\n  next k = k + 1\n}\nemit s",
		// codes that are out of range, and a later row
		"X = read(\"late.csv\")\nemit t(onehot(i64(X[:, 2]), 2)) @ X",
		"X = read(\"good.csv\")\nemit t(onehot(i64(X[:, 2]), 2)) @ X",
		// calls around the file, around its loop, and around both
		"fn f(p) = read(p)\nX = f(\"late.csv\")\nemit cov(X)",
		"fn g(X) = t(onehot(i64(X[:, 2]), 2)) @ X\nfn f(p) {\n  X = read(p)\n  g(X)\n}\nemit f(\"good.csv\")",
		"fn g(X) = t(onehot(i64(X[:, 2]), 2)) @ X\nfn f(p) {\n  X = read(p)\n  g(X)\n}\nemit f(\"late.csv\")",
	} {
		want := inPartsOf(t, text, 1, 1, 0, 0)
		for threads := 1; threads <= 2; threads++ {
			if got := inPartsOf(t, text, 1, threads, 4<<20, 1); got != want {
				t.Errorf("%s\n%s, want %s", text, got, want)
			}
		}
	}
	// The loop over the second file would have to begin before the assert, and so before the loop over
	// the first one.
	two := "X = read(\"late.csv\")\nY = read(\"early.csv\")\nu = X @ seq(1, 4)\nemit max(u)\nassert max(u) < 0, \"no\"\nemit colsum(Y)"
	if _, err := Compile(t.Context(), "a.flow", []byte(two), CompileOptions{Ranks: 1, Memory: memory.Limit{Bytes: 4 << 20, By: "this test"}}); err == nil || !strings.Contains(err.Error(), "E605") {
		t.Errorf("%s\n%v, although the second file would be read before the first one", two, err)
	}
}

// TestFilesWrittenInParts: what is computed row by row from a file that does not fit in memory is
// written part by part. Files and messages are those of a run with all memory. A run that fails leaves
// no file.
func TestFilesWrittenInParts(t *testing.T) {
	t.Chdir(t.TempDir())
	var csv strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&csv, "%d,0.%03d,%g\n", i%1009, i%997, float64(i%83)*1e-3)
	}
	for name, text := range map[string]string{"t.csv": csv.String(), "late.csv": csv.String() + "1,x,3\n"} {
		if err := os.WriteFile(filepath.Clean(name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := compiled(t, "emit rand(200000, 3, seed = 1) - 0.5 to \"x.npy\"", 1).Run(t.Context(), RunOptions{}); err != nil {
		t.Fatal(err)
	}
	written := func() map[string]string {
		all := map[string]string{}
		names, err := filepath.Glob("out*")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			b, err := os.ReadFile(filepath.Clean(name))
			if err != nil {
				t.Fatal(err)
			}
			if all[name] = string(b); os.Remove(name) != nil {
				t.Fatal(name)
			}
		}
		return all
	}
	for _, c := range []struct {
		text  string
		loops int
		files int
	}{
		{"X = read(\"x.npy\")\nemit X * 2 - 1 to \"out.npy\"\nemit f32(X) to \"out.f.npy\"\nemit X > 0 to \"out.b.npy\"", 3, 3},
		{"X = read(\"t.csv\")\nZ = (X - colmean(X)) / colstddev(X)\nemit sum(abs(Z))\nemit Z to \"out.csv\"\nemit rowsum(X) to \"out.tsv\"", 3, 2},
		{"X = read(\"t.csv\")\nemit X[X[:, 1] > 0.5, :] to \"out.npy\"\nemit X[X[:, 1] > 0.99, 1..3] to \"out.csv\"", 2, 2},
		{"X = read(\"t.csv\")\nn = nrow(X)\nemit cbind([X, rowsum(X)]) to \"out.csv\"\nemit X[1..n, :] - X[0..n-1, :] to \"out.npy\"", 2, 2},
		{"X = read(\"t.csv\")\nemit X[:, 1..3] to \"out.csv.gz\"\nemit ones(2, 2) to \"out.csv\"\nemit X + 1 to \"out.csv\"", 2, 2},
		{"X = read(\"x.npy\")\niterate s = 0.5, k = 0 until k >= 2 {\n  next s = s / 2 + mean(X)\n  next k = k + 1\n}\nemit X * s to \"out.npy\"", 2, 1},
		{"emit 7\nX = read(\"late.csv\")\nemit X * 2 to \"out.csv\"\nemit 8", 1, 0},
		{"emit 7\nX = read(\"late.csv\")\nemit X * 2 to \"missing/out.csv\"\nemit 8", 1, 0},
	} {
		want := inPartsOf(t, c.text, 1, 1, 0, 0)
		files := written()
		if len(files) != c.files {
			t.Errorf("%s\n%d files, want %d", c.text, len(files), c.files)
		}
		for _, on := range [][2]int{{1, 1}, {1, 2}, {2, 1}} { // ranks, threads
			got := strings.Replace(inPartsOf(t, c.text, on[0], on[1], 4200<<10, c.loops), "  = note: on rank 0\n", "", 1)
			if got != want {
				t.Errorf("%s\n%d ranks, %d threads: %s, want %s", c.text, on[0], on[1], got, want)
			}
			if got := written(); !maps.Equal(got, files) {
				t.Errorf("%s\n%d ranks, %d threads: other bytes are in the files, or other files are there", c.text, on[0], on[1])
			}
		}
	}
}

// TestChosenRowsThatDoNotFit: a condition that chooses more rows than memory holds fails the run, which
// leaves no file.
func TestChosenRowsThatDoNotFit(t *testing.T) {
	t.Chdir(t.TempDir())
	if _, err := compiled(t, "emit rand(200000, 3, seed = 1) to \"x.npy\"", 1).Run(t.Context(), RunOptions{}); err != nil {
		t.Fatal(err)
	}
	limit := memory.Limit{Bytes: 2 << 20, By: "this test"}
	BoundMemory(limit)
	defer BoundMemory(memory.Limit{})
	for ranks := 1; ranks <= 2; ranks++ {
		p, err := Compile(t.Context(), "a.flow", []byte("X = read(\"x.npy\")\nemit 7\nemit X[X[:, 0] > 0.1, :] to \"out.npy\""), CompileOptions{Ranks: ranks, Memory: limit})
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		_, err = p.Run(t.Context(), RunOptions{Threads: 2, Memory: limit, Stdout: &out})
		if err == nil || !strings.Contains(err.Error(), "E605") || out.String() != "7\n" {
			t.Errorf("%d ranks: prints %q, %v", ranks, out.String(), err)
		}
		if files, _ := filepath.Glob("*"); len(files) != 1 {
			t.Errorf("%d ranks: %q are left", ranks, files)
		}
	}
}

// TestFilesInPartsTakeLittle: a loop over a file of 32 MB has some MB of it in memory at a time.
func TestFilesInPartsTakeLittle(t *testing.T) {
	t.Chdir(t.TempDir())
	if _, err := compiled(t, "emit rand(1000000, 4, seed = 1) to \"x.npy\"", 1).Run(t.Context(), RunOptions{}); err != nil {
		t.Fatal(err)
	}
	limit := memory.Limit{Bytes: 5 << 20, By: "this test"}
	for _, text := range []string{
		"emit colsum(read(\"x.npy\"))",
		"X = read(\"x.npy\")\nemit sum(X[1..1000000, :] - X[0..999999, :])",
		"X = read(\"x.npy\")\nd = X - colmean(X)\nemit t(d) @ d",
	} {
		p, err := Compile(t.Context(), "a.flow", []byte(text), CompileOptions{Memory: limit})
		if err != nil {
			t.Fatal(err)
		}
		debug.FreeOSMemory()
		const reset = "5" // the peak begins at what is resident now
		if os.WriteFile("/proc/self/clear_refs", []byte(reset), 0o200) != nil {
			t.Skip("the system does not tell the peak of resident memory")
		}
		before := resident(t, "VmRSS:")
		if _, err := p.Run(t.Context(), RunOptions{Threads: 2, Memory: limit}); err != nil {
			t.Fatal(err)
		}
		if more := resident(t, "VmHWM:") - before; more > 16<<10 {
			t.Errorf("%s\n%d KiB more are resident", text, more)
		}
	}
}

// resident returns a size in KiB that the system tells of this process.
func resident(t *testing.T, name string) (kib int) {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, at, _ := strings.Cut(string(text), name)
	if _, err := fmt.Sscan(at, &kib); err != nil {
		t.Fatal(err)
	}
	return kib
}

// openForParts returns how many tables this process has open, and the KiB of its sparse mappings; 0
// where the system does not tell.
func openForParts(t *testing.T) (files int, mapped int64) {
	open, _ := filepath.Glob("/proc/self/fd/*")
	for _, x := range open {
		if to, err := os.Readlink(x); err == nil && strings.HasSuffix(to, ".csv") {
			files++
		}
	}
	maps, _ := os.ReadFile("/proc/self/smaps")
	size := int64(0)
	for line := range strings.Lines(string(maps)) {
		switch f := strings.Fields(line); {
		case f[0] == "Size:":
			if _, err := fmt.Sscan(f[1], &size); err != nil {
				t.Fatal(err)
			}
		case f[0] == "VmFlags:" && slices.Contains(f, "nr"):
			mapped += size
		}
	}
	return files, mapped
}

// TestFilesInPartsThatChange: a file that is shorter, or another one, than when the program was
// compiled or when the loop before read it fails the run. It does not crash, and no rows are zeros.
func TestFilesInPartsThatChange(t *testing.T) {
	t.Chdir(t.TempDir())
	var csv strings.Builder
	for i := range 300_000 {
		fmt.Fprintf(&csv, "%d,0.%03d\n", i%1009, i%997)
	}
	if err := os.WriteFile("t.csv", []byte(csv.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := compiled(t, "emit rand(300000, 2, seed = 1) to \"t.npy\"", 1).Run(t.Context(), RunOptions{}); err != nil {
		t.Fatal(err)
	}
	limit := memory.Limit{Bytes: 3600 << 10, By: "this test"}
	for _, name := range []string{"t.csv", "t.npy"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		other := strings.Replace(string(text), "1008", "1007", 1)
		if other == string(text) {
			other += "1"
		}
		for what, is := range map[string]string{"cut off": string(text[:len(text)*2/3]), "empty": "", "other": other} {
			for _, first := range []bool{true, false} {
				p, err := Compile(t.Context(), "a.flow", fmt.Appendf(nil, "X = read(%q)\ns = colsum(X)\nemit s\nemit sum(abs(X - s[0, 0]) * 0.5 ^ X)", name), CompileOptions{Memory: limit})
				if err != nil {
					t.Fatal(err)
				}
				changes := func() {
					if err := os.WriteFile(filepath.Clean(name), []byte(is), 0o666); err != nil {
						t.Error(err)
					}
				}
				if first {
					changes()
				}
				var out changing
				if !first {
					out.at = changes
				}
				_, err = p.Run(t.Context(), RunOptions{Threads: 1, Memory: limit, Stdout: &out})
				if err == nil || !strings.Contains(err.Error(), "changed") || (out.Len() > 0) == first {
					t.Errorf("%s is %s, before the run: %v: prints %q, %v", name, what, first, out.String(), err)
				}
				if err := os.WriteFile(filepath.Clean(name), text, 0o666); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// changing is an output that does something when it is first written.
type changing struct {
	bytes.Buffer
	at func()
}

func (c *changing) Write(b []byte) (int, error) {
	if c.at != nil {
		c.at()
		c.at = nil
	}
	return c.Buffer.Write(b)
}
