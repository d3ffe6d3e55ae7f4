package kernels

import (
	"math/rand/v2"
	"slices"
	"testing"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/elementwise"
	"flow/kernels/rowtest"
)

// chainProgram is a random program of rows, over elements of the given types, a bool and float64.
func chainProgram(r *rand.Rand, defs []*op.Def, elems []types.Elem, rows, cols int) (*op.Program, []value.Value) {
	p := &op.Program{}
	var in []value.Value
	var regs []types.Elem
	for k := range 3 + r.IntN(2) {
		o := op.Operand{Elem: elems[r.IntN(len(elems))], Mode: []op.Mode{op.Full, op.Full, op.Single, op.ColVec, op.RowVec}[r.IntN(5)]}
		if k == 2 {
			o.Elem = types.Bool
		}
		n, m := operandShape(o.Mode, rows, cols)
		p.In = append(p.In, o)
		in = append(in, anyDense(r, o.Elem, n, m))
		regs = append(regs, o.Elem)
	}
	for steps := 2 + r.IntN(9); len(p.Steps) < steps; {
		d := defs[r.IntN(len(defs))]
		s, sig := op.Step{Def: d}, &op.Sig{Def: d}
		for range d.Args {
			k := r.IntN(len(regs))
			if r.IntN(2) == 0 {
				k = max(0, len(regs)-1-r.IntN(3))
			}
			s.Args = append(s.Args, k)
			sig.In = append(sig.In, types.ScalarOf(regs[k]))
		}
		t, err := d.Type(sig)
		if err != nil || t.Elem != types.Bool && !slices.Contains(elems, t.Elem) {
			continue
		}
		s.Elem = t.Elem
		p.Steps = append(p.Steps, s)
		regs = append(regs, t.Elem)
	}
	return p, in
}

// chainRows is the rows that have a body, those that make or take truths more than once.
func chainRows() (defs []*op.Def) {
	for _, d := range elementwiseRows() {
		if d.Body == nil {
			continue
		}
		defs = append(defs, d)
		if d.Operands == op.AsCommon || d.Operands == op.AsChosen || slices.Contains([]string{"and", "or", "not", "ew.min", "ew.max"}, d.Name) {
			defs = append(defs, d)
		}
	}
	return append(defs, elementwise.Shorthands()...)
}

// partial is how many steps of p have no value of some operands.
func partial(p *op.Program) (n int) {
	elems := make([]types.Elem, 0, len(p.In)+len(p.Steps))
	for _, o := range p.In {
		elems = append(elems, o.Elem)
	}
	for _, s := range p.Steps {
		if s.Def.Fails(elems[s.Args[0]], s.Elem) {
			n++
		}
		elems = append(elems, s.Elem)
	}
	return n
}

// Comparisons, logic, selections, conversions and functions in chains of elements of one type or of
// several give the bits of their definitions, whoever reads a result.
func TestRandomChains(t *testing.T) {
	defs := chainRows()
	mapRow := fused()[0]
	for _, elems := range [][]types.Elem{{types.F64}, {types.F32}, {types.I64}, {types.F64, types.F32}, {types.F64, types.I64}, {types.F64, types.F32, types.I64}} {
		r := rand.New(rand.NewPCG(51, 52))
		truths, failed := 0, 0
		for round := range cases(400) {
			rows, cols := 1+r.IntN(6), 1+r.IntN(200)
			if round%8 == 0 {
				cols = 500 + r.IntN(900)
			}
			p, in := chainProgram(r, defs, elems, rows, cols)
			e := p.Elem()
			c := &op.Call{Def: mapRow, In: in, Body: p, Type: types.DenseOf(e, rows, cols)}
			want, err := mapRow.Ref(c)
			if e == types.Bool {
				truths++
			}
			if err != nil {
				failed++
			}
			onNests(t, func() {
				rowtest.Lend(c)
				// A chain of the compiler has one operator that may fail at most, and tells of the
				// first element.
				if got := mapRow.Kernel(c); (got == nil) != (err == nil) || err != nil && partial(p) == 1 && got.Error() != err.Error() {
					t.Fatalf("%v, round %d, %dx%d, %s: fails with %v, want %v", elems, round, rows, cols, describe(p), got, err)
				}
				if err != nil {
					return
				}
				if msg := rowtest.Differ(c.Out, want); msg != "" {
					t.Fatalf("%v, round %d, %dx%d, %s: %s", elems, round, rows, cols, describe(p), msg)
				}
				inPlace(t, c, want)
			})
		}
		t.Logf("%v: %d programs made bools, %d failed", elems, truths, failed)
		if truths < 10 || failed > cases(400)/2 {
			t.Errorf("%v: %d programs made bools, %d failed", elems, truths, failed)
		}
	}
}
