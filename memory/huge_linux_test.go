package memory

import (
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// After Steady and one collection, the heap allocates from memory that is advised to have huge pages.
// The test runs in a process of its own, because other tests leave advised memory to the heap.
func TestHeapIsAdvised(t *testing.T) {
	if _, err := os.Stat("/sys/kernel/mm/transparent_hugepage"); err != nil || ballast == 0 {
		t.Skip("the kernel has no huge pages, or the race detector records each allocated byte")
	}
	if !alone(t) {
		return
	}
	Steady()
	runtime.GC()
	var kept [16][]byte // more than the heap had before
	for i := range kept {
		kept[i] = make([]byte, hugeFrom/2)
	}
	if flags := flagsOf(t, unsafe.Pointer(&kept[len(kept)-1][0])); !strings.Contains(flags, " hg") {
		t.Errorf("the heap has the flags %q", flags)
	}
	runtime.KeepAlive(&kept)
}

// alone reports whether the test runs in a process of its own. If not, alone runs it in one.
func alone(t *testing.T) bool {
	const name = "FLOW_TEST_ALONE"
	if os.Getenv(name) != "" {
		return true
	}
	c := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	c.Env = append(os.Environ(), name+"=1")
	if out, err := c.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Fatalf("%v\n%s", err, out)
	}
	return false
}

// A rank that waits gets memory behind addresses of the heap, up to its part of the machine's memory,
// and no content changes.
func TestWarm(t *testing.T) {
	page, err := syscall.Mmap(-1, 0, hugePage, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil || ballast == 0 || !populate(uintptr(unsafe.Pointer(&page[0])), hugePage) {
		t.Skip("the system backs no memory ahead, or the race detector records each allocated byte")
	}
	if !alone(t) {
		return
	}
	Steady()
	runtime.GC()
	kept := make([]byte, 4*hugePage) // from the same addresses
	for i := range kept {
		kept[i] = byte(i % 251)
	}
	warm := func() uintptr {
		heap.mu.Lock()
		defer heap.mu.Unlock()
		return heap.warm
	}
	stop := Warm(1 << 30)
	time.Sleep(2 * warmAfter)
	if stop(); warm() != 0 {
		t.Fatalf("%d bytes for one of very many ranks", warm())
	}
	before := system.mapped("RssAnon")
	stop = Warm(1)
	for range 60_000 { // a busy machine takes long
		if time.Sleep(time.Millisecond); warm()+hugePage > heap.size {
			break
		}
	}
	stop()
	if more := system.mapped("RssAnon") - before; more < int64(heap.size)*3/4 {
		t.Errorf("%d bytes more of %d", more, heap.size)
	}
	for i, x := range kept {
		if x != byte(i%251) {
			t.Fatalf("byte %d has changed", i)
		}
	}
}

// Large memory is advised to be of huge pages, and small memory is not. The advice changes no content.
func TestLargeMemoryIsAdvised(t *testing.T) {
	if _, err := os.Stat("/sys/kernel/mm/transparent_hugepage"); err != nil {
		t.Skip("the kernel has no huge pages")
	}
	s := Huge(make([]int32, 5*hugeFrom))
	s[0], s[len(s)-1] = 7, 9
	if flags := flagsOf(t, unsafe.Pointer(&s[len(s)/2])); !strings.Contains(flags, " hg") {
		t.Errorf("20 MiB have the flags %q", flags)
	}
	grown, err := Grow(s, 3)
	if err != nil || len(grown) != len(s) || grown[0] != 7 || grown[len(s)-1] != 9 {
		t.Fatal("what grows loses its elements", err)
	}
	if flags := flagsOf(t, unsafe.Pointer(&grown[len(s)/2])); !strings.Contains(flags, " hg") {
		t.Errorf("what grew to 20 MiB has the flags %q", flags)
	}
	if x := Fresh[float64](3 * hugeFrom); len(x) != 3*hugeFrom || !strings.Contains(flagsOf(t, unsafe.Pointer(&x[len(x)/2])), " hg") {
		t.Error("large fresh memory is not advised")
	}
	page, err := syscall.Mmap(-1, 0, 4096, syscall.PROT_READ, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		t.Skip(err)
	}
	defer syscall.Munmap(page)
	if Huge(page); strings.Contains(flagsOf(t, unsafe.Pointer(&page[0])), " hg") {
		t.Error("a page is advised")
	}
}

// flagsOf returns the flags of the mapping with p, from /proc/self/smaps.
func flagsOf(t *testing.T, p unsafe.Pointer) string {
	b, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Skip(err)
	}
	is := false
	for line := range strings.Lines(string(b)) {
		if from, rest, ok := strings.Cut(line, "-"); ok {
			lo, err := strconv.ParseUint(from, 16, 64)
			hi, err2 := strconv.ParseUint(strings.Fields(rest)[0], 16, 64)
			if err == nil && err2 == nil {
				is = lo <= uint64(uintptr(p)) && uint64(uintptr(p)) < hi
			}
		}
		if is && strings.HasPrefix(line, "VmFlags:") {
			return line
		}
	}
	t.Fatal("no mapping")
	return ""
}
