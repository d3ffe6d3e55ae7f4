package inout

// This file keeps the blocks of matrices that are made in parts (inparts.go). A block is made by the
// worker that reads it first, and its memory is given back after the last read. So blocks may have
// several readers: windows that are shifted against each other, and chains.

import (
	"slices"

	"flow/ir/op"
	"flow/memory"
)

// made is a matrix that is made in parts.
type made struct {
	act    int         // the index of its action
	call   op.Call     // of the action; its result has the memory rows
	body   op.LoopBody // of call
	rows   []byte      // the memory of all rows (memory.Sparse)
	each   int         // bytes of a row
	reads  []rowsFrom  // operands that are made in parts, too
	step   int         // so many rows are made at a time
	cuts   []int       // block k has the rows cuts[k]..cuts[k+1]-1; the rows of others are not read
	blocks []block
}

// rowsFrom is an operand that is made in parts: row i of a reader reads row i + down of it.
type rowsFrom struct {
	of   *made
	down int
}

// block is the state of a block.
type block struct {
	uses          int // reads to come
	making, there bool
	err           error // why it is not there
}

// rowsAtATime is how many rows are made at a time of a matrix that only others are made of. As in
// wholePages of package layout, these rows fill whole pages.
const rowsAtATime = 4096

// span returns the rows of an operand that rows from..until-1 of a reader read.
func (r rowsFrom) span(from, until int) (lo, hi int) { return from + r.down, until + r.down }

// cut cuts the matrices into blocks and counts their reads. A block has the rows that a part of the
// loop reads and the part before does not. It is smaller if only other matrices are made of it.
func (x *partsRun) cut() {
	parts := func(do func(reads []rowsFrom, from, until int)) {
		lo, hi := 0, (x.rows+x.each-1)/x.each
		if x.c.Part {
			lo, hi = x.c.From, x.c.To
		}
		for at := lo; at < hi; at += x.part {
			if from, until := x.rowsOf(at, min(at+x.part, hi)); from < until {
				do(x.reads, from, until)
			}
		}
	}
	for _, m := range x.made {
		m.step = rowsAtATime
	}
	for _, r := range x.reads {
		r.of.step = x.rows
	}
	parts(func(reads []rowsFrom, from, until int) {
		spans := map[*made][2]int{}
		wants := func(reads []rowsFrom, from, until int) {
			for _, r := range reads {
				lo, hi := r.span(from, until)
				if s, ok := spans[r.of]; ok {
					lo, hi = min(lo, s[0]), max(hi, s[1])
				}
				spans[r.of] = [2]int{lo, hi}
			}
		}
		wants(reads, from, until)
		for _, m := range slices.Backward(x.made) {
			s := spans[m]
			if n := len(m.cuts); n > 0 && m.cuts[n-1] > s[0] {
				s[0] = m.cuts[n-1]
			} else if s[0] < s[1] && (n == 0 || m.cuts[n-1] < s[0]) {
				m.cuts = append(m.cuts, s[0])
			}
			if s[0] < s[1] {
				wants(m.reads, s[0], s[1])
			}
			for at := s[0]; at < s[1]; at += m.step {
				m.cuts = append(m.cuts, min(at+m.step, s[1]))
			}
		}
	})
	for _, m := range x.made {
		m.blocks = make([]block, max(0, len(m.cuts)-1))
	}
	var count func(reads []rowsFrom, from, until int)
	count = func(reads []rowsFrom, from, until int) {
		for _, r := range reads {
			lo, hi := r.of.blocksOf(r.span(from, until))
			for k := lo; k < hi; k++ {
				b := &r.of.blocks[k]
				if b.uses++; b.uses > 1 || len(r.of.reads) == 0 {
					continue
				}
				for at := r.of.cuts[k]; at < r.of.cuts[k+1]; at += rowsAtATime {
					count(r.of.reads, at, min(at+rowsAtATime, r.of.cuts[k+1]))
				}
			}
		}
	}
	parts(count)
}

// blocksOf returns the blocks lo..hi-1 that have rows of from..until-1.
func (m *made) blocksOf(from, until int) (lo, hi int) {
	if from >= until {
		return 0, 0
	}
	lo, there := slices.BinarySearch(m.cuts, from)
	if !there {
		lo--
	}
	hi, _ = slices.BinarySearch(m.cuts, until)
	return lo, hi
}

// wait makes the blocks with the rows that rows from..until-1 of a reader read, unless another worker
// makes them. It returns once they are there. After a failure it returns the matrix, too.
func (x *partsRun) wait(worker int, reads []rowsFrom, from, until int) (*made, error) {
	for _, r := range reads {
		lo, hi := r.of.blocksOf(r.span(from, until))
		for k := lo; k < hi; k++ {
			if of, err := x.block(worker, r.of, k); err != nil {
				return of, err
			}
		}
	}
	return nil, nil
}

// block is wait for block k of matrix m.
func (x *partsRun) block(worker int, m *made, k int) (of *made, err error) {
	b := &m.blocks[k]
	x.lock.Lock()
	defer x.lock.Unlock()
	for b.making {
		x.settled.Wait()
	}
	if b.there || b.err != nil {
		return m, b.err
	}
	b.making = true
	x.lock.Unlock()
	of, err = x.fill(worker, m, m.cuts[k], m.cuts[k+1])
	x.lock.Lock()
	b.making, b.there, b.err = false, err == nil, err
	x.settled.Broadcast()
	return of, err
}

// fill makes rows from..until-1 of matrix m.
func (x *partsRun) fill(worker int, m *made, from, until int) (*made, error) {
	if len(m.reads) == 0 {
		return m, m.body.Chunk(worker, from, until)
	}
	for at := from; at < until; at += rowsAtATime {
		to := min(at+rowsAtATime, until)
		if of, err := x.wait(worker, m.reads, at, to); err != nil {
			return of, err
		}
		if err := m.body.Chunk(worker, at, to); err != nil {
			return m, err
		}
		x.done(m.reads, at, to)
	}
	return nil, nil
}

// done says that a reader has read what its rows from..until-1 need.
func (x *partsRun) done(reads []rowsFrom, from, until int) {
	for _, r := range reads {
		lo, hi := r.of.blocksOf(r.span(from, until))
		for k := lo; k < hi; k++ {
			x.lock.Lock()
			b := &r.of.blocks[k]
			if b.uses--; b.uses == 0 {
				r.of.discard(k)
			}
			x.lock.Unlock()
		}
	}
}

// discard gives back the memory of block k. The caller has the lock. Blocks share pages, so a page is
// given back with the last of its blocks.
func (m *made) discard(k int) {
	gone := func(k int) bool { return k >= 0 && k < len(m.blocks) && m.blocks[k].there && m.blocks[k].uses == 0 }
	lo, hi := k, k+1
	for gone(lo-1) && (m.cuts[k]-m.cuts[lo])*m.each < pageOver {
		lo--
	}
	for gone(hi) && (m.cuts[hi]-m.cuts[k+1])*m.each < pageOver {
		hi++
	}
	from, until := max(m.cuts[lo]*m.each, m.cuts[k]*m.each-pageOver), min(m.cuts[hi]*m.each, m.cuts[k+1]*m.each+pageOver)
	memory.Discard(m.rows[from:until])
}

// pageOver is at least the size of a page, which is 64 KiB at most.
const pageOver = 64 << 10
