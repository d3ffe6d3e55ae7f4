package kernels

import (
	"math/rand/v2"
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

// on runs a row on each rank. A rank makes its part of the result by the row's kernel, or by its loop
// if it has one.
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
		unit := s.unit
		switch name {
		case "order.near":
			unit = 1
		case "order.ends":
			unit = attrs.Int("rows")
		}
		c.Lo, c.Hi = op.WindowOf(r, s.ranks, windows, op.Int(unit))
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

// found returns the keys at the beginnings of windows, and how many of the equal ones come before:
// digit by digit, from what each rank counts of its rows.
func (s *sharedSort) found(t *testing.T, own *value.Dense, by *op.Attrs) *value.Dense {
	t.Helper()
	places := make([]int, s.ranks-1)
	for k := range places {
		places[k], _ = op.WindowOf(k+1, s.ranks, own.Rows, op.Int(s.unit))
	}
	return digits(t, places, func(_ int, digit *op.Attrs, found []value.Value) (counts []value.Value) {
		a := by.With("places", digit.Val("places")).With("shift", digit.Val("shift")).With("bits", digit.Val("bits"))
		for r := range s.ranks {
			if lo, hi := op.WindowOf(r, s.ranks, own.Rows, op.Int(s.unit)); lo < hi {
				c := called(t, row(t, "order.count"), a, append([]value.Value{own}, found...)...)
				c.Lo, c.Hi = lo, hi
				if err := c.Def.Kernel(c); err != nil {
					t.Fatal(err)
				}
				counts = append(counts, c.Out)
			}
		}
		return counts
	})
}

// digits finds the keys at some places of lists by digits, the highest first. counts returns what each
// rank counts of a digit of the keys that have the digits found.
func digits(t *testing.T, places []int, counts func(k int, digit *op.Attrs, found []value.Value) []value.Value) *value.Dense {
	t.Helper()
	var found []value.Value
	shift := 64
	at := op.MakeAttrs(op.Attr{Name: "places", Val: op.Ints(places...)})
	for k, bits := range []int{11, 11, 9, 9, 8, 8, 8} {
		shift -= bits
		all := made(t, "counts.join", nil, counts(k, at.With("shift", op.Int(shift)).With("bits", op.Int(bits)), found)...)
		found = []value.Value{made(t, "select.narrow", at, append([]value.Value{all}, found...)...)}
	}
	return found[0].(*value.Dense)
}

// called returns a call of a row, with memory full of rubbish for its result.
func called(t *testing.T, d *op.Def, attrs *op.Attrs, in ...value.Value) *op.Call {
	t.Helper()
	sig := &op.Sig{Def: d, Attrs: attrs}
	for _, v := range in {
		sig.In = append(sig.In, v.Type())
	}
	c := &op.Call{Def: d, Attrs: attrs, In: in}
	var err error
	if c.Type, err = d.Type(sig); err != nil {
		t.Fatalf("%s: %v", d.Name, err)
	}
	rowtest.Lend(c)
	return c
}

// made returns what the kernel of a row makes.
func made(t *testing.T, name string, attrs *op.Attrs, in ...value.Value) value.Value {
	t.Helper()
	c := called(t, row(t, name), attrs, in...)
	if err := c.Def.Kernel(c); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return c.Out
}

// ends fails unless order.ends is the first or last places of argsort of each rank's rows.
func (s *sharedSort) ends(t *testing.T, x *value.Dense, by *op.Attrs) {
	t.Helper()
	windows, least := make([][2]int, s.ranks), x.Rows
	for r := range windows {
		lo, hi := op.WindowOf(r, s.ranks, x.Rows, op.Int(s.unit))
		windows[r], least = [2]int{lo, hi}, min(least, hi-lo)
	}
	if least == 0 {
		return
	}
	k, last := 1+s.r.IntN(least), s.r.IntN(2) == 0
	attrs := by.With("rows", op.Int(k)).With("last", op.Bool(last)).With("step", op.Int(s.unit))
	got, want := s.on(t, "order.ends", s.ranks*k, attrs, x), value.New(types.I64, s.ranks*k, 1)
	for r, w := range windows {
		at, first := made(t, "argsort", by, x.View(w[0], 0, w[1]-w[0], x.Cols)).(*value.Dense), 0
		if last {
			first = at.Rows - k
		}
		for i := range k {
			want.Set(r*k+i, 0, value.I64(int64(w[0])+at.At(first+i, 0).I))
		}
	}
	if msg := rowtest.Differ(got, want); msg != "" {
		t.Fatalf("%d rows at an end of %v on %d ranks, in units of %d, %v: %s", k, x.Type(), s.ranks, s.unit, attrs, msg)
	}
}

// Ranks that sort rows together make the rows of one: with few and many rows, all equal or with ties,
// nan and zeros of both signs, in windows of different sizes.
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
		step := op.Attr{Name: "step", Val: op.Int(s.unit)}
		own := s.on(t, s.of+".own", n, attrs, x)
		found := s.found(t, own, by)
		near := s.on(t, "order.near", s.ranks, by.With(step.Name, step.Val), own, found)
		cuts := s.on(t, "order.cuts", 0, op.MakeAttrs(op.Attr{Name: "n", Val: op.Int(n)}, step), near, found)
		got := s.on(t, s.of+".window", n, by, own, cuts)
		if msg := rowtest.Differ(got, c.Out); msg != "" {
			t.Fatalf("%s of %v on %d ranks, in units of %d: %s", s.of, x.Type(), s.ranks, s.unit, msg)
		}
		if n <= 1000 {
			if msg := rowtest.Differ(got, rowtest.Defined(t, c)); msg != "" {
				t.Fatalf("%s of %v on %d ranks: %s (ranks, definition)", s.of, x.Type(), s.ranks, msg)
			}
		}
		s.ends(t, x, attrs)
		loops += s.loops
	}
	if loops < 20 {
		t.Errorf("%d loops have run", loops)
	}
}

// Ranks that undo an order store their own rows of the result, and no others.
func TestSharedInverses(t *testing.T) {
	r := rand.New(rand.NewPCG(75, 76))
	for range 40 {
		s := &sharedSort{ranks: 1 + r.IntN(5), unit: 1 + r.IntN(9), r: r}
		p := value.New(types.I64, []int{5, 40, 1000, 50_000}[r.IntN(4)], 1)
		for i, q := range r.Perm(p.Rows) {
			p.I64[i] = int64(q)
		}
		got := s.on(t, "order.inverse", p.Rows, nil, p)
		if msg := rowtest.Differ(got, rowtest.Defined(t, called(t, row(t, "order.inverse"), nil, p))); msg != "" {
			t.Fatalf("%d rows on %d ranks, in units of %d: %s", p.Rows, s.ranks, s.unit, msg)
		}
		from, to := p.Rows/3, p.Rows/2
		c := called(t, row(t, "order.inverse"), nil, p)
		out := c.Out.(*value.Dense)
		for i := range out.I64 {
			out.I64[i] = -1
		}
		c.Lo, c.Hi = from, to
		if err := c.Def.Kernel(c); err != nil {
			t.Fatal(err)
		}
		for i, k := range out.I64 {
			if own := from <= i && i < to; own != (k >= 0) {
				t.Fatalf("a rank with rows %d to %d of %d stores %d in row %d", from, to, p.Rows, k, i)
			}
		}
	}
}

// Ranks that count and keep keys together find the quantiles that a row defines. So do those that count
// the distinct elements of sorted rows.
func TestSharedSelections(t *testing.T) {
	r := rand.New(rand.NewPCG(73, 74))
	for try := range 80 {
		e := elemsUnderTest[r.IntN(len(elemsUnderTest))]
		name := []string{"quantile", "median", "colquantile", "colmedian"}[try%4]
		d, attrs := row(t, name), (*op.Attrs)(nil)
		if try%2 == 0 {
			attrs = op.MakeAttrs(op.Attr{Name: "q", Val: op.Float(float64(r.IntN(5)) / 4)})
		}
		x := anyDense(r, e, 1+r.IntN(60), 1+r.IntN(4))
		lists, n := 1, x.Rows*x.Cols
		if d.Select.Columns {
			lists, n = x.Cols, x.Rows
		}
		at := cuts(r, x.Rows)
		var parts []value.Value // the rows of each rank; later the keys that it keeps
		for k := 1; k < len(at); k++ {
			parts = append(parts, x.View(at[k-1], 0, at[k]-at[k-1], x.Cols))
		}
		columns := op.Attr{Name: "columns", Val: op.Bool(d.Select.Columns)}
		found := digits(t, d.Select.Places(attrs, n), func(k int, digit *op.Attrs, found []value.Value) (counts []value.Value) {
			digit = digit.With(columns.Name, columns.Val).With("lists", op.Int(lists))
			for p := range parts {
				if k == 2 {
					keep := op.MakeAttrs(columns, op.Attr{Name: "places", Val: digit.Val("places")}, op.Attr{Name: "shift", Val: op.Int(42)})
					parts[p] = made(t, "select.keep", keep, parts[p], found[0])
				}
				if k >= 2 {
					digit = digit.With("kept", op.Bool(true))
				}
				counts = append(counts, made(t, "select.count", digit, append([]value.Value{parts[p]}, found...)...))
			}
			return counts
		})
		got := made(t, d.Select.Of, attrs.With("n", op.Int(n)).With("elem", op.Str(e.String())), found)
		if msg := rowtest.Differ(got, rowtest.Defined(t, called(t, d, attrs, x))); msg != "" {
			t.Fatalf("%s%v of %v in %d parts: %s", name, attrs, x.Type(), len(parts), msg)
		}
		ranks := op.MakeAttrs(op.Attr{Name: "ranks", Val: op.Int(1 + r.IntN(5))}, op.Attr{Name: "step", Val: op.Int(1)})
		column := x.View(0, 0, x.Rows, 1)
		sorted := rowtest.Defined(t, called(t, row(t, "sort"), op.MakeAttrs(op.Attr{Name: "by", Val: op.Int(0)}), column))
		runs := made(t, "order.runs", ranks, sorted)
		distinct := made(t, "order.distinct", op.MakeAttrs(op.Attr{Name: "elem", Val: op.Str(e.String())}), runs)
		if msg := rowtest.Differ(distinct, rowtest.Defined(t, called(t, row(t, "unique"), nil, column))); msg != "" {
			t.Fatalf("unique of %v: %s", column.Type(), msg)
		}
		several := made(t, "sum", nil, made(t, "order.runs.count", ranks, sorted))
		if msg := rowtest.Differ(several, rowtest.Defined(t, called(t, row(t, "nunique"), nil, column))); msg != "" {
			t.Fatalf("nunique of %v: %s", column.Type(), msg)
		}
	}
}
