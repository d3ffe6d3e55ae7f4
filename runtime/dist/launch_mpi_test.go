//go:build mpi && linux

package dist

// These tests look at a job from outside: what it listens on, what it leaves, what is said when its
// launcher is killed.

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A job that this process starts can be reached from this machine alone.
func TestMPIListensInwards(t *testing.T) {
	if !canConfine() {
		t.Skip("this system does not let a process answer for the calls of others")
	}
	_, exit := stage(t, t.Context(), "slow", 2, func(out *lines) {
		during(t, out, runsLine, 2, 0, func(rank int) {
			launcher := parentOf(rank)
			job := append(childrenOf(launcher), launcher)
			sockets := listening(t, job)
			if len(job) != 3 || len(sockets) == 0 { // of the launcher's own service for its ranks
				t.Errorf("processes %v listen on %v: they were not looked at well", job, sockets)
			}
			for _, s := range sockets {
				if s != "0100007F" && s != strings.Repeat("0", 24)+"01000000" {
					t.Errorf("the job listens on %s", s)
				}
			}
		})
	})
	if exit != 0 {
		t.Errorf("exit %d", exit)
	}
}

// canConfine tries in a thread that is thrown away.
func canConfine() bool {
	result := make(chan error)
	go func() {
		runtime.LockOSThread()
		c, err := confine()
		if err == nil {
			c.end()
			c.serve()
		}
		result <- err
	}()
	return <-result == nil
}

func parentOf(pid int) int {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	f := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	parent, _ := strconv.Atoi(string(f[1]))
	return parent
}

// listening is the local addresses, in the hexadecimal of /proc/net, of the sockets on which
// processes listen.
func listening(t *testing.T, pids []int) (addresses []string) {
	inodes := map[string]bool{}
	for _, pid := range pids {
		links, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid)) // the pattern is well formed
		for _, l := range links {
			if to, err := os.Readlink(l); err == nil && strings.HasPrefix(to, "socket:[") {
				inodes[strings.Trim(to, "socket:[]")] = true
			}
		}
	}
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		text, err := os.ReadFile(table)
		if err != nil {
			continue // a system without IPv6
		}
		for _, line := range strings.Split(string(text), "\n")[1:] {
			f := strings.Fields(line)
			if len(f) < 10 || f[3] != "0A" || !inodes[f[9]] {
				continue
			}
			address, _, _ := strings.Cut(f[1], ":")
			if _, err := hex.DecodeString(address); err != nil {
				t.Errorf("%s has the address %q", table, f[1])
			}
			addresses = append(addresses, address)
		}
	}
	return addresses
}

// Who kills the launcher is told so, and no rank is blamed.
func TestMPILauncherKilled(t *testing.T) {
	out, exit := stage(t, t.Context(), "long", 3, func(out *lines) {
		during(t, out, runsLine, 3, 0, func(rank int) {
			if err := syscall.Kill(parentOf(rank), syscall.SIGKILL); err != nil {
				t.Error(err)
			}
		})
	})
	if exit != 1 || !strings.Contains(out, "error[E707]: the launcher of the ranks (mpirun, process ") || strings.Contains(out, "died") {
		t.Errorf("exit %d\n%s", exit, out)
	}
}

// What a job leaves whose processes were all killed at once is gone after the next job.
func TestMPIKilledJobIsSwept(t *testing.T) {
	if _, err := exec.LookPath("mpirun"); err != nil {
		t.Skip("no mpirun")
	}
	t.Setenv("TMPDIR", t.TempDir())
	var out lines
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), launchVariable+"=long")
	cmd.Stderr = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var folders []string
	during(t, &out, runsLine, 2, 0, func(rank int) {
		launcher := parentOf(rank)
		folders = foldersOf(t, launcher)
		job := append(childrenOf(launcher), launcher, cmd.Process.Pid)
		for _, s := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGKILL} { // or some would hear of the end of others, and clean up
			for _, pid := range job {
				if err := syscall.Kill(pid, s); err != nil {
					t.Errorf("%v to process %d of %v: %v", s, pid, job, err)
				}
			}
		}
	})
	_ = cmd.Wait() // it was killed
	for _, f := range folders {
		awaitUnlocked(t, f)
		if entries, err := os.ReadDir(f); err != nil || len(entries) == 0 {
			t.Errorf("the killed job has left nothing in %s: %v", f, err)
		}
	}
	if len(folders) != 2 {
		t.Errorf("the job had the folders %v", folders)
	}
	if out, exit := stage(t, t.Context(), "random", 2, nil); exit != 0 {
		t.Errorf("the next job: exit %d\n%s", exit, out)
	}
	for _, f := range folders {
		if _, err := os.Stat(f); !os.IsNotExist(err) {
			t.Errorf("after the next job %s is there: %v", f, err)
		}
	}
}

// awaitUnlocked waits until nobody has a lock on a folder: it goes with the last thread of a
// launcher, a while after that was killed.
func awaitUnlocked(t *testing.T, dir string) {
	f, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for until := time.Now().Add(guard); syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("%s is locked", dir)
		}
	}
}

// foldersOf is where a launcher and its ranks leave what is gone after the job.
func foldersOf(t *testing.T, launcher int) (dirs []string) {
	env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", launcher))
	if err != nil {
		t.Fatal(err)
	}
	last := map[string]string{}
	for v := range strings.SplitSeq(string(env), "\x00") {
		name, value, _ := strings.Cut(v, "=")
		last[name] = value
	}
	for _, name := range []string{"TMPDIR", "OMPI_MCA_btl_vader_backing_directory"} {
		if d := last[name]; strings.HasPrefix(filepath.Base(d), folderPrefix) {
			dirs = append(dirs, d)
		}
	}
	return dirs
}
