package local

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"flow/ir/value"
)

// This file counts the memory of values that kernels allocate themselves: sparse matrices, and dense
// ones whose size only the run tells. The collector owns it, so no limit of the pool knows it.

// heapHeld counts what slots hold of such values. Values that share their elements, such as a view of
// some rows of a sparse matrix, count once.
type heapHeld struct {
	bytes atomic.Int64
	mu    sync.Mutex
	by    map[uintptr]*heldElements
}

// heldElements is the memory of some elements, and how many values hold it.
type heldElements struct {
	bytes int64
	uses  int
}

// elementsOf returns the address of the elements of a value that no buffer holds, and its bytes; 0 for
// others.
func elementsOf(v value.Value) (at uintptr, bytes int64) {
	switch x := v.(type) {
	case *value.CSR:
		return uintptr(unsafe.Pointer(unsafe.SliceData(x.Col))), int64(x.Bytes())
	case *value.Dense:
		if len(x.Buf) == 0 {
			return address(x), int64(span(x))
		}
	}
	return 0, 0
}

// Hold counts v in Stats.Peak until Leave.
func (p *BufferPool) Hold(v value.Value) { p.held(v, 1, true) }

// HoldAgain is Hold for a second holder of a value; it does nothing to one that is not held.
func (p *BufferPool) HoldAgain(v value.Value) { p.held(v, 1, false) }

// Leave ends a Hold. It does nothing to a value that is not held.
func (p *BufferPool) Leave(v value.Value) { p.held(v, -1, false) }

// held adds to the number of holders of v. first: v may have none yet.
func (p *BufferPool) held(v value.Value, by int, first bool) {
	at, bytes := elementsOf(v)
	if at == 0 {
		return
	}
	h := &p.heap
	h.mu.Lock()
	defer h.mu.Unlock()
	x := h.by[at]
	switch {
	case x == nil && first:
		if x = (&heldElements{bytes: bytes}); h.by == nil {
			h.by = map[uintptr]*heldElements{}
		}
		h.by[at] = x
		p.rises(p.live.Load() + h.bytes.Add(bytes))
	case x == nil:
		return
	}
	if x.uses += by; x.uses == 0 {
		h.bytes.Add(-x.bytes)
		delete(h.by, at)
	}
}
