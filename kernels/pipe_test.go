package kernels

import (
	"math"
	"math/rand/v2"
	"sort"
	"testing"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/reduce"
	"flow/kernels/rowtest"
)

// foldNames are the reductions that a pipeline may end with.
func foldNames() []string {
	var out []string
	for name := range reduce.Folds() {
		out = append(out, name)
	}
	sort.Strings(out)
	return out
}

// pipeCall is a call of pipe with a random program that ends with the fold; ok is false where the
// fold refuses.
func pipeCall(r *rand.Rand, d *op.Def, defs []*op.Def, f string, rows, cols int) (c *op.Call, ok bool) {
	p, in, e := randomProgram(r, defs, rows, cols)
	if r.IntN(3) == 0 { // floats of one type all the way
		p, in, e = floatProgram(r, defs, rows, cols)
	}
	fd := reduce.Named(f).Def
	t, err := fd.Type(&op.Sig{Def: fd, In: []types.Type{types.DenseOf(e, rows, cols)}})
	if err != nil {
		return nil, false
	}
	attrs := op.MakeAttrs(op.Attr{Name: "fold", Val: op.Str(f)}, op.Attr{Name: "rows", Val: op.Int(rows)}, op.Attr{Name: "cols", Val: op.Int(cols)})
	return &op.Call{Def: d, In: in, Body: p, Type: t, Attrs: attrs}, true
}

// floatProgram is a chain of arithmetic on operands of one float type.
func floatProgram(r *rand.Rand, defs []*op.Def, rows, cols int) (*op.Program, []value.Value, types.Elem) {
	var known []*op.Def
	for _, d := range defs {
		switch d.Name {
		case "add", "sub", "mul", "div", "sqrt", "abs", "neg", "ew.min", "ew.max":
			known = append(known, d)
		}
	}
	e := []types.Elem{types.F64, types.F64, types.F32}[r.IntN(3)]
	modes := []op.Mode{op.Full, op.Full, op.Single, op.ColVec, op.RowVec, op.Trans}
	if r.IntN(2) == 0 { // nothing but what lies like the index space
		modes = []op.Mode{op.Full, op.Full, op.Single}
	}
	p := &op.Program{}
	var in []value.Value
	for range 1 + r.IntN(3) {
		o := op.Operand{Elem: e, Mode: modes[r.IntN(len(modes))]}
		n, m := operandShape(o.Mode, rows, cols)
		d := value.New(e, n, m)
		wild := r.IntN(3) == 0
		for i := range n {
			for j := range m {
				x := r.NormFloat64()
				if wild {
					x = math.Ldexp(x, r.IntN(60)-30)
				}
				d.Set(i, j, value.F64(x).Convert(e))
			}
		}
		if wild && n*m > 0 && r.IntN(2) == 0 {
			d = anyDense(r, e, n, m)
		}
		if n > 1 && m > 1 && r.IntN(4) == 0 { // with gaps between its rows
			big := value.New(e, n, m+3)
			big.View(0, 1, n, m).CopyFrom(d)
			d = big.View(0, 1, n, m)
		}
		p.In, in = append(p.In, o), append(in, d)
	}
	for k := range 1 + r.IntN(9) {
		d := known[r.IntN(len(known))]
		s := op.Step{Def: d, Elem: e}
		for range d.Args {
			s.Args = append(s.Args, max(r.IntN(len(p.In)+k), r.IntN(len(p.In)+k)))
		}
		p.Steps = append(p.Steps, s)
	}
	return p, in, e
}

// Every fold of every chain has the bits of the chain stored and then reduced.
func TestPipeEqualsDefinition(t *testing.T) {
	defs := elementwiseRows()
	mapRow, pipe := fused()[0], fused()[1]
	r := rand.New(rand.NewPCG(21, 22))
	names := foldNames()
	if len(names) < 30 {
		t.Fatalf("only %d folds: %v", len(names), names)
	}
	for round := range 6 * len(names) {
		name := names[round%len(names)]
		rows, cols := r.IntN(80), r.IntN(80)
		switch round / len(names) {
		case 0:
			rows, cols = 1, 600+r.IntN(4000)
		case 1:
			rows, cols = 600+r.IntN(700), 1+r.IntN(3)
		case 2:
			rows, cols = 70, 270
		case 3:
			rows, cols = 140+r.IntN(40), 130+r.IntN(200)
		}
		c, ok := pipeCall(r, pipe, defs, name, rows, cols)
		if !ok {
			continue
		}
		want, refErr := pipe.Ref(c)
		onNests(t, func() {
			rowtest.Lend(c)
			err := pipe.Kernel(c)
			if (err == nil) != (refErr == nil) {
				t.Fatalf("%s of %dx%d: %v, the definition says %v", name, rows, cols, err, refErr)
			}
			if err != nil {
				return
			}
			if msg := rowtest.Differ(c.Out, want); msg != "" {
				t.Fatalf("round %d, %s of %dx%d, %s: %s", round, name, rows, cols, describe(c.Body), msg)
			}
			if y := (&op.Call{Def: mapRow, In: c.In, Body: c.Body, Type: types.DenseOf(c.Body.Elem(), rows, cols)}); true {
				rowtest.Lend(y)
				if err := mapRow.Kernel(y); err != nil {
					t.Fatal(err)
				}
				z := &op.Call{Def: reduce.Named(name).Def, In: []value.Value{y.Out}, Type: c.Type}
				rowtest.Lend(z)
				if err := z.Def.Kernel(z); err != nil {
					t.Fatal(err)
				}
				if msg := rowtest.Differ(z.Out, want); msg != "" {
					t.Fatalf("round %d, stored and then %s of %dx%d, %s: %s", round, name, rows, cols, describe(c.Body), msg)
				}
			}
		})
	}
}

// Loops of any chunks on any number of workers have the bits of the kernel.
func TestPipeInChunks(t *testing.T) {
	defs := elementwiseRows()
	pipe := fused()[1]
	r := rand.New(rand.NewPCG(31, 32))
	shapes := [][2]int{{1, 150_000}, {75_000, 1}, {350, 200}, {40, 2500}, {3, 30_000}, {600, 129}, {9, 8192}}
	for round, name := range append(foldNames(), "sum", "sum", "sum", "norm", "colsum") {
		s := shapes[round%len(shapes)]
		c, ok := pipeCall(r, pipe, defs, name, s[0], s[1])
		if !ok {
			continue
		}
		onNests(t, func() {
			rowtest.Lend(c)
			if err := pipe.Kernel(c); err != nil {
				t.Fatal(err)
			}
			want := c.Out
			for _, workers := range []int{1, 3} {
				own := *c
				own.Out = nil
				rowtest.Lend(&own)
				n, leaf := own.Def.Loop.Space(&own)
				got, err := rowtest.Chunked(r, &own, n, leaf, workers)
				if err != nil {
					t.Fatal(err)
				}
				if msg := rowtest.Differ(got, want); msg != "" {
					t.Fatalf("%s of %v on %d workers, %s: %s", name, s, workers, describe(c.Body), msg)
				}
			}
		})
	}
}

// Maps of square matrices that read an operand transposed go in pairs of blocks, by tiles where
// they can.
func TestMirroredMaps(t *testing.T) {
	defs := elementwiseRows()
	mapRow := fused()[0]
	r := rand.New(rand.NewPCG(41, 42))
	ran := 0
	for round := 0; ran < cases(24); round++ {
		n := []int{512, 530, 600, 777}[r.IntN(4)]
		p, in, e := floatProgram(r, defs, n, n)
		if round%3 == 0 {
			p, in, e = randomProgram(r, defs, n, n)
		}
		c := &op.Call{Def: mapRow, In: in, Body: p, Type: types.DenseOf(e, n, n)}
		if !(&job{p: p, rows: n, cols: n}).mirrored() {
			continue
		}
		ran++
		for k, o := range p.In { // the same matrix both ways
			for l, other := range p.In {
				if o.Mode == op.Trans && other.Mode == op.Full && o.Elem == other.Elem {
					in[l] = in[k]
				}
			}
		}
		rowtest.Lend(c)
		if err := mapRow.Kernel(c); err != nil {
			t.Fatal(err)
		}
		rowtest.CheckLoop(t, c, c.Out)
		want := oneByOne(t, p, in, n, n)
		if msg := rowtest.Differ(c.Out, want); msg != "" {
			t.Fatalf("%d, %s: %s", n, describe(p), msg)
		}
	}
}

// A matrix and its transpose are read in pairs of blocks that mirror one another.
func TestSymmetricMaps(t *testing.T) {
	rows := map[string]*op.Def{}
	for _, d := range elementwiseRows() {
		rows[d.Name] = d
	}
	step := func(name string, args ...int) op.Step { return op.Step{Def: rows[name], Args: args, Elem: types.F64} }
	r := rand.New(rand.NewPCG(43, 44))
	for name, c := range map[string]struct {
		beside []op.Mode // inputs 2 and 3; 0 is x and 1 its transpose
		steps  []op.Step
	}{
		"x + t(x)":           {nil, []op.Step{step("add", 0, 1)}},
		"t(x) * x":           {nil, []op.Step{step("mul", 1, 0)}},
		"(x + t(x)) / 2":     {[]op.Mode{op.Single}, []op.Step{step("add", 0, 1), step("div", 3, 2)}},
		"sqrt(x * t(x)) - c": {[]op.Mode{op.Single}, []op.Step{step("mul", 0, 1), step("sqrt", 3), step("sub", 4, 2)}},
		"x - t(x)":           {nil, []op.Step{step("sub", 0, 1)}},
		"x + t(x) - x":       {nil, []op.Step{step("add", 0, 1), step("sub", 2, 0)}},
		"x + t(x) + a row":   {[]op.Mode{op.RowVec}, []op.Step{step("add", 0, 1), step("add", 3, 2)}},
		"x + t(x) - a":       {[]op.Mode{op.Full}, []op.Step{step("add", 0, 1), step("sub", 3, 2)}},
		"x + t(a)":           {[]op.Mode{op.Trans}, []op.Step{step("add", 0, 2)}},
		"x + c t(x)":         {[]op.Mode{op.Single}, []op.Step{step("mul", 1, 2), step("add", 0, 3)}},
	} {
		for _, n := range []int{512, 533} {
			x := anyDense(r, types.F64, n, n)
			p := &op.Program{In: []op.Operand{{Elem: types.F64}, {Elem: types.F64, Mode: op.Trans}}, Steps: c.steps}
			in := []value.Value{x, x}
			for _, mode := range c.beside {
				rows, cols := operandShape(mode, n, n)
				p.In, in = append(p.In, op.Operand{Elem: types.F64, Mode: mode}), append(in, anyDense(r, types.F64, rows, cols))
			}
			call := &op.Call{Def: fused()[0], In: in, Body: p, Type: types.DenseOf(types.F64, n, n)}
			rowtest.Lend(call)
			want := oneByOne(t, p, in, n, n)
			if err := call.Def.Kernel(call); err != nil {
				t.Fatal(err)
			}
			if msg := rowtest.Differ(call.Out, want); msg != "" {
				t.Errorf("%s, %d: %s", name, n, msg)
			}
			rowtest.CheckLoop(t, call, want)
		}
	}
}
