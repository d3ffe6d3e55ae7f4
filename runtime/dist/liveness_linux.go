package dist

import (
	"bytes"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// processStart returns when a process began, in ticks since boot. alive is false if there is none,
// or only a zombie.
func processStart(pid int) (start string, alive bool) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return "", !os.IsNotExist(err) && !strings.Contains(err.Error(), "no such process")
	}
	// The name, in parentheses, may contain anything. After it come the state and, 19 fields
	// on, the start.
	f := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	if len(f) < 20 || f[0][0] == 'Z' || f[0][0] == 'X' {
		return "", false
	}
	return string(f[19]), true
}

// processSpace names the scope in which process numbers are unique: this boot of this machine, this
// namespace.
func processSpace() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	space, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(boot)) + " " + space
}

// affinity returns the processors on which this process may run.
func affinity() (c cpus) {
	var set unix.CPUSet
	if unix.SchedGetaffinity(os.Getpid(), &set) == nil {
		for i := range 64 * len(c) {
			if set.IsSet(i) {
				c[i/64] |= 1 << (i % 64)
			}
		}
	}
	return c
}
