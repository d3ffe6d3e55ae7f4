// Package memory finds how much memory this process may use, and refuses impossible allocations
// before they reach the Go runtime, which would end the process.
//
// Start at Most (before a run) and Reserve (in one).
package memory

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime/metrics"
	"strconv"
	"strings"
	"syscall"

	"github.com/docker/go-units"

	"flow/ir/types"
)

// unknown is the limit on a system that does not tell its memory: any 48-bit address.
const unknown = 1 << 48

// Limit is a number of bytes and its cause.
type Limit struct {
	Bytes int64
	By    string // as a noun phrase: "this machine", "ulimit -v"
}

// String returns the limit as messages quote it: `23.5 GiB, this machine`.
func (l Limit) String() string {
	if l.By == "" {
		return types.InBytes(float64(l.Bytes))
	}
	return types.InBytes(float64(l.Bytes)) + ", " + l.By
}

// Parse returns the limit that a text gives, such as 800M or 16GiB, in powers of 1024.
func Parse(text, by string) (Limit, error) {
	n, err := units.RAMInBytes(text)
	if err != nil || n < 1 {
		return Limit{}, fmt.Errorf("%q is no size of memory", text)
	}
	return Limit{n, by}, nil
}

// The causes.
const (
	machine   = "this machine"
	container = "the memory limit of its control group"
	space     = "ulimit -v"
	data      = "ulimit -d"
)

// Error says that something needs more memory than there is.
type Error struct {
	Need   float64 // bytes
	Beside float64 // bytes in use, which Have bounds too
	Have   Limit
}

func (e *Error) Error() string {
	if e.Beside > 0 {
		return fmt.Sprintf("%s beside the %s in use are more than there is (%v)", types.InBytes(e.Need), types.InBytes(e.Beside), e.Have)
	}
	if e.Need <= float64(e.Have.Bytes) { // an unknown limit
		return fmt.Sprintf("the system gives no %s", types.InBytes(e.Need))
	}
	return fmt.Sprintf("%s are more than there is (%v)", types.InBytes(e.Need), e.Have)
}

// source is where limits are read. Tests make their own.
type source struct {
	root string // the file system that has /proc and /sys
	// the soft limit of a resource; ok is false if there is none
	rlimit func(what int) (n int64, ok bool)
}

var system = source{root: "/", rlimit: softLimit}

func softLimit(what int) (int64, bool) {
	var r syscall.Rlimit
	if syscall.Getrlimit(what, &r) != nil || r.Cur > math.MaxInt64 {
		return 0, false
	}
	return int64(r.Cur), true
}

// Most returns the memory that this process could use if all others were idle: the least of the
// machine's memory with swap, its control groups' limits, and what RLIMIT_AS and RLIMIT_DATA leave.
// It reads some ten small files.
func Most() Limit { return system.most() }

// Room returns the memory that this process can still get now. Memory that was mapped and never
// touched counts as free. It reads some ten small files.
func Room() Limit { return system.room() }

// Reach returns the memory that large values of this process can take in all: what is free, and
// what the process has except its heap. It ignores address limits.
func Reach() Limit {
	l := system.free()
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(heap)
	held := system.mapped("VmRSS")
	if heap[0].Value.Kind() == metrics.KindUint64 {
		held -= int64(heap[0].Value.Uint64())
	}
	l.Bytes = sum(l.Bytes, max(held, 0))
	return l
}

func (s source) most() Limit {
	info := s.meminfo()
	swap := info["SwapTotal"]
	l := Limit{unknown, ""}
	if total, ok := info["MemTotal"]; ok {
		l = Limit{total + swap, machine}
	}
	for _, g := range s.groupsOf("memory") {
		if n, ok := g.limit(swap); ok {
			l = l.or(n, container)
		}
	}
	return s.addressSpace(l)
}

func (s source) room() Limit { return s.addressSpace(s.free()) }

// free returns the free memory, without regard to address limits.
func (s source) free() Limit {
	info := s.meminfo()
	l := Limit{unknown, ""}
	if free, ok := info["MemAvailable"]; ok {
		l = Limit{free + info["SwapFree"], machine}
	} else if total, ok := info["MemTotal"]; ok {
		l = Limit{total, machine}
	}
	for _, g := range s.groupsOf("memory") {
		if n, ok := g.limit(info["SwapFree"]); ok {
			l = l.or(n-g.used(), container)
		}
	}
	return l
}

// or returns the lesser of l and n bytes.
func (l Limit) or(n int64, by string) Limit {
	if n >= l.Bytes {
		return l
	}
	return Limit{max(n, 0), by}
}

// addressSpace returns l or what the process's address limits leave, if that is less.
func (s source) addressSpace(l Limit) Limit {
	if n, ok := s.rlimit(syscall.RLIMIT_AS); ok {
		l = l.or(n-s.mapped("VmSize"), space)
	}
	if n, ok := s.rlimit(syscall.RLIMIT_DATA); ok {
		l = l.or(n-s.mapped("VmData"), data)
	}
	return l
}

// mapped returns a size from /proc/self/status, 0 if it is missing.
func (s source) mapped(name string) int64 { return s.sizes("proc/self/status")[name] }

func (s source) meminfo() map[string]int64 { return s.sizes("proc/meminfo") }

// sizes reads a file of lines such as "MemTotal:  24567890 kB", in bytes.
func (s source) sizes(file string) map[string]int64 {
	text, err := os.ReadFile(filepath.Join(s.root, file))
	if err != nil {
		return nil
	}
	m := map[string]int64{}
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) != 3 || f[2] != "kB" {
			continue
		}
		// so that two add up
		if kib, err := strconv.ParseInt(f[1], 10, 64); err == nil && kib >= 0 && kib <= math.MaxInt64>>11 {
			m[strings.TrimSuffix(f[0], ":")] = kib << 10
		}
	}
	return m
}

// limit returns the memory and swap that the group may use on a machine with that much swap. ok is
// false without a limit.
func (g group) limit(swap int64) (n int64, ok bool) {
	if g.unified {
		if n, ok = g.number("memory.max"); !ok {
			return 0, false
		}
		if own, ok := g.number("memory.swap.max"); ok {
			swap = min(swap, own)
		}
		return sum(n, swap), true
	}
	if n, ok = g.number("memory.limit_in_bytes"); !ok {
		return 0, false
	}
	n = sum(n, swap)
	if both, ok := g.number("memory.memsw.limit_in_bytes"); ok {
		n = min(n, both)
	}
	return n, true
}

// used returns what the processes of the group use and cannot give back. Inactive files in the page
// cache do not count.
func (g group) used() int64 {
	current, files := "memory.current", "inactive_file "
	if !g.unified {
		current, files = "memory.usage_in_bytes", "total_inactive_file "
	}
	n, ok := g.number(current)
	if !ok {
		return 0
	}
	text, err := os.ReadFile(filepath.Join(g.dir, "memory.stat"))
	if err != nil {
		return n
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, files); ok {
			if k, err := strconv.ParseInt(strings.TrimSpace(rest), 10, 64); err == nil {
				n -= min(k, n)
			}
		}
	}
	return n
}

// sum returns a + b, or the greatest number on overflow.
func sum(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
