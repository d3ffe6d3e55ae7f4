package local

import (
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"flow/memory"
)

// The first large buffers of a pool lie one after the other in memory that is there, all zero. They
// count when they are lent, and each is given back alone.
func TestWarmAhead(t *testing.T) {
	const size = 2 << 20
	if b, err := mapMemory(size); err != nil || !memory.Populate(b) {
		t.Skip("the system backs no memory ahead", err)
	}
	p := WarmAhead(5*size+1, func() bool { return false })
	if len(p.ahead) != 5*size || p.Stats() != (BufferStats{}) {
		t.Fatalf("%d bytes ahead, %+v", len(p.ahead), p.Stats())
	}
	begin := addressOf(p.ahead)
	backed := make([]byte, 5*size/pageSize)
	if _, _, e := unix.Syscall(unix.SYS_MINCORE, begin, 5*size, uintptr(unsafe.Pointer(&backed[0]))); e != 0 {
		t.Fatal(e)
	}
	for i, x := range backed {
		if x&1 == 0 {
			t.Fatalf("no memory is behind page %d", i)
		}
	}
	a, err := p.GetZeroed(size)
	if err != nil || addressOf(a) != begin {
		t.Fatal("the first buffer is elsewhere", err)
	}
	b, err := p.GetPart(2*size, size)
	if err != nil || addressOf(b) != begin+size {
		t.Fatal("the second buffer is not behind the first one", err)
	}
	c, err := p.Get(4 * size)
	if err != nil || addressOf(c) >= begin && addressOf(c) < begin+5*size {
		t.Fatal("a buffer has more memory than is left", err)
	}
	for i := range a {
		if a[i] != 0 {
			t.Fatal("memory is not zero")
		}
		a[i] = 1
	}
	if s := p.Stats(); s.Live != 6*size || s.Resident != 6*size {
		t.Errorf("lent: %+v", s)
	}
	p.Put(b)
	p.Put(c)
	if p.Trim(); len(p.ahead) != 0 || p.Stats().Resident != size || a[size-1] != 1 {
		t.Errorf("after Trim %d bytes ahead, %+v", len(p.ahead), p.Stats())
	}
	p.Put(a)
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if p := WarmAhead(5*size, func() bool { return true }); p.Close() != nil || len(p.ahead) != 0 {
		t.Error("a pool that was stopped keeps memory")
	}
}
