package order

// This file writes the order of some rows into loops, by a sorting network.

import (
	"math"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/kernels/define"
	"flow/kernels/dense"
)

// Comparator puts the lesser of the values on two wires on Lo and the other one on Hi.
type Comparator struct{ Lo, Hi int }

// Network is Batcher's odd-even merge sort of n wires (K. Batcher, "Sorting networks and their
// applications", 1968).
func Network(n int) (list []Comparator) {
	for p := 1; p < n; p *= 2 {
		for k := p; k > 0; k /= 2 {
			for j := k % p; j+k < n; j += 2 * k {
				for i := range min(k, n-j-k) {
					if (i+j)/(2*p) == (i+j+k)/(2*p) {
						list = append(list, Comparator{i + j, i + j + k})
					}
				}
			}
		}
	}
	return list
}

// someInOrder writes the order of rows into a loop by a network. Row numbers move with the keys, so
// that equal rows keep their order. A nan is replaced by the infinity that comes last and gets a row
// number behind all others. The result is the numbers of the rows if places is set, else the keys.
func someInOrder(e *op.Elements, keys []loop.Val, places bool) op.Element {
	b, n, desc := e.B, len(keys), e.Attrs.Bool("desc")
	float := b.Type(keys[0]).IsFloat()
	last := math.Inf(1)
	if desc {
		last = math.Inf(-1)
	}
	numbers := places || float // equal integers are the same
	at := make([]loop.Val, n)
	for i, k := range keys {
		if at[i] = define.Numeral(b, types.I64, i); float {
			nan := b.Op(loop.Ne, k, k)
			keys[i] = b.Op(loop.Select, nan, define.ConvertBody(b, b.Type(k), b.Const(types.F64, math.Float64bits(last))), k)
			at[i] = b.Op(loop.Select, nan, define.Numeral(b, types.I64, n+i), at[i])
		}
	}
	for _, c := range Network(n) {
		first, second := keys[c.Lo], keys[c.Hi]
		swaps := b.Op(loop.Lt, second, first)
		if desc {
			swaps = b.Op(loop.Lt, first, second)
		}
		if numbers {
			p, q := at[c.Lo], at[c.Hi]
			swaps = b.Op(loop.Or, swaps, b.Op(loop.And, b.Op(loop.Eq, first, second), b.Op(loop.Lt, q, p)))
			at[c.Lo], at[c.Hi] = b.Op(loop.Select, swaps, q, p), b.Op(loop.Select, swaps, p, q)
		}
		keys[c.Lo], keys[c.Hi] = b.Op(loop.Select, swaps, second, first), b.Op(loop.Select, swaps, first, second)
	}
	bound := define.Numeral(b, types.I64, n)
	for i := range n {
		v := keys[i]
		if float {
			nan := b.Op(loop.Le, bound, at[i])
			v = b.Op(loop.Select, nan, define.ConvertBody(b, b.Type(v), b.Const(types.F64, math.Float64bits(math.NaN()))), v)
			at[i] = b.Op(loop.Select, nan, b.Op(loop.Sub, at[i], bound), at[i])
		}
		if places {
			v = at[i]
		}
		keys[i] = define.ConvertBody(b, dense.Storage(e.Out.Elem), v)
	}
	return e.Held(keys)
}
