package local

import (
	"unsafe"

	"flow/ir/plan"
	"flow/ir/types"
	"flow/memory"
)

// Warm returns a pool that has memory behind what a rank is predicted to lend (plan.Lend), at most the
// given bytes. A rank that waits for others to start calls it: to clear fresh pages takes up to a third
// of a run. stop ends it within the time that two MiB take. The engine whose EngineOptions.Buffers the
// pool is must be of the same rank, or it finds memory behind other rows than its own. The caller
// closes the pool.
func Warm(p *plan.Plan, rank int, most int64, stop func() bool) *BufferPool {
	w := &warming{pool: newOwnPool(memory.Limit{}), most: most, stop: stop}
	plan.Lend(p, rank, plan.Lender[*[]byte]{Lend: w.lend, Back: w.back, Stop: w.over})
	for _, x := range []interface{ Store(int64) }{&w.pool.peak, &w.pool.gets, &w.pool.reused} {
		x.Store(0)
	}
	return w.pool
}

// aheadBytes is the most memory of WarmAhead: the vectors of a graph of a million vertices.
const aheadBytes = 32 << 20

// WarmAhead returns a pool whose first large buffers share memory that is mapped already, and touched
// as far as stop allows: at most the given bytes, and at most aheadBytes. A rank calls it while the
// sizes of its program are unknown. If the system maps no memory, the pool is empty. stop and the
// caller's part are as in Warm.
func WarmAhead(most int64, stop func() bool) *BufferPool {
	p := newOwnPool(memory.Limit{})
	b, err := mapMemory(int(min(most, aheadBytes)) / ownMapping * ownMapping)
	if err == nil {
		w := &warming{pool: p, most: int64(len(b)), stop: stop}
		w.touch(b)
		p.ahead = b
	}
	return p
}

// warming is one call of Warm.
type warming struct {
	pool *BufferPool
	most int64 // bytes that may still be backed
	stop func() bool
}

func (w *warming) over() bool { return w.most <= 0 || w.stop() }

// lend lends memory as the engine does, and backs the bytes that are to be touched.
func (w *warming) lend(t types.Type, lo, hi int) *[]byte {
	row := t.Bytes() / max(1, t.Rows)
	reused := w.pool.reused.Load()
	b, err := w.pool.GetPart(t.Bytes(), (hi-lo)*row)
	if err != nil {
		return nil
	}
	if _, size := plan.SizeClass(max(t.Bytes(), 1)); size >= 4*pageSize && w.pool.reused.Load() == reused {
		w.touch(b[lo*row : hi*row])
	}
	return &b
}

// touch backs the pages of b.
func (w *warming) touch(b []byte) {
	for len(b) > 0 && !w.over() {
		at := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
		n := min(len(b), int(ownMapping-at%ownMapping)) // one huge page, if it is
		if !memory.Populate(b[:n]) {
			w.most = 0
			return
		}
		w.most -= int64(n)
		b = b[n:]
	}
}

func (w *warming) back(b *[]byte) { w.pool.Put(*b) }
