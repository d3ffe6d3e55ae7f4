package nest

// This file finds sums of forces in bodies, by the square of the distance, with a softening, which
// package vec has as one loop for processors with AVX-512: it makes half of the roots by products,
// and compiled loops do not. The sum is one call for a block of points (nest_calls.go).

import (
	"flow/ir/op"
	"flow/ir/types"
	"flow/kernels/vec"
)

// leastForceRows is the fewest rows for which a pass is worth a call.
const leastForceRows = 16

// A matrix of fewer rows has no pass: else this does not compile.
const _ = uint(leastForceRows - vec.ForceRows)

// ForceCall is a product t(w) @ d of a body, with d the differences of rows and a point, and w a
// strength over r2 sqrt(r2), where r2 is the sum of d's squares and a softening. Its fields are
// registers.
type ForceCall struct {
	At        int // of the product
	Point     int // a row of three
	Rows      int // n x 3, the same in every iteration
	Softening int // a number, the same in every iteration
	Strength  int // a number or a column, likewise
	Back      bool
	inside    []bool // what nothing but the product needs
}

// forceFinder finds forces in a body.
type forceFinder struct {
	*op.Body
	varies []bool
	n      int    // rows
	d      int    // the differences
	inside []bool // what the product needs, the rows, the point and numbers aside
}

// FindForces is the forces of a body; nil: it has none.
func FindForces(b *op.Body, varies []bool) *ForceCall {
	for k := range b.Acts {
		f := &forceFinder{Body: b, varies: varies, inside: make([]bool, len(varies))}
		if c := f.product(len(b.Args) + k); c != nil && f.alone(c.At) {
			c.inside = f.inside
			return c
		}
	}
	return nil
}

// is returns the arguments of register r where an action of that name, which differs from iteration
// to iteration, makes it with a result of type t.
func (f *forceFinder) is(r int, name string, t types.Type) (args []int, attrs *op.Attrs) {
	k := r - len(f.Args)
	if k < 0 || !f.varies[r] || f.Acts[k].Def.Name != name || f.Acts[k].Type != t {
		return nil, nil
	}
	f.inside[r] = true
	return f.Acts[k].Args, f.Acts[k].Attrs
}

// binary is is, of an operator with two arguments.
func (f *forceFinder) binary(r int, name string, t types.Type) (x, y int, ok bool) {
	args, _ := f.is(r, name, t)
	if len(args) != 2 {
		return 0, 0, false
	}
	return args[0], args[1], true
}

func (f *forceFinder) column() types.Type { return types.DenseOf(types.F64, f.n, 1) }

// same reports a register that is the same in every iteration, of type t.
func (f *forceFinder) same(r int, t types.Type) bool { return !f.varies[r] && f.Register(r) == t }

// product matches register r as forces.
func (f *forceFinder) product(r int) *ForceCall {
	row := types.DenseOf(types.F64, 1, 3)
	args, attrs := f.is(r, "matmul", row)
	if len(args) != 2 || attrs.Bool("tb") {
		return nil
	}
	c := &ForceCall{At: r}
	f.inside[r] = false
	f.d = args[1]
	t := f.Register(f.d)
	f.n = t.Rows
	x, y, ok := f.binary(f.d, "sub", types.DenseOf(types.F64, f.n, 3))
	if !ok || !t.Known() || f.n < leastForceRows {
		return nil
	}
	if c.Rows, c.Point = x, y; f.varies[x] {
		c.Rows, c.Point, c.Back = y, x, true
	}
	if !f.same(c.Rows, t) || f.Register(c.Point) != row {
		return nil
	}
	w := args[0]
	if !attrs.Bool("ta") {
		turned, _ := f.is(w, "t", types.DenseOf(types.F64, 1, f.n))
		if len(turned) != 1 {
			return nil
		}
		w = turned[0]
	}
	x, y, ok = f.binary(w, "div", f.column())
	if !ok || !f.same(x, types.ScalarOf(types.F64)) && !f.same(x, f.column()) {
		return nil
	}
	c.Strength = x
	r2, ok := f.cube(y)
	if !ok {
		return nil
	}
	x, y, ok = f.binary(r2, "add", f.column())
	if !ok {
		return nil
	}
	if !f.varies[x] {
		x, y = y, x
	}
	if c.Softening = y; !f.same(y, types.ScalarOf(types.F64)) || !f.squares(x) {
		return nil
	}
	return c
}

// cube is the register of r2 where r is r2 sqrt(r2).
func (f *forceFinder) cube(r int) (r2 int, ok bool) {
	if x, y, ok := f.binary(r, "pow", f.column()); ok {
		return x, f.constant(y, 1.5)
	}
	x, y, ok := f.binary(r, "mul", f.column())
	if !ok {
		return 0, false
	}
	if of, _ := f.is(y, "sqrt", f.column()); len(of) == 1 && of[0] == x {
		return x, true
	}
	of, _ := f.is(x, "sqrt", f.column())
	return y, len(of) == 1 && of[0] == y
}

// constant reports that register r is that number.
func (f *forceFinder) constant(r int, v float64) bool {
	k := r - len(f.Args)
	return k >= 0 && f.Acts[k].Def.Role == op.Constant && isNumber(f.Acts[k].Type) && f.Acts[k].Attrs.Float("value") == v
}

// squares reports that register r is the sum of the squares of the three differences. The third is
// added last.
func (f *forceFinder) squares(r int) bool {
	x, y, ok := f.binary(r, "add", f.column())
	if !ok || !f.squareOf(y, 2) {
		return false
	}
	x, y, ok = f.binary(x, "add", f.column())
	return ok && (f.squareOf(x, 0) && f.squareOf(y, 1) || f.squareOf(y, 0) && f.squareOf(x, 1))
}

// squareOf reports the square of column j of the differences, or that column of their squares.
func (f *forceFinder) squareOf(r, j int) bool {
	if x, ok := f.square(r, f.column()); ok {
		of, ok := f.columnOf(x, j)
		return ok && of == f.d
	}
	of, ok := f.columnOf(r, j)
	if !ok {
		return false
	}
	x, ok := f.square(of, f.Register(f.d))
	return ok && x == f.d
}

// square is the register whose square is r.
func (f *forceFinder) square(r int, t types.Type) (int, bool) {
	if x, y, ok := f.binary(r, "mul", t); ok {
		return x, x == y
	}
	x, y, ok := f.binary(r, "pow", t)
	return x, ok && f.constant(y, 2)
}

// columnOf is the register whose column j is r.
func (f *forceFinder) columnOf(r, j int) (int, bool) {
	args, attrs := f.is(r, "slice", f.column())
	if len(args) != 1 {
		return 0, false
	}
	at := attrs.Ints("at")
	return args[0], len(at) == 4 && at[0] == 0 && at[1] == int64(j) && at[3] == 1
}

// alone reports that nothing but the product reads what it needs.
func (f *forceFinder) alone(product int) bool {
	for k := range f.Acts {
		r := len(f.Args) + k
		for _, x := range f.Acts[k].Args {
			if f.inside[x] && !f.inside[r] && r != product {
				return false
			}
		}
	}
	return !f.inside[f.Yields[0]]
}
