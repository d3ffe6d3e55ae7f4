package launch

// This file runs loops by the interpreter: as a target, and beside machine code in order to check
// it.

import (
	"unsafe"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/dense"
	"flow/kernels/loop/interp"
)

// interpreted is a nest on the target Interp.
type interpreted struct {
	nest *loop.Nest
	code *interp.Code
}

func interpretedCode(n *loop.Nest) (executable, error) {
	c, err := interp.Compile(n)
	if err != nil {
		return nil, err
	}
	return &interpreted{n, c}, nil
}

func (c *interpreted) worker() *Worker {
	return &Worker{args: make([]uint64, firstOperand+wordsOfOperand*(len(c.nest.Params)+len(c.nest.Results)))}
}

func (c *interpreted) ScratchFor([]uint64) (int, error) { return 0, nil }

// states are none: the interpreter keeps its own.
func (c *interpreted) states() map[int]*loop.State { return nil }

// bind begins the interpreter for a run with these results.
func (b *beside) bind(r *Run, code *interp.Code, out []*value.Dense) {
	n := r.loop.nest
	b.run, b.heads, b.parts = r, dense.Resized(b.heads, len(r.in)+len(out)), dense.Resized(b.parts, len(r.in)+len(out))
	clear(b.heads)
	clear(b.parts)
	if b.hull.index == nil {
		b.hull.index, b.hull.visit = map[int]span{}, b.hull.touch
	}
	b.hull.nest, b.hull.in, b.hull.out, b.out = n, b.hull.in[:0], b.hull.out[:0], append(b.out[:0], out...)
	head := func(k int, d *value.Dense) *value.Dense {
		b.heads[k] = value.Dense{Elem: d.Elem, Rows: d.Rows, Cols: d.Cols, Stride: d.Stride}
		return &b.heads[k]
	}
	for k, v := range r.in {
		if d, ok := v.(*value.Dense); ok {
			v = head(k, d)
		}
		b.hull.in = append(b.hull.in, v)
	}
	for k, d := range out {
		b.hull.out = append(b.hull.out, head(len(r.in)+k, d))
		if n.Results[k].Class == loop.NoClass {
			b.out[k] = b.hull.out[k]
		}
	}
	b.Worker = code.Begin(b.hull.in, b.out)
}

// free lets go of the run.
func (b *beside) free() {
	b.Worker.Free()
	clear(b.hull.in)
	clear(b.out)
	b.Worker, b.run = nil, nil
}

// forget lets go of the interpreters.
func (w *Worker) forget() {
	if w.beside != nil {
		w.beside.free()
	}
	if w.check != nil {
		w.check.free()
	}
	w.check = nil
}

// window is Worker.Window on the target Interp.
func (b *beside) window(w *Worker, r0, r1, l0, l1 int, stopped func() bool) (flagged bool, err error) {
	b.follow(w, r0, r1, l0, l1)
	if flagged, err = b.Window(r0, r1, l0, l1, stopped); err == loop.ErrStopped {
		err = ErrStopped
	}
	b.let()
	return flagged, err
}

// follow tells the interpreter of the matrices and scalars that the words of the worker name, for a
// window.
func (b *beside) follow(w *Worker, r0, r1, l0, l1 int) {
	n := b.hull.nest
	words := func(number int) []uint64 { return w.args[firstOperand+wordsOfOperand*number:] }
	for k, p := range n.Params { // first: what windows touch depends on ranges, which scalars may bound
		if p.Kind != loop.ScalarParam {
			continue
		}
		word := words(k)[0]
		b.Scalar(k, word)
		if x := b.hull.in[k].(value.Scalar); x.Elem == types.I64 && x.I != int64(word) {
			b.hull.in[k] = value.I64(int64(word))
		}
	}
	for k, p := range n.Params {
		if p.Kind == loop.DenseParam {
			b.place(k, loop.Mem{Kind: loop.ParamMem, N: k}, p.Elem, words(k), r0, r1, l0, l1)
		}
	}
	for k, r := range n.Results {
		if number := len(n.Params) + k; r.Class == loop.NoClass {
			b.place(number, loop.Mem{Kind: loop.ResultMem, N: k}, r.Elem, words(number), r0, r1, l0, l1)
		}
	}
}

func (b *beside) place(number int, mem loop.Mem, e types.Elem, words []uint64, r0, r1, l0, l1 int) {
	stride := int64(words[1]) / int64(e.Size())
	if from, to := b.touched(mem, stride, r0, r1, l0, l1); from <= to {
		setOver(&b.parts[number], words[0], e, from, to, int(stride))
		b.Place(number, &b.parts[number], int(from))
	}
}

// let lets go of the memory that the window was evaluated in.
func (b *beside) let() {
	n := b.hull.nest
	for k, p := range n.Params {
		if p.Kind == loop.DenseParam {
			b.Place(k, &b.heads[k], 0)
		}
	}
	for k, r := range n.Results {
		if r.Class == loop.NoClass {
			b.Place(len(n.Params)+k, b.hull.out[k], 0)
		}
	}
	clear(b.parts)
}

// touched are the numbers of the first and the last element of a matrix that a window touches: row
// * stride + column.
func (b *beside) touched(mem loop.Mem, stride int64, r0, r1, l0, l1 int) (from, to int64) {
	h := &b.hull
	clear(h.index)
	for level, x := range h.nest.Space {
		s := h.rng(x.Range)
		if level == 0 && len(h.nest.Space) > 1 {
			s = span{max(s.lo, int64(r0)), min(s.hi, int64(r1-1))}
		} else if level < 2 {
			s = span{max(s.lo, int64(l0)), min(s.hi, int64(l1-1))}
		}
		h.index[x.Name] = s
	}
	h.touched = touched{mem, stride, span{1, 0}}
	h.block(&h.nest.Body)
	return h.touched.all.lo, h.touched.all.hi
}

// touched is the elements of a matrix that a walk has met so far: the numbers of the first and the last
// one.
type touched struct {
	mem    loop.Mem
	stride int64
	all    span
}

// touch adds the elements that an access touches.
func (h *hull) touch(s *loop.Stmt) bool {
	x := &h.touched
	if s.Mem != x.mem {
		return true
	}
	t := h.typeOf(s.Mem)
	row, col := h.within(s.At[0], t.Rows), h.within(s.At[1], t.Cols)
	if row.empty() || col.empty() {
		return true
	}
	own := span{row.lo*x.stride + col.lo, row.hi*x.stride + col.hi}
	if x.all.empty() {
		x.all = own
	}
	x.all = span{min(x.all.lo, own.lo), max(x.all.hi, own.hi)}
	return true
}

// typeOf returns the type of an operand or a result.
func (h *hull) typeOf(mem loop.Mem) types.Type {
	if mem.Kind == loop.ParamMem {
		return h.in[mem.N].Type()
	}
	return h.out[mem.N].Type()
}

// within is the values of a subscript that are inside a size.
func (h *hull) within(l loop.Lin, size int) span {
	x := h.lin(l)
	return span{max(x.lo, 0), min(x.hi, int64(size)-1)}
}

// setOver makes d the memory from element number from to element number to of a matrix whose
// element 0 would have this address.
func setOver(d *value.Dense, address uint64, e types.Elem, from, to int64, stride int) {
	first := uintptr(address) + uintptr(from*int64(e.Size()))
	p := *(*unsafe.Pointer)(unsafe.Pointer(&first)) // the caller keeps the memory alive, as for machine code
	n := int(to - from + 1)
	*d = value.Dense{Elem: e, Rows: 1, Cols: n, Stride: stride}
	switch e {
	case types.F64:
		d.F64 = unsafe.Slice((*float64)(p), n)
	case types.F32:
		d.F32 = unsafe.Slice((*float32)(p), n)
	case types.Bool:
		d.Bool = unsafe.Slice((*uint8)(p), n)
	default:
		d.I64 = unsafe.Slice((*int64)(p), n)
	}
}
