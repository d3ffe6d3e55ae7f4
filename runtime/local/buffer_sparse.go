package local

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"flow/ir/value"
)

// This file counts the memory of sparse matrices. The collector owns it, so no limit of the pool knows it.

// sparseHeld counts the sparse matrices that slots hold. Matrices that share their entries, such as a view of
// some rows, count once.
type sparseHeld struct {
	bytes atomic.Int64
	mu    sync.Mutex
	by    map[*int32]*heldEntries
}

// heldEntries is the memory of some entries, and how many values hold it.
type heldEntries struct {
	bytes int64
	uses  int
}

// Hold counts v in Stats.Peak until Leave, if it is a sparse matrix.
func (p *BufferPool) Hold(v value.Value) {
	m, ok := v.(*value.CSR)
	if !ok || len(m.Col) == 0 {
		return
	}
	h := &p.beside
	h.mu.Lock()
	defer h.mu.Unlock()
	x := h.by[unsafe.SliceData(m.Col)]
	if x == nil {
		if x = (&heldEntries{bytes: int64(m.Bytes())}); h.by == nil {
			h.by = map[*int32]*heldEntries{}
		}
		h.by[unsafe.SliceData(m.Col)] = x
		p.rises(p.live.Load() + h.bytes.Add(x.bytes))
	}
	x.uses++
}

// Leave ends Hold. It does nothing to a value that was not held.
func (p *BufferPool) Leave(m *value.CSR) {
	h := &p.beside
	h.mu.Lock()
	defer h.mu.Unlock()
	x := h.by[unsafe.SliceData(m.Col)]
	if x == nil {
		return
	}
	if x.uses--; x.uses == 0 {
		h.bytes.Add(-x.bytes)
		delete(h.by, unsafe.SliceData(m.Col))
	}
}
