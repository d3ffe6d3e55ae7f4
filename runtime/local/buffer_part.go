package local

// This file lends buffers of which only a part is touched: matrices whose rows ranks share have their
// full shape on every rank, and a rank makes its own rows only. What is not touched takes no memory,
// so it does not count against a limit: a matrix may be larger than the memory of any rank.

import (
	"errors"
	"sync"
	"sync/atomic"
	"unsafe"

	"flow/ir/plan"
)

// partBuffers are the lent and the free buffers of a pool that are touched in part. Each is a mapping
// of its own.
type partBuffers struct {
	mu    sync.Mutex
	lent  map[uintptr]int64 // bytes touched, by address
	count atomic.Int32      // of lent
	free  []freePart
}

type freePart struct {
	b       []byte
	touched int64
}

// GetPart is Get for a buffer of which at most touched bytes are used until Touch says otherwise: whole
// pages somewhere in it.
func (p *BufferPool) GetPart(n, touched int) ([]byte, error) {
	i, size := plan.SizeClass(max(n, 1))
	if size < ownMapping || touched >= n || i >= plan.SizeClasses {
		return p.Get(n)
	}
	var b []byte
	err := p.trimmed(func() (err error) {
		b, err = p.getPart(size, int64(touched))
		return err
	})
	if err != nil {
		return nil, err
	}
	return b[:n], nil
}

// trimmed calls take, and once more without the free buffers if it exceeds the limit with them.
func (p *BufferPool) trimmed(take func() error) error {
	err := take()
	var full *LimitError
	if errors.As(err, &full) {
		p.Trim()
		err = take()
	}
	return err
}

// getPart is GetPart for the size of a class.
func (p *BufferPool) getPart(size int, touched int64) ([]byte, error) {
	x := &p.parts
	x.mu.Lock()
	defer x.mu.Unlock()
	b, has := x.take(size, touched)
	if err := p.charge(touched - has); err != nil {
		if b != nil {
			x.free = append(x.free, freePart{b, has})
		}
		return nil, err
	}
	if touched = max(has, touched); b != nil {
		p.reused.Add(1)
	} else {
		var err error
		if b, err = p.mapped(size, mapSparse); err != nil {
			p.resident.Add(-touched)
			return nil, err
		}
	}
	if x.lent == nil {
		x.lent = map[uintptr]int64{}
	}
	x.lent[addressOf(b)] = touched
	x.count.Add(1)
	p.gets.Add(1)
	p.lives(touched)
	return b, nil
}

// take returns a free buffer of that size, of which so many bytes have been touched: the one that comes
// nearest to what is wanted, since the rows of one rank are the same in all matrices of one shape.
func (x *partBuffers) take(size int, wanted int64) (b []byte, touched int64) {
	at := -1
	for k, f := range x.free {
		if len(f.b) == size && (at < 0 || distance(f.touched, wanted) < distance(x.free[at].touched, wanted)) {
			at = k
		}
	}
	if at < 0 {
		return nil, 0
	}
	f := x.free[at]
	last := len(x.free) - 1
	x.free[at], x.free[last] = x.free[last], freePart{}
	x.free = x.free[:last]
	return f.b, f.touched
}

func distance(a, b int64) int64 { return max(a-b, b-a) }

// charge counts bytes that are about to be touched.
func (p *BufferPool) charge(bytes int64) error {
	if bytes <= 0 {
		return nil
	}
	if limit, is := p.refuses(p.resident.Add(bytes)); is {
		p.resident.Add(-bytes)
		return &LimitError{Want: bytes, Live: p.live.Load(), Limit: limit}
	}
	return nil
}

// lives counts bytes that are lent.
func (p *BufferPool) lives(bytes int64) {
	p.rises(p.live.Add(bytes) + p.heap.bytes.Load())
}

// rises notes how much is held.
func (p *BufferPool) rises(live int64) {
	for peak := p.peak.Load(); live > peak && !p.peak.CompareAndSwap(peak, live); peak = p.peak.Load() {
	}
}

// Touch says that touched bytes of a lent buffer are used from now on, if that is more than before. A
// buffer that Get has lent counts whole already.
func (p *BufferPool) Touch(b []byte, touched int) error {
	if cap(b) == 0 || p.parts.count.Load() == 0 {
		return nil
	}
	return p.trimmed(func() error { return p.touch(b, touched) })
}

// touch is Touch beside the free buffers.
func (p *BufferPool) touch(b []byte, touched int) error {
	x := &p.parts
	x.mu.Lock()
	defer x.mu.Unlock()
	has, is := x.lent[addressOf(b)]
	more := min(int64(touched), int64(cap(b))) - has
	if !is || more <= 0 {
		return nil
	}
	if err := p.charge(more); err != nil {
		return err
	}
	x.lent[addressOf(b)] = has + more
	p.lives(more)
	return nil
}

// putPart takes back a buffer from GetPart. It returns false for another one.
func (p *BufferPool) putPart(b []byte) bool {
	x := &p.parts
	if x.count.Load() == 0 {
		return false
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	touched, is := x.lent[addressOf(b)]
	if !is {
		return false
	}
	delete(x.lent, addressOf(b))
	x.count.Add(-1)
	x.free = append(x.free, freePart{b[:cap(b)], touched})
	p.live.Add(-touched)
	return true
}

// trimParts unmaps the free buffers.
func (p *BufferPool) trimParts() {
	x := &p.parts
	x.mu.Lock()
	defer x.mu.Unlock()
	kept := x.free[:0]
	for _, f := range x.free {
		if unmapMemory(f.b) == nil {
			p.resident.Add(-f.touched)
		} else {
			kept = append(kept, f)
		}
	}
	clear(x.free[len(kept):])
	x.free = kept
}

func addressOf(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }
