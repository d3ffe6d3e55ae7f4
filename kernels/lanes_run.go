package kernels

// This file runs steps over lanes.

import (
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/dense"
	"flow/kernels/vec"
)

// laneWorker is one worker's registers.
type laneWorker struct {
	machine
	code   *laneCode
	r      *parforRun
	mat    []*value.Dense // of the body's registers that are matrices
	number int            // the worker's
}

// registers are those of worker number, of that many lanes, with what never changes in them.
func (c *laneCode) registers(r *parforRun, number, lanes int) *laneWorker {
	w := &laneWorker{code: c, number: number, mat: make([]*value.Dense, c.matrix)}
	w.elems = c.elems
	if m, ok := c.idle.Get().(*[]uint64); ok && len(*m) == c.slots*lanes {
		w.words = *m // a step writes a register before another reads it
	} else {
		w.words = make([]uint64, c.slots*lanes)
	}
	w.regs = make([]dense.Slab, len(c.elems))
	for i, e := range c.elems {
		if c.slot[i] >= 0 {
			w.regs[i] = dense.SlabOver(w.words[c.slot[i]*lanes:], e, lanes)
		}
	}
	w.begin(r, lanes)
	return w
}

// begin gives w what is the same in every iteration of r.
func (w *laneWorker) begin(r *parforRun, lanes int) {
	c := w.code
	w.r = r
	for _, f := range c.fills {
		v, ok := value.Scalar{}, true
		if f.body < 0 {
			v = f.number
		} else {
			v, ok = r.values[f.body].(value.Scalar)
		}
		if !ok {
			panic("BUG: a number of a loop's body is none")
		}
		dense.Fill(&w.regs[f.reg], c.elems[f.reg], v, 0, lanes)
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
var errLane = op.Failf(define.CodeData, "an iteration fails")

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
		case stepCopy:
			dense.CopySlab(&w.regs[s.dst], s.out, 0, dense.Cut(w.regs[s.arg[0]], 0, n))
		case stepSum3:
			w.sum3(s, n)
		case stepRoot3:
			w.root3(s, n)
		case stepCube:
			vec.CubeF64(w.regs[s.dst].F64[:n], w.regs[s.arg[0]].F64[:n])
		}
		if !ok {
			return false
		}
	}
	return true
}

// pick reads elements of a matrix; false if a subscript is out of range.
func (w *laneWorker) pick(s *laneStep, n int) bool {
	m := w.mat[s.pick.from]
	row, col := w.regs[s.pick.row].I64[:n], w.regs[s.pick.col].I64[:n]
	dst := &w.regs[s.dst]
	switch dense.Storage(m.Elem) {
	case types.F64:
		return take(dst.F64[:n], m.F64, m, row, col)
	case types.F32:
		return take(dst.F32[:n], m.F32, m, row, col)
	case types.Bool:
		return take(dst.Bool[:n], m.Bool, m, row, col)
	}
	return take(dst.I64[:n], m.I64, m, row, col)
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

// index sets the register of the index for the points from, from+1, ..
func (w *laneWorker) index(from, n int) {
	s := &w.r.space
	first := w.regs[w.code.index].I64
	for k, x, by := 0, s.at(0, from), int64(s.by[0]); k < n; k, x = k+1, x+by {
		first[k] = x
	}
}

// put copies element k of src to element at of dst.
func put(dst *dense.Slab, at int, src *dense.Slab, k int) {
	switch {
	case src.F64 != nil:
		dst.F64[at] = src.F64[k]
	case src.I64 != nil:
		dst.I64[at] = src.I64[k]
	case src.F32 != nil:
		dst.F32[at] = src.F32[k]
	default:
		dst.Bool[at] = src.Bool[k]
	}
}
