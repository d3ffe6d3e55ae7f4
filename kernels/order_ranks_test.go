package kernels

import (
	"math/rand/v2"
	"slices"
	"testing"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/order"
	"flow/kernels/rowtest"
)

// sharedSort is a sort whose rows ranks share.
type sharedSort struct {
	of          string
	ranks, unit int
	r           *rand.Rand
	loops       int // that have run
}

// on runs a row on each rank. A rank makes its part of the result by the row's kernel, or by its loop if
// it has one.
func (s *sharedSort) on(t *testing.T, name string, windows int, attrs *op.Attrs, in ...value.Value) *value.Dense {
	t.Helper()
	d := row(t, name)
	if windows > 0 {
		attrs = attrs.With("ranks", op.Int(s.ranks))
	}
	sig := &op.Sig{Def: d, Attrs: attrs}
	for _, v := range in {
		sig.In = append(sig.In, v.Type())
	}
	c := &op.Call{Def: d, Attrs: attrs, In: in}
	var err error
	if c.Type, err = d.Type(sig); err != nil {
		t.Fatal(err)
	}
	rowtest.Lend(c)
	for r := range s.ranks {
		if c.Lo, c.Hi = op.WindowOf(r, s.ranks, windows, op.Int(s.unit)); name == "order.near" {
			c.Lo, c.Hi = r, r+1
		}
		if c.Lo == c.Hi && windows > 0 {
			continue
		}
		n, leaf := 0, 0
		if d.Loop != nil {
			n, leaf = d.Loop.Space(c)
		}
		if n > 0 {
			s.loops++
			_, err = rowtest.Chunked(s.r, c, n, leaf, 1+s.r.IntN(3))
		} else {
			err = d.Kernel(c)
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	return c.Out.(*value.Dense)
}

// row returns the row of a name.
func row(t *testing.T, name string) *op.Def { return rowtest.RowNamed(t, rows(t), name) }

// found returns the keys at the beginnings of windows, and how many of the equal ones come before.
func (s *sharedSort) found(keys []uint64) *value.Dense {
	keys = slices.Clone(keys)
	order.SortKeys(keys)
	out := value.New(types.I64, s.ranks-1, 2)
	for t := range out.Rows {
		k, before := uint64(order.NanKey), 0
		p, _ := op.WindowOf(t+1, s.ranks, len(keys), op.Int(s.unit))
		if p < len(keys) {
			k = keys[p]
		}
		before, _ = slices.BinarySearch(keys, k)
		out.Set(t, 0, value.I64(int64(k)))
		out.Set(t, 1, value.I64(int64(p-before)))
	}
	return out
}

// Ranks that sort rows together make the rows of one: with few and many rows, all equal or with ties, nan and
// zeros of both signs, in windows of different sizes.
func TestSharedSorts(t *testing.T) {
	r := rand.New(rand.NewPCG(71, 72))
	loops := 0
	for try := range 60 {
		s := &sharedSort{of: []string{"sort", "argsort"}[try%2], ranks: 2 + r.IntN(15), unit: 1 + r.IntN(2)*r.IntN(9), r: r}
		n := []int{s.ranks, 40, 1000, 40_000}[r.IntN(4)]
		if try%10 == 9 {
			s.ranks, n = 2+r.IntN(2), 4*order.SortLeast
		}
		e := elemsUnderTest[r.IntN(len(elemsUnderTest))]
		cols := 1 + r.IntN(3)
		if try%10 == 8 { // a column of integers: loops sort it without places
			e, cols, s.ranks, n = types.I64, 1, 2, 4*order.SortLeast
		}
		x := anyDense(r, e, n, cols)
		if k := r.IntN(3); k > 0 {
			for i := range n {
				x.Set(i, x.Cols-1, value.F64(float64(r.IntN(k*k*k))/2-1).Convert(e))
			}
		}
		attrs := op.MakeAttrs(op.Attr{Name: "by", Val: op.Int(-1)}, op.Attr{Name: "desc", Val: op.Bool(r.IntN(2) == 0)})
		c := &op.Call{Def: row(t, s.of), Attrs: attrs, In: []value.Value{x}, Type: x.Type()}
		by := attrs
		if s.of == "argsort" {
			c.Type, by = types.DenseOf(types.I64, n, 1), op.MakeAttrs(op.Attr{Name: "by", Val: op.Int(0)})
		}
		rowtest.Lend(c)
		if err := c.Def.Kernel(c); err != nil {
			t.Fatal(err)
		}
		keys := order.AppendKeys(nil, x.View(0, x.Cols-1, n, 1))
		if attrs.Bool("desc") {
			order.Downwards(keys, e.IsFloat())
		}
		found := s.found(keys)
		step := op.Attr{Name: "step", Val: op.Int(s.unit)}
		own := s.on(t, s.of+".own", n, attrs, x)
		near := s.on(t, "order.near", s.ranks, by.With(step.Name, step.Val), own, found)
		cuts := s.on(t, "order.cuts", 0, op.MakeAttrs(op.Attr{Name: "n", Val: op.Int(n)}, step), near, found)
		got := s.on(t, s.of+".window", n, by, own, cuts)
		if msg := rowtest.Differ(got, c.Out); msg != "" {
			t.Fatalf("%s of %v on %d ranks, in units of %d: %s", s.of, x.Type(), s.ranks, s.unit, msg)
		}
		for _, name := range []string{".own", ".window"} { // by definition, where there are no other ranks
			in := map[string][]value.Value{".own": {x}, ".window": {own, cuts}}[name]
			if n <= 1000 {
				rowtest.CheckRow(t, row(t, s.of+name), map[string]*op.Attrs{".own": attrs, ".window": by}[name], in...)
			}
		}
		loops += s.loops
	}
	if loops < 20 {
		t.Errorf("%d loops have run", loops)
	}
}
