package memory

import (
	"math"
	"math/bits"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"unsafe"
)

const (
	// asked is the size from which the system is asked whether it can map so much: some
	// microseconds.
	asked = 8 << 20
	// counted is the size from which free memory is read too: a tenth of a millisecond, a
	// hundredth of the time to write so much memory.
	counted = 64 << 20
	// hugePage is the size of a huge page on x86-64 and arm64, and hugeFrom the size of memory from which
	// advice about it pays.
	hugePage = 2 << 20
	hugeFrom = 1 << 20
	// doubled is the size of a list from which Grow adds a quarter. A shorter list is doubled: to copy it
	// again and again to fresh memory took a third of the time to read a graph of 1.5 million edges.
	doubled = 32 << 20
	// arena is the unit in which the Go heap asks for addresses, on 64-bit systems but Windows.
	arena = 64 << 20
)

// Reserve reports whether the Go heap can take n bytes more: nil, or an *Error. Call it before any
// allocation whose size comes from data. It ignores small sizes. It allocates nothing, so another
// goroutine may be faster; then the Go runtime ends the process.
func Reserve(n int64) error {
	if err := Within(n); err != nil {
		return err
	}
	return available(n)
}

// available is Reserve without the limit of Bound.
func available(n int64) error {
	if n < asked || reserve(n) == nil {
		return nil
	}
	// Garbage may be in the way. The heap reuses the addresses of what is collected.
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if free := int64(m.HeapIdle); free-free/5 > n && system.free().Bytes >= n {
		return nil
	}
	return reserve(n)
}

// MustProduct panics with the *Error of ReserveProduct, for functions that return no error. Callers
// of kernels recover it.
func MustProduct(a, b int) {
	if hi, lo := bits.Mul64(uint64(a), uint64(b)); hi == 0 && lo < boundedFrom {
		return
	}
	if err := ReserveProduct(int64(a), int64(b)); err != nil {
		panic(err)
	}
}

// ReserveProduct is Reserve of a times b bytes, which need not fit an int64. Neither is negative.
func ReserveProduct(a, b int64) error {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	if hi != 0 || lo > math.MaxInt64 {
		return &Error{Need: float64(a) * float64(b), Have: Most()}
	}
	return Reserve(int64(lo))
}

// reserve is Reserve without collecting garbage.
func reserve(n int64) error {
	if n >= counted {
		if room := Room(); n > room.Bytes {
			return &Error{Need: float64(n), Have: room}
		}
	}
	whole := (n + arena - 1) / arena * arena
	if whole < 0 || int64(int(whole)) != whole {
		return &Error{Need: float64(n), Have: Most()}
	}
	b, err := syscall.Mmap(-1, 0, int(whole), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		return &Error{Need: float64(n), Have: Room()}
	}
	return syscall.Munmap(b)
}

// Make returns n zero elements on the Go heap, or an *Error. T holds no pointers.
func Make[T any](n int) ([]T, error) {
	if err := ReserveProduct(int64(n), int64(unsafe.Sizeof(*new(T)))); err != nil {
		return nil, err
	}
	return Huge(make([]T, n)), nil
}

// Fresh returns n elements that hold anything: zeros that are written over at once took a third of the
// time of 2 * S on a sparse matrix, on one worker. A strings.Builder is what the library has for memory
// that is not cleared; nothing refers to its text. T holds no pointers. Fresh panics with an *Error
// (MustProduct).
func Fresh[T any](n int) []T {
	if size := n * int(unsafe.Sizeof(*new(T))); size >= hugeFrom {
		MustProduct(size, 1)
	}
	return fresh[T](n)
}

// fresh is Fresh where the caller has checked the size.
func fresh[T any](n int) []T {
	size := n * int(unsafe.Sizeof(*new(T)))
	if size < hugeFrom {
		return make([]T, n)
	}
	var b strings.Builder
	b.Grow(size)
	b.WriteByte(0)
	return Huge(unsafe.Slice((*T)(unsafe.Pointer(unsafe.StringData(b.String()))), n))
}

// Huge returns s, after it has asked the system to back s with huge pages if s is large. One page fault
// then brings 2 MiB in place of 4 KiB: connected components of web-NotreDame had 24,000 faults, now
// 6,400, and takes a tenth less processor time. s is memory on the Go heap that has just been allocated
// and holds no pointers. The advice is for whole huge pages, so also for what is beside s.
func Huge[T any](s []T) []T {
	if size := uintptr(cap(s)) * unsafe.Sizeof(*new(T)); size >= hugeFrom {
		at := uintptr(unsafe.Pointer(unsafe.SliceData(s))) // a number: the pages begin before s
		before := at % hugePage
		adviseHuge(at-before, (before+size+hugePage-1)/hugePage*hugePage)
	}
	return s
}

// Grow returns s with room for n more elements, as slices.Grow does, or an *Error. T holds no
// pointers.
func Grow[T any](s []T, n int) ([]T, error) {
	if n <= cap(s)-len(s) {
		return s, nil
	}
	more := len(s) / 4 // append would allocate at most that, and a size class
	if len(s)*int(unsafe.Sizeof(*new(T))) < doubled {
		more = len(s)
	}
	want := len(s) + max(n, more)
	bytes := int64(want) * int64(unsafe.Sizeof(*new(T)))
	if err := beside(bytes); err != nil {
		return s, err
	}
	if err := available(bytes); err != nil {
		return s, err
	}
	return append(fresh[T](want)[:0], s...), nil
}
