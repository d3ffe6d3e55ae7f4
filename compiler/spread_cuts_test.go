package compiler_test

// These tests cut rows of sparse matrices where that balances their entries.

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/plan"
)

// hubs writes a graph of n vertices to a file. The first sixth of the vertices has edges to most
// others, the rest has one or two.
func hubs(t *testing.T, n int) (path string, degree []int) {
	t.Helper()
	var edges strings.Builder
	degree = make([]int, n)
	for i := range n {
		for j := range n {
			if i != j && (6*i < n && (i+j)%5 > 0 || j == (i*7+3)%n) {
				fmt.Fprintln(&edges, i, j)
				degree[i]++
			}
		}
	}
	path = filepath.Join(t.TempDir(), "hubs.txt")
	if err := os.WriteFile(path, []byte(edges.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	return path, degree
}

// zipped returns a compressed copy of a file.
func zipped(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+".gz", b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	return path + ".gz"
}

// cutPrograms read a graph of 90 vertices with rows of very different lengths. They use everything that
// ranks share by rows.
var cutPrograms = []spreadProgram{
	{"labels", `G = L or t(L)
iterate c = seq(1, G.rows + 1), moved = 1 until moved == 0 {
  u = max(c, rowmax(G * t(c)))
  next moved = count(u != c)
  next c = u
}
emit c
emit sum(c)
emit nunique(c)`, 4, 1},
	{"shares, in order", `A = t(L)
links = rowsum(L)
iterate r = fill(1 / 90, 90, 1) times 5 {
  next r = 0.85 * (A @ (r / max(links, 1)) + sum(r * (links == 0)) / 90) + 0.15 / 90
}
emit argsort(r, desc = true)[0..5, :]
emit sort(r)
emit quantile(r, 0.3)
emit cumsum(r)
emit cumsum(links)
emit cummax(r)`, 6, 1},
	{"neighbours, slices and rows that the run chooses", `iterate x = rand(90, 1, seed = 2), D = rand(90, 3, seed = 4), k = 0 until k == 4 {
  y = L @ x / 90
  z = parfor i in 0..90 { y[max(i - 1, 0), 0] + y[min(i + 2, 89), 0] + D[i, 1] }
  next x = rbind(z[1..-1, :] + z[0..-2, :], y[0..2, :])
  next D = L @ D / 40 + D[k * 11, :]
  next k = k + 1
}
emit x
emit D
emit colsum(D)
emit x[3, 0]`, 5, 0},
	{"products and triangles", `S = f64(L) * 0.5
P = S @ S
T = t(P) * 2
iterate x = rand(90, 1, seed = 2), k = 0 until k == 3 {
  next x = P @ x / 100 + T @ x / 200
  next k = k + 1
}
emit x
emit nnz(P)
emit sum(T)`, 2, 1},
}

func TestSpreadCuts(t *testing.T) {
	path, _ := hubs(t, 90)
	var list []spreadProgram
	for _, from := range []string{path, zipped(t, path)} { // ranks read one together, and one of them the other
		for _, p := range cutPrograms {
			p.text = fmt.Sprintf("L = read_graph(%q)\n%s", from, p.text)
			list = append(list, p)
		}
	}
	spreadAlike(t, list)
}

// cutsIn returns the attributes plan.Unit that are lists, of the nodes of a graph and its regions.
func cutsIn(g *ir.Graph) (list [][]int64) {
	for i := range g.Nodes {
		n := &g.Nodes[i]
		if by := n.Attrs.Val(plan.Unit); by.Kind == op.IntsVal {
			list = append(list, by.L)
		}
		for r := n.Region; r != nil; r = r.Next {
			list = append(list, cutsIn(r.Graph)...)
		}
	}
	return list
}

// TestCutsBalance: cuts give ranks about the same entries, and all nodes have the same cuts.
func TestCutsBalance(t *testing.T) {
	path, degree := hubs(t, 600)
	text := fmt.Sprintf("L = read_graph(%q)\niterate x = rand(600, 1, seed = 1) times 50 { next x = L @ x / 600 }\nemit sum(x)", path)
	for _, ranks := range []int{2, 3, 4} {
		c, err := compileTiny(tinyTable(t), text, ranks, false, apart)
		if err != nil {
			t.Fatal(err)
		}
		list := cutsIn(c.Plan.Graph)
		if len(list) < 4 {
			t.Fatalf("%d nodes are cut by entries", len(list))
		}
		for _, l := range list {
			if fmt.Sprint(l) != fmt.Sprint(list[0]) || len(l) != ranks+1 || l[0] != 0 || l[ranks] != 600 {
				t.Fatalf("cuts %v and %v", list[0], l)
			}
		}
		layouts := plan.Layouts(c.Plan)
		entries := func(lo, hi int64) (sum int) {
			for _, d := range degree[lo:hi] {
				sum += d
			}
			return sum
		}
		even := entries(0, int64(600/ranks))
		if first := entries(list[0][0], list[0][1]); 5*first > 4*even {
			t.Errorf("rank 0 of %d has %d entries, and had %d with as many rows as the others", ranks, first, even)
		}
		told := 0
		for _, x := range layouts {
			if slices.Equal(x.Cuts, list[0]) {
				told++
			}
		}
		if told < 2 {
			t.Errorf("of %d values the plan says that rows begin at %v", told, list[0])
		}
	}
}

// TestSortsOfCutRows: ranks that only count distinct rows list about as many each, though cuts give one
// more of them. Where later nodes read the sorted rows, these have the cuts of all others.
func TestSortsOfCutRows(t *testing.T) {
	path, _ := hubs(t, 600)
	for _, x := range []struct {
		name, by string
		cut      bool
	}{{"nunique", "distinct.list", false}, {"cumsum(sort", "sort.own", true}} {
		text := fmt.Sprintf("L = read_graph(%q)\niterate x = rand(600, 1, seed = 1) times 50 { next x = L @ x / 600 }\nemit %s(x)", path, x.name)
		if x.cut {
			text += ")"
		}
		c, err := compileTiny(tinyTable(t), text, 3, false, apart)
		if err != nil {
			t.Fatal(err)
		}
		g, found := c.Plan.Graph, 0
		for id, n := range g.All() {
			if n.Op.Name != x.by {
				continue
			}
			found++
			reach, some := plan.Needs(g.Nodes[g.In(id)[0]].Attrs)
			windows := n.Attrs.Val(plan.Unit)
			if !x.cut {
				windows = n.Attrs.Val("step")
			}
			if cut := len(windows.L) > 0; cut != x.cut || some == x.cut {
				t.Errorf("%s: takes rows by cuts: %v; gets rows: %v", x.name, cut, reach)
			}
		}
		if found != 1 || len(cutsIn(g)) == 0 {
			t.Errorf("%s: %d of %s; %d nodes are cut by entries", x.name, found, x.by, len(cutsIn(g)))
		}
	}
}

// TestCutsOfTriangles: a rank has fewer of the long rows of a triangle, and fewer still where they are
// multiplied by other long ones.
func TestCutsOfTriangles(t *testing.T) {
	first := func(text string) int64 {
		c, err := compileTiny(tinyTable(t), "G = f64(rand_graph(3000, 60000, seed = 5))\nL = lower(G)\n"+text, 3, false, apart)
		if err != nil {
			t.Fatal(err)
		}
		if list := cutsIn(c.Plan.Graph); len(list) > 0 {
			return list[0][1]
		}
		return 0
	}
	sums, products := first("iterate x = ones(3000, 1) times 200 { next x = L @ x / 3000 }\nemit sum(x)"), first("emit sum((L @ L) * L)")
	// A third of the sum of i is below row n / sqrt(3), and of that of its square below n / cbrt(3). Rows
	// have some work of their own.
	if sums < 1200 || sums > 1732 || products < sums+300 || products > 2080 {
		t.Errorf("rank 0 has rows up to %d of a triangle, and up to %d of its square", sums, products)
	}
}

// TestTransposesAreCutByEntries: a rank transposes about as many entries as the others, though the cuts
// of rows balance the work with a union in which all rows are alike. It gets the rows of both cuts.
func TestTransposesAreCutByEntries(t *testing.T) {
	path, degree := hubs(t, 600)
	path = zipped(t, path) // one rank reads it
	for _, x := range []struct{ name, text string }{
		{"labels", "iterate c = seq(1, 601), k = 0 until k == 50 {\n  next c = max(c, rowmax((L or t(L)) * t(c)))\n  next k = k + 1\n}\nemit sum(c)"},
		{"sums", "A = t(L)\niterate x = rand(600, 1, seed = 1) times 50 { next x = A @ x / 600 + rowsum(L) / 600 }\nemit sum(x)"},
	} {
		for _, ranks := range []int{2, 3, 5} {
			c, err := compileTiny(tinyTable(t), fmt.Sprintf("L = read_graph(%q)\n%s", path, x.text), ranks, false, apart)
			if err != nil {
				t.Fatal(err)
			}
			g := c.Plan.Graph
			turned := 0
			for id, n := range g.All() {
				if n.Op.Name != "sp.t" {
					continue
				}
				turned++
				own := g.In(id)[0]
				sent := g.In(own)[0]
				cuts := g.Nodes[own].Attrs.Val(plan.Unit)
				for r := range ranks {
					lo, hi := plan.WindowOf(r, ranks, 600, cuts)
					entries, all := 0, 0
					for i, d := range degree {
						if all += d; lo <= i && i < hi {
							entries += d
						}
					}
					if 5*entries*ranks > 6*all {
						t.Errorf("%s: rank %d of %d transposes %d of %d entries", x.name, r, ranks, entries, all)
					}
					if from, to := plan.SentRows(g.Nodes[sent].Attrs, r, ranks, 600); from > lo || to < hi {
						t.Errorf("%s: rank %d of %d transposes rows %d to %d and gets %d to %d", x.name, r, ranks, lo, hi, from, to)
					}
				}
			}
			if turned != 1 {
				t.Errorf("%s: %d transposes", x.name, turned)
			}
		}
	}
}
