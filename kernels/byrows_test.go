package kernels

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/reduce"
)

// TestByRowsPay: every column of narrow rows has code of its own, which pays after more work than the
// code of wide rows.
func TestByRowsPay(t *testing.T) {
	for cols, want := range map[int]int{4: 13, 16: 13, 64: 1} {
		c := &byRowsCode{body: &op.Body{Acts: make([]op.Action, 4)}, rows: int(loopsFrom.Load()) / (12 * 4 * 4), cols: cols}
		c.once.Do(func() { c.form = &rowForm{} })
		runs := 1
		for ; !c.worthwhile(); runs++ {
		}
		if runs != want {
			t.Errorf("loops over rows of %d columns pay after %d runs, not %d", cols, runs, want)
		}
	}
}

// TestByRowsWorkers: what is of all rows is there when several workers have run parts, also where
// sums of two words lose something.
func TestByRowsWorkers(t *testing.T) {
	table, err := Table("")
	if err != nil {
		t.Fatal(err)
	}
	before := loopsFrom.Load()
	LoopsFrom(0)
	defer LoopsFrom(before)
	for _, cols := range []int{5, 200} {
		for _, far := range []bool{false, true} {
			const rows = 12
			full, column := types.DenseOf(types.F64, rows, cols), types.DenseOf(types.F64, rows, 1)
			x := value.New(types.F64, rows, cols)
			for i := range rows {
				for j := range cols {
					v := math.Sin(float64(7*i + j))
					if far {
						v = math.Ldexp(v, 150*(j%5)-300)
					}
					x.Set(i, j, value.F64(v))
				}
			}
			chain := &op.Program{In: []op.Operand{{Elem: types.F64, Mode: op.Full}, {Elem: types.F64, Mode: op.ColVec}},
				Steps: []op.Step{{Def: table.Must("sub"), Args: []int{0, 1}, Elem: types.F64}}}
			one := types.ScalarOf(types.F64)
			both := types.TupleOf(full, one)
			attrs := op.MakeAttrs(op.Attr{Name: "rows", Val: op.Int(rows)}, op.Attr{Name: "cols", Val: op.Int(cols)},
				op.Attr{Name: "fold", Val: op.Str("store sum")}, op.Attr{Name: "modes", Val: op.Ints(int(op.Full), int(op.ColVec))})
			part := func(k int, t types.Type) op.Action {
				return op.Action{Def: table.Must("part"), Attrs: op.MakeAttrs(op.Attr{Name: "at", Val: op.Int(k)}), Type: t, Args: []int{2}}
			}
			body := &op.Body{Args: []types.Type{full}, Yields: []int{3, 4}, Acts: []op.Action{
				{Def: table.Must("rowsum"), Type: column, Args: []int{0}},
				{Def: table.Must("pipe"), Attrs: attrs, Type: both, Args: []int{0, 1}, Chain: chain},
				part(0, full), part(1, one)}}
			d := table.Must("byrows")
			call := func() *op.Call {
				return &op.Call{Def: d, Type: both, In: []value.Value{x}, Bodies: []*op.Body{body},
					Attrs: op.MakeAttrs(op.Attr{Name: "rows", Val: op.Int(rows)}, op.Attr{Name: "cols", Val: op.Int(cols)}, op.Attr{Name: "block", Val: op.Int(3)})}
			}
			ref, err := d.Ref(call())
			if err != nil {
				t.Fatal(err)
			}
			want := ref.(value.Tuple)
			for range 3 { // later ones may run in another way
				c := call()
				l, err := d.Loop.Begin(c, 3)
				if err != nil {
					t.Fatal(err)
				}
				for k := range 4 {
					if err := l.Chunk(k%2, 3*k, 3*k+3); err != nil {
						t.Fatal(err)
					}
				}
				if err := l.End(); err != nil {
					t.Fatal(err)
				}
				got := c.Out.(value.Tuple)
				if !got[1].(value.Scalar).Same(want[1].(value.Scalar)) {
					t.Errorf("%d columns, far %v: the sum is %v, want %v", cols, far, got[1], want[1])
				}
				for i := range rows {
					for j := range cols {
						if a, b := got[0].(*value.Dense).At(i, j), want[0].(*value.Dense).At(i, j); !a.Same(b) {
							t.Fatalf("%d columns, far %v: element (%d, %d) is %v, want %v", cols, far, i, j, a, b)
						}
					}
				}
			}
		}
	}
}

// rowNumbers are kinds of numbers that rows hold: of similar size, too far apart for sums of two words,
// and not finite.
var rowNumbers = map[string]func(k int) float64{
	"similar": func(k int) float64 { return math.Sin(float64(k)) },
	"far":     func(k int) float64 { return math.Ldexp(math.Sin(float64(k)), 150*(k%5)-300) },
	"odd": func(k int) float64 {
		return []float64{1, math.Inf(1), math.NaN(), math.Copysign(0, -1), -2, 0, 3}[k*k%41%7]
	},
}

// TestRowsByLoops: reductions of rows, with and without a chain before them, are those of their
// definition, call after call: where sums of two words lose something or numbers are not finite, too,
// and where the result lies in the memory of an operand.
func TestRowsByLoops(t *testing.T) {
	table, err := Table("")
	if err != nil {
		t.Fatal(err)
	}
	before := loopsFrom.Load()
	LoopsFrom(0)
	defer LoopsFrom(before)
	begun := 0
	for _, name := range []string{"rowsum", "rowmean", "rownorm", "rowvar", "rowstddev", "rowmin", "rowmax", "rowcount", "rowany", "rowargmax"} {
		for _, cols := range []int{1, 5, 24, 70} {
			for kind, number := range rowNumbers {
				for _, e := range []types.Elem{types.F64, types.F32, types.I64, types.Bool} {
					const rows = 37
					x := value.New(e, rows, cols)
					for i := range rows {
						for j := range cols {
							v := value.F64(number(11*i + 3*j))
							if !e.IsFloat() {
								v = value.F64(float64((i*i + j) % 4))
							}
							x.Set(i, j, v.Convert(e))
						}
					}
					d := table.Must(name)
					f, err := d.Type(&op.Sig{Def: d, In: []types.Type{x.Type()}})
					if err != nil {
						continue
					}
					want, err := d.Ref(&op.Call{Def: d, In: []value.Value{x}, Type: f})
					if err != nil {
						t.Fatal(err)
					}
					for round := range 3 {
						out := value.New(f.Elem, f.Rows, f.Cols)
						c := &op.Call{Def: d, In: []value.Value{x}, Type: f, Out: out}
						if round < 2 {
							err = d.Kernel(c)
						} else if l, fail := d.Loop.Begin(c, 2); fail != nil {
							err = fail
						} else {
							if _, ok := l.(*rowsRun); ok {
								begun++
							}
							for k := 0; k < rows && err == nil; k += 10 {
								err = l.Chunk(k/10%2, k, min(k+10, rows))
							}
							if end := l.End(); err == nil {
								err = end
							}
						}
						if err != nil || !value.Same(c.Out, want) {
							t.Fatalf("%s of %s numbers, %v, round %d: %v, %v, want %v", name, kind, x.Type(), round, err, c.Out, want)
						}
					}
				}
				// x + v, of which the result takes the place of v.
				d := table.Must("pipe")
				p := &op.Program{In: []op.Operand{{Elem: types.F64, Mode: op.Full}, {Elem: types.F64, Mode: op.ColVec}},
					Steps: []op.Step{{Def: table.Must("add"), Args: []int{0, 1}, Elem: types.F64}}}
				const rows = 37
				x := value.New(types.F64, rows, cols)
				for i := range x.F64 {
					x.F64[i] = number(7*i + 1)
				}
				one := table.Must(name)
				f, err := one.Type(&op.Sig{Def: one, In: []types.Type{x.Type()}})
				if err != nil {
					t.Fatal(err)
				}
				for _, lent := range []bool{false, true, false} {
					v := value.New(types.F64, rows, 1)
					for i := range v.F64 {
						v.F64[i] = number(5 * i)
					}
					c := &op.Call{Def: d, In: []value.Value{x, v}, Type: f, Body: p,
						Attrs: op.MakeAttrs(op.Attr{Name: "fold", Val: op.Str(name)}, op.Attr{Name: "rows", Val: op.Int(rows)}, op.Attr{Name: "cols", Val: op.Int(cols)})}
					want, err := d.Ref(c)
					if err != nil {
						t.Fatal(err)
					}
					if c.Out = value.New(f.Elem, f.Rows, f.Cols); lent && f.Elem == types.F64 {
						c.Out = v
					}
					if err := d.Kernel(c); err != nil || !value.Same(c.Out, want) {
						t.Fatalf("%s of %s numbers and a column, %d columns, lent %v: %v, %v, want %v", name, kind, cols, lent, err, c.Out, want)
					}
				}
			}
		}
	}
	if begun < 100 {
		t.Errorf("%d executions were loops", begun)
	}
}

// TestRowsAlongTheirElements: reductions of long rows are what they are block by block.
func TestRowsAlongTheirElements(t *testing.T) {
	table, err := Table("")
	if err != nil {
		t.Fatal(err)
	}
	before := loopsFrom.Load()
	defer LoopsFrom(before)
	for _, size := range [][2]int{{elementsAlong/fewAlong + 1, fewAlong}, {5, sumsAlong + 3}, {3, squaresAlong + 5}} {
		for _, name := range strings.Fields("sum mean norm var min max count any all") {
			for k, e := range []types.Elem{types.F64, types.F32, types.I64, types.Bool, types.F64, types.F64} {
				x := value.New(e, size[0], size[1])
				for i := range size[0] {
					for j := range size[1] {
						at := i*size[1] + j
						v := math.Ldexp(math.Sin(float64(at)), max(0, k-3)*(at%7*450/7-225))
						if e == types.I64 {
							v = float64(at * 7919 % 10007)
						}
						x.Set(i, j, value.F64(v).Convert(e))
					}
				}
				d := table.Must("row" + name)
				elem := reduce.Named(d.Name).Whole.Elem(e)
				if elem == types.NoElem {
					continue
				}
				var out [2]*value.Dense
				for k, from := range []int64{1 << 60, 0} {
					LoopsFrom(from)
					out[k] = value.New(elem, size[0], 1)
					if err := d.Kernel(&op.Call{Def: d, In: []value.Value{x}, Type: out[k].Type(), Out: out[k]}); err != nil {
						t.Fatal(err)
					}
				}
				if !value.Same(out[0], out[1]) {
					t.Errorf("%s of %d x %d %v, kind %d: another result", d.Name, size[0], size[1], e, k)
				}
			}
		}
	}
}

// TestRowsOverwritten: a chain may overwrite an operand while its rows are reduced. Rows whose sums are
// not sure are computed again from the elements that the operand had. A column that is a view of the
// operand is read before it is overwritten, too.
func TestRowsOverwritten(t *testing.T) {
	table, err := Table("")
	if err != nil {
		t.Fatal(err)
	}
	before := loopsFrom.Load()
	LoopsFrom(0)
	defer LoopsFrom(before)
	const rows = 700 // more than copies hold of wide rows
	begun := 0
	for _, fold := range []string{"store rowsum", "store rowmean rowmax", "store rownorm", "store rowmin"} {
		for _, cols := range []int{1, 5, 24, 70} {
			for kind, number := range rowNumbers {
				for _, column := range []bool{false, true} {
					d := table.Must("pipe")
					p := &op.Program{In: []op.Operand{{Elem: types.F64, Mode: op.Full}, {Elem: types.F64, Mode: op.ColVec}},
						Steps: []op.Step{{Def: table.Must("mul"), Args: []int{0, 1}, Elem: types.F64}, {Def: table.Must("sub"), Args: []int{2, 0}, Elem: types.F64}}}
					in := func() []value.Value {
						x, y := value.New(types.F64, rows, cols), value.New(types.F64, rows, 1)
						for i := range x.F64 {
							x.F64[i] = number(7*i + 1)
						}
						for i := range y.F64 {
							y.F64[i] = number(5*i + 2)
						}
						if column {
							y = x.View(0, cols/2, rows, 1)
						}
						return []value.Value{x, y}
					}
					parts := []types.Type{types.DenseOf(types.F64, rows, cols)}
					for range strings.Fields(fold)[1:] {
						parts = append(parts, types.DenseOf(types.F64, rows, 1))
					}
					call := func() *op.Call {
						return &op.Call{Def: d, In: in(), Type: types.TupleOf(parts...), Body: p, Attrs: op.MakeAttrs(op.Attr{Name: "fold", Val: op.Str(fold)},
							op.Attr{Name: "rows", Val: op.Int(rows)}, op.Attr{Name: "cols", Val: op.Int(cols)})}
					}
					want, err := d.Ref(call())
					if err != nil {
						t.Fatal(err)
					}
					for round := range 3 { // later ones find what the first one has left
						c := call()
						out := value.Tuple{c.In[0]}
						for range parts[1:] {
							out = append(out, value.New(types.F64, rows, 1))
						}
						c.Out = out
						l, err := d.Loop.Begin(c, 2)
						if err != nil {
							t.Fatal(err)
						}
						if _, ok := l.(*rowsRun); ok {
							begun++
						}
						// The first rows of a worker may be the fewest.
						for k := rows / 300 * 300; k >= 0 && err == nil; k -= 300 {
							err = l.Chunk(k/300%2, k, min(k+300, rows))
						}
						if end := l.End(); err == nil {
							err = end
						}
						if err != nil || !slices.EqualFunc(out, want.(value.Tuple), value.Same) {
							t.Fatalf("%s of %s numbers, %d columns, a column %v, round %d: %v, another result", fold, kind, cols, column, round, err)
						}
					}
				}
			}
		}
	}
	if begun < 200 { // not those of extremes
		t.Errorf("%d executions were loops", begun)
	}
}

// TestRowsOfManyOperands: a chain of many operands is one loop with the reductions of its rows. The
// listing shows the loop that runs, with the elements that it stores.
func TestRowsOfManyOperands(t *testing.T) {
	table, err := Table("")
	if err != nil {
		t.Fatal(err)
	}
	before := loopsFrom.Load()
	LoopsFrom(0)
	defer LoopsFrom(before)
	const rows, cols = 40, 70
	full, column := types.DenseOf(types.F64, rows, cols), types.DenseOf(types.F64, rows, 1)
	d := table.Must("pipe")
	for _, n := range []int{2, 9, mostIn, mostIn + 1} {
		p := &op.Program{In: []op.Operand{{Elem: types.F64}}}
		var in []value.Value
		var of []types.Type
		for k := range n {
			if k > 0 {
				p.In = append(p.In, op.Operand{Elem: types.F64})
				p.Steps = append(p.Steps, op.Step{Def: table.Must([]string{"add", "mul"}[k%2]), Args: []int{k, max(0, n+k-2)}, Elem: types.F64})
			}
			x := value.New(types.F64, rows, cols)
			for i := range x.F64 {
				x.F64[i] = math.Sin(float64(i + 31*k))
			}
			in, of = append(in, x), append(of, full)
		}
		p.Steps[0].Args[1] = 0
		c := &op.Call{Def: d, In: in, Type: types.TupleOf(full, column), Body: p,
			Attrs: op.MakeAttrs(op.Attr{Name: "fold", Val: op.Str("store rowsum")}, op.Attr{Name: "rows", Val: op.Int(rows)}, op.Attr{Name: "cols", Val: op.Int(cols)})}
		want, err := d.Ref(c)
		if err != nil {
			t.Fatal(err)
		}
		list, _ := d.Nests(c, of)
		if told := len(list) == 1 && len(list[0].Results) == 2; told != (n <= mostIn) {
			t.Errorf("%d operands: a loop with both results is told %v", n, told)
		}
		out := value.Tuple{value.New(types.F64, rows, cols), value.New(types.F64, rows, 1)}
		c.Out = out
		l, err := d.Loop.Begin(c, 1)
		if err != nil {
			t.Fatal(err)
		}
		if _, is := l.(*rowsRun); is != (n <= mostIn) {
			t.Errorf("%d operands: a loop %v", n, is)
		}
		if err := errors.Join(l.Chunk(0, 0, rows), l.End()); err != nil || !slices.EqualFunc(out, want.(value.Tuple), value.Same) {
			t.Errorf("%d operands: %v, another result", n, err)
		}
	}
}

// TestEqualRows: rows that are all the same, since they follow from one row, are reduced and stored by
// a loop as others are.
func TestEqualRows(t *testing.T) {
	table, err := Table("")
	if err != nil {
		t.Fatal(err)
	}
	before := loopsFrom.Load()
	LoopsFrom(0)
	defer LoopsFrom(before)
	const rows = 11
	d := table.Must("pipe")
	for _, cols := range []int{5, 70} {
		w := value.New(types.F64, 1, cols)
		for j := range w.F64 {
			w.F64[j] = math.Sin(float64(j))
		}
		p := &op.Program{In: []op.Operand{{Elem: types.F64, Mode: op.RowVec}}, Steps: []op.Step{{Def: table.Must("exp"), Args: []int{0}, Elem: types.F64}}}
		out := value.Tuple{value.New(types.F64, rows, cols), value.New(types.F64, rows, 1)}
		c := &op.Call{Def: d, In: []value.Value{w}, Type: types.TupleOf(out[0].Type(), out[1].Type()), Body: p, Out: out,
			Attrs: op.MakeAttrs(op.Attr{Name: "fold", Val: op.Str("store rowsum")}, op.Attr{Name: "rows", Val: op.Int(rows)}, op.Attr{Name: "cols", Val: op.Int(cols)})}
		want, err := d.Ref(c)
		if err != nil {
			t.Fatal(err)
		}
		l, err := d.Loop.Begin(c, 1)
		if err != nil {
			t.Fatal(err)
		}
		if _, is := l.(*rowsRun); !is {
			t.Errorf("%d columns: no loop", cols)
		}
		if err := errors.Join(l.Chunk(0, 0, rows), l.End()); err != nil || !slices.EqualFunc(out, want.(value.Tuple), value.Same) {
			t.Errorf("%d columns: %v, another result", cols, err)
		}
	}
}
