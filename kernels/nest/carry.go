package nest

// This file says where matrices of a body lie: in registers, in memory, or nowhere; and what the
// rounds of a loop in a body carry.

import (
	"fmt"
	"slices"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/kernels/define"
)

// passedElements is the most elements of a matrix that may need no memory, because one loop passes its
// elements on to the next (loop.Through).
const passedElements = 1 << 24

// laid is a matrix in memory, where all its elements have been written.
func (x *Builder) laid(r Ref) Ref {
	m, ref := x.local(r.Type)
	x.lay(m, r)
	return ref
}

// lay writes all elements of a matrix.
func (x *Builder) lay(m loop.Mem, r Ref) {
	e := x.Nest.Locals[m.N].Elem
	defer func(around bool) { x.laying = around }(x.laying)
	x.laying = true
	x.eachElement(r, x.lines(), func(i, j loop.Lin) { x.Store(m, i, j, define.ConvertBody(x.Builder, e, r.At(i, j))) })
}

// carrying is the carried values of a loop.
type carrying struct {
	x     *Builder
	types []types.Type
	elems []types.Elem // of those in registers
	place []loop.Mem   // of those in memory; NoMem of the others
	spare []loop.Mem   // where the next value of one in memory is made
}

func (x *Builder) carry(ts []types.Type) *carrying {
	c := &carrying{x: x, types: ts, place: make([]loop.Mem, len(ts)), spare: make([]loop.Mem, len(ts))}
	for k, t := range ts {
		if t.Elem.Size() == 0 || !t.IsScalar() && (!t.IsDense() || !t.Known()) {
			panic(NoBody{"a carried " + t.String()})
		}
		if t.IsDense() && !x.inRegisters(t) {
			c.place[k], _ = x.local(t)
			c.spare[k], _ = x.local(t)
			x.rounded[c.place[k]] = true
			continue
		}
		if t.IsDense() {
			x.widest = max(x.widest, t.Count())
		}
		c.elems = append(c.elems, elemsOf(t)...)
	}
	return c
}

// begin is the values before the first round, those in memory written.
func (c *carrying) begin(in []Ref) []loop.Val {
	for k, r := range in {
		if c.place[k].Kind != loop.NoMem {
			c.x.lay(c.place[k], c.checked(k, r))
		}
	}
	return c.registers(in)
}

// resized is the reason for a carried matrix whose size is not that of the first round, as far as types
// tell: in `next v = x[mask]` only the run tells whether it is.
var resized = NoBody{"a carried matrix that changes its size; carry one of the last size, and how much of it is used"}

// checked is r, which has the type that is carried.
func (c *carrying) checked(k int, r Ref) Ref {
	if r.At == nil || !sameSize(r.Type, c.types[k]) {
		panic(resized)
	}
	return r
}

// registers is the values that are no memory.
func (c *carrying) registers(in []Ref) (vals []loop.Val) {
	for k, r := range in {
		if c.place[k].Kind == loop.NoMem {
			vals = append(vals, c.x.spread([]Ref{r})...)
		}
	}
	if len(vals) != len(c.elems) {
		panic(resized)
	}
	for k := range vals {
		vals[k] = define.ConvertBody(c.x.Builder, c.elems[k], vals[k])
	}
	return vals
}

// refs is the carried values, those in registers as given.
func (c *carrying) refs(vals []loop.Val) (out []Ref) {
	for k, t := range c.types {
		if m := c.place[k]; m.Kind != loop.NoMem {
			out = append(out, c.x.in(m, t).proved())
			continue
		}
		out = append(out, c.x.gathered([]types.Type{t}, vals)...)
		vals = vals[t.Count():]
	}
	return out
}

// next hands values on. A matrix is computed in spare memory and copied then, because each value may
// read all old ones. A matrix that stays in its memory is not computed, and a side of a branch that
// keeps it copies nothing.
func (c *carrying) next(in []Ref) []loop.Val {
	vals := c.registers(in)
	from := make([][2]loop.Mem, len(in))
	for k, r := range in {
		if c.place[k].Kind == loop.NoMem {
			continue
		}
		c.checked(k, r)
		if from[k] = [2]loop.Mem{r.mem, r.mem}; r.sides != nil {
			from[k] = *r.sides
		}
		if !c.keeps(k, from[k][0]) || !c.keeps(k, from[k][1]) {
			c.x.lay(c.spare[k], r)
			from[k] = [2]loop.Mem{c.spare[k], c.spare[k]}
		}
	}
	for k, t := range c.types {
		copied := func(side int) func() []loop.Val {
			return func() []loop.Val {
				if m := from[k][side]; m != c.place[k] {
					c.x.lay(c.place[k], c.x.in(m, t))
				}
				return nil
			}
		}
		switch {
		case c.place[k].Kind == loop.NoMem:
		case from[k][0] == from[k][1]:
			copied(0)()
		default:
			c.x.either(in[k].condition, nil, copied(0), copied(1))
		}
	}
	return vals
}

// keeps reports whether memory m still has its elements when carried value k is handed on. Memory of
// another carried value may be overwritten before.
func (c *carrying) keeps(k int, m loop.Mem) bool {
	return m.Kind != loop.NoMem && (m == c.place[k] || !c.x.rounded[m]) && c.x.Nest.Locals[m.N].Elem == c.x.Nest.Locals[c.place[k].N].Elem
}

// settled is a matrix of the body: held where it is small and read more than once, in memory of the
// iteration where it is large and dear to make again, else written where it is read. What only an
// elementwise operator reads is made again wherever that is read. A reduction of rows may be: pair
// forces take four times as long if the sums of their short rows are stored. A product may not. What
// fails must be made, read or not.
func (x *Builder) settled(b *op.Body, k int, m Ref, fails, dear bool) Ref {
	if x.owned > 0 {
		return x.ownSettled(m, fails || mayFail(b, k))
	}
	readers := readersOf(b, k)
	dear = dear && !x.pickedOnce(b, k) && (readers > 1 || !readOnce(b, k) || b.Acts[k].Def.Fold == op.NoFold && !endsOnce(b, k))
	switch {
	case x.extent != nil || !fails && m.Type.Count() > x.lines() && x.phase == nil && endsOnce(b, k):
		return m
	case x.phase != nil && (!holdable(m.Type) || x.phase.plan.wide(m.Type)):
		if fails && !x.phase.passes(m.Type) {
			panic(NoBody{"a matrix that may fail"})
		}
		if fails { // all its elements are made, read or not
			m.along(x.phase.column)
			for j := 1; j < m.Type.Cols && m.Type.Rows > 1; j++ {
				m.At(x.phase.column, loop.Num(int64(j)))
			}
		}
	case x.inRegisters(m.Type) && (fails || readers > 1 || dear && m.Type.Count() <= x.lines()):
		return x.held(m.Type, x.Hold(m))
	case !fails && x.remakes && m.Type.Count() > laidElements:
		return m
	case fails || dear || x.readAgain(b, k):
		return x.laid(m)
	}
	return m
}

// againElements is the most elements of a matrix that is in memory because products read it several
// times. Eight lanes of so many elements fill 32 KiB.
const againElements = 512

// readAgain reports that products read each element of the result of action k several times. It is
// false for a view. Without memory for the result, each read would compute the element again.
func (x *Builder) readAgain(b *op.Body, k int) bool {
	t := b.Acts[k].Type
	if x.phase != nil || !t.Known() || x.inRegisters(t) || t.Count() > againElements || b.Acts[k].Def.Laws.Has(op.View) {
		return false
	}
	return multiplied(b, len(b.Args)+k)
}

// multiplied reports that products read each element of a register, or of a view of it, several times.
func multiplied(b *op.Body, r int) bool {
	for k := range b.Acts {
		a := &b.Acts[k]
		switch {
		case !slices.Contains(a.Args, r):
		case a.Def.Role == op.Multiplies && flopsOf(b, a) > 4*float64(b.Register(r).Count()):
			return true
		case a.Def.Laws.Has(op.View) && a.Type.Known() && multiplied(b, len(b.Args)+k):
			return true
		}
	}
	return false
}

// reduces reports whether a is a reduction or a statistic, which reads each element of its operand
// once.
func reduces(a *op.Action) bool { return a.Def.Class != loop.NoClass || a.Def.Once }

// pickedOnce reports whether action k has one reader, which takes one element, or a window that fits
// into registers.
func (x *Builder) pickedOnce(b *op.Body, k int) bool {
	r, picks := len(b.Args)+k, 0
	for i := range b.Acts {
		if a := &b.Acts[i]; slices.Contains(a.Args, r) {
			if picks++; a.Def.Role != op.Picks && a.Def.Role != op.PicksAt && (a.Def.Role != op.Windows || !x.inRegisters(a.Type)) {
				return false
			}
		}
	}
	return picks == 1 && !slices.Contains(b.Yields, r)
}

// readOnce reports that each element of action k is read once: by an elementwise operator of its
// shape, or a reduction.
func readOnce(b *op.Body, k int) bool {
	r := len(b.Args) + k
	for i := range b.Acts {
		a := &b.Acts[i]
		if slices.Contains(a.Args, r) && !(reduces(a) || byElement(b, a, r)) {
			return false
		}
	}
	return true
}

// endsOnce reports that the elements of action k go element by element to one reduction or one
// yield, whose loop writes each of them once, however many operators in between read it.
func endsOnce(b *op.Body, k int) bool {
	from, ends := []int{len(b.Args) + k}, 0
	for n := 0; n < len(from); n++ {
		r := from[n]
		for _, y := range b.Yields {
			if y == r {
				ends++
			}
		}
		for i := range b.Acts {
			a := &b.Acts[i]
			switch own := len(b.Args) + i; {
			case !slices.Contains(a.Args, r):
			case reduces(a) && a.Bodies == nil:
				ends++
			case !byElement(b, a, r):
				return false
			case !slices.Contains(from, own):
				from = append(from, own)
			}
		}
	}
	return ends == 1
}

// byElement reports that a computes each element of its result from the same element of register r, and
// from no other one of it.
func byElement(b *op.Body, a *op.Action, r int) bool {
	if !sameSize(a.Type, b.Register(r)) {
		return false
	}
	if a.Chain == nil {
		return a.Def.Elt != nil && a.Def.Laws.Has(op.Elementwise)
	}
	for k, x := range a.Args {
		if x == r && a.Chain.In[k].Mode != op.Full {
			return false
		}
	}
	return true
}

func sameSize(a, b types.Type) bool { return a.Rows == b.Rows && a.Cols == b.Cols }

// large is the reason for a loop that reads all of a large matrix that each point makes. There is
// nothing to write instead: its operators are about as fast.
var large = fmt.Sprintf("what reads all of a matrix of more than %d elements that each point makes", readElements)

// ownSettled is settled for a point that has one row of each matrix. Elements are written once, where
// they are first read. Those that may fail are written now, read or not.
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

// owns reports that a point has one row of a matrix of type t.
func (x *Builder) owns(t types.Type) bool { return x.owned > 0 && t.IsDense() && t.Rows == x.owned }

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
