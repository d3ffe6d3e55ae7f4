package local

// This file defines BufferPool, which lends memory for tiles and blocks outside the garbage
// collector's heap.
//
// Why not make([]byte): each fresh page faults on first touch (0.5 to 1.1 GB/s, slower than most
// kernels compute), the collector would hold a tile until its next cycle, and every tile would move
// its pacing.

import (
	"fmt"
	"sync"
	"sync/atomic"
	"unsafe"

	"flow/ir/plan"
	"flow/ir/types"
	"flow/ir/value"
	"flow/memory"
)

// BufferPool lends byte buffers aligned to 64 bytes, in size classes at most 25 % apart (multiples
// of 64 below 256 bytes, 7 % from 64 MiB on). Buffers are not cleared. They must not hold Go
// pointers, which the collector would not see. A buffer that was put back, or whose pool was
// closed, must not be used; nothing checks that. It is safe for concurrent use. Get and Put do not
// block.
type BufferPool struct {
	limit    memory.Limit // zero: none
	spare    int64        // bytes beyond limit, for tasks that run at the same time
	system   *systemLimit // nil: none
	classes  [plan.SizeClasses]bufferClass
	parts    partBuffers
	slabMu   sync.Mutex
	slab     []byte   // what is left of the newest slab
	slabs    [][]byte // all of them, for Close
	ahead    []byte   // mapped for the next large buffers: see WarmAhead
	live     atomic.Int64
	heap     heapHeld
	peak     atomic.Int64
	resident atomic.Int64
	gets     atomic.Int64
	reused   atomic.Int64
}

// bufferClass holds the free buffers of one size.
type bufferClass struct {
	mu   sync.Mutex
	hot  [][]byte // put back, last in first out: the last may still be in a cache
	cold [][]byte // discarded by Trim, all zero, no memory behind
	lent addressSet
}

// BufferStats counts bytes unless stated otherwise, by size class, not by requested size.
type BufferStats struct {
	Live     int64 // lent now
	Peak     int64 // most lent at once, with the memory of other values at that time
	Resident int64 // lent, or kept for reuse
	Gets     int64 // number of buffers lent so far
	Reused   int64 // how many of these were used before
}

// LimitError says that a buffer would have exceeded the pool's limit.
type LimitError struct {
	Want, Live int64
	Limit      memory.Limit
}

func (e *LimitError) Error() string {
	beside := ""
	if e.Live > 0 {
		beside = fmt.Sprintf(" beside the %s in use", types.InBytes(float64(e.Live)))
	}
	return fmt.Sprintf("%s%s are more than there is (%v)", types.InBytes(float64(e.Want)), beside, e.Limit)
}

const (
	pageSize = 4096
	// ownMapping is the size from which a buffer is a mapping of its own, which Trim unmaps.
	ownMapping = 2 << 20
	// Slabs start small, so that a small program stays small, and grow to whole huge pages.
	firstSlab, lastSlab = 2 << 20, 32 << 20
)

// NewBufferPool makes a pool that holds at most limit bytes, lent or kept for reuse. 0 means no
// limit.
func NewBufferPool(limit int64) *BufferPool {
	return &BufferPool{limit: memory.Limit{Bytes: limit, By: "the limit of the pool"}}
}

// newOwnPool makes a pool limited by the memory that the process can get, and by limit unless it is
// zero.
func newOwnPool(limit memory.Limit) *BufferPool {
	return &BufferPool{limit: limit, system: &systemLimit{from: unmeasured, measure: memory.Reach}}
}

// forWorkers sets the number of workers that take memory, before the run. The limit is the memory that
// the values of one worker need. How much more the tasks of others take differs from run to run, so
// each may have as much again. Without that, a run whose values fit exactly would fail at random on two
// threads. A MiB is for small values: the prediction counts their sizes, not those of the size classes.
func (p *BufferPool) forWorkers(n int) { p.spare = int64(n-1)*min(p.limit.Bytes, 1<<48) + 1<<20 }

// systemLimit bounds a pool by the free memory, measured when the pool first gets large, and again
// before a buffer is refused: other processes may have ended meanwhile.
type systemLimit struct {
	from    int64 // pool size below which nothing is measured
	measure func() memory.Limit

	mu   sync.Mutex
	last memory.Limit // the last measurement, Bytes 0: none yet
}

// unmeasured is a pool size that is small on every machine.
const unmeasured = 64 << 20

// refuses returns the limit that a pool of this size exceeds.
func (s *systemLimit) refuses(size int64) (l memory.Limit, is bool) {
	if s == nil || size <= s.from {
		return l, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if size > s.last.Bytes {
		s.last = s.measure()
	}
	return s.last, size > s.last.Bytes
}

// refuses returns the pool's limit that size bytes exceed.
func (p *BufferPool) refuses(size int64) (memory.Limit, bool) {
	if p.limit.Bytes > 0 && size-p.spare > p.limit.Bytes {
		return p.limit, true
	}
	return p.system.refuses(size)
}

// Get lends a buffer of n bytes with unspecified contents. Its capacity may be larger and may be
// used. The error is a *LimitError, or the system's.
func (p *BufferPool) Get(n int) ([]byte, error) {
	b, _, err := p.get(n)
	return b, err
}

// GetZeroed is Get with the n bytes cleared. Fresh memory from the system is not cleared again.
func (p *BufferPool) GetZeroed(n int) ([]byte, error) {
	b, zero, err := p.get(n)
	if !zero {
		clear(b)
	}
	return b, err
}

func (p *BufferPool) get(n int) (b []byte, zero bool, err error) {
	if n <= 0 {
		return []byte{}, true, nil
	}
	i, size := plan.SizeClass(n)
	if i >= plan.SizeClasses {
		return nil, false, &LimitError{Want: int64(n), Live: p.live.Load(), Limit: memory.Most()}
	}
	c := &p.classes[i]
	c.mu.Lock()
	if k := len(c.hot) - 1; k >= 0 {
		b = c.hot[k]
		c.hot = c.hot[:k]
		c.lend(b)
		c.mu.Unlock()
		p.reused.Add(1)
	} else {
		c.mu.Unlock()
		if b, err = p.fresh(c, size); err != nil {
			return nil, false, err
		}
		zero = true
	}
	p.gets.Add(1)
	p.lives(int64(size))
	return b[:n], zero, nil
}

// fresh finds a zero buffer for which memory must be reserved.
func (p *BufferPool) fresh(c *bufferClass, size int) ([]byte, error) {
	if _, is := p.refuses(p.resident.Add(int64(size))); is {
		// Free buffers of other classes may suffice.
		p.Trim()
		if limit, is := p.refuses(p.resident.Load()); is {
			p.resident.Add(-int64(size))
			return nil, &LimitError{Want: int64(size), Live: p.live.Load(), Limit: limit}
		}
	}
	c.mu.Lock()
	if k := len(c.cold) - 1; k >= 0 {
		b := c.cold[k]
		c.cold = c.cold[:k]
		c.lend(b)
		c.mu.Unlock()
		return b, nil
	}
	c.mu.Unlock()
	b, err := p.carve(size)
	if err != nil { // the system may have limits that this package does not know
		p.Trim()
		b, err = p.carve(size)
	}
	if err != nil {
		p.resident.Add(-int64(size))
		return nil, err
	}
	c.mu.Lock()
	c.lend(b)
	c.mu.Unlock()
	return b, nil
}

// carve takes size unused bytes: a mapping of their own, or the next piece of the slab.
func (p *BufferPool) carve(size int) ([]byte, error) {
	if size >= ownMapping {
		return p.mapped(size, mapMemory)
	}
	p.slabMu.Lock()
	defer p.slabMu.Unlock()
	if size >= 4*pageSize { // whole pages, so that Trim can give them back
		if over := int(uintptr(unsafe.Pointer(unsafe.SliceData(p.slab))) % pageSize); over != 0 {
			p.slab = p.slab[min(pageSize-over, len(p.slab)):]
		}
	}
	if len(p.slab) < size {
		next, mapping := firstSlab, mapSmall
		if k := len(p.slabs); k > 0 {
			next, mapping = min(2*len(p.slabs[k-1]), lastSlab), mapMemory
		}
		s, err := mapping(max(next, size))
		if err != nil {
			return nil, err
		}
		p.slabs = append(p.slabs, s)
		p.slab = s
	}
	b := p.slab[:size:size]
	p.slab = p.slab[size:]
	return b, nil
}

// mapped returns size bytes, whole pages. It takes them from ahead, or calls mapping if too little is
// left there.
func (p *BufferPool) mapped(size int, mapping func(n int) ([]byte, error)) (b []byte, err error) {
	p.slabMu.Lock()
	if len(p.ahead) >= size {
		b, p.ahead = p.ahead[:size:size], p.ahead[size:]
	}
	p.slabMu.Unlock()
	if b != nil {
		return b, nil
	}
	return mapping(size)
}

// lend records that b is lent. The lock is held.
func (c *bufferClass) lend(b []byte) {
	c.lent.add(uintptr(unsafe.Pointer(unsafe.SliceData(b))))
}

// Put takes back a buffer from Get, of any length but with its first byte and capacity unchanged.
// It ignores nil and empty ones from Get(0). It panics for a buffer that is not lent: two owners of
// one buffer would compute wrong results silently.
func (p *BufferPool) Put(b []byte) {
	if cap(b) == 0 || p.putPart(b) {
		return
	}
	i, size := plan.SizeClass(cap(b))
	if size != cap(b) || i >= plan.SizeClasses {
		panic(fmt.Sprintf("BUG: a buffer of capacity %d was put back, which no buffer of the pool has", cap(b)))
	}
	b = b[:size]
	c := &p.classes[i]
	c.mu.Lock()
	out := c.lent.remove(uintptr(unsafe.Pointer(unsafe.SliceData(b))))
	if out {
		c.hot = append(c.hot, b)
	}
	c.mu.Unlock()
	if !out {
		panic(fmt.Sprintf("BUG: a buffer of %d bytes was put back that is not lent: twice, or a part of one", size))
	}
	p.live.Add(-int64(size))
}

// Trim gives the memory of all free buffers of 16 KiB and more back to the system. Their next use
// pays for first touch again.
func (p *BufferPool) Trim() {
	p.trimParts()
	p.slabMu.Lock()
	if len(p.ahead) > 0 && unmapMemory(p.ahead) == nil {
		p.ahead = nil
	}
	p.slabMu.Unlock()
	for i := range p.classes {
		c := &p.classes[i]
		c.mu.Lock()
		kept := c.hot[:0]
		for _, b := range c.hot {
			switch {
			case len(b) >= ownMapping && unmapMemory(b) == nil:
				p.resident.Add(-int64(len(b)))
			case len(b) >= 4*pageSize && len(b) < ownMapping && discardMemory(b) == nil:
				p.resident.Add(-int64(len(b)))
				c.cold = append(c.cold, b)
			default:
				kept = append(kept, b)
			}
		}
		clear(c.hot[len(kept):])
		c.hot = kept
		c.mu.Unlock()
	}
}

// Stats returns the counters. Each is exact, but they are not read at one instant.
func (p *BufferPool) Stats() BufferStats {
	return BufferStats{Live: p.live.Load(), Peak: p.peak.Load(), Resident: p.resident.Load(), Gets: p.gets.Load(), Reused: p.reused.Load()}
}

// Close gives all memory back. It fails, and does nothing, while buffers are lent. The pool must
// not be in use; it may be used again afterwards.
func (p *BufferPool) Close() error {
	if n := p.live.Load(); n != 0 {
		return fmt.Errorf("local: %d bytes of buffers are still lent", n)
	}
	p.Trim()
	for i := range p.classes {
		p.classes[i].hot, p.classes[i].cold = nil, nil
	}
	for _, s := range p.slabs {
		if err := unmapMemory(s); err != nil {
			return err
		}
	}
	p.slabs, p.slab = nil, nil
	p.resident.Store(0)
	return nil
}

// span returns the bytes from the first element to the end of the last.
func span(d *value.Dense) uintptr {
	return uintptr(len(d.F64)*8 + len(d.F32)*4 + len(d.I64)*8 + len(d.Bool))
}

// address returns the address of the first element, or 0.
func address(d *value.Dense) uintptr {
	switch {
	case len(d.F64) > 0:
		return uintptr(unsafe.Pointer(&d.F64[0]))
	case len(d.F32) > 0:
		return uintptr(unsafe.Pointer(&d.F32[0]))
	case len(d.I64) > 0:
		return uintptr(unsafe.Pointer(&d.I64[0]))
	case len(d.Bool) > 0:
		return uintptr(unsafe.Pointer(&d.Bool[0]))
	}
	return 0
}
