package nest

// This file writes rounds in which no row reads another one: each row of the carried matrices makes all
// rounds on its own, as a point of a nest, with its state in registers. Such rounds are written as operations
// on whole columns. A round at a time would read and write each column in memory.

import (
	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
)

// rowsCarried returns the number of rows of all matrices with several rows that loop a carries, or 0.
func rowsCarried(a *op.Action) (n int) {
	for _, t := range a.Bodies[0].Args[:a.Attrs.Int("carry")] {
		switch {
		case !t.IsDense() || t.Rows <= 1:
		case n > 0 && n != t.Rows:
			return 0
		default:
			n = t.Rows
		}
	}
	return n
}

// owns reports that a point has one row of a matrix of type t.
func (x *Builder) owns(t types.Type) bool { return x.owned > 0 && t.IsDense() && t.Rows == x.owned }

// ownTypes is the types of what a point has of values of these types.
func (x *Builder) ownTypes(ts []types.Type) (out []types.Type) {
	for _, t := range ts {
		if x.owns(t) {
			t.Rows = 1
		}
		out = append(out, t)
	}
	return out
}

// ownRows is what a point has of values.
func (x *Builder) ownRows(list []Ref) (out []Ref) {
	for _, r := range list {
		if x.owns(r.Type) && r.At != nil {
			whole, t := r, r.Type
			t.Rows = 1
			r = x.sized(t, func(_, j loop.Lin) loop.Val { return whole.At(x.own, j) })
		}
		out = append(out, r)
	}
	return out
}

// whole is the inverse of ownRows for values of types ts. There is no body if it reads another row.
func (x *Builder) whole(ts []types.Type, list []Ref) (out []Ref) {
	for k, r := range list {
		if x.owns(ts[k]) {
			row := r
			r = x.sized(ts[k], func(i, j loop.Lin) loop.Val {
				if !i.Equal(x.own) {
					panic(NoBody{"rows that read one another"})
				}
				return row.At(loop.Num(0), j)
			})
		}
		out = append(out, r)
	}
	return out
}

// ownSettled is settled for a point that has one row of each matrix. Elements are written once, where they
// are first read. Those that may fail are written now, read or not.
func (x *Builder) ownSettled(m Ref, fails bool) Ref {
	if !fails {
		return m
	}
	if !x.owns(m.Type) || m.Type.Cols > x.few {
		panic(NoBody{"a matrix that may fail"})
	}
	for j := range m.Type.Cols {
		m.At(x.own, loop.Num(int64(j)))
	}
	return m
}
