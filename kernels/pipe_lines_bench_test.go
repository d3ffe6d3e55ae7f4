//go:build linux

package kernels

import (
	"slices"
	"strings"
	"testing"
	"time"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/construct"
	"flow/kernels/reduce"
)

// lineShapes are the index spaces of BenchmarkLines: what stays in a cache, and about half a
// gigabyte of short and of long rows.
var lineShapes = []struct {
	name       string
	rows, cols int
}{{"cache", 500, 200}, {"tall", 1_000_000, 50}, {"wide", 2000, 30_000}}

// lineChains are what is reduced, on one operand x.
var lineChains = []struct {
	name  string
	steps func(m map[string]*op.Def) ([]op.Operand, []op.Step)
}{
	{"x", func(map[string]*op.Def) ([]op.Operand, []op.Step) { return nil, nil }},
	{"axpb", func(m map[string]*op.Def) ([]op.Operand, []op.Step) {
		scalar := op.Operand{Elem: types.F64, Mode: op.Single}
		return []op.Operand{scalar, scalar}, []op.Step{
			{Def: m["mul"], Args: []int{1, 0}, Elem: types.F64}, {Def: m["add"], Args: []int{3, 2}, Elem: types.F64},
		}
	}},
	{"exp", func(m map[string]*op.Def) ([]op.Operand, []op.Step) {
		return nil, []op.Step{{Def: m["exp"], Args: []int{0}, Elem: types.F64}}
	}},
}

// lineFolds are reductions of rows and of columns that a pipeline may end with.
func lineFolds() []string {
	var out []string
	for _, axis := range []string{"row", "col"} {
		for _, f := range []string{"sum", "mean", "norm", "min", "max", "argmax", "count", "any", "var", "stddev"} {
			out = append(out, axis+f)
		}
	}
	return out
}

// turns are the processors' and the clock's seconds of an execution each time it had its turn.
type turns struct{ cpu, wall []float64 }

func (t *turns) time(f func()) {
	cpu, wall := cpuSeconds(), time.Now()
	f()
	t.cpu, t.wall = append(t.cpu, cpuSeconds()-cpu), append(t.wall, time.Since(wall).Seconds())
}

func median(x []float64) float64 {
	x = slices.Clone(x)
	slices.Sort(x)
	return x[len(x)/2]
}

// BenchmarkLines takes a chain and reductions of its rows or columns in one pass and operator by
// operator, in turn. Its figures are milliseconds of processors' time at the median, and one pass
// over operators apart: of the medians and of the minima of processors' time, and of the medians of
// the clock's.
func BenchmarkLines(b *testing.B) {
	defs := map[string]*op.Def{}
	for _, d := range elementwiseRows() {
		defs[d.Name] = d
	}
	for _, s := range lineShapes {
		b.Run(s.name, func(b *testing.B) {
			x, y := huge(b, s.rows, s.cols), huge(b, s.rows, s.cols)
			for i := range x.F64 {
				x.F64[i] = construct.U01(1, uint64(i))
			}
			y.CopyFrom(x)
			for _, c := range lineChains {
				in, steps := c.steps(defs)
				p := &op.Program{In: append([]op.Operand{{Elem: types.F64}}, in...), Steps: steps}
				from := []value.Value{x, value.F64(1.5), value.F64(.25)}[:len(p.In)]
				for _, names := range lineResults(c.name) {
					b.Run(c.name+"/"+strings.Join(names, "+"), func(b *testing.B) { timeLines(b, p, from, y, names) })
				}
			}
		})
	}
}

// lineResults is what is wanted of a chain: a reduction, and the elements and a reduction; of no
// chain two reductions.
func lineResults(chain string) (out [][]string) {
	for _, f := range lineFolds() {
		if chain == "x" {
			if other := f[:3] + "max"; f != other {
				out = append(out, []string{f, other})
			}
			continue
		}
		out = append(out, []string{f}, []string{stores, f})
	}
	return out
}

// timeLines takes the results of that name of a program on in, which are stored in y if they are.
func timeLines(b *testing.B, p *op.Program, in []value.Value, y *value.Dense, names []string) {
	rows, cols := y.Rows, y.Cols
	one := &op.Call{Def: fused()[1], Body: p, In: in}
	one.Attrs = op.MakeAttrs(op.Attr{Name: "fold", Val: op.Str(strings.Join(names, " "))}, op.Attr{Name: "rows", Val: op.Int(rows)}, op.Attr{Name: "cols", Val: op.Int(cols)})
	var apart []*op.Call
	if len(p.Steps) > 0 {
		apart = append(apart, &op.Call{Def: fused()[0], Body: p, In: in, Type: y.Type(), Out: y})
	}
	var ts []types.Type
	lent := value.Tuple{}
	for _, name := range names {
		if name == stores {
			ts, lent = append(ts, y.Type()), append(lent, y)
			continue
		}
		d := reduce.Named(name).Def
		t, err := d.Type(&op.Sig{Def: d, In: []types.Type{y.Type()}})
		if err != nil {
			b.Fatal(err)
		}
		of := y
		if len(p.Steps) == 0 {
			of = in[0].(*value.Dense)
		}
		ts, lent = append(ts, t), append(lent, value.New(t.Elem, t.Rows, t.Cols))
		apart = append(apart, reducing(name, of, t, value.New(t.Elem, t.Rows, t.Cols)))
	}
	if one.Type, one.Out = types.TupleOf(ts...), lent; len(names) == 1 {
		one.Type, one.Out = ts[0], lent[0]
	}
	again := max(1, 2_000_000/(rows*cols))
	runAll := func(calls ...*op.Call) func() {
		return func() {
			for range again {
				for _, c := range calls {
					runLoop(b, c, 2)
				}
			}
		}
	}
	both := [2]func(){runAll(one), runAll(apart...)}
	both[0]()
	both[1]()
	var t [2]turns
	for b.Loop() {
		for k := range t {
			t[k].time(both[k])
		}
	}
	ms := 1e3 / float64(again)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(ms*median(t[0].cpu), "fused-ms")
	b.ReportMetric(ms*median(t[1].cpu), "apart-ms")
	b.ReportMetric(median(t[0].cpu)/median(t[1].cpu), "med")
	b.ReportMetric(slices.Min(t[0].cpu)/slices.Min(t[1].cpu), "min")
	b.ReportMetric(median(t[0].wall)/median(t[1].wall), "wall")
}
