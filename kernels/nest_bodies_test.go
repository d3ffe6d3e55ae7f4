package kernels

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/construct"
	"flow/kernels/loop/launch"
	"flow/kernels/nest"
)

// bodyOf builds a body over i and an n x 3 matrix P, for tests: registers 0 and 1.
type bodyOf struct {
	*op.Body
	table               *op.Table
	tall, row, col, lay types.Type // n x 3, 1 x 3, n x 1, 1 x n
}

func newBodyOf(table *op.Table, n int) *bodyOf {
	return &bodyOf{
		&op.Body{Args: []types.Type{types.ScalarOf(types.I64), types.DenseOf(types.F64, n, 3)}}, table,
		types.DenseOf(types.F64, n, 3), types.DenseOf(types.F64, 1, 3), types.DenseOf(types.F64, n, 1), types.DenseOf(types.F64, 1, n),
	}
}

func (b *bodyOf) act(name string, t types.Type, attrs *op.Attrs, args ...int) int {
	b.Acts = append(b.Acts, op.Action{Def: b.table.Must(name), Attrs: attrs, Type: t, Args: args})
	return len(b.Args) + len(b.Acts) - 1
}

func (b *bodyOf) number(v float64) int {
	return b.act("const", types.ScalarOf(types.F64), op.MakeAttrs(op.Attr{Name: "value", Val: op.Float(v)}))
}

// here is P[i, :].
func (b *bodyOf) here() int {
	zero := b.act("const", types.ScalarOf(types.I64), op.MakeAttrs(op.Attr{Name: "value", Val: op.Int(0)}))
	return b.act("window", b.row, op.MakeAttrs(op.Attr{Name: "rows", Val: op.Int(1)}, op.Attr{Name: "cols", Val: op.Int(3)}), 1, 0, zero)
}

// column is column j of the tall matrix m.
func (b *bodyOf) column(m, j int) int {
	return b.act("slice", b.col, op.MakeAttrs(op.Attr{Name: "at", Val: op.Ints(0, j, b.col.Rows, 1)}), m)
}

// squares is the sum of the squares of the columns of d, term by term.
func (b *bodyOf) squares(d int) int {
	two := b.number(2)
	sum := b.act("pow", b.col, nil, b.column(d, 0), two)
	for j := 1; j < 3; j++ {
		sum = b.act("add", b.col, nil, sum, b.act("pow", b.col, nil, b.column(d, j), two))
	}
	return sum
}

// product is t(w) @ m.
func (b *bodyOf) product(w, m int) int {
	return b.act("matmul", b.row, nil, b.act("t", b.lay, nil, w), m)
}

// rowBodies are bodies that end with products over all rows.
var rowBodies = map[string]func(b *bodyOf) int{
	"gravity": func(b *bodyOf) int {
		d := b.act("sub", b.tall, nil, 1, b.here())
		r := b.act("add", b.col, nil, b.squares(d), b.number(1e-2))
		return b.product(b.act("pow", b.col, nil, b.act("rsqrt", b.col, nil, r), b.number(3)), d)
	},
	"gravity, as a quotient": func(b *bodyOf) int {
		d := b.act("sub", b.tall, nil, 1, b.here())
		r := b.act("add", b.col, nil, b.squares(d), b.number(1e-2))
		return b.product(b.act("div", b.col, nil, b.number(5e-4), b.act("mul", b.col, nil, r, b.act("sqrt", b.col, nil, r))), d)
	},
	"gravity, with masses": func(b *bodyOf) int {
		d := b.act("sub", b.tall, nil, 1, b.here())
		r := b.act("add", b.col, nil, b.squares(d), b.number(1e-2))
		m := b.act("abs", b.col, nil, b.column(1, 2))
		return b.product(b.act("div", b.col, nil, m, b.act("mul", b.col, nil, r, b.act("sqrt", b.col, nil, r))), d)
	},
	"gravity, softened by the body": func(b *bodyOf) int { // each body its own softening
		d := b.act("sub", b.tall, nil, 1, b.here())
		r := b.act("add", b.col, nil, b.squares(d), b.act("item", types.ScalarOf(types.F64), op.MakeAttrs(op.Attr{Name: "at", Val: op.Ints(0, 1)}), b.here()))
		return b.product(b.act("div", b.col, nil, b.number(1), b.act("mul", b.col, nil, r, b.act("sqrt", b.col, nil, r))), d)
	},
	"gravity, along other axes": func(b *bodyOf) int { // the third coordinate of the sum comes first
		d := b.act("sub", b.tall, nil, 1, b.here())
		two := b.number(2)
		r := b.act("pow", b.col, nil, b.column(d, 2), two)
		for _, j := range []int{0, 1} {
			r = b.act("add", b.col, nil, r, b.act("pow", b.col, nil, b.column(d, j), two))
		}
		r = b.act("add", b.col, nil, r, b.number(1e-2))
		return b.product(b.act("div", b.col, nil, b.number(1), b.act("mul", b.col, nil, r, b.act("sqrt", b.col, nil, r))), d)
	},
	"a root that is read otherwise, too": func(b *bodyOf) int {
		d := b.act("sub", b.tall, nil, 1, b.here())
		r := b.squares(d)
		s := b.act("sqrt", b.col, nil, r)
		return b.product(b.act("add", b.col, nil, b.act("mul", b.col, nil, r, s), b.act("sub", b.col, nil, s, r)), d)
	},
	"gravity, from the body": func(b *bodyOf) int {
		d := b.act("sub", b.tall, nil, b.here(), 1)
		r := b.act("add", b.col, nil, b.number(1e-2), b.squares(d))
		return b.product(b.act("div", b.col, nil, b.number(1), b.act("mul", b.col, nil, r, b.act("sqrt", b.col, nil, r))), d)
	},
	"gravity, as a power": func(b *bodyOf) int { // squares of the whole matrix, and something behind the sum
		d := b.act("sub", b.tall, nil, 1, b.here())
		q := b.act("mul", b.tall, nil, d, d)
		sum := b.act("add", b.col, nil, b.act("add", b.col, nil, b.column(q, 1), b.column(q, 0)), b.column(q, 2))
		w := b.act("div", b.col, nil, b.number(3), b.act("pow", b.col, nil, b.act("add", b.col, nil, sum, b.number(1e-3)), b.number(1.5)))
		return b.act("add", b.row, nil, b.act("matmul", b.row, op.MakeAttrs(op.Attr{Name: "ta", Val: op.Bool(true)}), w, d), b.here())
	},
	"gravity, of which the weights are read, too": func(b *bodyOf) int {
		d := b.act("sub", b.tall, nil, 1, b.here())
		r := b.act("add", b.col, nil, b.squares(d), b.number(1e-2))
		w := b.act("div", b.col, nil, b.number(1), b.act("mul", b.col, nil, r, b.act("sqrt", b.col, nil, r)))
		return b.act("mul", b.row, nil, b.product(w, d), b.act("sum", types.ScalarOf(types.F64), nil, w))
	},
	"sums of rows": func(b *bodyOf) int {
		d := b.act("sub", b.tall, nil, 1, b.here())
		r := b.act("rowsum", b.col, nil, b.act("pow", b.tall, nil, d, b.number(2)))
		return b.product(b.act("rsqrt", b.col, nil, b.act("add", b.col, nil, r, b.number(1e-2))), d)
	},
	"products of a matrix that stands": func(b *bodyOf) int {
		d := b.act("abs", b.tall, nil, b.act("sub", b.tall, nil, 1, b.here()))
		return b.product(b.act("ew.min", b.col, nil, b.column(d, 0), b.act("ew.max", b.col, nil, b.column(d, 1), b.column(d, 2))), 1)
	},
	"a difference that is read otherwise, too": func(b *bodyOf) int {
		d := b.act("sub", b.tall, nil, 1, b.here())
		w := b.act("mul", b.col, nil, b.column(d, 1), b.squares(d))
		y := b.product(b.act("neg", b.col, nil, w), d)
		return b.act("mul", b.row, nil, y, b.here())
	},
}

// beginRowBody begins a loop over that body. Some elements of P are no numbers.
func beginRowBody(t testing.TB, name string, n, odd int) (*op.Call, *parforRun) {
	t.Helper()
	table, err := Table("")
	if err != nil {
		t.Fatal(err)
	}
	p := value.New(types.F64, n, 3)
	for k := range p.F64 {
		p.F64[k] = construct.U01(5, uint64(k))
	}
	r := rand.New(rand.NewPCG(3, uint64(n)))
	for range odd {
		p.F64[r.IntN(3*n)] = []float64{math.Inf(1), 0, 1e200, -1e-200, math.NaN(), math.Copysign(0, -1)}[r.IntN(6)]
	}
	b := newBodyOf(table, n)
	b.Yields = []int{rowBodies[name](b)}
	c := &op.Call{Def: table.Must("parfor"), Type: types.DenseOf(types.F64, n, 3), In: []value.Value{p}, Bodies: []*op.Body{b.Body},
		Attrs: op.MakeAttrs(op.Attr{Name: "lo", Val: op.Ints(0)}, op.Attr{Name: "n", Val: op.Ints(n)}, op.Attr{Name: "by", Val: op.Ints(1)}, op.Attr{Name: "names", Val: op.Str("i")})}
	run, err := beginParfor(c, 1)
	if err != nil {
		t.Fatal(err)
	}
	return c, run.(*parforRun)
}

// Bodies that go over all rows give the bits of the definition, whatever the chunks.
func TestRowBodies(t *testing.T) {
	compiledFromTheStart(t)
	for name := range rowBodies {
		for _, n := range []int{16, 33, 70, 130} {
			for _, odd := range []int{0, 1, n / 8} {
				t.Run(fmt.Sprintf("%s/%d/%d", name, n, odd), func(t *testing.T) {
					c, r := beginRowBody(t, name, n, odd)
					want, err := parforRef(c)
					if err != nil {
						t.Fatal(err)
					}
					for _, chunks := range [][]int{{0, n}, {0, 1, 9, n}, {0, n / 2, n - 1, n}} {
						for i := range r.out.F64 {
							r.out.F64[i] = -7
						}
						for k := range chunks[1:] {
							if err := r.Chunk(0, chunks[k], chunks[k+1]); err != nil {
								t.Fatal(err)
							}
						}
						for i, x := range want.(*value.Dense).F64 {
							if y := r.out.F64[i]; math.Float64bits(x) != math.Float64bits(y) && !(math.IsNaN(x) && math.IsNaN(y)) {
								t.Fatalf("chunks %v, element %d: %v, want %v", chunks, i, y, x)
							}
						}
					}
				})
			}
		}
	}
}

// compiledFromTheStart returns the table. Until the test ends, loops are compiled however little work
// there is.
func compiledFromTheStart(t *testing.T) *op.Table {
	from := loopsFrom.Load()
	t.Cleanup(func() { LoopsFrom(from) })
	LoopsFrom(0)
	table, err := Table("")
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// A product of large matrices is called, also where a loop over all points could hold it.
func TestHeavyProductsAreCalled(t *testing.T) {
	table := compiledFromTheStart(t)
	for _, rows := range []int{3, 300} {
		const n, cols = 20, 16
		p := value.New(types.F64, n+rows, cols)
		for k := range p.F64 {
			p.F64[k] = construct.U01(5, uint64(k))
		}
		b := &bodyOf{&op.Body{Args: []types.Type{types.ScalarOf(types.I64), p.Type()}}, table, types.DenseOf(types.F64, rows, cols), types.DenseOf(types.F64, cols, cols), types.Type{}, types.DenseOf(types.F64, cols, rows)}
		zero := b.act("const", types.ScalarOf(types.I64), op.MakeAttrs(op.Attr{Name: "value", Val: op.Int(0)}))
		w := b.act("window", b.tall, op.MakeAttrs(op.Attr{Name: "size", Val: op.Ints(rows, cols)}), 1, 0, zero)
		g := b.act("matmul", b.row, nil, b.act("t", b.lay, nil, w), b.act("neg", b.tall, nil, w))
		b.Yields = []int{b.act("max", types.ScalarOf(types.F64), nil, g)}
		if called := callsOf(t, b.Body, n, p); called != (rows == 300) {
			t.Errorf("%d rows: called %v", rows, called)
		}
	}
}

// Rows and columns at computed places are loaded by the loop over all points, which also looks for
// intervals among few edges.
func TestPlacesAreLoaded(t *testing.T) {
	table := compiledFromTheStart(t)
	const n = 20
	x, at := value.New(types.F64, 5, 5), value.New(types.I64, n, 4)
	for k := range x.F64 {
		x.F64[k] = construct.U01(5, uint64(k))
	}
	for i := range at.I64 {
		at.I64[i] = int64(i*7%10) - 5
	}
	for name, to := range map[string]types.Type{"pick.rows": types.DenseOf(types.F64, 4, 5), "pick.cols": types.DenseOf(types.F64, 5, 4)} {
		b := &bodyOf{Body: &op.Body{Args: []types.Type{types.ScalarOf(types.I64), x.Type(), at.Type()}}, table: table}
		zero := b.act("const", types.ScalarOf(types.I64), op.MakeAttrs(op.Attr{Name: "value", Val: op.Int(0)}))
		row := b.act("window", types.DenseOf(types.I64, 1, 4), op.MakeAttrs(op.Attr{Name: "size", Val: op.Ints(1, 4)}), 2, 0, zero)
		places := b.act("t", types.DenseOf(types.I64, 4, 1), nil, row)
		edges := b.act("cummax", types.DenseOf(types.I64, 4, 1), nil, places)
		picked := b.act(name, to, nil, 1, places)
		b.Yields = []int{b.act("max", types.ScalarOf(types.I64), nil, b.act("bin", types.DenseOf(types.I64, to.Rows, to.Cols), nil, picked, edges))}
		if callsOf(t, b.Body, n, x, at) {
			t.Errorf("%s or bin is called", name)
		}
	}
}

// Row and column numbers in a body, also turned, are indices of its loop, not operands in memory.
func TestNumbersAreIndices(t *testing.T) {
	table := compiledFromTheStart(t)
	const n = 30
	x := value.New(types.F64, 1, 20)
	for k := range x.F64 {
		x.F64[k] = construct.U01(5, uint64(k))
	}
	b := &bodyOf{Body: &op.Body{Args: []types.Type{types.ScalarOf(types.I64), x.Type()}}, table: table}
	numbers := b.act("seq", types.DenseOf(types.I64, 20, 1), op.MakeAttrs(op.Attr{Name: "a", Val: op.Int(-3)}, op.Attr{Name: "b", Val: op.Int(37)}, op.Attr{Name: "step", Val: op.Int(2)}))
	here := b.act("eq", types.DenseOf(types.Bool, 1, 20), nil, b.act("t", types.DenseOf(types.I64, 1, 20), nil, numbers), 0)
	b.Yields = []int{b.act("sum", types.ScalarOf(types.F64), nil, b.act("ifelse", x.Type(), nil, here, b.number(7), 1))}
	if callsOf(t, b.Body, n, x) {
		t.Error("an operator is called")
	}
	m := compileBody(b.Body, 1).form(nestKey{Form: nest.Form{Affine: true, Words: 1}, dims: 1, by: [2]int{1, 1}}, "i")
	if m.body == nil || len(m.body.Operands) != 1 {
		t.Errorf("operands %v, want the matrix alone", m.body)
	}
}

// Variances and norms of slices, and of slices one below the other, are loops over all points, whose
// points are lanes of vectors.
func TestSlicesAreLoops(t *testing.T) {
	table := compiledFromTheStart(t)
	const n = 20
	x := value.New(types.F64, n, 1)
	for k := range x.F64 {
		x.F64[k] = construct.U01(5, uint64(k))
	}
	for _, name := range []string{"stddev", "var", "norm"} {
		b := &bodyOf{Body: &op.Body{Args: []types.Type{types.ScalarOf(types.I64), x.Type()}}, table: table}
		number := func(k int) int {
			return b.act("const", types.ScalarOf(types.I64), op.MakeAttrs(op.Attr{Name: "value", Val: op.Int(k)}))
		}
		some, zero := types.DenseOf(types.F64, types.Unknown, 1), number(0)
		cut := func(lo, hi int) int {
			return b.act("cut", some, op.MakeAttrs(op.Attr{Name: "size", Val: op.Ints(-1, 1)}, op.Attr{Name: "through", Val: op.Ints(0, 0)}), 1, lo, hi, zero, zero)
		}
		next := b.act("add", types.ScalarOf(types.I64), nil, 0, number(1))
		others := b.act("rbind", some, nil, cut(zero, 0), cut(next, number(n)))
		b.Yields = []int{b.act("add", types.ScalarOf(types.F64), nil, b.act(name, types.ScalarOf(types.F64), nil, others), b.act(name, types.ScalarOf(types.F64), nil, cut(zero, next)))}
		if callsOf(t, b.Body, n, x) {
			t.Errorf("%s of a slice is called", name)
		}
		c := &op.Call{Def: table.Must("parfor"), In: []value.Value{x}, Bodies: []*op.Body{b.Body},
			Attrs: op.MakeAttrs(op.Attr{Name: "lo", Val: op.Ints(0)}, op.Attr{Name: "n", Val: op.Ints(n)}, op.Attr{Name: "by", Val: op.Ints(1)}, op.Attr{Name: "names", Val: op.Str("i")})}
		if g, least := parforGroup(c); g%launch.Lanes() != 0 || least != launch.Lanes() {
			t.Errorf("%d points of a loop are computed together", g)
		}
	}
}

// A body whose sums written out have more statements than a loop may have is a loop with inner loops:
// no operator is called.
func TestManySumsAreOneLoop(t *testing.T) {
	table := compiledFromTheStart(t)
	x := value.New(types.F64, 1, 64)
	for k := range x.F64 {
		x.F64[k] = construct.U01(5, uint64(k))
	}
	b := &bodyOf{Body: &op.Body{Args: []types.Type{types.ScalarOf(types.I64), x.Type()}}, table: table}
	scalar := types.ScalarOf(types.F64)
	powers, total := b.act("mul", x.Type(), nil, 1, b.act("f64", scalar, nil, 0)), -1
	for range 20 {
		powers = b.act("mul", x.Type(), nil, powers, 1)
		if sum := b.act("sum", scalar, nil, powers); total < 0 {
			total = sum
		} else {
			total = b.act("add", scalar, nil, total, sum)
		}
	}
	b.Yields = []int{total}
	if callsOf(t, b.Body, 20, x) {
		t.Error("an operator is called")
	}
	m := compileBody(b.Body, 1).form(nestKey{Form: nest.Form{Affine: true, Words: 2}, dims: 1, by: [2]int{1, 1}}, "i")
	if m.body == nil || len(m.body.Nest.Types) > 2000 {
		t.Errorf("no loop, or a long one: %s", m.why)
	}
}

// callsOf runs a body for n points, compares the result with the definition's, and reports whether the
// body calls operators between its loops.
func callsOf(t *testing.T, b *op.Body, n int, in ...value.Value) bool {
	t.Helper()
	blocks, _ := runOf(t, b, n, in...).work[0].of.(*blockRun)
	return blocks != nil && blocks.plan != nil
}

// runOf runs a body for n points and compares the result with the definition's.
func runOf(t *testing.T, b *op.Body, n int, in ...value.Value) *parforRun {
	t.Helper()
	table, err := Table("")
	if err != nil {
		t.Fatal(err)
	}
	c := &op.Call{Def: table.Must("parfor"), Type: types.DenseOf(b.Register(b.Yields[0]).Elem, n, 1), In: in, Bodies: []*op.Body{b},
		Attrs: op.MakeAttrs(op.Attr{Name: "lo", Val: op.Ints(0)}, op.Attr{Name: "n", Val: op.Ints(n)}, op.Attr{Name: "by", Val: op.Ints(1)}, op.Attr{Name: "names", Val: op.Str("i")})}
	want, err := parforRef(c)
	if err != nil {
		t.Fatal(err)
	}
	run, err := beginParfor(c, 1)
	if err != nil {
		t.Fatal(err)
	}
	r := run.(*parforRun)
	if err := r.Chunk(0, 0, n); err != nil {
		t.Fatal(err)
	}
	if !value.Same(r.out, want) {
		t.Error("another value than the definition's")
	}
	return r
}

// TestFewDoubtsAreDefined: a point whose sum is not sure is computed by definition, and only many such
// points get a loop with wider sums.
func TestFewDoubtsAreDefined(t *testing.T) {
	needCode(t)
	table, err := Table("")
	if err != nil {
		t.Fatal(err)
	}
	const n, m = 1 << 14, 20
	for _, doubts := range []int{3, n} {
		x := value.New(types.F64, n, m)
		for i := range x.F64 {
			x.F64[i] = 1 + float64(i%7)/8
		}
		for k := range doubts {
			row := x.F64[k*(n/doubts)*m:][:m]
			clear(row)
			row[1], row[5], row[8] = 0x1p-53, 1, 0x1p-130 // in the middle of two floats but for the last one
		}
		b := &bodyOf{Body: &op.Body{Args: []types.Type{types.ScalarOf(types.I64), x.Type()}}, table: table}
		zero := b.act("const", types.ScalarOf(types.I64), op.MakeAttrs(op.Attr{Name: "value", Val: op.Int(0)}))
		row := b.act("window", types.DenseOf(types.F64, 1, m), op.MakeAttrs(op.Attr{Name: "size", Val: op.Ints(1, m)}), 1, 0, zero)
		b.Yields = []int{b.act("sum", types.ScalarOf(types.F64), nil, row)}
		r := runOf(t, b.Body, n, x)
		of, is := r.work[0].of.(*nestRun)
		if !is {
			t.Fatalf("the body runs as a %T", r.work[0].of)
		}
		made := 0
		for k := range of.wider {
			if of.wider[k].run != nil {
				made++
			}
		}
		if many := doubts == n; many != (made > 0) || of.code.slow.Load() == 0 {
			t.Errorf("%d loops with wider sums, with %d doubts of %d", made, doubts, of.code.slow.Load())
		}
	}
}
