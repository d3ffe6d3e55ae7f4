// Package looptest draws random nests with operands, to compare targets of the loop form with its
// evaluator.
//
// A nest depends on its seed alone. It is well formed, its subscripts stay inside, and its loops
// end. About one in ten has a check that fails.
package looptest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
)

// Case is a nest, its operands, and the size of its space. Rows is 1 for a space of one index.
type Case struct {
	Nest        *loop.Nest
	In          []value.Value
	Rows, Lanes int
	shapes      []shape // of the results
	one         bool
}

// shape is the size of a result.
type shape struct {
	elem       types.Elem
	rows, cols int
}

// margin is the number of rows and columns around what a nest stores in a result.
const margin = 1

// guard is the value in the margin.
const guard = 77

// Results makes memory for the results: windows of larger matrices, so that Untouched finds writes
// beside them.
func (c *Case) Results() []*value.Dense {
	var out []*value.Dense
	for _, s := range c.shapes {
		around := value.New(s.elem, s.rows+2*margin, s.cols+2*margin)
		for i := range around.Rows {
			for j := range around.Cols {
				around.Set(i, j, value.I64(guard))
			}
		}
		d := around.View(margin, margin, s.rows, s.cols)
		d.Buf = around.Bytes() // the whole of it
		out = append(out, d)
	}
	return out
}

// Untouched reports a write beside result k.
func (c *Case) Untouched(k int, d *value.Dense) error {
	rows, cols := d.Rows+2*margin, d.Cols+2*margin
	around := value.Over(d.Buf, d.Elem, rows, cols)
	for i := range rows {
		for j := range cols {
			inside := i >= margin && i < rows-margin && j >= margin && j < cols-margin
			if want := value.I64(guard).Convert(d.Elem); !inside && !around.At(i, j).Same(want) {
				return fmt.Errorf("(%d, %d) beside the result was written", i-margin, j-margin)
			}
		}
	}
	return nil
}

// Numbers returns a column of n numbers of all sizes, with special values.
func Numbers(n int, seed uint64) *value.Dense {
	r := rand.New(rand.NewPCG(seed, 1))
	d := value.New(types.F64, n, 1)
	for k := range n {
		d.F64[k] = number(r)
	}
	return d
}

var special = []float64{0, math.Copysign(0, -1), 1, -1, math.Inf(1), math.Inf(-1), math.NaN(), 5e-324, math.MaxFloat64, 0.5, 1e22, -745.2}

func number(r *rand.Rand) float64 {
	switch r.IntN(5) {
	case 0:
		return special[r.IntN(len(special))]
	case 1:
		return float64(r.IntN(40)-20) / 4
	case 2:
		return math.Ldexp(r.NormFloat64(), r.IntN(200)-100)
	}
	return r.NormFloat64()
}

// Draw returns the nest of a seed.
func Draw(seed uint64) *Case {
	d := &drawing{Rand: rand.New(rand.NewPCG(seed, 2))}
	c := &Case{Rows: 1 + d.IntN(4), Lanes: d.IntN(40), one: d.IntN(3) == 0}
	if c.one {
		c.Rows = 1
	}
	d.c = c
	d.text(c)
	n, err := loop.Parse(d.b.String(), loop.Standard{})
	if err != nil {
		panic(fmt.Sprintf("seed %d: %v\n%s", seed, err, d.b.String()))
	}
	c.Nest = n
	return c
}

// val is a visible value.
type val struct {
	n int
	e types.Elem
}

type drawing struct {
	*rand.Rand
	c       *Case
	b       strings.Builder
	depth   int
	count   int
	loops   int
	visible []val
	params  []types.Elem
	sites   int
	locals  []types.Elem
	keen    bool    // on locals
	open    []round // the loops around a statement
	results []string
}

func (d *drawing) line(format string, args ...any) {
	d.b.WriteString(strings.Repeat("  ", d.depth))
	fmt.Fprintf(&d.b, format+"\n", args...)
}

func (d *drawing) fresh(e types.Elem) int {
	d.visible = append(d.visible, val{d.count, e})
	d.count++
	return d.count - 1
}

var elems = []types.Elem{types.F64, types.F64, types.I64, types.F32, types.Bool}

func (d *drawing) elem() types.Elem { return elems[d.IntN(len(elems))] }

// text writes the nest: operands (two matrices of the size of the space with a margin, a row, a
// column of places, a scalar of each type), statements, and stores.
func (d *drawing) text(c *Case) {
	matrix := func(e types.Elem, rows, cols int) {
		m := value.New(e, rows, cols)
		for i := range rows {
			for j := range cols {
				m.Set(i, j, d.scalar(e))
			}
		}
		c.In = append(c.In, m)
		d.params = append(d.params, e)
	}
	rows, cols := c.Rows+2, c.Lanes+2
	if c.one {
		rows, cols = c.Lanes+2, 1
	}
	for range 3 {
		matrix(d.elem(), rows, cols)
	}
	places := value.New(types.I64, max(rows, cols), 1)
	for k := range places.I64 {
		places.I64[k] = int64(d.IntN(rows))
	}
	c.In = append(c.In, places, d.scalar(types.F64), d.scalar(types.I64))
	var params []string
	for k, v := range c.In {
		t := v.Type()
		s := fmt.Sprintf("%%%d: %v", k, t.Elem)
		if t.IsMatrix() {
			s += "[]"
		}
		params = append(params, s)
	}
	space := "i: 0..%0.rows-2, j: 0..%0.cols-2"
	if c.one {
		space = "j: 0..%0.rows-2"
	}
	d.line("nest(%s) (%s) {", strings.Join(params, ", "), space)
	d.depth++
	d.declareLocals()
	d.load(false)
	for range 3 + d.IntN(12) {
		d.statement(0)
	}
	d.reductions()
	for range 1 + d.IntN(2) {
		v := d.visible[d.IntN(len(d.visible))]
		k := len(d.results)
		c.shapes = append(c.shapes, shape{v.e, c.Rows, c.Lanes})
		if c.one {
			d.line("store out%d[j, 0] v%d", k, v.n)
			d.results = append(d.results, fmt.Sprintf("%v[%%0.rows-2, 1]", v.e))
			c.shapes[k] = shape{v.e, c.Lanes, 1}
		} else {
			d.line("store out%d[i, j] v%d", k, v.n)
			d.results = append(d.results, fmt.Sprintf("%v[%%0.rows-2, %%0.cols-2]", v.e))
		}
	}
	d.depth--
	d.line("} : (%s)", strings.Join(d.results, ", "))
}

func (d *drawing) scalar(e types.Elem) value.Scalar {
	switch e {
	case types.I64:
		if d.IntN(4) == 0 {
			return value.I64(int64(d.Uint64()))
		}
		return value.I64(int64(d.IntN(20) - 10))
	case types.Bool:
		return value.Bool(d.IntN(2) == 0)
	}
	return value.F64(number(d.Rand)).Convert(e)
}

// of returns a visible value of e, or makes a constant.
func (d *drawing) of(e types.Elem) int {
	for range 8 {
		if v := d.visible[d.IntN(len(d.visible))]; v.e == e {
			return v.n
		}
	}
	s := d.scalar(e)
	n := d.fresh(e)
	if x := s.F; e.IsFloat() && x != x {
		d.line("v%d = %v nan", n, e)
	} else {
		d.line("v%d = %v %v", n, e, s)
	}
	return n
}

// load reads an operand at, beside or across the point.
func (d *drawing) load(masked bool) {
	if d.IntN(8) == 0 {
		k := 4 + d.IntN(2)
		e := []types.Elem{types.F64, types.I64}[k-4]
		d.line("v%d = load %%%d", d.fresh(e), k)
		return
	}
	k := d.IntN(3)
	e := d.params[k]
	i, j := fmt.Sprintf("i+%d", d.IntN(3)), fmt.Sprintf("j+%d", d.IntN(3))
	switch {
	case d.c.one:
		i, j = j, "0"
	case d.IntN(6) == 0:
		i = "1" // one row for all
	case d.IntN(6) == 0:
		j = "0" // one element a row
	}
	if q := d.inner(d.c.Rows + 2); q != "" && !d.c.one {
		i = q
	}
	if q := d.inner(d.c.Lanes + 2); q != "" {
		if d.c.one {
			i = q
		} else {
			j = q
		}
	}
	if d.IntN(6) == 0 { // a gather by places that lie inside
		at := "j"
		p := d.fresh(types.I64)
		d.line("v%d = load %%3[%s, 0]", p, at)
		i = fmt.Sprintf("v%d", p)
	}
	d.line("v%d = load %%%d[%s, %s]", d.fresh(e), k, i, j)
}

// operations are those that are drawn, some more often than others.
var operations = [...]loop.Code{
	loop.Add, loop.Sub, loop.Mul, loop.Div, loop.FMA, loop.Neg, loop.Abs, loop.Sqrt, loop.Min, loop.Max, loop.Nearest, loop.Floor, loop.Ceil, loop.Ceil,
	loop.Scale, loop.IDiv, loop.Mod, loop.MulHighU, loop.MulHighU, loop.Shl, loop.Shr, loop.Sar, loop.Not, loop.Not, loop.Not, loop.And, loop.Or, loop.Xor,
	loop.Not, loop.Lt, loop.Le, loop.Eq, loop.Ne, loop.Ne, loop.Select, loop.ToF64, loop.ToF32, loop.ToI64, loop.ToBool, loop.Bits, loop.F64Bits, loop.F64Bits,
}

// unsafe operations are defined only on part of their operands, or depend on the bits of a NaN.
var unsafe = map[loop.Code]bool{loop.ToI64: true, loop.Scale: true, loop.Bits: true}

func (d *drawing) statement(level int) {
	switch k := d.IntN(20); {
	case k < 4:
		d.load(level > 0)
	case k == 4 && level < 2:
		d.branch(level)
	case (k == 5 || k == 9) && level < 2:
		d.loop(level)
	case (k == 10 || k == 11 || k > 13 && d.keen) && len(d.locals) > 0:
		d.local()
	case k == 6:
		d.line("v%d = index j", d.fresh(types.I64))
	case k == 12 && d.IntN(3) == 0:
		d.reductions()
	case k == 7 && d.sites < 2 && d.IntN(4) == 0:
		d.sites++
		d.line("check %d v%d", d.sites, d.of(types.Bool))
	case k == 8:
		names := [...]string{"exp", "sin", "log", "tanh", "atan"}
		x := d.of(types.F64)
		d.line("v%d = call %s(v%d)", d.fresh(types.F64), names[d.IntN(len(names))], x)
	default:
		d.operation()
	}
}

func (d *drawing) operation() {
	for {
		c := operations[d.IntN(len(operations))]
		if unsafe[c] {
			continue
		}
		o := c.Operation()
		e := o.On[d.IntN(len(o.On))]
		var args []string
		gives := e
		if o.Gives != types.NoElem {
			gives = o.Gives
		}
		if c == loop.Select {
			gives = d.elem()
			args = []string{fmt.Sprintf("v%d", d.of(types.Bool)), fmt.Sprintf("v%d", d.of(gives)), fmt.Sprintf("v%d", d.of(gives))}
		} else {
			if c == loop.IDiv || c == loop.Mod {
				d.division(o.Name)
				return
			}
			for range o.Args {
				args = append(args, fmt.Sprintf("v%d", d.of(e)))
			}
		}
		d.line("v%d = %s %s", d.fresh(gives), o.Name, strings.Join(args, ", "))
		return
	}
}

// division draws a division by a nonzero number: one with a bit set, or a constant.
func (d *drawing) division(name string) {
	a := d.of(types.I64)
	by := d.of(types.I64)
	set := d.fresh(types.I64)
	if d.IntN(2) == 0 {
		d.line("v%d = i64 %d", set, []int64{1, -1, 2, 8, 10, -7, 1 << 40, -1 << 63}[d.IntN(8)])
		by = set
	} else {
		d.line("v%d = i64 %d", set, 1<<d.IntN(3))
		or := d.fresh(types.I64)
		d.line("v%d = or v%d, v%d", or, by, set)
		by = or
	}
	d.line("v%d = %s v%d, v%d", d.fresh(types.I64), name, a, by)
}
