package memory

import (
	"runtime/debug"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

// heap is the ballast of the process. at and size are the addresses that have huge pages. Warm has
// backed the first warm bytes of them.
var heap struct {
	mu             sync.Mutex
	ballast        []byte
	at, size, warm uintptr
}

// Steady gives the Go heap its ballast and huge pages, once in the life of the process. Every run calls
// it. A program that will run something calls it first of all: it begins a collection, whose time grows
// with the heap, and it saves the collections that the compiler would cause. Steady does nothing if
// twice the size of the ballast cannot be reserved.
func Steady() {
	heap.mu.Lock()
	defer heap.mu.Unlock()
	if heap.ballast != nil {
		return // files of the system say how large it may be: a run of microseconds reads none
	}
	if n := system.ballast(); Reserve(2*n) == nil {
		percent := debug.SetGCPercent(-1) // one collection for both
		heap.at, heap.size = heapOfHugePages(n)
		heap.ballast = make([]byte, n)
		debug.SetGCPercent(percent)
	}
}

// ballast returns the size of the ballast: on a small machine less, because garbage of that size takes
// memory.
func (s source) ballast() int64 { return min(ballast, s.most().Bytes/32) }

// heapOfHugePages asks for huge pages at n bytes of addresses that the next collection frees. The heap
// allocates from them until the collection after that one. A rank of n-body has 3,000 page faults
// instead of 6,900, each of 2 to 4 us on a virtual machine. Most are caused by the compiler of loops.
// The result are the whole huge pages. The function is not inlined, so that no variable of the caller
// keeps the memory.
//
//go:noinline
func heapOfHugePages(n int64) (at, size uintptr) {
	b := Huge(make([]byte, n))
	begin := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	at = (begin + hugePage - 1) / hugePage * hugePage
	return at, max(begin+uintptr(n), at) - at
}

// warmAfter is how long Warm waits before it begins: longer than the other ranks are late that read no
// files.
const warmAfter = 10 * time.Millisecond

// Warm uses the time in which one of several ranks waits for another one, which reads a file. It lets
// the system back the heap with memory that the rank will soon need. Otherwise each first access would
// cause a page fault, and all ranks would wait for the one whose memory is cold: of two ranks of
// connected components of web-NotreDame, the one that had read the file transposed its rows in 8 ms and
// the other one in 25 to 30, now in 12 to 18. The ranks of a machine get at most a sixteenth of its
// memory in this way. No content changes, even if the heap uses the addresses by now. stop ends it
// within a millisecond or two.
func Warm(ranks int) (stop func()) {
	quit, ended := make(chan struct{}), make(chan struct{})
	most := uintptr(system.most().Bytes / 16 / int64(max(1, ranks)))
	go func() {
		defer close(ended)
		select {
		case <-quit:
			return
		case <-time.After(warmAfter):
		}
		for warmPage(most) {
			select {
			case <-quit:
				return
			default:
			}
		}
	}()
	return sync.OnceFunc(func() {
		close(quit)
		<-ended
	})
}

// warmPage backs one more huge page, of at most so many bytes in all. It returns false at the end.
func warmPage(most uintptr) bool {
	heap.mu.Lock()
	defer heap.mu.Unlock()
	if heap.warm+hugePage > min(heap.size, most) || !populate(heap.at+heap.warm, hugePage) {
		return false
	}
	heap.warm += hugePage
	return true
}

// Populate backs the pages of b with memory, as writing to each would, but changes nothing. It returns
// false if the system cannot do that: Linux before 5.14, or where no memory is left.
func Populate(b []byte) bool {
	at := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	before := at % uintptr(syscall.Getpagesize())
	return len(b) == 0 || populate(at-before, before+uintptr(len(b)))
}
