package interp

// This file runs statements. All active lanes run each of them. Where lanes part, as in an If or in a
// loop that ends at different rounds, the registers that the active lanes read are gathered, and
// restored when the other lanes continue.

import (
	"bytes"
	"math"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/kernels/dense"
	"flow/kernels/vec"
)

// run runs a block. It returns false if all lanes have left the enclosing loop, or if the window is
// over.
func (w *Worker) run(b *block) bool {
	if b.point {
		w.zeroLocals()
	}
	for i := range b.stmts {
		s := &b.stmts[i]
		if s.do != nil {
			w.operate(s.do, s.dst, s.args)
		} else if !w.stmt(s) {
			return false
		}
		for _, r := range s.free {
			if x := &w.regs[r]; x.kind != uniform || x.wide != nil {
				w.empty(x)
			}
		}
	}
	return true
}

func (w *Worker) stmt(s *stmt) bool {
	switch s.Code {
	case loop.IndexOf:
		w.hand(&w.regs[s.dst], &w.regs[w.body.values+int(s.Imm)], false)
	case loop.Load:
		w.load(s)
	case loop.Store:
		w.store(s)
		return !w.over()
	case loop.Reduce:
		w.contribute(s)
	case loop.Check:
		cond, n := &w.regs[s.args[0]], w.n
		if cond.kind == uniform {
			n = 1
		}
		w.flagged = w.flagged || bytes.IndexByte(cond.s.Bool[:n], 0) >= 0
		return !w.flagged
	case loop.Break:
		cond := &w.regs[s.args[0]]
		return cond.kind == uniform && cond.s.Bool[0] == 0 || w.leave(s, w.lanes(s.args[0]).Bool)
	case loop.Apply:
		return s.call == nil || w.apply(s) // nil: start has called it
	case loop.If:
		return w.branch(s)
	case loop.For:
		return w.loop(s)
	}
	return true
}

// operate runs an operation over the lanes, or on one element if all operands are uniform.
func (w *Worker) operate(do operation, dst int, args []int) {
	one := true
	for _, r := range args {
		one = one && w.regs[r].kind == uniform
	}
	var in [3]*slab
	if one {
		for k, r := range args {
			in[k] = w.regs[r].s
		}
		do(w.set(dst, uniform), in[0], in[1], in[2], 1)
		return
	}
	for k, r := range args {
		in[k] = w.lanes(r)
	}
	do(w.set(dst, varying), in[0], in[1], in[2], w.n)
}

// apply runs the body of a function.
func (w *Worker) apply(s *stmt) bool {
	f, outer := w.frameOf(s.call), w.frame
	for k, r := range s.args {
		w.show(&f.regs[k], &outer.regs[r])
	}
	w.frame = f
	done := w.run(s.call.block)
	w.frame = outer
	for k, y := range s.call.yield {
		w.hand(&outer.regs[s.dst+k], &f.regs[y.reg], y.last)
	}
	return done
}

func (w *Worker) branch(s *stmt) bool {
	cond := &w.regs[s.args[0]]
	side := func(taken bool) bool {
		b := s.then
		if !taken {
			b = s.other
		}
		if !w.run(b) {
			return false
		}
		for k, y := range b.yield {
			w.hand(&w.regs[s.dst+k], &w.regs[y.reg], y.last)
		}
		return true
	}
	if cond.kind == uniform {
		return side(cond.s.Bool[0] != 0)
	}
	taken := cond.s.Bool[:w.n]
	if bytes.IndexByte(taken, 0) < 0 {
		return side(true)
	} else if bytes.IndexByte(taken, 1) < 0 {
		return side(false)
	}
	if s.cheap {
		w.run(s.then)
		w.run(s.other)
		for k, y := range s.then.yield {
			z := s.other.yield[k]
			w.operate(selects.of(w.regs[y.reg].elem), s.dst+k, []int{s.args[0], y.reg, z.reg})
		}
		w.drop(s.then)
		w.drop(s.other)
		return true
	}
	for k := range s.N {
		w.set(s.dst+k, varying)
	}
	return w.side(s, s.then, taken, 1) && w.side(s, s.other, taken, 0)
}

// drop returns the memory of the values that a block has yielded.
func (w *Worker) drop(b *block) {
	for _, y := range b.yield {
		if y.last {
			w.empty(&w.regs[y.reg])
		}
	}
}

// side runs a side of an If on the lanes that take it.
func (w *Worker) side(s *stmt, b *block, taken []uint8, which uint8) bool {
	if len(b.stmts) == 0 && s.N == 0 {
		return true
	}
	l := &w.lists[s.list]
	list := l.move[:0]
	for k, t := range taken {
		if t == which {
			list = append(list, k)
		}
	}
	l.move = list
	w.enter(l, b.reads)
	for _, r := range b.reads {
		w.gather(r, list)
	}
	w.n = len(list)
	done := w.run(b)
	if done {
		for k, y := range b.yield {
			accessTo(w.regs[y.reg].elem).scatter(w.regs[s.dst+k].s, w.lanes(y.reg), list)
		}
		w.drop(b)
	}
	w.exit(l)
	return done
}

// enter saves registers before lanes part. exit restores them.
func (w *Worker) enter(l *lanes, regs []int) {
	l.n, l.saved = w.n, l.saved[:0]
	for _, r := range regs {
		if x := &w.regs[r]; x.kind >= ramp {
			l.saved = append(l.saved, saved{r, x.kind, x.owned, x.s, x.by, x.wide, x.filled})
			x.owned, x.wide, x.filled = false, nil, 0
		}
	}
}

func (w *Worker) exit(l *lanes) {
	for _, v := range l.saved {
		x := &w.regs[v.reg]
		w.empty(x)
		x.kind, x.owned, x.s, x.by, x.wide, x.filled = v.kind, v.owned, v.s, v.by, v.wide, v.filled
	}
	w.n = l.n
}

// rounds returns the number of values of a range of steps.
func rounds(from, to, by int64) uint64 {
	switch {
	case by > 0 && from < to:
		return (uint64(to)-uint64(from)-1)/uint64(by) + 1
	case by < 0 && from > to:
		return (uint64(from)-uint64(to)-1)/-uint64(by) + 1
	}
	return 0
}

// fill sets integer register r to the values of a form and returns them.
func (w *Worker) fill(r int, f *form) []int64 {
	first, step, _ := w.linear(f)
	to := w.set(r, varying).I64[:w.n]
	for k := range to {
		to[k] = first
		first += step
	}
	for _, t := range f.terms {
		if x := &w.regs[t.reg]; x.kind == varying && t.reg != r {
			for k, i := range x.s.I64[:w.n] {
				to[k] += t.coef * i
			}
		}
	}
	return to
}

// bounds is the range of a loop: its first index, step and number of rounds. If counts, each lane has
// an index and a number of rounds of its own. least is the least of these numbers.
type bounds struct {
	first, by    int64
	count, least uint64
	counts       bool
}

// boundsOf computes the range of a loop. If its lanes differ, it sets the registers index and count of
// the loop.
func (w *Worker) boundsOf(s *stmt) bounds {
	in, by := s.inner, s.Loop.Index.Range.By
	if s.Loop.Index.Range.Kind == loop.Forever {
		return bounds{by: 1, count: math.MaxUint64}
	}
	from, down, list := w.linear(&in.from)
	to, up, list1 := w.linear(&in.to)
	b := bounds{first: from, by: by, count: rounds(from, to, by)}
	if b.counts = list || list1 || down != 0 || up != 0; b.counts {
		from, to := w.fill(in.index, &in.from), w.fill(in.count, &in.to)
		for k := range to {
			to[k] = int64(rounds(from[k], to[k], by))
		}
		b.least = leastOf(to)
	}
	return b
}

// loop runs a For. It returns false if the window is over.
func (w *Worker) loop(s *stmt) bool {
	in, l, b := s.inner, &w.lists[s.list], w.boundsOf(s)
	if l.parts = b.counts || in.breaks; l.parts {
		w.enter(l, in.reads)
		l.at, l.given, l.left = dense.Resized(l.at, w.n), false, false
		for k := range l.at {
			l.at[k] = k
		}
		// An earlier execution that was left inside of the body has not emptied these. A view of one lane
		// would be too short when lanes leave before they are set again.
		for _, r := range in.own {
			w.empty(&w.regs[r])
		}
	}
	for k, r := range in.init {
		w.show(&w.regs[in.carry[k]], &w.regs[r])
	}
	for r := uint64(0); ; r++ {
		if r == b.count && !b.counts || w.spend(w.n) {
			break
		}
		if !b.counts {
			w.number(in.index, b.first)
			b.first += b.by
		} else if r >= b.least && !w.ends(s, r, &b.least) {
			break
		}
		if !w.run(in.block) {
			break
		}
		for k := range in.carry { // the values of this round are those of the next one
			w.hand(&w.regs[in.next[k]], &w.regs[in.yield[k].reg], in.yield[k].last)
		}
		for k, r := range in.carry {
			w.hand(&w.regs[r], &w.regs[in.next[k]], true)
		}
		if b.counts {
			for k := range w.n {
				w.regs[in.index].s.I64[k] += b.by
			}
		}
	}
	if l.parts {
		if l.given && !l.left && !w.over() { // the remaining lanes end together
			stop := w.take(types.Bool)
			vec.Fill(stop.Bool[:w.n], 1)
			w.leaving(s, stop.Bool[:w.n])
			w.give(types.Bool, stop)
		}
		w.exit(l)
	}
	for k, r := range in.carry {
		if !l.parts || !l.given {
			w.hand(&w.regs[s.dst+k], &w.regs[r], true)
		}
		w.empty(&w.regs[r])
	}
	w.empty(&w.regs[in.index])
	w.empty(&w.regs[in.count])
	return !w.over()
}

func leastOf(list []int64) uint64 {
	least := uint64(1<<64 - 1)
	for _, x := range list {
		least = min(least, uint64(x))
	}
	return least
}

// ends removes the lanes that have had all their rounds before round r, and updates least. It returns
// false if no lane remains.
func (w *Worker) ends(s *stmt, r uint64, least *uint64) bool {
	list := w.regs[s.inner.count].s.I64[:w.n]
	stop := w.take(types.Bool)
	defer w.give(types.Bool, stop)
	for k, x := range list {
		stop.Bool[k] = 0
		if r >= uint64(x) {
			stop.Bool[k] = 1
		}
	}
	if !w.leave(s, stop.Bool) {
		return false
	}
	*least = leastOf(w.regs[s.inner.count].s.I64[:w.n])
	return true
}

// leave removes the lanes whose stop is 1 from a loop. It returns false if no lane remains.
func (w *Worker) leave(s *stmt, stop []uint8) bool {
	l := &w.lists[s.list]
	stop = stop[:w.n]
	if bytes.IndexByte(stop, 1) < 0 {
		return true
	}
	if bytes.IndexByte(stop, 0) < 0 && !l.given { // loop hands all carried values on at once
		l.left = true
		return false
	}
	return w.leaving(s, stop)
}

// leaving copies the carried values of the lanes whose stop is 1 to the results of a loop and gathers
// the other lanes. It returns false if no lane remains.
func (w *Worker) leaving(s *stmt, stop []uint8) bool {
	l, in := &w.lists[s.list], s.inner
	list := l.move[:0]
	for k, x := range stop {
		if x != 0 {
			list = append(list, k)
		}
	}
	places := w.places[:len(list)]
	for e, k := range list {
		places[e] = l.at[k]
	}
	for k, r := range in.carry {
		to := &w.regs[in.dst+k]
		if !l.given {
			w.set(in.dst+k, varying)
		}
		a, part := accessTo(to.elem), w.take(to.elem)
		a.collect(part, w.lanes(r), list)
		a.scatter(to.s, part, places)
		w.give(to.elem, part)
	}
	l.given = true
	stay := list[:0]
	for k, x := range stop {
		if x == 0 {
			stay = append(stay, k)
		}
	}
	l.move = stay
	if len(stay) == 0 {
		l.left = true
		return false
	}
	for _, r := range in.moves {
		w.gather(r, stay)
	}
	for to, k := range stay {
		l.at[to] = l.at[k]
	}
	w.n = len(stay)
	return true
}
