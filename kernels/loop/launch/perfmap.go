package launch

// This file names machine code for perf.

import (
	"fmt"
	"os"
	"sync"
)

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
