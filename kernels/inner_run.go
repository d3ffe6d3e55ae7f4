package kernels

// This file runs bodies that are a pass over the rows of tall matrices.

import (
	"math"

	"flow/ir/op"
	"flow/ir/value"
	"flow/kernels/dense"
	"flow/kernels/exact"
	"flow/kernels/vec"
)

// innerWorker is one worker's registers.
type innerWorker struct {
	laneWorker
	in      *innerCode
	columns []dense.Slab // of the matrices that are the same in every iteration, whole
	terms   [][]float64  // columns to be summed, whole, one for each register of sums; nil until the machine leaves a point to the steps
	summed  []int
	sum     exact.Sum
	fast    *passWorker
	across  *acrossWorker
}

// innerState is what an execution leaves to the next: to make it anew took longer than to fill it
// again, by far, for it is a hundred kilobytes.
type innerState struct {
	columns []dense.Slab // of the matrices that are the same in every iteration, whole; shared by all workers
	workers []*innerWorker
}

// state lays out the columns of r's matrices.
func (c *innerCode) state(r *parforRun) *innerState {
	s, ok := c.spare.Get().(*innerState)
	if !ok {
		s = &innerState{}
		for _, x := range c.columns {
			s.columns = append(s.columns, dense.SlabOver(aligned(make([]uint64, c.padded()+8)), r.values[x.from].(*value.Dense).Elem, c.padded()))
		}
	}
	for i, x := range c.columns {
		s.columns[i].Column(r.values[x.from].(*value.Dense), x.col)
	}
	return s
}

func (c *innerCode) worker(r *parforRun, number int) iterations {
	if r.inner == nil {
		r.inner = c.state(r)
	}
	s := r.inner
	for len(s.workers) <= number {
		s.workers = append(s.workers, nil)
	}
	w := s.workers[number]
	if w == nil {
		w = &innerWorker{in: c, columns: s.columns, laneWorker: *c.laneCode.registers(r, number, innerLanes)}
		for _, s := range c.sums {
			w.summed = append(w.summed, s.of...)
		}
		for _, d := range c.dots {
			w.summed = append(w.summed, d.a, d.b)
		}
		w.fast, w.across = w.passWorker(), w.acrossWorker()
		s.workers[number] = w
	} else {
		w.begin(r, innerLanes)
	}
	for _, x := range c.items {
		dense.Fill(&w.regs[x.reg], w.elems[x.reg], r.values[x.from].(*value.Dense).At(0, x.col), 0, innerLanes)
	}
	if w.fast != nil {
		w.fast.begin(w)
	}
	if w.across != nil {
		w.across.begin(w)
	}
	return w
}

// free lets go of the execution: what w has made is r.inner's.
func (w *innerWorker) free() {
	w.r = nil
	clear(w.mat)
}

func (w *innerWorker) run(from, to int, out *value.Dense) error {
	for group := vec.PassGroup(); w.across != nil && to-from >= acrossLeast; {
		if w.r.stopped(w.number) {
			return op.ErrStopped
		}
		n := min(group, to-from)
		if err := w.across.run(w, from, n, out); err != nil {
			return err
		}
		from += n
	}
	return w.each(from, to, out)
}

// each computes one point after the other.
func (w *innerWorker) each(from, to int, out *value.Dense) error {
	for p := from; p < to; p++ {
		if w.r.stopped(w.number) {
			return op.ErrStopped
		}
		w.regs[w.in.index].I64[0] = w.r.space.at(0, p)
		if !w.exec(w.in.before, 1) || !w.pass() || !w.exec(w.in.after, 1) {
			return errLane
		}
		if out != nil {
			w.store(p, 0, out)
		}
	}
	return nil
}

// store puts the result of a point, which is in that lane, into its row of out.
func (w *innerWorker) store(point, lane int, out *value.Dense) {
	for j, r := range w.in.out {
		put(&dense.Slab{F64: out.F64, F32: out.F32, I64: out.I64, Bool: out.Bool}, point*out.Stride+j, &w.regs[r], lane)
	}
}

// pass goes over the rows and makes the sums.
func (w *innerWorker) pass() bool {
	if w.fast != nil && w.fast.run(w) {
		return true
	}
	if w.terms == nil {
		for range w.summed {
			w.terms = append(w.terms, make([]float64, w.in.rows))
		}
	}
	for _, m := range w.in.spread {
		dense.Fill(&w.regs[m.to], w.elems[m.to], w.regs[m.from].At(w.elems[m.from], 0), 0, innerLanes)
	}
	rows := w.in.rows
	for k := 0; k < rows; k += innerLanes {
		n := min(innerLanes, rows-k)
		for i, x := range w.in.columns {
			w.regs[x.reg] = dense.Cut(w.columns[i], k, n)
		}
		for i, r := range w.summed {
			w.regs[r] = dense.Slab{F64: w.terms[i][k : k+n]}
		}
		if !w.exec(w.in.block, n) {
			return false
		}
	}
	i := 0
	for _, s := range w.in.sums {
		w.sum.Reset()
		for range s.of {
			w.sum.AddSlice(w.terms[i])
			i++
		}
		w.regs[s.to].F64[0] = w.sum.Round()
	}
	for _, d := range w.in.dots {
		chain, a, b := 0.0, w.terms[i], w.terms[i+1]
		for k, v := range a {
			chain = math.FMA(v, b[k], chain)
		}
		w.regs[d.to].F64[0] = chain
		i += 2
	}
	if w.fast != nil {
		w.fast.learn(w.terms)
	}
	return true
}

// sum3 is the sum of each row of three columns, rounded once.
func (w *laneWorker) sum3(s *laneStep, n int) {
	dst := w.regs[s.dst].F64[:n]
	a, b, c := w.regs[s.arg[0]].F64[:n], w.regs[s.arg[1]].F64[:n], w.regs[s.arg[2]].F64[:n]
	done, ok := vec.Sum3F64(dst, a, b, c)
	if !ok {
		done = 0
	}
	for k := done; k < n; k++ {
		x := [3]float64{a[k], b[k], c[k]}
		dst[k] = exact.Of(x[:])
	}
}

// root3 is x ^ 1.5 as the row pow has it.
func (w *laneWorker) root3(s *laneStep, n int) {
	dst, x := w.regs[s.dst].F64[:n], w.regs[s.arg[0]].F64[:n]
	var signs uint64
	for _, v := range x {
		signs |= math.Float64bits(v)
	}
	if signs>>63 != 0 { // something below 0, or -0, or a NaN with a sign
		for k, v := range x {
			dst[k] = vec.Pow(v, 1.5)
		}
		return
	}
	vec.SqrtF64(dst, x)
	vec.MulF64(dst, dst, x)
}
