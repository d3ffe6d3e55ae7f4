package memory

import (
	"math"
	"math/bits"
	"runtime"
	"runtime/debug"
	"slices"
	"syscall"
	"unsafe"
)

const (
	// asked is the size from which the system is asked whether it maps so much: some microseconds.
	asked = 8 << 20
	// counted is the size from which free memory is counted as well: a tenth of a millisecond, a hundredth of what it
	// takes to write to so much memory.
	counted = 64 << 20
	// arena is the unit in which the Go heap asks for addresses, on 64-bit systems but Windows.
	arena = 64 << 20
)

// Reserve reports whether the Go heap can take n bytes more: nil, or an *Error. Ask it before any allocation whose size
// comes from data. Small sizes are not looked at. It allocates nothing itself, so another goroutine may be faster; the
// Go runtime's own message is then what is left.
func Reserve(n int64) error {
	if n < asked {
		return nil
	}
	if reserve(n) == nil {
		return nil
	}
	// Garbage may be what is in the way. The heap keeps the addresses of what is collected, and uses them again.
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if free := int64(m.HeapIdle); free-free/5 > n && system.free().Bytes >= n {
		return nil
	}
	return reserve(n)
}

// MustProduct panics with the *Error of ReserveProduct, for functions that return no error. Those who call kernels
// recover it.
func MustProduct(a, b int) {
	if hi, lo := bits.Mul64(uint64(a), uint64(b)); hi == 0 && lo < asked {
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

// reserve is Reserve without a look at garbage.
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
	return make([]T, n), nil
}

// Grow returns s with room for n elements more, as slices.Grow does, or an *Error. T holds no pointers.
func Grow[T any](s []T, n int) ([]T, error) {
	if n <= cap(s)-len(s) {
		return s, nil
	}
	// What append would allocate, at most: a quarter more, and a size class.
	want := max(len(s)+n, len(s)+len(s)/4)
	if err := ReserveProduct(int64(want), int64(unsafe.Sizeof(*new(T)))); err != nil {
		return s, err
	}
	return slices.Grow(s, want-len(s)), nil
}
