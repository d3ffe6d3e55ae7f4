package kernels

import (
	"math"
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
	return digits(t, places, nil, func(digit *op.Attrs, found []value.Value) (counts []value.Value) {
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
// rank counts of a digit of the keys that have the digits found so far. told has the places if the
// attributes do not.
func digits(t *testing.T, places []int, found []value.Value, counts func(digit *op.Attrs, found []value.Value) []value.Value, told ...value.Value) *value.Dense {
	t.Helper()
	shift := 64
	at := op.MakeAttrs(op.Attr{Name: "places", Val: op.Ints(places...)})
	for _, bits := range []int{11, 11, 9, 9, 8, 8, 8} {
		shift -= bits
		all := made(t, "counts.join", nil, counts(at.With("shift", op.Int(shift)).With("bits", op.Int(bits)), found)...)
		found = []value.Value{made(t, "select.narrow", at, slices.Concat([]value.Value{all}, found, told)...)}
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
		if try%10 == 8 { // a column of numbers: loops sort it without places, if -0 and nan are not in it
			e, cols, s.ranks, n = []types.Elem{types.I64, types.F64}[try/10%2], 1, 2, 4*order.SortLeast
		}
		x := anyDense(r, e, n, cols)
		if k := r.IntN(3); k > 0 && try%20 != 18 {
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

// selection is a call of a row with a Select whose rows ranks share: rank r has rows at[r]..at[r+1]-1.
type selection struct {
	d        *op.Def
	attrs    *op.Attrs
	x        *value.Dense
	at       []int
	n, lists int           // elements of a list, and lists
	told     []value.Value // what the row At makes, if only the run tells the number of rows
}

// with returns the attributes of the rows that select together, and more of them.
func (s *selection) with(more ...op.Attr) *op.Attrs {
	windows := op.Attr{Name: "step", Val: op.Ints(s.at...)}
	at := s.d.Select.Places(s.attrs, s.n)
	if s.told != nil {
		clear(at)
	}
	columns, places := op.Attr{Name: "columns", Val: op.Bool(s.d.Select.Columns)}, op.Attr{Name: "places", Val: op.Ints(at...)}
	return op.MakeAttrs(append([]op.Attr{windows, columns, places, {Name: "ranks", Val: op.Int(len(s.at) - 1)}, {Name: "lists", Val: op.Int(s.lists)}}, more...)...)
}

// each returns what each rank makes of a row of kernels/order.
func (s *selection) each(t *testing.T, name string, attrs *op.Attrs, in func(rank int) []value.Value) (out []value.Value) {
	t.Helper()
	for r := range len(s.at) - 1 {
		args := in(r)
		c := called(t, row(t, name), attrs, args...)
		if c.Lo, c.Hi = s.at[r], s.at[r+1]; s.told != nil && args[0] == s.x { // a rank has its own rows alone
			args[0] = s.x.View(c.Lo, 0, c.Hi-c.Lo, s.x.Cols)
			c = called(t, row(t, name), attrs, append(args, s.told...)...)
		}
		if err := c.Def.Kernel(c); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out = append(out, c.Out)
	}
	return out
}

// sample returns the sample of all ranks.
func (s *selection) sample(t *testing.T) *value.Dense {
	t.Helper()
	if s.told == nil {
		return made(t, "select.sample", s.with(), s.x).(*value.Dense)
	}
	var all *value.Dense
	for r := range len(s.at) - 1 {
		attrs := op.MakeAttrs(op.Attr{Name: "columns", Val: op.Bool(s.d.Select.Columns)}, op.Attr{Name: "ranks", Val: op.Int(len(s.at) - 1)}, op.Attr{Name: "most", Val: op.Int(2 * s.n)})
		c := called(t, row(t, "select.sample"), attrs, s.x.View(s.at[r], 0, s.at[r+1]-s.at[r], s.x.Cols), s.told[0])
		c.Lo, c.Hi = r, r+1
		if err := c.Def.Kernel(c); err != nil {
			t.Fatal(err)
		}
		if all == nil {
			all = value.New(types.I64, len(s.at)-1, c.Result().Cols)
		}
		all.View(r, 0, 1, all.Cols).CopyFrom(c.Result().View(r, 0, 1, all.Cols))
	}
	return all
}

// near returns what each rank has near the places by a sample, and in which interval of its range each
// place is.
func (s *selection) near(t *testing.T, sample value.Value) (near []value.Value, within value.Value) {
	t.Helper()
	near = s.each(t, "select.near", s.with(), func(int) []value.Value { return []value.Value{s.x, sample} })
	tally := s.each(t, "select.tally", s.with(), func(r int) []value.Value { return near[r : r+1] })
	return near, made(t, "select.narrow", s.with(), append([]value.Value{made(t, "counts.join", nil, tally...)}, s.told...)...)
}

// found returns the result of the selection from what near returns.
func (s *selection) found(t *testing.T, near []value.Value, within value.Value) value.Value {
	t.Helper()
	chosen := s.attrs.With("elem", op.Str(s.x.Elem.String()))
	if s.told == nil {
		chosen = chosen.With("n", op.Int(s.n))
	}
	found := digits(t, s.d.Select.Places(s.attrs, s.n), []value.Value{within}, func(digit *op.Attrs, found []value.Value) []value.Value {
		attrs := s.with(op.Attr{Name: "shift", Val: digit.Val("shift")}, op.Attr{Name: "bits", Val: digit.Val("bits")})
		return s.each(t, "select.count", attrs, func(r int) []value.Value { return []value.Value{s.x, near[r], found[0]} })
	}, s.told...)
	return made(t, s.d.Select.Of, chosen, append([]value.Value{found}, s.told...)...)
}

// Ranks that copy and count keys together find the quantiles that a row defines, also by samples that
// mislead. Those that count the distinct elements of sorted rows find them.
func TestSharedSelections(t *testing.T) {
	r, met, toldAlone := rand.New(rand.NewPCG(73, 74)), map[int64]int{}, 0
	for try := range 240 {
		e := elemsUnderTest[r.IntN(len(elemsUnderTest))]
		name := []string{"quantile", "median", "colquantile", "colmedian"}[try%4]
		d, attrs := row(t, name), (*op.Attrs)(nil)
		if try%2 == 0 {
			attrs = op.MakeAttrs(op.Attr{Name: "q", Val: op.Float(float64(r.IntN(5)) / 4)})
		}
		rows := 1 + r.IntN(60)
		if try%5 == 0 {
			rows = 2000
		}
		x := anyDense(r, e, rows, 1+r.IntN(4))
		s := &selection{d, attrs, x, slices.Compact(cuts(r, x.Rows)), x.Rows * x.Cols, 1, nil}
		if d.Select.Columns {
			s.lists, s.n = x.Cols, x.Rows
		}
		if try%7 < 3 {
			of := attrs.With("elem", op.Str(e.String())).With("cols", op.Int(x.Cols))
			s.told = []value.Value{made(t, d.Select.At, of, value.I64(int64(x.Rows)))}
		}
		sample := s.sample(t)
		if try%3 == 0 {
			few := sample // of them again and again
			sample = anyDense(r, types.I64, len(s.at)-1, 1+10*s.lists)
			for i := 0; i < few.Cols && try%2 > 0; i++ {
				sample.Set(0, i%(10*s.lists), few.At(0, i))
			}
			for i := range sample.Rows {
				sample.Set(i, sample.Cols-1, value.I64(int64(10*(try/3%2))))
			}
		}
		near, within := s.near(t, sample)
		for i := range within.(*value.Dense).Rows {
			d := within.(*value.Dense).At(i, 0).I
			if met[d]++; d == 2 && copies(near, within.(*value.Dense).Rows) == 0 {
				toldAlone++
			}
		}
		if msg := rowtest.Differ(s.found(t, near, within), rowtest.Defined(t, called(t, d, attrs, x))); msg != "" {
			t.Fatalf("%s%v of %v in parts %v: %s", name, attrs, x.Type(), s.at, msg)
		}
		ranks := op.MakeAttrs(op.Attr{Name: "ranks", Val: op.Int(1 + r.IntN(5))}, op.Attr{Name: "step", Val: op.Int(1)})
		elem := op.MakeAttrs(op.Attr{Name: "elem", Val: op.Str(e.String())})
		if msg := rowtest.Differ(made(t, "distinct.listed", elem, made(t, "distinct.list", ranks, x)), rowtest.Defined(t, called(t, row(t, "unique"), nil, x))); msg != "" {
			t.Fatalf("unique of %v: %s", x.Type(), msg)
		}
		several := made(t, "sum", nil, made(t, "distinct.count", ranks, made(t, "distinct.list", ranks.With("split", op.Int(1)), x)))
		if msg := rowtest.Differ(several, rowtest.Defined(t, called(t, row(t, "nunique"), nil, x))); msg != "" {
			t.Fatalf("nunique of %v: %s", x.Type(), msg)
		}
	}
	if len(met) != 5 || toldAlone == 0 {
		t.Errorf("places were in these intervals of their ranges: %v; %d ranges had too many keys for copies", met, toldAlone)
	}
}

// copies is how many keys all ranks have copied near so many places.
func copies(near []value.Value, places int) (n int) {
	for _, x := range near {
		n += x.Type().Rows - 3*places
	}
	return n
}

// What ranks copy near places is bounded and told, also by samples that mislead: here all keys are in
// the range.
func TestCopiesAreBounded(t *testing.T) {
	x := value.New(types.F64, 20_000, 2)
	for i := range x.F64 {
		x.F64[i] = float64(i * 7919 % 20_011)
	}
	for _, name := range []string{"median", "colmedian"} {
		s := &selection{row(t, name), nil, x, []int{0, 9_000, 20_000}, 40_000, 1, nil}
		if s.d.Select.Columns {
			s.lists, s.n = 2, 20_000
		}
		misleads, near := value.New(types.I64, 2, 1+100*s.lists), row(t, "select.near")
		for i := range misleads.I64 {
			misleads.I64[i] = int64(i%2) * math.MaxInt64 // keys of -nan and of a number above 0
		}
		for r := range misleads.Rows {
			misleads.Set(r, misleads.Cols-1, value.I64(100))
		}
		for _, c := range []struct {
			sample value.Value
			copied bool
		}{{misleads, false}, {s.sample(t), true}} {
			parts, within := s.near(t, c.sample)
			most := near.MostRows(&op.Sig{Def: near, Attrs: s.with(), In: []types.Type{x.Type(), c.sample.Type()}})
			for _, p := range parts {
				if rows := p.Type().Rows; rows > most || most > x.Rows*x.Cols/3 {
					t.Errorf("%s: %d rows near places, %d are told", name, rows, most)
				}
			}
			if n := copies(parts, within.(*value.Dense).Rows); n > 0 != c.copied {
				t.Errorf("%s: %d copies", name, n)
			}
			if msg := rowtest.Differ(s.found(t, parts, within), rowtest.Defined(t, called(t, s.d, nil, x))); msg != "" {
				t.Errorf("%s: %s", name, msg)
			}
		}
	}
}

// Samples are good if ranks have very different numbers of rows, and none has numbers like those of
// another.
func TestSamplesOfUnequalRanks(t *testing.T) {
	x := value.New(types.F64, 40_000, 2)
	for i := range x.F64 {
		x.F64[i] = float64(i / 2)
	}
	for _, name := range []string{"quantile", "colquantile"} {
		for _, q := range []float64{0.05, 0.5, 0.9, 0.99} {
			s := &selection{row(t, name), op.MakeAttrs(op.Attr{Name: "q", Val: op.Float(q)}), x, []int{0, 36_000, 36_001, 40_000}, 80_000, 1, nil}
			if s.d.Select.Columns {
				s.lists, s.n = 2, 40_000
			}
			_, within := s.near(t, s.sample(t))
			for i := 0; i < within.(*value.Dense).Rows; i++ {
				if d := within.(*value.Dense).At(i, 0).I; d == 0 || d == 4 {
					t.Errorf("%s %v: place %d is in interval %d", name, q, i, d)
				}
			}
		}
	}
}
