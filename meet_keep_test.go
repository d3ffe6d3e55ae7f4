package flow

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRanksKeepEntries reads sparse files on several ranks. Each rank keeps the entries that it parses
// and sends them to the ranks of their rows. Entries at one place are added in the order of the file,
// and none passes through rank 0.
func TestRanksKeepEntries(t *testing.T) {
	dir := t.TempDir()
	const n, lines = 700, 205000 // 6 blocks, two for each of three ranks
	rng := rand.New(rand.NewPCG(7, 9))
	write := func(name, head string, line func(k int) string) string {
		var b strings.Builder
		b.WriteString(head)
		for k := range lines {
			b.WriteString(line(k) + "\n")
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	market := func(kind string) string {
		return fmt.Sprintf("%%%%MatrixMarket matrix coordinate %s\n%d %d %d\n", kind, n, n, lines)
	}
	place := func() (i, j int) { return 1 + rng.IntN(n), 1 + rng.IntN(n) }
	below := func() (i, j int) {
		i = 2 + rng.IntN(n-1)
		return i, 1 + rng.IntN(i-1)
	}
	sizes := []float64{1e16, -1e16, 1, 0.1, -0.1, 3e-9, 0, -1}
	matrix, graph := "S = read(%q, sparse = true)\n", "S = read_graph(%q)\n"
	for f, x := range []struct{ read, path string }{
		{matrix, write("real.mtx", market("real general"), func(int) string {
			i, j := place()
			return fmt.Sprintf("%d %d %g", 1+i%40, j%60+1, sizes[rng.IntN(len(sizes))]) // each place comes up often
		})},
		{matrix, write("symmetric.mtx", market("real symmetric"), func(k int) string {
			i, j := below()
			return fmt.Sprintf("%d %d %g", i, j-k%3%2*(j-1), rng.Float64())
		})},
		{matrix, write("skew.mtx", market("integer skew-symmetric"), func(int) string {
			i, j := below()
			return fmt.Sprintf("%d %d %d", i, j, rng.IntN(3)-1)
		})},
		{matrix, write("pattern.mtx", market("pattern general"), func(int) string {
			i, j := place()
			return fmt.Sprintf("%d %d", i, j)
		})},
		{graph, write("graph.mtx", market("pattern general"), func(int) string {
			i, j := place()
			return fmt.Sprintf("%d %d", 1+(i-1)*i/n, j)
		})},
		{graph, write("undirected.mtx", market("pattern symmetric"), func(k int) string {
			i, j := below()
			return fmt.Sprintf("%d %d", i, j-k%3%2*(j-i))
		})},
		{graph, write("edges.txt", "# from to\n", func(int) string {
			i, j := place()
			return fmt.Sprintf("%d\t%d", i*i/n, j)
		})},
		{graph, write("edges.csv", "from,to\n", func(int) string {
			i, j := place()
			return fmt.Sprintf("%d,%d", i, j)
		})},
	} {
		text := fmt.Sprintf(x.read, x.path)
		out := filepath.Join(dir, "out.csr")
		for k, rest := range []string{
			"emit nnz(S)\nemit sum(S)\nemit all rowsum(S)\nemit S @ seq(0, S.cols)\n" +
				"emit all t(t(S) @ (seq(0, S.rows) * 0.1))\nemit colmax(S)\nemit sum(S * t(S))\n",
			fmt.Sprintf("emit S[3..9, :] @ ones(S.cols, 1)\nemit S to %q\n", out),
			"iterate v = ones(S.rows, 1), k = 0 times 6 {\n  next v = S @ v / 1e4 + f64(k)\n  next k = k + 1\n}\nemit all v\n",
			"x = if sum(S) > 0 { sum(S @ ones(S.cols, 1)) } else { 0.5 }\nemit x\nemit dense(S)[0..4, 0..4]\n",
		} {
			var want bytes.Buffer
			if _, err := compiled(t, text+rest, 1).Run(context.Background(), RunOptions{Stdout: &want}); err != nil {
				t.Fatal(err)
			}
			written, _ := os.ReadFile(out)
			ranks := 2 + (f+k)%2 // reading takes most of the time
			got, ins, errs := readTogether(t, ranks, text+rest)
			if again, _ := os.ReadFile(out); got != want.String() || !bytes.Equal(written, again) {
				t.Errorf("%s: %d ranks print %.300q, not %.300q (%v)\n%s", filepath.Base(x.path), ranks, got, want.String(), errs, rest)
			}
			if f := ins[0].Learned(); len(f) != 1 || !f[0].Kept {
				t.Errorf("%s: %d ranks keep no parts of it", filepath.Base(x.path), ranks)
			}
		}
	}
}
