package memory

import (
	"fmt"
	"math"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// ThreadError says that a process may not start that many threads.
type ThreadError struct {
	Want, Have int
	By         string // the bound, as a noun phrase
}

func (e *ThreadError) Error() string {
	return fmt.Sprintf("%d threads are more than may be started (%d, %s)", e.Want, e.Have, e.By)
}

// Threads reports whether this process may start n more threads: nil, or a *ThreadError. It checks
// the task limits of control groups, ulimit -u and the addresses for stacks. It does not know what
// other processes start meanwhile.
func Threads(n int) error { return system.threads(n) }

// stack is the address space of a C thread's stack if ulimit -s does not say.
const stack = 8 << 20

func (s source) threads(n int) error {
	have, by := int64(math.MaxInt64), ""
	less := func(k int64, why string) {
		if k < have {
			have, by = max(k, 0), why
		}
	}
	for _, g := range s.groupsOf("pids") {
		most, ok := g.number("pids.max") // the same name in both versions
		if now, known := g.number("pids.current"); ok && known {
			less(most-now, "pids.max of its control group")
		}
	}
	// root may have as many as it likes
	if most, ok := s.rlimit(rlimitNproc); ok && os.Geteuid() != 0 {
		less(most, "ulimit -u")
	}
	if most, ok := s.rlimit(syscall.RLIMIT_AS); ok {
		each, bounded := s.rlimit(syscall.RLIMIT_STACK)
		if !bounded || each < 1<<16 {
			each = stack
		}
		less((most-s.mapped("VmSize"))/each, space)
	}
	if int64(n) <= have {
		return nil
	}
	return &ThreadError{n, int(have), by}
}

// groupsOf returns the control groups around this process in the hierarchy of a controller. In a
// container the process may see its own group at the root of the file system of groups, whatever
// its path says; that is one of them.
func (s source) groupsOf(controller string) (groups []group) {
	text, err := os.ReadFile(filepath.Join(s.root, "proc/self/cgroup"))
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		// number, controllers, path; cgroups(7)
		part := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(part) != 3 {
			continue
		}
		mount, unified := "", false
		switch {
		case part[0] == "0" && part[1] == "":
			mount, unified = "sys/fs/cgroup", true
		case strings.Contains(","+part[1]+",", ","+controller+","):
			mount = "sys/fs/cgroup/" + controller
		default:
			continue
		}
		for at := path.Clean("/" + part[2]); ; at = path.Dir(at) {
			if groups = append(groups, group{filepath.Join(s.root, mount, at), unified}); at == "/" {
				break
			}
		}
	}
	return groups
}

// group is a control group that contains this process.
type group struct {
	dir     string
	unified bool // version 2
}

// number reads a file of one number. ok is false for "max".
func (g group) number(file string) (n int64, ok bool) {
	text, err := os.ReadFile(filepath.Join(g.dir, file))
	if err != nil {
		return 0, false
	}
	n, err = strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return n, err == nil
}
