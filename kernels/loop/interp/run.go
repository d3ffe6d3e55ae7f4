package interp

// This file runs statements. All lanes at work run each of them. Where lanes part, as in an If or in a
// loop that ends at different rounds, the lanes that take part move together: the registers that they read
// hold their elements alone until the others come back.

import (
	"bytes"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/kernels/vec"
)

// lanes is what a worker knows of the lanes of an If or a loop where they part.
type lanes struct {
	at    []int // the place of each lane among those around
	move  []int
	saved []saved // registers as they are around
	n     int     // lanes around
	parts bool    // lanes may part
	given bool    // some lanes have left a loop and given their values
	left  bool    // all have
}

type saved struct {
	reg    int
	kind   kindOf
	owned  bool
	s      *slab
	by     int64
	wide   *slab
	filled int
}

// run runs a block. It returns false where all lanes have left the loop around, or the window is over.
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
		w.flagged = w.flagged || bytes.IndexByte(cond.s.b[:n], 0) >= 0
		return !w.flagged
	case loop.Break:
		cond := &w.regs[s.args[0]]
		return cond.kind == uniform && cond.s.b[0] == 0 || w.leave(s, w.lanes(s.args[0]).b)
	case loop.Apply:
		return s.call == nil || w.apply(s) // nil: it has been called early
	case loop.If:
		return w.branch(s)
	case loop.For:
		return w.loop(s, nil)
	case loop.Fold:
		return w.fold(s)
	}
	return true
}

// operate runs the loop of an operation over the lanes, or on one element if all operands are uniform.
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

// takeYield gives what a block yields to registers from dst on.
func (w *Worker) takeYield(dst int, b *block) {
	for k, y := range b.yield {
		w.hand(&w.regs[dst+k], &w.regs[y.reg], y.last)
	}
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
		w.takeYield(s.dst, b)
		return true
	}
	if cond.kind == uniform {
		return side(cond.s.b[0] != 0)
	}
	taken := cond.s.b[:w.n]
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

// drop gives the memory of what a block has yielded back.
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

// enter keeps registers as they are while some lanes move.
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

// rounds is how many values a range of steps has.
func rounds(from, to, by int64) uint64 {
	switch {
	case by > 0 && from < to:
		return (uint64(to)-uint64(from)-1)/uint64(by) + 1
	case by < 0 && from > to:
		return (uint64(from)-uint64(to)-1)/-uint64(by) + 1
	}
	return 0
}

// fill sets an integer register to a form.
func (w *Worker) fill(r int, f *form) []int64 {
	first, step, _ := w.linear(f)
	to := w.set(r, varying).i64[:w.n]
	for k := range to {
		to[k] = first
		first += step
	}
	for _, t := range f.terms {
		if x := &w.regs[t.reg]; x.kind == varying && t.reg != r {
			for k, i := range x.s.i64[:w.n] {
				to[k] += t.coef * i
			}
		}
	}
	return to
}

// loop runs a For, or the rounds of a Fold: round is called after each of them.
func (w *Worker) loop(s *stmt, round func()) bool {
	in, l, by := s.inner, &w.lists[s.list], s.Loop.Index.Range.By
	first, count := int64(0), uint64(1<<64-1)
	counts, least := false, uint64(0)
	if s.Loop.Index.Range.Kind == loop.Forever {
		by = 1
	} else {
		from, down, list := w.linear(&in.from)
		to, up, list1 := w.linear(&in.to)
		if first, count = from, rounds(from, to, by); list || list1 || down != 0 || up != 0 {
			counts = true
			from, to := w.fill(in.index, &in.from), w.fill(in.count, &in.to)
			for k := range to {
				to[k] = int64(rounds(from[k], to[k], by))
			}
			least = leastOf(to)
		}
	}
	if l.parts = counts || in.breaks; l.parts {
		w.enter(l, in.reads)
		l.at, l.given, l.left = room(l.at, w.n), false, false
		for k := range l.at {
			l.at[k] = k
		}
	}
	for k, r := range in.init {
		w.show(&w.regs[in.carry[k]], &w.regs[r])
	}
	for r := uint64(0); ; r++ {
		if r == count && !counts || w.spend(w.n) {
			break
		}
		if !counts {
			w.number(in.index, first)
			first += by
		} else if r >= least && !w.ends(s, r, &least) {
			break
		}
		if !w.run(in.block) {
			break
		}
		if round != nil {
			round()
		}
		w.next(in)
		if counts {
			for k := range w.n {
				w.regs[in.index].s.i64[k] += by
			}
		}
	}
	if l.parts {
		if l.given && !l.left && !w.over() { // the others end together
			stop := w.take(types.Bool)
			vec.Fill(stop.b[:w.n], 1)
			w.leaving(s, stop.b[:w.n])
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

// next makes what a round yields the carried values of the next one.
func (w *Worker) next(in *inner) {
	for k := range in.carry {
		w.hand(&w.regs[in.next[k]], &w.regs[in.yield[k].reg], in.yield[k].last)
	}
	for k, r := range in.carry {
		w.hand(&w.regs[r], &w.regs[in.next[k]], true)
	}
}

func leastOf(list []int64) uint64 {
	least := uint64(1<<64 - 1)
	for _, x := range list {
		least = min(least, uint64(x))
	}
	return least
}

// ends lets the lanes leave that have had all their rounds. It returns false where all have.
func (w *Worker) ends(s *stmt, r uint64, least *uint64) bool {
	list := w.regs[s.inner.count].s.i64[:w.n]
	stop := w.take(types.Bool)
	defer w.give(types.Bool, stop)
	for k, x := range list {
		stop.b[k] = 0
		if r >= uint64(x) {
			stop.b[k] = 1
		}
	}
	if !w.leave(s, stop.b) {
		return false
	}
	*least = leastOf(w.regs[s.inner.count].s.i64[:w.n])
	return true
}

// leave lets the lanes with stop leave a loop. It returns false where all have left.
func (w *Worker) leave(s *stmt, stop []uint8) bool {
	l := &w.lists[s.list]
	stop = stop[:w.n]
	if bytes.IndexByte(stop, 1) < 0 {
		return true
	}
	if bytes.IndexByte(stop, 0) < 0 && !l.given { // all at once
		l.left = true
		return false
	}
	return w.leaving(s, stop)
}

// leaving gives the carried values of the lanes with stop to the results of a loop and moves the others
// together.
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

// fold reduces inside a point: a state has a place for each lane, or one where all rounds are alike in all
// lanes.
func (w *Worker) fold(s *stmt) bool {
	in, l := s.inner, &w.lists[s.list]
	st, places := w.folds[in.fold], w.n
	if w.alike(in) {
		places = 1
	}
	st.reset(places)
	done := w.loop(s, func() {
		if places == 1 {
			x, y := in.yield[0].reg, in.yield[len(in.yield)-1].reg
			st.each(1, w.regs[x].s, w.regs[y].s)
		} else if x, y := w.yielded(in.block); l.parts {
			st.add(l.at[:w.n], x, y)
		} else {
			st.each(w.n, x, y)
		}
		w.drop(in.block)
	})
	if !done {
		return false
	}
	kind := varying
	if places == 1 {
		kind = uniform
	}
	st.result(w.set(s.dst, kind), 0, places)
	return true
}

// yielded is the one or two values that a block yields, for each lane.
func (w *Worker) yielded(b *block) (x, y *slab) {
	return w.lanes(b.yield[0].reg), w.lanes(b.yield[len(b.yield)-1].reg)
}

// alike reports that a loop computes the same in all lanes: nothing that it reads differs.
func (w *Worker) alike(in *inner) bool {
	for _, r := range in.reads {
		if w.regs[r].kind >= ramp && r != w.body.lane {
			return false
		}
	}
	for _, f := range [...]*form{&in.from, &in.to} {
		if _, step, list := w.linear(f); step != 0 || list {
			return false
		}
	}
	return !in.local
}
