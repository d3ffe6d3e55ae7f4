//go:build mpi

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"flow/runtime/dist/calm"
)

// This file runs the scripts of testdata/mpi: whole jobs over MPI ranks that this command or mpirun starts.

func TestMPIScript(t *testing.T) {
	if _, err := exec.LookPath("mpirun"); err != nil {
		t.Skip("mpirun is not installed")
	}
	p := params(filepath.Join("testdata", "mpi"))
	p.Cmds["killed"] = killed
	testscript.Run(t, p)
}

// killed FILE ARGS... starts flowrun on ranks, kills one rank with SIGKILL, and demands that the job ends within five
// seconds of the machine's time with a code that is not zero, and names the rank.
func killed(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: killed FILE ARGS...")
	}
	cmd := exec.Command(filepath.Join(binDir(ts), "flowrun"), args...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = append(os.Environ(), "FLOW_CACHE="+ts.Getenv("FLOW_CACHE"), "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	ts.Check(cmd.Start())
	victim := 0
	for deadline := time.Now().Add(startsWithin); processorTime(victim) < midway && time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		victim = rankProcess("1", args[0])
	}
	if victim == 0 {
		_ = cmd.Process.Kill() // it may have ended
		ts.Fatalf("rank 1 did not start: %s", stderr.String())
	}
	ts.Check(syscall.Kill(victim, syscall.SIGKILL))
	clock := calm.Start()
	_ = cmd.Wait() // the exit code is looked at below
	if took := clock.Stop(); took > 5*time.Second {
		ts.Fatalf("the other ranks took %v to end", took)
	}
	if cmd.ProcessState.ExitCode() == 0 {
		ts.Fatalf("the job succeeded without one of its ranks")
	}
	if !strings.Contains(stderr.String(), "rank 1") {
		ts.Fatalf("the rank is not named:\n%s", stderr.String())
	}
}
