package local

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"flow/ir/plan"
	"flow/memory"
)

func TestSizeClasses(t *testing.T) {
	last, lastSize := -1, 0
	for n := 1; n < 1<<16; n++ {
		c, size := plan.SizeClass(n)
		if size < n || size%plan.SizeAlign != 0 {
			t.Fatalf("%d bytes get %d", n, size)
		}
		if n > 256 && float64(size) > 1.25*float64(n) {
			t.Fatalf("%d bytes get %d, more than a quarter too much", n, size)
		}
		if c != last && (c != last+1 || size <= lastSize) {
			t.Fatalf("class %d of size %d after class %d of size %d", c, size, last, lastSize)
		}
		if c2, size2 := plan.SizeClass(size); c2 != c || size2 != size {
			t.Fatalf("a buffer of class %d and %d bytes would go back to class %d", c, size, c2)
		}
		last, lastSize = c, size
	}
	for n := 1 << 20; n < 1<<33; n += n/37 + 1 { // large ones, of which what is too much counts
		c, size := plan.SizeClass(n)
		if size < n || size%pageSize != 0 || c < last || size < lastSize {
			t.Fatalf("%d bytes get %d of class %d after %d of class %d", n, size, c, lastSize, last)
		}
		if n > 1<<26 && float64(size) > 1.07*float64(n) {
			t.Fatalf("%d bytes get %d, more than 7 %% too much", n, size)
		}
		if c2, size2 := plan.SizeClass(size); c2 != c || size2 != size {
			t.Fatalf("a buffer of class %d and %d bytes would go back to class %d", c, size, c2)
		}
		last, lastSize = c, size
	}
	if c, _ := plan.SizeClass(1 << 46); c >= plan.SizeClasses {
		t.Errorf("class %d of %d for 64 TiB", c, plan.SizeClasses)
	}
}

func TestBuffersDoNotOverlap(t *testing.T) {
	p := NewBufferPool(0)
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(g), 0))
			mine := map[int][]byte{}
			for i := range 3000 {
				n := 1 + rng.IntN(1<<rng.IntN(18))
				get := p.Get
				if i%2 == 0 {
					get = p.GetZeroed
				}
				b, err := get(n)
				if err != nil || len(b) != n {
					t.Errorf("%d bytes: %v", len(b), err)
					return
				}
				if uintptr(unsafe.Pointer(&b[0]))%plan.SizeAlign != 0 {
					t.Errorf("buffer at %p", &b[0])
				}
				if i%2 == 0 && (b[0] != 0 || b[n/2] != 0 || b[n-1] != 0) {
					t.Error("not cleared")
				}
				b[0], b[n-1] = byte(g), byte(g)
				b[n/2] = byte(g)
				mine[i] = b
				if len(mine) > 20 {
					for k, old := range mine {
						if old[0] != byte(g) || old[len(old)-1] != byte(g) || old[len(old)/2] != byte(g) {
							t.Error("somebody wrote into a lent buffer")
						}
						p.Put(old)
						delete(mine, k)
						break
					}
				}
				if i%500 == 0 {
					p.Trim()
				}
			}
			for _, b := range mine {
				p.Put(b)
			}
		})
	}
	all.Wait()
	s := p.Stats()
	if s.Live != 0 || s.Peak == 0 || s.Gets != 12000 || s.Reused == 0 || s.Reused >= s.Gets {
		t.Errorf("stats %+v", s)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if b, err := p.GetZeroed(100); err != nil || b[99] != 0 {
		t.Errorf("after Close: %v", err)
	}
}

// A pool of the system asks for what there is once it is large, and again before it refuses.
func TestBufferLimitOfTheSystem(t *testing.T) {
	have, asked := int64(20<<20), 0
	p := &BufferPool{system: &systemLimit{from: 8 << 20, measure: func() memory.Limit { asked++; return memory.Limit{Bytes: have, By: "this test"} }}}
	small, err := p.Get(4 << 20)
	if err != nil || asked != 0 {
		t.Fatalf("4 MiB: %v, asked %d times", err, asked)
	}
	large, err := p.Get(12 << 20)
	if err != nil || asked != 1 {
		t.Fatalf("12 MiB: %v, asked %d times", err, asked)
	}
	var limit *LimitError
	if _, err := p.Get(16 << 20); !errors.As(err, &limit) || limit.Error() != "16 MiB beside the 16 MiB in use are more than there is (20 MiB, this test)" {
		t.Errorf("16 MiB: %v", err)
	}
	have = 40 << 20 // another process has ended
	more, err := p.Get(16 << 20)
	if err != nil {
		t.Error(err)
	}
	for _, b := range [][]byte{small, large, more} {
		p.Put(b)
	}
	have = 0
	if _, err := p.Get(48 << 20); !errors.As(err, &limit) || p.Stats().Resident > 4<<20 {
		t.Errorf("48 MiB: %v, with %d kept", err, p.Stats().Resident)
	}
}

func TestBufferLimit(t *testing.T) {
	const tile = 512 << 10
	p := NewBufferPool(4 * tile)
	var tiles [][]byte
	for range 4 {
		b, err := p.Get(tile)
		if err != nil {
			t.Fatal(err)
		}
		tiles = append(tiles, b)
	}
	var limit *LimitError
	if _, err := p.Get(1); !errors.As(err, &limit) {
		t.Fatalf("beyond the limit: %v", err)
	}
	for _, b := range tiles {
		b[7] = 1
		p.Put(b)
	}
	// Kept for reuse, they fill the limit; another class must still get its share.
	b, err := p.Get(3 * tile)
	if err != nil {
		t.Fatalf("free buffers of another class were not given back: %v", err)
	}
	p.Put(b)
	for _, size := range []int{tile, 3 * tile, 4 * tile} {
		p.Trim()
		b, err := p.GetZeroed(size)
		if err != nil {
			t.Fatal(err)
		}
		for i := range b {
			if b[i] != 0 {
				t.Fatalf("byte %d of a zeroed buffer is %d", i, b[i])
			}
			b[i] = 9
		}
		if s := p.Stats(); s.Live != int64(size) || s.Resident > 4*tile {
			t.Errorf("stats %+v with %d bytes lent", s, size)
		}
		p.Put(b)
	}
}

func TestWrongPut(t *testing.T) {
	p := NewBufferPool(0)
	b, _ := p.Get(1000)
	p.Put(b[:10]) // a shorter length is fine
	for what, bad := range map[string][]byte{"twice": b, "a part": b[64:], "foreign": make([]byte, 1024)} {
		func() {
			defer func() {
				if v := recover(); v == nil || !strings.Contains(fmt.Sprint(v), "BUG") {
					t.Errorf("%s: %v", what, v)
				}
			}()
			p.Put(bad)
		}()
	}
	p.Put(nil)
	if b, _ = p.Get(0); b == nil {
		t.Error("an empty buffer is nil")
	}
	p.Put(b)
	b, _ = p.Get(5)
	if p.Close() == nil {
		t.Error("Close with a lent buffer")
	}
	p.Put(b)
}

func BenchmarkBuffer(b *testing.B) {
	for _, size := range []int{64, 512 << 10} {
		b.Run(fmt.Sprintf("reuse/%d", size), func(b *testing.B) {
			p := NewBufferPool(0)
			for range b.N {
				x, _ := p.Get(size)
				p.Put(x)
			}
		})
	}
	for _, from := range []string{"pool-first-touch", "pool-again", "make"} {
		b.Run(from, func(b *testing.B) {
			const size = 512 << 10
			b.SetBytes(64 * size)
			p := NewBufferPool(0)
			for range b.N {
				var held [64][]byte
				for i := range held {
					if from == "make" {
						held[i] = make([]byte, size)
					} else {
						held[i], _ = p.Get(size)
					}
					for k := 0; k < size; k += 64 {
						held[i][k] = 1
					}
				}
				if from == "make" {
					continue
				}
				for _, x := range held {
					p.Put(x)
				}
				if from == "pool-first-touch" {
					b.StopTimer()
					_ = p.Close()
					b.StartTimer()
				}
			}
		})
	}
}

// The prediction of memory knows which matrices are lent as parts.
func TestWholeUpTo(t *testing.T) {
	_, whole := plan.SizeClass(plan.WholeUpTo)
	_, part := plan.SizeClass(plan.WholeUpTo + 1)
	if whole >= ownMapping || part < ownMapping {
		t.Errorf("buffers of %d and %d bytes, and mappings from %d", whole, part, ownMapping)
	}
}
