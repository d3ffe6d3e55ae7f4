package dist

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// apart starts the launcher in a process group of its own, so that the terminal's Ctrl-C reaches it
// only through this process, and ends it if this process is killed.
func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}

// guardian adopts processes whose parents have ended.
type guardian struct{ before map[int]bool }

// becomeGuardian makes ranks that outlive their launcher children of this process.
func becomeGuardian() *guardian {
	g := &guardian{before: map[int]bool{}}
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) // without it orphans are not found
	for _, pid := range childrenOf(os.Getpid()) {
		g.before[pid] = true
	}
	return g
}

// killRest kills every child that came after becomeGuardian, and their children. The launcher must
// have ended, and the process must not have started others meanwhile.
func (g *guardian) killRest() {
	for range 100 { // a killed process may leave children
		found := false
		for _, pid := range childrenOf(os.Getpid()) {
			if g.before[pid] {
				continue
			}
			found = true
			_ = syscall.Kill(pid, syscall.SIGKILL)
			var status syscall.WaitStatus
			_, _ = syscall.Wait4(pid, &status, 0, nil)
		}
		if !found {
			return
		}
	}
}

// childrenOf lists the children of a process.
func childrenOf(parent int) (pids []int) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is well-formed
	for _, path := range stats {
		b, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		f := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
		if len(f) < 2 {
			continue
		}
		if ppid, err := strconv.Atoi(string(f[1])); err == nil && ppid == parent {
			if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// ranksOf lists the processes that a launcher has started on this machine with their ranks: -1 for
// one that has not begun its program yet, or has no number from Open MPI.
func ranksOf(launcher int) map[int]int {
	ranks := map[int]int{}
	for _, pid := range childrenOf(launcher) {
		ranks[pid] = -1
		env, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "environ"))
		if err != nil {
			continue // it has ended
		}
		for _, v := range bytes.Split(env, []byte{0}) {
			if rank, ok := bytes.CutPrefix(v, []byte("OMPI_COMM_WORLD_RANK=")); ok {
				if n, err := strconv.Atoi(string(rank)); err == nil {
					ranks[pid] = n
				}
			}
		}
	}
	return ranks
}

// asleep reports whether a process waits for an event: it would not run even with a processor.
func asleep(pid int) bool {
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return false
	}
	f := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	return len(f) > 0 && f[0][0] == 'S'
}
