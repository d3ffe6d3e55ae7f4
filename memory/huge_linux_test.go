package memory

import (
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"
)

// After Steady and one collection, the heap allocates from memory that is advised to have huge pages. The test
// runs in a process of its own, because other tests leave advised memory to the heap.
func TestHeapIsAdvised(t *testing.T) {
	if _, err := os.Stat("/sys/kernel/mm/transparent_hugepage"); err != nil || ballast == 0 {
		t.Skip("the kernel has no huge pages, or the race detector records each allocated byte")
	}
	const alone = "FLOW_TEST_ALONE"
	if os.Getenv(alone) == "" {
		c := exec.Command(os.Args[0], "-test.run=^TestHeapIsAdvised$", "-test.v")
		c.Env = append(os.Environ(), alone+"=1")
		if out, err := c.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: TestHeapIsAdvised") {
			t.Fatalf("%v\n%s", err, out)
		}
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
