package kernels

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/reduce"
	"flow/kernels/rowtest"
)

// severalNames draws what a pipeline gives: perhaps its elements, and reductions of all elements
// and of one axis.
func severalNames(r *rand.Rand) []string {
	axis := []op.Fold{op.FoldRows, op.FoldCols, op.FoldAll}[r.IntN(3)]
	var fit []string
	for _, n := range foldNames() {
		if f := reduce.Named(n).Def.Fold; f == op.FoldAll || f == axis {
			fit = append(fit, n)
		}
	}
	var out []string
	if r.IntN(2) == 0 {
		out = append(out, stores)
	}
	for range 1 + r.IntN(4) {
		out = append(out, fit[r.IntN(len(fit))])
	}
	if len(out) == 1 {
		out = append(out, fit[0])
	}
	return out
}

// severalCall is a call of pipe with several results, as c's program makes them; ok is false where
// a reduction refuses.
func severalCall(c *op.Call, names []string, rows, cols int) (*op.Call, bool) {
	space := types.DenseOf(c.Body.Elem(), rows, cols)
	var ts []types.Type
	for _, n := range names {
		t := space
		if n != stores {
			fd := reduce.Named(n).Def
			var err error
			if t, err = fd.Type(&op.Sig{Def: fd, In: []types.Type{space}}); err != nil {
				return nil, false
			}
		}
		ts = append(ts, t)
	}
	out := *c
	out.Out = nil
	out.Type = types.TupleOf(ts...)
	out.Attrs = c.Attrs.With("fold", op.Str(strings.Join(names, " ")))
	return &out, true
}

// lendTuple lends every matrix of several results, full of what no result is.
func lendTuple(c *op.Call) value.Tuple {
	out := make(value.Tuple, len(c.Type.Ext.Fields))
	for k, f := range c.Type.Ext.Fields {
		one := &op.Call{Type: f.Type}
		rowtest.Lend(one)
		out[k] = one.Out
	}
	c.Out = out
	return out
}

// checkSeveral runs a call as a kernel, in place of an operand, and as a loop, and compares with
// the definition.
func checkSeveral(t *testing.T, r *rand.Rand, c *op.Call, names []string) {
	t.Helper()
	equalsSeveral(t, r, c, names, rowtest.Defined(t, c))
}

// equalsSeveral is checkSeveral, the definition's result being want.
func equalsSeveral(t *testing.T, r *rand.Rand, c *op.Call, names []string, want value.Value) {
	t.Helper()
	check := func(how string, got value.Value) {
		t.Helper()
		for k, w := range want.(value.Tuple) {
			if msg := rowtest.Differ(got.(value.Tuple)[k], w); msg != "" {
				t.Fatalf("%s, %s of %v, %s: %s", how, names[k], names, describe(c.Body), msg)
			}
		}
	}
	lendTuple(c)
	if err := c.Def.Kernel(c); err != nil {
		t.Fatal(err)
	}
	check("kernel", c.Out)
	for _, workers := range []int{1, 3} {
		own := *c
		lendTuple(&own)
		n, leaf := own.Def.Loop.Space(&own)
		if n == 0 {
			continue
		}
		got, err := rowtest.Chunked(r, &own, n, leaf, workers)
		if err != nil {
			t.Fatal(err)
		}
		check("loop", got)
	}
	for k, o := range c.Body.In {
		d, ok := c.In[k].(*value.Dense)
		if names[0] != stores || !ok || o.Mode != op.Full || d.Elem != c.Body.Elem() || d.Rows*d.Cols == 0 {
			continue
		}
		own := *c
		own.In = append([]value.Value(nil), c.In...)
		mem := d.Clone()
		own.In[k] = mem
		lendTuple(&own)[0] = mem
		if err := own.Def.Kernel(&own); err != nil {
			t.Fatal(err)
		}
		check("in place", own.Out)
	}
}

// Several results of a chain have the bits of the chain stored and each reduction of it.
func TestPipeOfSeveralResults(t *testing.T) {
	defs, pipe := elementwiseRows(), fused()[1]
	r := rand.New(rand.NewPCG(51, 52))
	shapes := [][2]int{{1, 4000}, {900, 2}, {70, 270}, {150, 190}, {3, 7000}, {40, 40}, {200, 65}}
	ran := 0
	for round := 0; ran < cases(160); round++ {
		s := shapes[round%len(shapes)]
		c, ok := pipeCall(r, pipe, defs, "count", s[0], s[1])
		if !ok {
			continue
		}
		names := severalNames(r)
		if c, ok = severalCall(c, names, s[0], s[1]); !ok {
			continue
		}
		ran++
		checkSeveral(t, r, c, names)
	}
}

// What is cut into pieces and groups, what streams past the caches, and sums that no cascade can
// hold.
func TestLargePipesOfSeveralResults(t *testing.T) {
	if testing.Short() {
		t.Skip("large")
	}
	pipe := fused()[1]
	r := rand.New(rand.NewPCG(61, 62))
	for _, k := range []struct {
		rows, cols int
		wild       bool
		names      []string
	}{
		{1, 4_200_000, false, []string{stores, "sum"}},
		{1, 4_200_000, true, []string{stores, "norm"}},
		{4_200_001, 1, false, []string{"sum", "max"}},
		{4_200_001, 1, false, []string{stores, "sum"}},
		{4_200_001, 1, false, []string{stores, "max", "sum", "var"}},
		{512, 8200, false, []string{stores, "rowsum", "sum"}},
		{512, 8200, true, []string{stores, "colmean", "sum", "colargmax"}},
		{300, 5000, true, []string{"rowargmin", "sum", "norm", "rowmax"}},
		{2100, 2008, false, []string{stores, "rowmax"}},
		{2100, 2008, false, []string{stores, "colsum", "max"}},
	} {
		c := sqrtChain(k.rows, k.cols)
		for i := range c.Dense(0).F64 {
			x := r.Float64()
			switch {
			case k.wild:
				x = math.Ldexp(x, r.IntN(900)-100)
			case i/loopUnit%7 == 5: // near one another, but not to those before
				x *= 0x1p300
			}
			c.Dense(0).F64[i] = x
		}
		c.Def = pipe
		c.Attrs = op.MakeAttrs(op.Attr{Name: "fold", Val: op.Str("sum")}, op.Attr{Name: "rows", Val: op.Int(k.rows)}, op.Attr{Name: "cols", Val: op.Int(k.cols)})
		c, ok := severalCall(c, k.names, k.rows, k.cols)
		if !ok {
			t.Fatal(k.names)
		}
		whole := *c
		lendTuple(&whole)
		mapRow := &op.Call{Def: fused()[0], In: c.In, Body: c.Body, Type: types.DenseOf(types.F64, k.rows, k.cols)}
		rowtest.Lend(mapRow)
		if err := mapRow.Def.Kernel(mapRow); err != nil {
			t.Fatal(err)
		}
		n, leaf := c.Def.Loop.Space(&whole)
		got, err := rowtest.Chunked(r, &whole, n, leaf, 2)
		if err != nil {
			t.Fatal(err)
		}
		for i, name := range k.names {
			want := mapRow.Out
			if name != stores {
				z := &op.Call{Def: reduce.Named(name).Def, In: []value.Value{mapRow.Out}, Type: c.Type.Ext.Fields[i].Type}
				rowtest.Lend(z)
				if err := z.Def.Kernel(z); err != nil {
					t.Fatal(err)
				}
				want = z.Out
			}
			if msg := rowtest.Differ(got.(value.Tuple)[i], want); msg != "" {
				t.Fatalf("%dx%d, %s of %v: %s", k.rows, k.cols, name, k.names, msg)
			}
		}
	}
}
