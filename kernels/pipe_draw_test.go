package kernels

import (
	"math"
	"math/rand/v2"
	"testing"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/construct"
	"flow/kernels/elementwise"
	"flow/kernels/reduce"
	"flow/kernels/rowtest"
)

// drawnOperand is a window of a constructor on random attributes that has room for rows x cols
// elements from at on.
func drawnOperand(t *testing.T, r *rand.Rand, rows, cols int, at offset) op.Operand {
	n, m, seed := at.row+rows+r.IntN(3), at.col+cols+r.IntN(3), op.Attr{Name: "seed", Val: op.Int(r.IntN(9))}
	shape := []op.Attr{{Name: "n", Val: op.Int(n)}, {Name: "m", Val: op.Int(m)}}
	square := op.Attr{Name: "n", Val: op.Int(max(n, m))}
	var name string
	var attrs []op.Attr
	switch k := r.IntN(6); {
	case k == 0 && cols == 1 && at.col == 0:
		name, attrs = "seq", []op.Attr{{Name: "a", Val: op.Int(3)}, {Name: "b", Val: op.Int(3 + 2*n)}, {Name: "step", Val: op.Int(2)}}
	case k == 1 && cols == 1 && at.col == 0:
		name, attrs = "seq", []op.Attr{{Name: "a", Val: op.Float(-1)}, {Name: "b", Val: op.Float(-1 + 0.25*float64(n))}, {Name: "step", Val: op.Float(0.25)}}
	case k == 2:
		name, attrs = "eye", []op.Attr{square}
	case k == 3:
		name, attrs = "randn", append(shape, seed)
	case k == 4:
		name, attrs = "randint", append(shape, seed, op.Attr{Name: "lo", Val: op.Int(-3)}, op.Attr{Name: "hi", Val: op.Int(1 << 40)})
	default:
		name, attrs = "rand", append(shape, seed)
	}
	d := rowtest.RowNamed(t, construct.Rows(), name)
	a := op.MakeAttrs(attrs...)
	whole, err := d.Type(&op.Sig{Def: d, Attrs: a})
	if err != nil {
		t.Fatal(err)
	}
	if r.IntN(3) == 0 && name != "seq" { // a window of its own
		i, j := r.IntN(whole.Rows-at.row-rows+1), r.IntN(whole.Cols-at.col-cols+1)
		a = a.With("at", op.Ints(i, j, at.row+rows, at.col+cols))
	}
	return op.Operand{Elem: whole.Elem, Mode: op.Drawn, Gen: d, Attrs: a}
}

// withDrawn gives p operands that are drawn; its steps read them in place of others of their type.
func withDrawn(t *testing.T, r *rand.Rand, p *op.Program, rows, cols int, at offset) *op.Program {
	n := len(p.In)
	out := &op.Program{In: append([]op.Operand(nil), p.In...)}
	for range 1 + r.IntN(2) {
		out.In = append(out.In, drawnOperand(t, r, rows, cols, at))
	}
	added := len(out.In) - n
	elem := func(reg int) types.Elem {
		if reg < n {
			return p.In[reg].Elem
		}
		return p.Steps[reg-n].Elem
	}
	for _, s := range p.Steps {
		args := make([]int, len(s.Args))
		for k, reg := range s.Args {
			args[k] = reg
			if reg >= n {
				args[k] += added
			}
			for d := n; d < n+added; d++ {
				if out.In[d].Elem == elem(reg) && r.IntN(2) == 0 {
					args[k] = d
				}
			}
		}
		out.Steps = append(out.Steps, op.Step{Def: s.Def, Args: args, Elem: s.Elem})
	}
	return out
}

// Chains and pipelines that draw from constructors give the bits of the constructors stored,
// whatever lies beside them, wherever their index space lies, whole and in chunks.
func TestDrawnEqualsStored(t *testing.T) {
	defs := (&engine{}).executes(append(elementwise.Rows(), elementwise.Shorthands()...))
	mapRow, pipe := fused()[0], fused()[1]
	names := foldNames()
	r := rand.New(rand.NewPCG(51, 52))
	shapes := [][2]int{{1, 5000}, {5000, 1}, {9, 700}, {2100, 2}, {70, 270}, {300, 3}, {270, 300}}
	defer LoopsFrom(nestFrom)
	pipes, byRow := 0, 0
	for round := range cases(240) {
		LoopsFrom(int64(round%4/2) * nestFrom) // half of the reductions of rows are loops at once
		rows, cols := 1+r.IntN(80), 1+r.IntN(80)
		if round%3 == 0 {
			rows, cols = shapes[round/3%len(shapes)][0], shapes[round/3%len(shapes)][1]
		}
		at := offset{r.IntN(40), r.IntN(40)}
		if round%2 == 0 {
			at = offset{}
		}
		origin := op.Attr{Name: "origin", Val: op.Ints(at.row, at.col)}
		p, in, e := randomProgram(r, defs, rows, cols)
		if round%2 == 0 {
			p, in, e = floatProgram(r, defs, rows, cols)
		}
		p = withDrawn(t, r, p, rows, cols, at)
		if round%5 == 0 { // without a step
			o := p.In[len(p.In)-1]
			p, in, e = &op.Program{In: []op.Operand{o}}, nil, o.Elem
		}
		c := &op.Call{Def: mapRow, In: in, Body: p, Type: types.DenseOf(e, rows, cols), Attrs: op.MakeAttrs(origin)}
		sameAsDefined(t, c)
		f := names[r.IntN(len(names))]
		fd := reduce.Named(f).Def
		ft, err := fd.Type(&op.Sig{Def: fd, In: []types.Type{c.Type}})
		if err != nil {
			continue
		}
		pipes++
		attrs := op.MakeAttrs(op.Attr{Name: "fold", Val: op.Str(f)}, op.Attr{Name: "rows", Val: op.Int(rows)}, op.Attr{Name: "cols", Val: op.Int(cols)}, origin)
		c = &op.Call{Def: pipe, In: in, Body: p, Type: ft, Attrs: attrs}
		sameAsDefined(t, c)
		var ts []types.Type
		for _, v := range in {
			ts = append(ts, v.Type())
		}
		if j, err := pipeJob(c); err == nil && fd.Fold == op.FoldRows && round%4 < 2 {
			if list, _ := j.nests(pipe, ts); list != nil {
				byRow++
			}
		}
	}
	if pipes < cases(200) || byRow < cases(20) {
		t.Errorf("only %d pipelines, %d of which reduce rows by loops", pipes, byRow)
	}
}

// Reductions of the columns of a tall matrix that is drawn: rows of the loop are many rows of the
// matrix, and sums of numbers that are far apart are made again element by element.
func TestDrawnColumns(t *testing.T) {
	pipe, gen := fused()[1], rowtest.RowNamed(t, construct.Rows(), "randn")
	mul := rowtest.RowNamed(t, elementwise.Rows(), "mul")
	n, m := 30000, 3
	shape := op.MakeAttrs(op.Attr{Name: "n", Val: op.Int(n + 5)}, op.Attr{Name: "m", Val: op.Int(m)}, op.Attr{Name: "seed", Val: op.Int(3)})
	far := value.New(types.F64, n, m)
	for k := range far.F64 {
		far.F64[k] = math.Ldexp(1, k%97*5%400)
	}
	p := &op.Program{In: []op.Operand{{Elem: types.F64}, {Elem: types.F64, Mode: op.Drawn, Gen: gen, Attrs: shape}},
		Steps: []op.Step{{Def: mul, Args: []int{0, 1}, Elem: types.F64}}}
	for _, in := range []value.Value{value.F64(2), far} {
		for _, name := range []string{"colsum", "colstddev", "colargmax"} {
			fd := reduce.Named(name).Def
			ft, err := fd.Type(&op.Sig{Def: fd, In: []types.Type{types.DenseOf(types.F64, n, m)}})
			if err != nil {
				t.Fatal(err)
			}
			attrs := op.MakeAttrs(op.Attr{Name: "fold", Val: op.Str(name)}, op.Attr{Name: "rows", Val: op.Int(n)}, op.Attr{Name: "cols", Val: op.Int(m)},
				op.Attr{Name: "origin", Val: op.Ints(4, 0)})
			sameAsDefined(t, &op.Call{Def: pipe, In: []value.Value{in}, Body: p, Type: ft, Attrs: attrs})
		}
	}
}

// sameAsDefined compares a call's kernel, whole and as a loop, with its definition.
func sameAsDefined(t *testing.T, c *op.Call) {
	t.Helper()
	want := rowtest.Defined(t, c)
	onNests(t, func() {
		rowtest.Lend(c)
		if err := c.Def.Kernel(c); err != nil {
			t.Fatal(err)
		}
		if msg := rowtest.Differ(c.Out, want); msg != "" {
			t.Fatalf("%s %v to %v, %s: %s", c.Def.Name, c.Attrs, c.Type, describe(c.Body), msg)
		}
		rowtest.CheckLoop(t, c, want)
	})
}

// A pipeline over a constructor alone needs no memory that grows with it.
func TestDrawnStoresNothing(t *testing.T) {
	pipe := fused()[1]
	gen := rowtest.RowNamed(t, construct.Rows(), "rand")
	call := func(n int) *op.Call {
		attrs := op.MakeAttrs(op.Attr{Name: "n", Val: op.Int(n)}, op.Attr{Name: "m", Val: op.Int(100)})
		return &op.Call{Def: pipe, Body: &op.Program{In: []op.Operand{{Elem: types.F64, Mode: op.Drawn, Gen: gen, Attrs: attrs}}},
			Type:  types.ScalarOf(types.F64),
			Attrs: op.MakeAttrs(op.Attr{Name: "fold", Val: op.Str("sum")}, op.Attr{Name: "rows", Val: op.Int(n)}, op.Attr{Name: "cols", Val: op.Int(100)})}
	}
	c := call(10_000)
	for range 8 { // until the chain has been compiled
		if err := pipe.Kernel(c); err != nil {
			t.Fatal(err)
		}
		c.Out = nil
	}
	per := testing.AllocsPerRun(5, func() {
		c.Out = nil
		if err := pipe.Kernel(c); err != nil {
			t.Fatal(err)
		}
	})
	if per > 20 {
		t.Errorf("%v allocations a call of a million elements", per)
	}
	var sum value.Value = c.Out
	want, err := pipe.Ref(c)
	if err != nil {
		t.Fatal(err)
	}
	if msg := rowtest.Differ(sum, want); msg != "" {
		t.Error(msg)
	}
}
