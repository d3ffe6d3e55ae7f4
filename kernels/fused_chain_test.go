package kernels

import (
	"math/rand/v2"
	"testing"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
)

// chainProgram is a random program of rows that the chain machine has links for, over float64 and a bool.
func chainProgram(r *rand.Rand, defs []*op.Def, rows, cols int) (*op.Program, []value.Value) {
	p := &op.Program{}
	var in []value.Value
	var regs []types.Elem
	for k := range 3 + r.IntN(2) {
		o := op.Operand{Elem: types.F64, Mode: []op.Mode{op.Full, op.Full, op.Single, op.ColVec, op.RowVec}[r.IntN(5)]}
		if k == 2 {
			o.Elem = types.Bool
		}
		n, m := rows, cols
		switch o.Mode {
		case op.RowVec:
			n = 1
		case op.ColVec:
			m = 1
		case op.Single:
			n, m = 1, 1
		}
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
		if err != nil || t.Elem != types.F64 && t.Elem != types.Bool {
			continue
		}
		s.Elem = t.Elem
		p.Steps = append(p.Steps, s)
		regs = append(regs, t.Elem)
	}
	return p, in
}

// Comparisons, logic, selections and functions in chains give the bits of their definitions, whoever reads a truth: the next
// link, one after it, memory, or an instruction that is in no chain.
func TestTruthsInChains(t *testing.T) {
	var defs []*op.Def
	for _, d := range elementwise() {
		_, arithmetic := linkNames[d.Name]
		_, wide := wideNames[d.Name]
		_, predicate := predicateNames[d.Name]
		_, logic := truthNames[d.Name]
		if arithmetic || wide || predicate || logic || d.Name == "ifelse" || d.Name == "f64" || d.Name == "bool" || d.Name == "exp" ||
			d.Name == "pow" || d.Name == "mod" || d.Name == "idiv" || d.Name == "atan2" {
			defs = append(defs, d)
			if predicate || logic || d.Name == "ifelse" {
				defs = append(defs, d)
			}
		}
	}
	for _, d := range shorthands() {
		defs = append(defs, d)
		if d.Name != "ew.log" { // which is in no chain
			defs = append(defs, d)
		}
	}
	mapRow := fused()[0]
	r := rand.New(rand.NewPCG(51, 52))
	pure, truths := 0, 0
	for round := range 400 {
		rows, cols := 1+r.IntN(6), 1+r.IntN(200)
		if round%8 == 0 {
			cols = 500 + r.IntN(900)
		}
		p, in := chainProgram(r, defs, rows, cols)
		e := p.Elem()
		c := &op.Call{Def: mapRow, In: in, Body: p, Type: types.DenseOf(e, rows, cols), Out: value.New(e, rows, cols)}
		want, err := mapRow.Ref(c)
		if err != nil {
			t.Fatal(err)
		}
		m := &machine{}
		m.prepare(p, in, rows, cols)
		if m.pure {
			pure++
		}
		if m.pure && e == types.Bool {
			truths++
		}
		if err := mapRow.Kernel(c); err != nil {
			t.Fatal(err)
		}
		if msg := differ(c.Out, want); msg != "" {
			t.Fatalf("round %d, %dx%d, %s: %s", round, rows, cols, describe(p), msg)
		}
		inPlace(t, c, want)
	}
	if pure < 50 || truths < 10 {
		t.Errorf("%d programs were one segment, %d of them made bools", pure, truths)
	}
}
