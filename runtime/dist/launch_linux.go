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
		for _, pid := range childrenByParent(os.Getpid()) { // the lists may leave out one that is being adopted
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

// childrenOf lists the children of a process. The kernel keeps a list for each thread, so a look does
// not grow with the number of processes on the machine. The lists may leave one out while another ends.
// Kernels without CONFIG_PROC_CHILDREN have none; then every process is asked for its parent.
func childrenOf(parent int) (pids []int) {
	process := filepath.Join("/proc", strconv.Itoa(parent))
	threads, err := os.ReadDir(filepath.Join(process, "task"))
	if err != nil {
		return nil // it has ended
	}
	for _, t := range threads {
		b, err := os.ReadFile(filepath.Join(process, "task", t.Name(), "children"))
		if err != nil {
			if _, runs := processStart(parent); runs && t.Name() == strconv.Itoa(parent) {
				return childrenByParent(parent)
			}
			continue // the thread has ended
		}
		for _, f := range bytes.Fields(b) {
			if pid, err := strconv.Atoi(string(f)); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// childrenByParent is childrenOf without the kernel's lists. It leaves none out.
func childrenByParent(parent int) (pids []int) {
	all, _ := os.ReadDir("/proc") // without it there are none
	for _, p := range all {
		pid, err := strconv.Atoi(p.Name())
		if err != nil {
			continue // no process
		}
		if f := statOf(pid); len(f) > 1 && string(f[1]) == strconv.Itoa(parent) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// statOf returns what the kernel says of a process behind its name: the state, the parent and so on.
// The name, in parentheses, may contain anything. A process that has ended has nothing.
func statOf(pid int) [][]byte {
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return nil
	}
	return bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
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
	f := statOf(pid)
	return len(f) > 0 && f[0][0] == 'S'
}
