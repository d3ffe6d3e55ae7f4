package ir_test

import (
	"strings"
	"testing"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
)

// Each kind of damage is found and named.
func TestVerify(t *testing.T) {
	for _, c := range []struct {
		name   string
		damage func(g *ir.Graph)
		want   string
	}{
		{"nothing", func(*ir.Graph) {}, ""},
		{"edges lost", func(g *ir.Graph) { g.Edges = g.Edges[:3] }, "9 nodes, 3 edges"},
		{"no operator", func(g *ir.Graph) { g.Nodes[3].Op = nil }, "%3 has no operator"},
		{"call beyond the table", func(g *ir.Graph) { g.Nodes[1].Call = 7 }, "call 7 of 3"},
		{"negative call", func(g *ir.Graph) { g.Nodes[1].Call = -1 }, "call -1 of 3"},
		{"reads itself", func(g *ir.Graph) { g.In(1)[0] = 1 }, "reads %1, which is not above it"},
		{"reads what is below", func(g *ir.Graph) { g.In(1)[1] = 5 }, "reads %5, which is not above it"},
		{"reads nothing", func(g *ir.Graph) { g.In(1)[1] = ir.None }, "reads %-1"},
		{"pure node reads an effect", func(g *ir.Graph) { g.Replace(8, table.Must("unbound"), nil, 7) }, "reads the effect %7 but is pure"},
		{"refused by the type rule", func(g *ir.Graph) { g.In(1)[0] = 0; g.Replace(4, table.Must("add"), nil, 0, 3) }, "its type rule refuses it: f32[0,7] is not f64"},
		{"another type than the rule's", func(g *ir.Graph) { g.Edges[1] = g.Edges[3] }, "its type rule says f64"},
		{"too few inputs", func(g *ir.Graph) { g.Replace(1, table.Must("add"), nil, 0) }, "1 inputs, add takes 2"},
		{"too many inputs", func(g *ir.Graph) { g.Replace(4, table.Must("add"), nil, 0, 0, 0) }, "3 inputs, add takes 2"},
		{"argument that is none", func(g *ir.Graph) { g.Nodes[2].Region.Args[0] = 2 }, "argument %2 is no arg node"},
		{"argument out of range", func(g *ir.Graph) { g.Nodes[2].Region.Args[0] = -1 }, "argument %-1 is no arg node"},
		{"argument not listed", func(g *ir.Graph) { r := g.Nodes[2].Region; r.Args = r.Args[:1] }, "arg node %1 is not listed"},
		{"yields nothing", func(g *ir.Graph) { g.Nodes[2].Region.Yields[0] = 9 }, "yields %9, which does not exist"},
		{"damage inside a region", func(g *ir.Graph) { g.Nodes[2].Region.Graph.In(2)[0] = 2 }, "region: BUG: reads %2, which is not above it"},
	} {
		g := parse(everything)
		c.damage(g)
		err := g.Verify()
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "BUG: ")):
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func TestUnknownSizesFit(t *testing.T) {
	g := parse("%0 = fill() : f64[_,3]\n%1 = add(%0, %0) : f64[5,3]\n")
	if err := g.Verify(); err != nil {
		t.Error(err)
	}
	g = parse("%0 = fill() : f64[_,3]\n%1 = add(%0, %0) : f64[5,4]\n")
	if err := g.Verify(); err == nil {
		t.Error("f64[5,4] passes as f64[_,3]")
	}
}

func TestCompact(t *testing.T) {
	g := parse(everything)
	small := g.Compact([]bool{true, true, false, false, false, false, false, false, false})
	if small.Len() != 2 || small.Verify() != nil || small.Line(1) != g.Line(1) {
		t.Errorf("compact gives\n%s", small)
	}
	defer func() {
		if r := recover(); r == nil || !strings.Contains(r.(string), "BUG") {
			t.Errorf("a kept reader of a dropped node gives %v", r)
		}
	}()
	g.Compact([]bool{false, true})
}

func TestSweep(t *testing.T) {
	g := parse(everything)
	to := make([]ir.ID, 5)
	g.Sweep(4, []int32{0, 0, 1, 1, 1}, to)
	if g.Len() != 7 || g.Verify() != nil || to[0] != ir.None || to[2] != 4 || g.In(6)[1] != 5 || g.Type(4).Kind != types.Stream {
		t.Errorf("sweep gives %v\n%s", to, g)
	}
	if id := g.Add(table.Must("add"), nil, g.Type(0), ir.Origin{}, 0, 1); g.In(id)[1] != 1 || g.Verify() != nil || g.NumEdges() != 9 {
		t.Errorf("after a sweep and an addition\n%s", g)
	}
}

func TestReplaceAndClone(t *testing.T) {
	g := parse(everything)
	c := g.Clone()
	c.Replace(8, table.Must("emit"), nil, 2, 7, 7)
	c.In(1)[0] = 0
	if g.String() != everything {
		t.Errorf("changing a clone changes the original:\n%s", g)
	}
	if len(c.In(8)) != 3 || c.Verify() != nil || c.Uses()[7] != 2 {
		t.Errorf("replaced:\n%s", c)
	}
	o := c.Origin(1).NoDest()
	c.SetOrigin(1, o)
	if _, _, _, ok := c.Dest(1); ok {
		t.Error("the destination stays")
	}
}

func TestRegionProgram(t *testing.T) {
	p, err := parse(everything).Nodes[2].Program()
	if err != nil || len(p.Steps) != 1 || p.Steps[0].Args[1] != 1 || len(p.In) != 2 || p.In[0].Mode != op.Single {
		t.Errorf("%+v, %v", p, err)
	}
	for _, text := range []string{
		"%0 = arg() : f64\n    %1 = unbound(%0) : f64\n    args %0\n    yield %1", // not elementwise
		"%0 = arg() : f64\n    %1 = add(%0, %0) : f64\n    args %0\n    yield %0", // not the last
		"%0 = arg() : f64\n    %1 = arg() : f64\n    args %0 %1\n    yield %1",    // no step, and another argument
	} {
		n := strings.Count(text, "arg()")
		in, modes := strings.Repeat(", %0", n)[2:], strings.Repeat(",4", n)[1:]
		g := parse("%0 = fill() : f64\n%1 = map(" + in + ") {modes=[" + modes + "]} : f64\n  region {\n    " + text + "\n  }\n")
		if p, err := g.Nodes[1].Program(); err == nil {
			t.Errorf("%s gives %+v", text, p)
		}
	}
	g := parse("%0 = fill() : f64\n%1 = map(%0) {modes=[4]} : f64\n  region {\n    %0 = arg() : f64\n    args %0\n    yield %0\n  }\n")
	if p, err := g.Nodes[1].Program(); err != nil || len(p.In) != 1 || len(p.Steps) != 0 {
		t.Errorf("a region that only reads: %+v, %v", p, err)
	}
}
