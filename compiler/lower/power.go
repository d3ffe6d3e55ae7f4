package lower

import (
	"flow/ir/op"
	"flow/ir/types"
	"flow/lang/source"
)

// wholePower returns x to the power y as products by squaring. They are exact, and they wrap alike in
// any order. ok is false unless x has integers or bools of the run, and y is whole, not negative and
// known before the run. A power that only the run knows may be negative, so pow makes floats of it.
func (l *lowerer) wholePower(x, y val, at, from source.Span) (power val, ok bool) {
	if !y.isInt() || y.s.I < 0 {
		return val{}, false
	}
	if x = l.matrixOf(x, types.NoElem, from); x.kind != edge || l.typeOf(x).Elem != types.I64 && l.typeOf(x).Elem != types.Bool {
		return val{}, false
	}
	n := y.s.I
	apply := func(d *op.Def, in ...val) val {
		return l.apply(d, nil, at, in, []source.Span{from, from}[:len(in)])
	}
	product := l.table.Infix("*")
	if n == 0 {
		return apply(l.table.Infix("+"), apply(product, x, intVal(0)), intVal(1)), true
	}
	square := x
	if l.typeOf(x).Elem == types.Bool {
		square = apply(l.table.Must("i64"), x)
	}
	power = square
	some := false
	for ; n > 0; n >>= 1 {
		switch {
		case n&1 == 0:
		case some:
			power = apply(product, power, square)
		default:
			power, some = square, true
		}
		if n > 1 {
			square = apply(product, square, square)
		}
	}
	return power, true
}
