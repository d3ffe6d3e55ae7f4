package kernels

import (
	"math/rand/v2"
	"testing"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
)

// chainBench is a chain: the element types of its operands, and steps that name a row and its
// arguments, operands first.
type chainBench struct {
	name  string
	in    []types.Elem
	steps []chainStep
}

type chainStep struct {
	row  string
	args []int
}

// chainBenches are chains beside which NumPy has functions of its own: bench/RESULTS.md.
var chainBenches = []chainBench{
	{"x^y", []types.Elem{types.F64, types.F64}, []chainStep{{"pow", []int{0, 1}}}},
	{"x^y f32", []types.Elem{types.F32, types.F32}, []chainStep{{"pow", []int{0, 1}}}},
	{"x%y", []types.Elem{types.F64, types.F64}, []chainStep{{"mod", []int{0, 1}}}},
	{"x//y", []types.Elem{types.F64, types.F64}, []chainStep{{"idiv", []int{0, 1}}}},
	{"x%y i64", []types.Elem{types.I64, types.I64}, []chainStep{{"mod", []int{0, 1}}}},
	{"x//y i64", []types.Elem{types.I64, types.I64}, []chainStep{{"idiv", []int{0, 1}}}},
	{"asin", []types.Elem{types.F64}, []chainStep{{"asin", []int{0}}}},
	{"acos", []types.Elem{types.F64}, []chainStep{{"acos", []int{0}}}},
	{"atan", []types.Elem{types.F64}, []chainStep{{"atan", []int{0}}}},
	{"atan2", []types.Elem{types.F64, types.F64}, []chainStep{{"atan2", []int{0, 1}}}},
	{"cbrt", []types.Elem{types.F64}, []chainStep{{"cbrt", []int{0}}}},
	{"ifelse(x<y, x*y, x+y) f32", []types.Elem{types.F32, types.F32}, []chainStep{{"lt", []int{0, 1}}, {"mul", []int{0, 1}}, {"add", []int{0, 1}}, {"ifelse", []int{2, 3, 4}}}},
	{"ifelse(x<y, x*y, x+y) i64", []types.Elem{types.I64, types.I64}, []chainStep{{"lt", []int{0, 1}}, {"mul", []int{0, 1}}, {"add", []int{0, 1}}, {"ifelse", []int{2, 3, 4}}}},
	{"abs(x-y)*x i64", []types.Elem{types.I64, types.I64}, []chainStep{{"sub", []int{0, 1}}, {"abs", []int{2}}, {"mul", []int{3, 0}}}},
	{"x<y and y<x+x f32", []types.Elem{types.F32, types.F32}, []chainStep{{"lt", []int{0, 1}}, {"add", []int{0, 0}}, {"lt", []int{1, 3}}, {"and", []int{2, 4}}}},
	{"f64(i)*y", []types.Elem{types.I64, types.F64}, []chainStep{{"f64", []int{0}}, {"mul", []int{2, 1}}}},
	{"f64(f32)*y+y", []types.Elem{types.F32, types.F64}, []chainStep{{"f64", []int{0}}, {"mul", []int{2, 1}}, {"add", []int{3, 1}}}},
	{"i64(x*y)", []types.Elem{types.F64, types.F64}, []chainStep{{"mul", []int{0, 1}}, {"i64", []int{2}}}},
	{"f32(x*y)", []types.Elem{types.F64, types.F64}, []chainStep{{"mul", []int{0, 1}}, {"f32", []int{2}}}},
	{"f32(x<y)", []types.Elem{types.F32, types.F32}, []chainStep{{"lt", []int{0, 1}}, {"f32", []int{2}}}},
}

// program is the chain over operands of n elements.
func (c chainBench) program(b *testing.B, rows map[string]*op.Def, n int) (*op.Program, []value.Value) {
	r := rand.New(rand.NewPCG(3, 4))
	p, in := &op.Program{}, []value.Value(nil)
	var regs []types.Elem
	for _, e := range c.in {
		d := value.New(e, 1, n)
		for j := range n {
			x := r.Float64()
			if e == types.I64 {
				x = 1 + 1000*x
			}
			d.Set(0, j, value.F64(x).Convert(e))
		}
		p.In, in, regs = append(p.In, op.Operand{Elem: e}), append(in, d), append(regs, e)
	}
	for _, s := range c.steps {
		d := rows[s.row]
		sig := &op.Sig{Def: d}
		for _, a := range s.args {
			sig.In = append(sig.In, types.ScalarOf(regs[a]))
		}
		t, err := d.Type(sig)
		if err != nil {
			b.Fatal(err)
		}
		p.Steps, regs = append(p.Steps, op.Step{Def: d, Args: s.args, Elem: t.Elem}), append(regs, t.Elem)
	}
	return p, in
}

// BenchmarkChains is chains over operands in the second-level cache.
func BenchmarkChains(b *testing.B) {
	const n = 32768
	rows := map[string]*op.Def{}
	for _, d := range elementwiseRows() {
		rows[d.Name] = d
	}
	mapRow := fused()[0]
	for _, c := range chainBenches {
		b.Run(c.name, func(b *testing.B) {
			p, in := c.program(b, rows, n)
			call := &op.Call{Def: mapRow, In: in, Body: p, Type: types.DenseOf(p.Elem(), 1, n), Out: value.New(p.Elem(), 1, n)}
			for b.Loop() {
				if err := mapRow.Kernel(call); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/elem")
		})
	}
}
