package launch

// This file tells users how a nest is scheduled and what machine code it becomes, and tells the
// profiler perf where the code lies.

import (
	"fmt"
	"os"
	"sync"

	"flow/ir/loop"
	"flow/kernels/loop/amd64"
)

// Listing is the schedule of a nest, a line, and its machine code as text, for operands and results
// that are matrices of several columns. The interpreter has no code. It fails for a nest that no
// code is made for.
func Listing(n *loop.Nest) (schedule, text string, err error) {
	target, err := Target()
	if err != nil {
		return "", "", err
	}
	if target == Interp {
		return "interp: batches of points, in Go", "", nil
	}
	n, _ = prepared(n)
	params, results := layouts(n, 0)
	l, err := amd64.List(amd64.Target(target), n, params, results, amd64.Schedule{})
	switch {
	case err != nil:
		return "", "", err
	case l.Index == "":
		return target + ": one point", l.Text, nil
	}
	schedule = fmt.Sprintf("%s: %d lanes along %s, %d at a time", target, l.Lanes, l.Index, l.Together*l.Lanes)
	if loop.Refill(n) != nil {
		schedule += "; a lane that has ended takes the next point if samples say that this pays"
	}
	if coreOf(n).borders != nil {
		schedule += "; most points have code without conditions on the indices, if that pays"
	}
	return schedule, l.Text, nil
}

// DebugVariable is the environment variable that makes a process write a map of its machine code for
// perf, /tmp/perf-PID.map: a line a piece of code with its address, size and name. perf looks for it
// at that place alone, and it stays when the process has ended.
const DebugVariable = "FLOW_DEBUG"

// perfMap numbers the pieces of code of the process.
var perfMap struct {
	mu   sync.Mutex
	next int
}

// mapped notes a piece of code. A map that cannot be written is no failure.
func mapped(entry uintptr, size int) {
	if os.Getenv(DebugVariable) == "" {
		return
	}
	perfMap.mu.Lock()
	defer perfMap.mu.Unlock()
	f, err := os.OpenFile(perfMapPath(), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	_, _ = fmt.Fprintf(f, "%x %x flow_loop_%d\n", entry, size, perfMap.next)
	perfMap.next++
}

func perfMapPath() string { return fmt.Sprintf("/tmp/perf-%d.map", os.Getpid()) }
