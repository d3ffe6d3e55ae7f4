//go:build linux && amd64

package code

import (
	"math"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/cpu"

	"flow/kernels/loop/amd64"
)

// args is what the test loop reads: dst[k] = sqrt(a[k]) + b for k below n, eight or four at once.
type args struct {
	dst, a *float64
	n      int
	b      float64
}

// loopCode is that loop; vectors are of the length that the processor has.
func loopCode(t testing.TB) ([]byte, int) {
	length, lanes := amd64.L256, 4
	if cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512VL {
		length, lanes = amd64.L512, 8
	} else if !cpu.X86.HasAVX2 {
		t.Skip("the processor has no AVX2")
	}
	var a amd64.Asm
	top, end := a.Label(), a.Label()
	a.LoadG(amd64.RAX, amd64.At(amd64.RDI, 0))
	a.LoadG(amd64.RCX, amd64.At(amd64.RDI, 8))
	a.LoadG(amd64.RDX, amd64.At(amd64.RDI, 16))
	a.Emit(amd64.Inst{Op: amd64.VBROADCASTSD, Len: length, Dst: amd64.V(1), InMem: true, Mem: amd64.At(amd64.RDI, 24)})
	a.MovImm(amd64.RSI, 0)
	a.Bind(top)
	a.ArithG(amd64.CmpG, amd64.RSI, amd64.RDX)
	a.Jump(amd64.GreaterEq, end)
	a.Emit(amd64.Inst{Op: amd64.VSQRTPD, Len: length, Dst: amd64.V(0), InMem: true, Mem: amd64.Indexed(amd64.RCX, amd64.RSI, 8, 0)})
	a.Emit(amd64.Inst{Op: amd64.VADDPD, Len: length, Dst: amd64.V(0), A: amd64.V(0), B: amd64.V(1)})
	a.Emit(amd64.Inst{Op: amd64.VMOVUPDStore, Len: length, A: amd64.V(0), InMem: true, Mem: amd64.Indexed(amd64.RAX, amd64.RSI, 8, 0)})
	a.ArithImm(amd64.AddG, amd64.RSI, int32(lanes))
	a.Goto(top)
	a.Bind(end)
	a.ZeroUpper()
	a.Return()
	text, err := a.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return text, lanes
}

func newMemory(t testing.TB) *Memory {
	m, err := New()
	if err != nil {
		t.Skip(err)
	}
	return m
}

// TestUnderTheRuntime calls code from several goroutines while the collector never pauses, the
// profiler samples, signals arrive and stacks grow; every result is checked.
func TestUnderTheRuntime(t *testing.T) {
	text, lanes := loopCode(t)
	f, err := newMemory(t).Add(text)
	if err != nil {
		t.Fatal(err)
	}
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	if file, err := os.CreateTemp(t.TempDir(), "profile"); err == nil && pprof.StartCPUProfile(file) == nil {
		defer file.Close()
		defer pprof.StopCPUProfile()
	}
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGUSR1)
	defer signal.Stop(signals)

	var stop atomic.Bool
	var noise, work sync.WaitGroup
	noise.Go(func() {
		for !stop.Load() {
			_ = syscall.Kill(os.Getpid(), syscall.SIGUSR1)
			runtime.GC()
		}
	})
	rounds := 300
	if testing.Short() {
		rounds = 50
	}
	for g := range 4 {
		work.Go(func() {
			n := lanes * 500
			a, dst := make([]float64, n), make([]float64, n)
			for round := range rounds {
				for k := range a {
					a[k] = float64(k + g + round)
				}
				x := &args{&dst[0], &a[0], n, float64(round)}
				f.Call(unsafe.Pointer(x))
				deep(round % 50)
				for k := range a {
					if dst[k] != math.Sqrt(a[k])+float64(round) {
						t.Errorf("round %d, element %d: %v", round, k, dst[k])
						return
					}
				}
			}
		})
	}
	work.Wait()
	stop.Store(true)
	noise.Wait()
}

// deep grows the stack.
func deep(n int) int {
	var room [512]byte
	if n == 0 {
		return int(room[0])
	}
	return deep(n-1) + int(room[n])
}

// TestBlocks fills more than a block; code added first still runs, and blocks that are not
// reachable are unmapped.
func TestBlocks(t *testing.T) {
	text, lanes := loopCode(t)
	m := newMemory(t)
	first, err := m.Add(text)
	if err != nil {
		t.Fatal(err)
	}
	var last *Func
	for range 3 * blockBytes / len(text) {
		if last, err = m.Add(text); err != nil {
			t.Fatal(err)
		}
	}
	if first.block == last.block {
		t.Fatal("everything fitted into one block")
	}
	large, err := m.Add(append(text[:len(text):len(text)], make([]byte, 2*blockBytes)...))
	if err != nil || large.Size() < 2*blockBytes {
		t.Fatalf("a large piece: %v", err)
	}
	for _, f := range []*Func{first, last, large} {
		if f.Entry()%alignment != 0 {
			t.Errorf("code at %x", f.Entry())
		}
		a, dst := make([]float64, lanes), make([]float64, lanes)
		a[lanes-1] = 9
		f.Call(unsafe.Pointer(&args{&dst[0], &a[0], lanes, 1}))
		if dst[0] != 1 || dst[lanes-1] != 4 {
			t.Errorf("%v", dst)
		}
	}
}

// TestNeverBoth looks at the process's own mappings: none is writable and executable.
func TestNeverBoth(t *testing.T) {
	text, _ := loopCode(t)
	m := newMemory(t)
	f, err := m.Add(text)
	if err != nil {
		t.Fatal(err)
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Skip(err)
	}
	found := 0
	for line := range strings.Lines(string(maps)) {
		if strings.Contains(line, "flow-loops") {
			found++
			if strings.Contains(line, "wx") {
				t.Errorf("%s", line)
			}
		}
	}
	if found < 2 {
		t.Errorf("%d mappings of code", found)
	}
	runtime.KeepAlive(f)
}

func BenchmarkCall(b *testing.B) {
	text, _ := loopCode(b)
	f, err := newMemory(b).Add(text)
	if err != nil {
		b.Fatal(err)
	}
	x := &args{}
	for range b.N {
		f.Call(unsafe.Pointer(x))
	}
}
