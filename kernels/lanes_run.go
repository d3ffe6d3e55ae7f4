package kernels

// This file runs steps over lanes.

import (
	"encoding/binary"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/vec"
)

// laneWorker is one worker's registers.
type laneWorker struct {
	machine
	code  *laneCode
	r     *parforRun
	mat   []*value.Dense // of the body's registers that are matrices
	lists []laneList
	// number is the worker's, gaveUp says that a block ended because it was stopped.
	number int
	gaveUp bool
}

// stopEvery is after how many rounds of a loop its worker asks whether it is stopped: a round of few lanes takes less than the question.
const stopEvery = 64

// stops reports, in a round of a loop, that the worker gives up.
func (w *laneWorker) stops(round int64) bool {
	if round%stopEvery == 0 && w.r.stopped(w.number) {
		w.gaveUp = true
	}
	return w.gaveUp
}

// why is the error of a block that has not run to its end.
func (w *laneWorker) why() error {
	if w.gaveUp {
		return op.ErrStopped
	}
	return errLane
}

// laneList is what a loop or a branch knows of its lanes.
type laneList struct {
	at    [laneCount]int32 // the lane of the block around that each lane is
	move  [laneCount]int32
	alive [laneCount]uint8
}

func (c *laneCode) worker(r *parforRun, number int) iterations {
	return c.registers(r, number, laneCount)
}

// registers are those of worker number, of that many lanes, with what never changes in them.
func (c *laneCode) registers(r *parforRun, number, lanes int) *laneWorker {
	w := &laneWorker{code: c, number: number, mat: make([]*value.Dense, c.matrix+len(r.kept.cells)), lists: make([]laneList, c.loops)}
	w.elems = c.elems
	if m, ok := c.idle.Get().(*[]uint64); ok && len(*m) == c.slots*lanes {
		w.words = *m // a step writes a register before another reads it
	} else {
		w.words = make([]uint64, c.slots*lanes)
	}
	w.regs = make([]slab, len(c.elems))
	for i, e := range c.elems {
		if c.slot[i] >= 0 {
			w.regs[i] = slabOver(w.words[c.slot[i]*lanes:], e, lanes)
		}
	}
	w.begin(r, lanes)
	for _, d := range c.draws {
		w.mat[d.reg] = value.New(d.act.Type.Elem, lanes, d.act.Type.Cols)
	}
	if c.iota >= 0 {
		for i, x := 0, w.regs[c.iota].i64; i < lanes; i++ {
			x[i] = int64(i)
		}
	}
	return w
}

// begin gives w what is the same in every iteration of r.
func (w *laneWorker) begin(r *parforRun, lanes int) {
	c := w.code
	w.r = r
	for _, f := range c.fills {
		v, ok := value.Scalar{}, true
		if f.konst == nil && f.body < 0 {
			v = f.number
		} else if f.konst == nil {
			v, ok = r.values[f.body].(value.Scalar)
		} else if x, err := f.konst.Def.Ref(&op.Call{Def: f.konst.Def, Attrs: f.konst.Attrs, Type: f.konst.Type}); err == nil {
			v, ok = x.(value.Scalar)
		}
		if !ok {
			panic("BUG: a number of a loop's body is none")
		}
		fill(&w.regs[f.reg], c.elems[f.reg], v, 0, lanes)
	}
	for i := range c.matrix {
		w.mat[i], _ = r.values[i].(*value.Dense)
	}
}

// free gives the memory of the registers to the next execution of the loop.
func (w *laneWorker) free() {
	words := w.words
	w.code.idle.Put(&words)
	w.words, w.regs = nil, nil
}

// errLane says that some lane fails; parforRun.first finds out which and how.
var errLane = op.Failf(codeData, "an iteration fails")

func (w *laneWorker) run(from, to int, out *value.Dense) error {
	y := w.code.yield
	w.gaveUp = false
	for from < to {
		if w.stops(0) {
			return op.ErrStopped
		}
		n := min(laneCount, to-from)
		w.index(from, n)
		w.draw(from, n)
		if !w.exec(w.code.block, n) {
			return w.why()
		}
		if out != nil {
			dst := slabOf(out, from, n)
			copySlab(&dst, w.elems[y], 0, cut(w.regs[y], 0, n))
		}
		from += n
	}
	return nil
}

// draw makes the rows of constructors for the points from, from+1, .. of an index that goes by 1.
func (w *laneWorker) draw(from, n int) {
	for _, d := range w.code.draws {
		var rows value.Dense
		w.mat[d.reg].Window(&rows, 0, 0, n, d.act.Type.Cols)
		d.act.Def.Window(d.act.Attrs, &rows, w.r.space.lo[0]+from, 0)
	}
}

// index sets the registers of the indices for the points from, from+1, ..
func (w *laneWorker) index(from, n int) {
	s := &w.r.space
	first := w.regs[w.code.index[0]].i64
	if s.dims == 1 {
		x, by := s.at(0, from), int64(s.by[0])
		for k := range first[:n] {
			first[k] = x
			x += by
		}
		return
	}
	second := w.regs[w.code.index[1]].i64
	width := s.n[1]
	i, j := from/width, from%width
	for k := 0; k < n; {
		m := min(width-j, n-k)
		a, y, by := s.at(0, i), s.at(1, j), int64(s.by[1])
		row, col := first[k:k+m], second[k:k+m]
		for e := range row {
			row[e] = a
			col[e] = y
			y += by
		}
		i, j, k = i+1, 0, k+m
	}
}

// exec runs a block on n lanes; false if one of them fails.
func (w *laneWorker) exec(block []laneStep, n int) bool {
	for k := range block {
		s := &block[k]
		ok := true
		switch s.kind {
		case stepInstr:
			ok = w.step(&s.instr, n)
		case stepPick:
			ok = w.pick(s, n)
		case stepBlend:
			c, a, b := w.regs[s.arg[0]].b[:n], w.regs[s.arg[1]].b[:n], w.regs[s.arg[2]].b[:n]
			dst := w.regs[s.dst].b[:n]
			for e := range dst {
				dst[e] = b[e] ^ (a[e]^b[e])&-c[e]
			}
		case stepCopy:
			copySlab(&w.regs[s.dst], s.out, 0, cut(w.regs[s.arg[0]], 0, n))
		case stepSum3:
			w.sum3(s, n)
		case stepRoot3:
			w.root3(s, n)
		case stepKept:
			ok = w.keep(s, n)
		case stepCube:
			vec.CubeF64(w.regs[s.dst].f64[:n], w.regs[s.arg[0]].f64[:n])
		case stepLoop:
			ok = w.iterate(s.loop, n)
		case stepBranch:
			ok = w.choose(s.branch, n)
		}
		if !ok {
			return false
		}
	}
	return true
}

// keep gets a value that n lanes need; false if they fail for it.
func (w *laneWorker) keep(s *laneStep, n int) bool {
	v, err := w.r.kept.get(s.kept)
	if err != nil {
		w.gaveUp = w.gaveUp || err == op.ErrStopped
		return false
	}
	if s.dst < 0 {
		w.mat[w.code.matrix+s.kept], _ = v.(*value.Dense)
		return true
	}
	fill(&w.regs[s.dst], s.out, v.(value.Scalar), 0, n)
	return true
}

// pick reads elements of a matrix; false if a subscript is out of range.
func (w *laneWorker) pick(s *laneStep, n int) bool {
	m := w.mat[s.pick.from]
	row, col := w.regs[s.pick.row].i64[:n], w.regs[s.pick.col].i64[:n]
	dst := &w.regs[s.dst]
	switch storage(m.Elem) {
	case types.F64:
		return take(dst.f64[:n], m.F64, m, row, col)
	case types.F32:
		return take(dst.f32[:n], m.F32, m, row, col)
	case types.Bool:
		return take(dst.b[:n], m.Bool, m, row, col)
	}
	return take(dst.i64[:n], m.I64, m, row, col)
}

func take[T any](dst, from []T, m *value.Dense, row, col []int64) bool {
	rows, cols, stride := uint64(m.Rows), uint64(m.Cols), m.Stride
	col = col[:len(row)]
	dst = dst[:len(row)]
	for k, i := range row {
		j := col[k]
		if i < 0 {
			i += int64(rows)
		}
		if j < 0 {
			j += int64(cols)
		}
		if uint64(i) >= rows || uint64(j) >= cols {
			return false
		}
		dst[k] = from[int(i)*stride+int(j)]
	}
	return true
}

// iterate runs a loop on n lanes.
//
// A round writes nothing but registers of the round until its end, when carried and next values change places. So a round that
// fails while dead lanes are among the others is run again without them: it may have been one of them that failed.
func (w *laneWorker) iterate(l *laneLoop, n int) bool {
	for j, r := range l.init {
		copySlab(&w.regs[l.carry[j]], w.elems[r], 0, cut(w.regs[r], 0, n))
	}
	for _, m := range l.local {
		copySlab(&w.regs[m.to], w.elems[m.to], 0, cut(w.regs[m.from], 0, n))
	}
	if l.counted {
		for round := range l.times {
			if w.stops(round) || !w.exec(l.body, n) {
				return false
			}
			w.swap(l)
		}
		for j, r := range l.result {
			if r >= 0 {
				copySlab(&w.regs[r], w.elems[r], 0, cut(w.regs[l.carry[j]], 0, n))
			}
		}
		return true
	}
	list := &w.lists[l.id]
	for k := range n {
		list.at[k], list.alive[k] = int32(k), 1
	}
	for all, live, round := n, n, int64(0); ; round++ {
		if w.stops(round) {
			return false
		}
		if all-live > all/4 {
			all = w.compact(l, list, all)
		}
		ok := w.exec(l.cond, all)
		if ok {
			if live -= w.retire(l, list, all); live == 0 {
				return true
			}
			ok = w.exec(l.body, all)
		}
		switch {
		case ok:
			w.swap(l)
		case all == live:
			return false
		default:
			all = w.compact(l, list, all)
		}
	}
}

// swap makes the next values the carried ones.
func (w *laneWorker) swap(l *laneLoop) {
	for j, r := range l.carry {
		w.regs[r], w.regs[l.next[j]] = w.regs[l.next[j]], w.regs[r]
	}
}

// retire takes the values of the lanes that stop, of n, and says how many there were.
func (w *laneWorker) retire(l *laneLoop, list *laneList, n int) (count int) {
	stop := w.regs[l.stop].b
	k := 0
	for ; k+8 <= n; k += 8 {
		if binary.LittleEndian.Uint64(stop[k:])&binary.LittleEndian.Uint64(list.alive[k:]) == 0 {
			continue
		}
		for e := k; e < k+8; e++ {
			count += w.retireOne(l, list, stop, e)
		}
	}
	for ; k < n; k++ {
		count += w.retireOne(l, list, stop, k)
	}
	return count
}

func (w *laneWorker) retireOne(l *laneLoop, list *laneList, stop []uint8, k int) int {
	if stop[k]&list.alive[k] == 0 {
		return 0
	}
	list.alive[k] = 0
	for j, r := range l.result {
		if r >= 0 {
			put(&w.regs[r], int(list.at[k]), &w.regs[l.carry[j]], k)
		}
	}
	return 1
}

// put copies element k of src to element at of dst.
func put(dst *slab, at int, src *slab, k int) {
	switch {
	case src.f64 != nil:
		dst.f64[at] = src.f64[k]
	case src.i64 != nil:
		dst.i64[at] = src.i64[k]
	case src.f32 != nil:
		dst.f32[at] = src.f32[k]
	default:
		dst.b[at] = src.b[k]
	}
}

// compact moves the living of n lanes together and says how many there are.
func (w *laneWorker) compact(l *laneLoop, list *laneList, n int) int {
	m := 0
	for k := range n {
		if list.alive[k] != 0 {
			list.move[m] = int32(k)
			m++
		}
	}
	move := list.move[:m]
	for _, r := range l.carry {
		collect(&w.regs[r], &w.regs[r], move)
	}
	for _, x := range l.local {
		collect(&w.regs[x.to], &w.regs[x.to], move)
	}
	for to, k := range move {
		list.at[to], list.alive[to] = list.at[k], 1
	}
	return m
}

// collect is dst[k] = src[at[k]]; at ascends, so the two may be the same.
func collect(dst, src *slab, at []int32) {
	switch {
	case src.f64 != nil:
		collectFrom(dst.f64, src.f64, at)
	case src.i64 != nil:
		collectFrom(dst.i64, src.i64, at)
	case src.f32 != nil:
		collectFrom(dst.f32, src.f32, at)
	default:
		collectFrom(dst.b, src.b, at)
	}
}

func collectFrom[T vec.Element](dst, src []T, at []int32) {
	dst = dst[:len(at)]
	for k, i := range at {
		dst[k] = src[i]
	}
}

// scatterTo is dst[at[k]] = src[k].
func scatterTo(dst, src *slab, at []int32) {
	for k, i := range at {
		put(dst, int(i), src, k)
	}
}

// choose runs each side of a branch on the lanes that take it.
func (w *laneWorker) choose(s *laneBranch, n int) bool {
	list := &w.lists[s.id]
	cond := w.regs[s.cond].b
	for k := range s.sides {
		side, m := &s.sides[k], 0
		for e, c := range cond[:n] {
			if (c == 0) == (k == 1) {
				list.at[m] = int32(e)
				m++
			}
		}
		if m == 0 {
			continue
		}
		for _, x := range side.local {
			collect(&w.regs[x.to], &w.regs[x.from], list.at[:m])
		}
		if !w.exec(side.block, m) {
			return false
		}
		for j, r := range s.result {
			if r >= 0 {
				scatterTo(&w.regs[r], &w.regs[side.yield[j]], list.at[:m])
			}
		}
	}
	return true
}
