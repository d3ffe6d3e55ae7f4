package loop

// This file hands values that a round has computed on to later rounds (predictive commoning):
//
//	for i in 0..n { y = x[i+1] - x[i] .. }
//	a = x[0]; for i in 0..n (a) { b = x[i+1]; y = b - a ..; next b }
//
// It hands on loads, and all values that depend on the index and invariants alone: of the flows through
// both sides of a cell only one is computed (A. Pottenger, "Predictive commoning", after J. R. O'Brien
// and others, 1990).

import (
	"encoding/binary"

	"flow/ir/types"
)

// mostHanded is the most values that an inner loop hands on beside those that it carries already,
// because each takes a register. farthestHanded is the most rounds for which a value is handed on.
const mostHanded, farthestHanded = 8, 4

// HandOn returns n with inner loops that carry the values that earlier rounds have computed. It changes
// no result. It leaves loops whose number of rounds is not known, because the first values are computed
// before the loop.
func HandOn(n *Nest) *Nest {
	plans := map[*Stmt]*handing{}
	EachStmt(&n.Body, func(s *Stmt) {
		if s.Code != For {
			return
		}
		if rounds, ok := knownRounds(s); ok && rounds > 0 && shiftedLoads(s) {
			if h := (&handing{nest: n, loop: s.Loop, at: map[Val]*shifted{}, needed: map[Val]bool{}, inside: map[Val]bool{}}); h.plan() {
				plans[s] = h
			}
		}
	})
	if len(plans) == 0 {
		return n
	}
	gives := map[*Stmt]Val{} // what stands for a statement in the loop that is written
	return rewritten(n, func(r *rewriter, s *Stmt) bool {
		if v, ok := gives[s]; ok {
			if v != NoVal {
				r.set(s, []Val{v})
			}
			return true
		}
		h := plans[s]
		if h != nil {
			h.write(r, s, gives)
		}
		return h != nil
	})
}

// shiftedLoads reports whether the block of loop s loads from one matrix at places a constant apart.
func shiftedLoads(s *Stmt) bool {
	list := s.Loop.Body.Stmts
	for i := range list {
		for k := range i {
			a, b := &list[i], &list[k]
			if a.Code != Load || b.Code != Load || a.Mem != b.Mem || a.Mem.Kind != ParamMem {
				continue
			}
			for axis := range a.At { // a scalar has no place
				if a.At[axis].Const != b.At[axis].Const {
					return true
				}
			}
		}
	}
	return false
}

// shifted is a pure statement of the block of a loop. Statements of one number compute the same values,
// by rounds apart: in round i this one computes what another one, y, computes in round i + by - y.by.
type shifted struct {
	*Stmt
	number int
	moves  bool // its value depends on the index
	by     int64
	from   *shifted // the statement that computes it from.by - by rounds before; nil: it is computed itself
}

// handing is a loop in which values are handed on.
type handing struct {
	nest   *Nest
	loop   *Loop
	at     map[Val]*shifted
	needed map[Val]bool       // computed or handed on
	inside map[Val]bool       // computed or carried by the loop
	far    map[*shifted]int64 // the rounds for which a value is handed on
	order  []*shifted         // the keys of far, in the order of the block
}

// plan finds the values to hand on, and reports whether there are any. It ignores statements after one
// that may leave the loop, because their first values must not be computed before the loop.
func (h *handing) plan() bool {
	numbers, last, list := map[string]int{}, map[int]*shifted{}, h.loop.Body.Stmts
	for k := range h.loop.Init {
		h.inside[h.loop.Carry+Val(k)] = true
	}
	for i := range list {
		for k := range list[i].N {
			h.inside[list[i].Dst+Val(k)] = true
		}
	}
	for i := range list {
		s := &list[i]
		if leaves(list[i : i+1]) {
			break
		}
		if s.N != 1 || !pure(s) {
			continue
		}
		x := &shifted{Stmt: s}
		key, ok := h.key(x)
		if !ok {
			continue
		}
		if numbers[key] == 0 {
			numbers[key] = len(numbers) + 1
		}
		x.number = numbers[key]
		h.at[s.Dst] = x
		if y := last[x.number]; x.moves && (y == nil || x.by > y.by) {
			last[x.number] = x
		}
	}
	for _, x := range h.at {
		if y := last[x.number]; y != nil && x.by < y.by && y.by-x.by <= farthestHanded {
			x.from = y
		}
	}
	h.far = map[*shifted]int64{}
	for _, v := range h.loop.Body.Yield {
		h.need(v)
	}
	for i := range list {
		if s := &list[i]; s.N != 1 || h.at[s.Dst] == nil {
			valuesOf(s, h.need)
		}
	}
	many := int64(0)
	for i := range list {
		if x := h.at[list[i].Dst]; list[i].N == 1 && x != nil && h.far[x] > 0 {
			h.order = append(h.order, x)
			many += h.far[x]
		}
	}
	return many > 0 && many <= mostHanded
}

// need notes that v is computed or handed on, with all that it needs.
func (h *handing) need(v Val) {
	x := h.at[v]
	switch {
	case x == nil || h.needed[v]:
		return
	case x.from != nil:
		h.far[x.from] = max(h.far[x.from], x.from.by-x.by)
		h.needed[v] = true
		h.need(x.from.Dst)
		return
	}
	h.needed[v] = true
	valuesOf(x.Stmt, h.need)
}

// key returns a text that is equal for statements that compute the same in shifted rounds. It sets
// x.moves and x.by. ok is false if the value depends on more than the index and invariants.
func (h *handing) key(x *shifted) (key string, ok bool) {
	var b []byte
	word := func(n int64) { b = binary.AppendVarint(b, n) }
	word(int64(x.Code))
	word(int64(h.nest.Types[x.Dst]))
	word(int64(x.Imm))
	word(int64(x.Mem.Kind)<<32 | int64(x.Mem.N))
	if x.Func != nil {
		b = append(b, x.Func.Name...)
	}
	x.moves = x.Code == IndexOf && int(x.Imm) == h.loop.Index.Name
	part := func(moves bool, by int64) { // x.by is that of the first operand that moves
		if moves && !x.moves {
			x.moves, x.by = true, by
		}
		if moves {
			word(by - x.by)
		}
	}
	for _, v := range x.Args {
		y := h.at[v]
		if y == nil {
			if h.inside[v] {
				return "", false
			}
			word(-int64(v) - 1)
			continue
		}
		word(int64(y.number))
		part(y.moves, y.by)
	}
	for _, f := range x.At {
		step := f.Coef(Sym{IndexSym, h.loop.Index.Name}) * h.loop.Index.Range.By
		rest := f.Const
		if step != 0 {
			size := max(step, -step)
			rest = ((rest % size) + size) % size
			part(true, (f.Const-rest)/step)
		}
		if f.Any(func(x Sym) bool { return x.Kind == ValSym && h.inside[Val(x.N)] }) {
			return "", false
		}
		b = Lin{rest, f.Terms}.AppendKey(b)
	}
	return string(b), true
}

// write writes loop s with the values handed on. It adds to gives what stands for statements that are
// not written.
func (h *handing) write(r *rewriter, s *Stmt, gives map[*Stmt]Val) {
	l := s.Loop
	x := Index{Name: l.Index.Name, Range: r.rng(l.Index.Range)}
	init := r.values(l.Init)
	for _, y := range h.order {
		for k := range h.far[y] {
			r.fixed = map[int]int64{x.Name: x.Range.From.Const - (k+1)*x.Range.By}
			init = append(init, h.before(r, y.Dst, map[Val]Val{}))
			r.fixed = nil
		}
	}
	out := r.For(x, init, func(carried []Val) []Val {
		r.carry(l, carried[:len(l.Init)])
		old := map[*shifted][]Val{}
		rest := carried[len(l.Init):]
		for _, y := range h.order {
			old[y], rest = rest[:h.far[y]], rest[h.far[y]:]
		}
		for v, y := range h.at {
			switch {
			case !h.needed[v]:
				gives[y.Stmt] = NoVal
			case y.from != nil:
				gives[y.Stmt] = old[y.from][y.from.by-y.by-1]
			}
		}
		r.block(&l.Body)
		next := r.values(l.Body.Yield)
		for _, y := range h.order {
			next = append(append(next, r.now[y.Dst]), old[y][:h.far[y]-1]...)
		}
		return next
	})
	r.set(s, out)
}

// before writes the value that v has in the round before the loop that r.fixed gives. done has the
// values written so far.
func (h *handing) before(r *rewriter, v Val, done map[Val]Val) Val {
	x := h.at[v]
	if x == nil {
		return r.now[v]
	}
	if _, ok := done[v]; !ok {
		if at, known := r.fixed[int(x.Imm)]; known && x.Code == IndexOf {
			done[v] = r.Const(types.I64, Word(at))
			return done[v]
		}
		for _, a := range x.Args {
			r.now[a] = h.before(r, a, done)
		}
		r.copy(x.Stmt)
		done[v] = r.now[v]
	}
	return done[v]
}
