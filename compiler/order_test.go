package compiler_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"flow/compiler/nodes"
	"flow/ir"
	"flow/ir/types"
)

// TestShortEffectsFirst: a short emit and its text are more urgent than a loop below them, and what
// else an emit reads keeps its place on the path. If the emit is much of the program, it waits.
func TestShortEffectsFirst(t *testing.T) {
	for _, p := range []struct {
		text string
		most int // nodes of the greatest priority
	}{
		{"emit \"begin\"\nz = parfor i in 0..500000 { sin(i) }\nemit sum(z)\n", 3}, // two emits and a text
		{"assert 1 < 2, \"no\"\nemit \"begin\"\n", 0},
	} {
		c, err := compileTiny(tinyTable(t), p.text, 1, false, nil)
		if err != nil {
			t.Fatal(err)
		}
		g, most := c.Plan.Graph, 0
		for i, prio := range c.Plan.Prio {
			if prio < math.MaxInt32 {
				continue
			}
			most++
			if id := ir.ID(i); g.Type(id).Kind != types.Effect && len(g.In(id)) > 0 {
				t.Errorf("%s is urgent\n%s", g.Line(id), g)
			}
		}
		if most != p.most {
			t.Errorf("%d urgent nodes, want %d\n%s%v", most, p.most, g, c.Plan.Prio)
		}
	}
}

// TestDepthFirst: a worker that goes by priorities finishes what it has begun before it makes other
// matrices, if all work is that of loops. Where factorisations by one worker are part of it, the
// longest path comes first.
func TestDepthFirst(t *testing.T) {
	loops := "for i in 0..6 {\n  Y = cumsum(rand(500, 40, seed = i) - 0.5)\n  emit sum(cumsum(Y * 2))\n}\n"
	for _, p := range []struct {
		text string
		most int // matrices at a time
	}{
		{loops, 2},
		{"for i in 0..6 {\n  A = rand_spd(40, seed = i) * 2\n  emit sum(potrf(A) * 3)\n}\n", 7},
	} {
		c, err := compileTiny(tinyTable(t), p.text, 1, false, nil)
		if err != nil {
			t.Fatal(err)
		}
		g, prio := c.Plan.Graph, c.Plan.Prio
		waits, readers, done := make([]int, g.Len()), make([]int, g.Len()), make([]bool, g.Len())
		for i := range g.Nodes {
			for _, x := range g.In(ir.ID(i)) {
				waits[i]++
				readers[x]++
			}
		}
		live, most := 0, 0
		for range g.Nodes {
			next := -1
			for i := range g.Nodes {
				if !done[i] && waits[i] == 0 && (next < 0 || prio[i] > prio[next]) {
					next = i
				}
			}
			done[next] = true
			if g.Type(ir.ID(next)).Count() > 1000 {
				live++
			}
			most = max(most, live)
			for i := range g.Nodes {
				for _, x := range g.In(ir.ID(i)) {
					if int(x) == next {
						waits[i]--
					}
				}
			}
			for _, x := range g.In(ir.ID(next)) {
				if readers[x]--; readers[x] == 0 && g.Type(x).Count() > 1000 {
					live--
				}
			}
		}
		if most != p.most {
			t.Errorf("%d matrices at a time, want %d\n%s%v", most, p.most, g, prio)
		}
	}
}

// TestPartsOfSorts: programs that read some rows of sorts have the bytes of the definition in every way
// to run them, and most have no whole sort.
func TestPartsOfSorts(t *testing.T) {
	table := tinyTable(t)
	parts, whole := 0, 0
	for seed := range uint64(200) {
		text := ordering(rand.New(rand.NewPCG(seed, 43)))
		r, err := compiledOnce(table, text, 1, false, nil)
		if err != nil {
			t.Fatal(err, text)
		}
		nodes.Everywhere(r.Plan.Graph, func(g *ir.Graph) *ir.Graph {
			for _, n := range g.Nodes {
				switch n.Op.Name {
				case "sort", "argsort":
					whole++
				case "sort.part", "argsort.part":
					parts++
				}
			}
			return g
		})
		if _, err := (runs{{1, 1, nil, false, ""}, {1, 3, nil, true, "FAC2"}, {1, 2, []string{"part-sorts"}, false, "SS"},
			{2, 2, nil, false, "GSS"}, {3, 1, []string{"slice-below-order"}, false, "TSS"}}).some(seed).differ(table, text); err != nil {
			t.Errorf("seed %d: %v\nin\n%s", seed, err, text)
		}
	}
	if parts < 2*whole || parts < 300 {
		t.Errorf("%d sorts are in parts, %d are whole", parts, whole)
	}
}

// TestSortsLeaveLoops: what all rounds or points sort alike is sorted before them, as a whole, although
// each round and point reads a row of its own. What is sorted for each stays.
func TestSortsLeaveLoops(t *testing.T) {
	table := tinyTable(t)
	for _, p := range []struct {
		text          string
		above, within int // sorts in front of loops, and in them
	}{
		{"iterate s = 0.0, k = 0 times 9 { next s = s * 0.5 + x[argsort(x[:, 1])[k], 0]; next k = k + 1 }\nemit s", 1, 0},
		{"emit parfor k in 0..40 { x[argsort(x[:, 1] * 2, desc = true)[k], 0] * k }", 1, 0},
		{"emit parfor k in m..40 { sort(x)[k, 0] * k }", 1, 0},
		{"emit parfor i in 0..40, j in 0..3 { sort(x, by = 1)[i, j] + sort(x)[j, 0] }", 2, 0},
		{"emit parfor i in 0..20 { s = sort(x[:, 0] * i); s[i] + sort(x, by = 2)[39 - i, 2] }", 1, 1},
		{"emit parfor i in 0..20, j in 0..i { sort(x, by = 1)[i, 0] + sort(x)[j, 0] }", 0, 2},
		{"iterate a = x, k = 0 times 6 {\n  y = parfor i in 0..40 { sort(x)[i, :] + argsort(a)[i] }\n  next a = y + sort(a)[k, :]\n  next k = k + 1\n}\nemit a", 1, 2},
		{"emit parfor i in m..m { sort(x)[i, 0] }", 1, 0},
		{"emit parfor i in 0..20 { if i > m { sort(x)[i, 1] } else { 2.0 } }", 0, 1},
		{"emit 1\nemit parfor i in 0..20 { sort(x)[i * m + 7, 1] }", 1, 0}, // fails
	} {
		text := "x = materialize(rand(40, 3, seed = 3))\nm = i64(sum(x) * 0) + 2\n" + p.text + "\n"
		r, err := compiledOnce(table, text, 1, false, nil)
		if err != nil {
			t.Fatal(err)
		}
		above, all := 0, 0
		sorts := func(g *ir.Graph) (count int) {
			for _, n := range g.All() {
				if n.Op.Order != nil || strings.HasSuffix(n.Op.Name, "sort.part") {
					count++
				}
			}
			return count
		}
		above = sorts(r.Plan.Graph)
		nodes.Everywhere(r.Plan.Graph, func(g *ir.Graph) *ir.Graph { all += sorts(g); return g })
		if above != p.above || all-above != p.within {
			t.Errorf("%d sorts are in front of loops and %d in them, not %d and %d\n%s%s", above, all-above, p.above, p.within, text, r.Plan.Graph)
		}
		if _, err := (runs{{1, 2, nil, false, ""}, {3, 1, nil, true, ""}, {2, 1, []string{"hoist"}, false, ""}, {2, 1, []string{"rounds", "part-sorts"}, false, ""}}).differ(table, text); err != nil {
			t.Errorf("%v\nin\n%s", err, text)
		}
	}
}
