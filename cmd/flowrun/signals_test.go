package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// This file defines the script command that interrupts a run.

// interrupted SIGNAL DIR FILE ARGS... starts flowrun, waits until it has begun to write into DIR, or two seconds for a
// program that does not write early, sends the signal and demands 128 + the signal within two seconds, and DIR empty.
func interrupted(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: interrupted SIGNAL DIR FILE ARGS...")
	}
	sig := map[string]syscall.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM}[args[0]]
	dir := ts.MkAbs(args[1])
	path, err := exec.LookPath(filepath.Join(binDir(ts), "flowrun"))
	ts.Check(err)
	cmd := exec.Command(path, args[2:]...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = append(os.Environ(), "FLOW_CACHE="+ts.Getenv("FLOW_CACHE"), "PATH="+ts.Getenv("PATH"),
		"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	ts.Check(cmd.Start())
	for deadline := time.Now().Add(2 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
			break
		}
	}
	time.Sleep(200 * time.Millisecond)
	ts.Check(cmd.Process.Signal(sig))
	sent := time.Now()
	_ = cmd.Wait() // the exit code is looked at below
	took := time.Since(sent)
	if code := cmd.ProcessState.ExitCode(); code != 128+int(sig) {
		ts.Fatalf("exits with %d, want %d\n%s", code, 128+int(sig), stderr.String())
	}
	bound := 2 * time.Second
	if strings.Contains(strings.Join(args, " "), "backend=mpi") {
		bound += 2500 * time.Millisecond // the ranks have ended by then, and Open MPI's mpirun takes two seconds more to say so
	}
	if took > bound {
		ts.Fatalf("took %v to end", took)
	}
	entries, err := os.ReadDir(dir)
	ts.Check(err)
	for _, e := range entries {
		ts.Fatalf("left %s behind", e.Name())
	}
	if !strings.Contains(stderr.String(), "stopped by") {
		ts.Fatalf("does not say that a signal stopped it:\n%s", stderr.String())
	}
}

// binDir is where testscript put the flowrun of this test: the first entry of the script's PATH.
func binDir(ts *testscript.TestScript) string {
	first, _, _ := strings.Cut(ts.Getenv("PATH"), string(os.PathListSeparator))
	return first
}

// survivors fails while processes of this flowrun are left: a killed run must leave no orphans. It waits five seconds for
// the last to go.
func survivors(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: survivors FILE (the program that no process may have on its command line any more)")
	}
	deadline := time.Now().Add(5 * time.Second)
	for {
		left := processesOf(args[0])
		if len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("processes %v are left", left)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// processesOf lists the processes that have word on their command line.
func processesOf(word string) []int {
	var out []int
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline") // the pattern is well formed
	for _, path := range lines {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended meanwhile
		}
		for _, arg := range strings.Split(string(text), "\x00") {
			if arg == word {
				if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil {
					out = append(out, pid)
				}
				break
			}
		}
	}
	return out
}
