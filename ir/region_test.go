package ir_test

import (
	"strings"
	"testing"

	"flow/ir"
	"flow/ir/types"
)

// looped has a loop with a condition, one with a count in it, and a branch.
const looped = `%0 = fill() {v=1.0} : f64
%1 = fill() {v=0.0} : bool
%2 = iterate(%0, %1, %0) {carry=2} : (f64, bool) @3:9
  region {
    scope 0 i
    call 1 f @1:2 in 0
    %0 = arg() : f64
    %1 = arg() : bool
    %2 = arg() : f64
    %3 = iterate(%0, %2) {carry=1, times=3} : (f64)
      region {
        %0 = arg() : f64
        %1 = arg() : f64
        %2 = add(%0, %1) : f64
        args %0 %1
        yield %2
      }
    %4 = part(%3) {at=0} : f64 loop 0(4) call 1
    args %0 %1 %2
    yield %4 %1
  }
  region {
    %0 = arg() : f64
    %1 = arg() : bool
    %2 = arg() : f64
    args %0 %1 %2
    yield %1
  }
%3 = part(%2) {at=0} : f64
%4 = select(%1, %3) : (f64, effect)
  region {
    %0 = arg() : f64
    %1 = emit(%0) : effect
    args %0
    yield %0
  }
  region {
    %0 = arg() : f64
    %1 = add(%0, %0) : f64
    args %0
    yield %1
  }
%5 = part(%4) {at=0} : f64
%6 = part(%4) {at=1} : effect
%7 = emit(%5, %6) : effect
`

func TestControlsPrintAndParse(t *testing.T) {
	g := parse(looped)
	if s := g.String(); s != looped {
		t.Errorf("reads back as\n%s", s)
	}
	if err := g.Verify(); err != nil {
		t.Error(err)
	}
	if !g.Effects(4) || g.Effects(2) || !g.Controls() {
		t.Error("the branch has an effect inside, the loop none")
	}
}

// Each kind of damage to a loop or branch is found and named.
func TestVerifyControls(t *testing.T) {
	for _, c := range []struct {
		name   string
		damage func(g *ir.Graph)
		want   string
	}{
		{"carries nothing", func(g *ir.Graph) { g.Replace(2, table.Must("iterate"), nil, 0, 1, 0) }, "carries 0 of 3 inputs"},
		{"no body", func(g *ir.Graph) { g.Nodes[2].Region = nil }, "has no body"},
		{"no condition", func(g *ir.Graph) { g.Nodes[2].Region.Next = nil }, "either a count or a condition"},
		{"too few inputs", func(g *ir.Graph) { g.Replace(2, g.Nodes[2].Op, g.Nodes[2].Attrs, 0, 1) }, "body: 3 arguments for 2 inputs"},
		{"input of another type", func(g *ir.Graph) { g.In(2)[1] = 0 }, "body: argument 1 is bool, the input f64"},
		{"yields too little", func(g *ir.Graph) { r := g.Nodes[2].Region; r.Yields = r.Yields[:1] }, "body: yields 1 values, the node has 2"},
		{"yields another type", func(g *ir.Graph) { g.Nodes[2].Region.Yields[1] = 4 }, "body: yields f64 for a bool"},
		{"condition is no bool", func(g *ir.Graph) { g.Nodes[2].Region.Next.Yields[0] = 0 }, "the condition is no bool"},
		{"branch on no bool", func(g *ir.Graph) { g.In(4)[0] = 0 }, "the condition is no bool"},
		{"one branch", func(g *ir.Graph) { g.Nodes[4].Region.Next = nil }, "has not two branches"},
		{"part of what has none", func(g *ir.Graph) { g.In(5)[0] = 0 }, "which has no parts"},
		{"no tuple", func(g *ir.Graph) { g.Edges[4] = g.Edges[0] }, "its type is f64, not a tuple"},
	} {
		g := parse(looped)
		c.damage(g)
		if err := g.Verify(); err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "BUG: ") {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// Splice brings a region's nodes with their loop indices and calls; Follow finds them where they
// were.
func TestSpliceAndFollow(t *testing.T) {
	g := parse(looped)
	out := ir.New()
	a := out.Add(table.Must("fill"), nil, types.ScalarOf(types.F64), ir.Origin{})
	to := out.Splice(g.Nodes[2].Region, []ir.ID{a, a, a}, 0)
	x := to[4]
	names, at := out.Indices(x)
	if len(names) != 1 || names[0] != "i" || at[0] != 4 || out.Calls[out.Nodes[x].Call].Name != "f" || out.In(x)[0] != to[3] || out.In(to[3])[1] != a {
		t.Errorf("spliced as\n%s", out)
	}
	in, id, ok := g.Follow(2, []ir.Step{{Region: 0, Node: 3}, {Region: 0, Node: 2}})
	if !ok || in.Nodes[id].Op.Name != "add" {
		t.Error("the sum in the inner loop is not found")
	}
	for _, s := range [][]ir.Step{{{Region: 2, Node: 0}}, {{Region: 0, Node: 9}}, {{Region: 1, Node: 1}, {Region: 0, Node: 0}}} {
		if _, _, ok := g.Follow(2, s); ok {
			t.Errorf("%v leads somewhere", s)
		}
	}
}
