package kernels

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/elementwise"
	"flow/kernels/rowtest"
)

// operandShape is the shape of what a program over rows x cols reads in that way.
func operandShape(how op.Mode, rows, cols int) (n, m int) {
	switch how {
	case op.Trans:
		return cols, rows
	case op.RowVec:
		return 1, cols
	case op.ColVec:
		return rows, 1
	case op.Single:
		return 1, 1
	}
	return rows, cols
}

// randomProgram is a chain of random rows over operands of random modes that fit rows x cols.
func randomProgram(r *rand.Rand, defs []*op.Def, rows, cols int) (*op.Program, []value.Value, types.Elem) {
	elems := []types.Elem{types.F64, types.F64, types.F32, types.I64, types.Bool}
	p := &op.Program{}
	var in []value.Value
	var regs []types.Elem
	for range 1 + r.IntN(4) {
		o := op.Operand{Elem: elems[r.IntN(len(elems))], Mode: op.Mode(r.IntN(5))}
		n, m := operandShape(o.Mode, rows, cols)
		p.In = append(p.In, o)
		d := anyDense(r, o.Elem, n, m)
		if o.Mode == op.Single && r.IntN(2) == 0 {
			in = append(in, d.At(0, 0))
		} else {
			in = append(in, d)
		}
		regs = append(regs, o.Elem)
	}
	for len(p.Steps) < 1+r.IntN(7) {
		d := defs[r.IntN(len(defs))]
		if d.Elt == nil || d.Partial != op.Everywhere {
			continue
		}
		s := op.Step{Def: d}
		sig := &op.Sig{Def: d}
		for range d.Args {
			k := r.IntN(len(regs))
			s.Args = append(s.Args, k)
			sig.In = append(sig.In, types.ScalarOf(regs[k]))
		}
		t, err := d.Type(sig)
		if err != nil {
			continue
		}
		s.Elem = t.Elem
		p.Steps = append(p.Steps, s)
		regs = append(regs, t.Elem)
	}
	return p, in, regs[len(regs)-1]
}

// The chain as a loop gives the bits of the chain element by element, and of its rows one after the
// other.
func TestMapEqualsDefinition(t *testing.T) {
	defs := (&engine{}).executes(append(elementwise.Rows(), elementwise.Shorthands()...))
	mapRow := fused()[0]
	r := rand.New(rand.NewPCG(11, 12))
	for round := range 120 {
		rows, cols := r.IntN(80), r.IntN(80)
		switch round % 8 {
		case 0:
			rows, cols = 1+r.IntN(3), 600+r.IntN(700)
		case 1:
			rows, cols = 600+r.IntN(700), 1+r.IntN(3)
		case 2:
			rows, cols = 70, 270
		}
		p, in, e := randomProgram(r, defs, rows, cols)
		c := &op.Call{Def: mapRow, In: in, Body: p, Type: types.DenseOf(e, rows, cols)}
		want := rowtest.Defined(t, c)
		onNests(t, func() {
			rowtest.Lend(c)
			if err := mapRow.Kernel(c); err != nil {
				t.Fatal(err)
			}
			if msg := rowtest.Differ(c.Out, want); msg != "" {
				t.Fatalf("round %d, %dx%d, %s: %s", round, rows, cols, describe(p), msg)
			}
			inPlace(t, c, want)
			step := oneByOne(t, p, in, rows, cols)
			if msg := rowtest.Differ(c.Out, step); msg != "" {
				t.Fatalf("round %d: fused and one by one differ, %dx%d, %s: %s", round, rows, cols, describe(p), msg)
			}
		})
	}
}

// inPlace runs the chain over the memory of every operand that may lend it.
func inPlace(t *testing.T, c *op.Call, want value.Value) {
	for k, o := range c.Body.In {
		d, ok := c.In[k].(*value.Dense)
		if !ok || o.Mode != op.Full || d.Elem != c.Type.Elem {
			continue
		}
		own := *c
		out := d.Clone()
		own.In = append([]value.Value(nil), c.In...)
		own.In[k], own.Out = out, out
		if err := own.Def.Kernel(&own); err != nil {
			t.Fatal(err)
		}
		if msg := rowtest.Differ(out, want); msg != "" {
			t.Fatalf("in place of operand %d, %s: %s", k, describe(c.Body), msg)
		}
	}
}

// A map whose result takes the memory of an operand may read columns of that operand, as the rounds of
// shortest paths do.
func TestMapOwnColumns(t *testing.T) {
	m := map[string]*op.Def{}
	for _, d := range elementwiseRows() {
		m[d.Name] = d
	}
	r := rand.New(rand.NewPCG(71, 5))
	f := types.F64
	x := anyDense(r, f, 6, 3)
	alone := op.Call{Def: m["sub"], Type: x.Type(), In: []value.Value{x, x.View(0, 1, 6, 1)}}
	want := rowtest.Defined(t, &alone)
	alone.Out = x
	if err := alone.Def.Kernel(&alone); err != nil {
		t.Fatal(err)
	}
	if msg := rowtest.Differ(x, want); msg != "" {
		t.Errorf("alone: %s", msg)
	}
	for _, shape := range [][2]int{{2, 2}, {90, 90}, {300, 9}, {2 * pairEdge, 2 * pairEdge}, {2, 2*loopUnit + 5}} {
		rows, cols := shape[0], shape[1]
		for _, last := range []op.Mode{op.RowVec, op.Trans, op.ColVec} {
			if rows > 300 && last != op.Trans || cols > loopUnit && last != op.RowVec {
				continue
			}
			p := &op.Program{
				In: []op.Operand{{Elem: f, Mode: op.ColVec}, {Elem: f}, {Elem: f, Mode: last}},
				Steps: []op.Step{{Def: m["mul"], Args: []int{0, 2}, Elem: f}, {Def: m["sub"], Args: []int{1, 3}, Elem: f},
					{Def: m["sub"], Args: []int{4, 0}, Elem: f}},
			}
			n, k := operandShape(last, rows, cols)
			x, third := anyDense(r, f, rows, cols), anyDense(r, f, n, k)
			call := func() (c op.Call, over *value.Dense) {
				over = x.Clone()
				c = op.Call{Def: fused()[0], Body: p, Type: x.Type(), In: []value.Value{over.View(0, cols/2, rows, 1), over, third}}
				if last == op.ColVec {
					c.In[2] = over.View(0, cols-1, rows, 1)
				}
				return c, over
			}
			beside, _ := call()
			want := rowtest.Defined(t, &beside)
			onNests(t, func() {
				c, over := call()
				c.Out = over
				if err := c.Def.Kernel(&c); err != nil {
					t.Fatal(err)
				}
				if msg := rowtest.Differ(over, want); msg != "" {
					t.Fatalf("%v, %s: %s", shape, describe(p), msg)
				}
				c, over = call()
				c.Out = over
				units, leaf := c.Def.Loop.Space(&c)
				if got, err := rowtest.Chunked(r, &c, units, leaf, 3); err != nil {
					t.Fatal(err)
				} else if msg := rowtest.Differ(got, want); msg != "" {
					t.Fatalf("%v as a loop, %s: %s", shape, describe(p), msg)
				}
			})
		}
	}
}

// oneByOne applies the steps as separate operators on whole matrices.
func oneByOne(t *testing.T, p *op.Program, in []value.Value, rows, cols int) value.Value {
	var regs []value.Value
	for k, o := range p.In {
		v := in[k]
		if o.Mode == op.Trans {
			d := v.(*value.Dense)
			x := value.New(d.Elem, d.Cols, d.Rows)
			for i := range d.Rows {
				for j := range d.Cols {
					x.Set(j, i, d.At(i, j))
				}
			}
			v = x
		}
		// A step alone may have none but vectors: stretch everything, so that shapes agree.
		x := value.New(o.Elem, rows, cols)
		for i := range rows {
			for j := range cols {
				x.Set(i, j, define.ElementAt(v, i, j))
			}
		}
		regs = append(regs, x)
	}
	for _, s := range p.Steps {
		c := &op.Call{Def: s.Def, Type: types.DenseOf(s.Elem, rows, cols), Out: value.New(s.Elem, rows, cols)}
		for _, r := range s.Args {
			c.In = append(c.In, regs[r])
		}
		if err := s.Def.Kernel(c); err != nil {
			t.Fatal(err)
		}
		regs = append(regs, c.Out)
	}
	return regs[len(regs)-1]
}

func describe(p *op.Program) string {
	s := ""
	for _, o := range p.In {
		s += fmt.Sprintf("%v/%d ", o.Elem, o.Mode)
	}
	for _, x := range p.Steps {
		s += fmt.Sprintf("%s%v:%v ", x.Def.Name, x.Args, x.Elem)
	}
	return s
}

// A warm engine allocates nothing, whatever the number of batches.
func TestMapDoesNotAllocate(t *testing.T) {
	onNests(t, func() {
		c := sqrtChain(300, 300)
		d := fused()[0]
		if n := testing.AllocsPerRun(20, func() {
			if err := d.Kernel(c); err != nil {
				t.Fatal(err)
			}
		}); n > 1 {
			t.Errorf("%v allocations a call", n)
		}
	})
}

// sqrtChain is sqrt(a*x + b)*c - d, the chain of the performance notes, with every operand.
func sqrtChain(rows, cols int) *op.Call {
	m := map[string]*op.Def{}
	for _, d := range elementwiseRows() {
		m[d.Name] = d
	}
	f := types.F64
	p := &op.Program{
		In: []op.Operand{{Elem: f}, {Elem: f, Mode: op.Single}, {Elem: f, Mode: op.Single}, {Elem: f, Mode: op.Single}, {Elem: f, Mode: op.Single}},
		Steps: []op.Step{
			{Def: m["mul"], Args: []int{1, 0}, Elem: f}, {Def: m["add"], Args: []int{5, 2}, Elem: f},
			{Def: m["sqrt"], Args: []int{6}, Elem: f}, {Def: m["mul"], Args: []int{7, 3}, Elem: f},
			{Def: m["sub"], Args: []int{8, 4}, Elem: f},
		},
	}
	x := value.New(f, rows, cols)
	for i := range x.F64 {
		x.F64[i] = float64(i) / float64(rows*cols)
	}
	return &op.Call{
		In:   []value.Value{x, value.F64(1.5), value.F64(.25), value.F64(2), value.F64(.125)},
		Body: p, Type: x.Type(), Out: value.New(f, rows, cols),
	}
}

func BenchmarkMap(b *testing.B) {
	d := fused()[0]
	for _, n := range []int{64, 256, 2048} {
		c := sqrtChain(n, n)
		b.Run(fmt.Sprint("chain/", n), func(b *testing.B) {
			b.SetBytes(int64(n * n * 8))
			for b.Loop() {
				if err := d.Kernel(c); err != nil {
					b.Fatal(err)
				}
			}
		})
		add := c.Body.Steps[1].Def
		t := &op.Call{Body: &op.Program{
			In:    []op.Operand{{Elem: types.F64}, {Elem: types.F64, Mode: op.Trans}},
			Steps: []op.Step{{Def: add, Args: []int{0, 1}, Elem: types.F64}},
		}, In: []value.Value{c.In[0], c.In[0]}, Type: c.Type, Out: c.Out}
		b.Run(fmt.Sprint("xplusxt/", n), func(b *testing.B) {
			b.SetBytes(int64(n * n * 8))
			for b.Loop() {
				if err := d.Kernel(t); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// One table serves all workers.
func TestMapIsConcurrent(t *testing.T) {
	base := sqrtChain(70, 90)
	base.Def = fused()[0]
	want := rowtest.Defined(t, base)
	onNests(t, func() {
		d := fused()[0]
		bad := make(chan string, 8)
		for range cap(bad) {
			go func() {
				c := *base
				c.Out = value.New(types.F64, 70, 90)
				msg := ""
				for range 50 {
					if err := d.Kernel(&c); err != nil {
						msg = err.Error()
					} else if m := rowtest.Differ(c.Out, want); m != "" {
						msg = m
					}
				}
				bad <- msg
			}()
		}
		for range cap(bad) {
			if msg := <-bad; msg != "" {
				t.Error(msg)
			}
		}
	})
}

// elementwiseRows are the elementwise rows with kernels and loops, as the table has them.
func elementwiseRows() []*op.Def { return (&engine{}).executes(elementwise.Rows()) }
