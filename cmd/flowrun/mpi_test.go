//go:build mpi

package main

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"flow/runtime/dist/calm"
	"flow/runtime/schedule"
)

// This file runs the scripts of testdata/mpi: whole jobs over MPI ranks that this command or mpirun
// starts.

func TestMPIScript(t *testing.T) {
	if _, err := exec.LookPath("mpirun"); err != nil {
		t.Skip("mpirun is not installed")
	}
	p := params(filepath.Join("testdata", "mpi"))
	maps.Copy(p.Cmds, mpiCommands())
	testscript.Run(t, p)
}

// everytechnique FILE writes a program with a loop of uneven points under each technique.
func everyTechnique(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: everytechnique FILE")
	}
	var text strings.Builder
	fmt.Fprintln(&text, "n = 90\nv = rand(n, 1, seed = 1)")
	for _, t := range schedule.Techniques() {
		fmt.Fprintf(&text, `emit sum(parfor i in 0..n with (schedule = "%s", place = rows) {
  iterate x = v[i, 0], k = 0 until k >= 4000 / (1 + i) {
    next x = 3.7 * x * (1.0 - x)
    next k = k + 1
  }
  x
})
`, t.Name)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text.String()), 0o666))
}

// killed FILE ARGS... starts flowrun on ranks, kills one rank with SIGKILL, and demands that the
// job ends within five seconds of the machine's time with a code that is not zero, and names the
// rank.
func killed(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: killed FILE ARGS...")
	}
	cmd, stderr, victim := midwayOnRanks(ts, args)
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

// halting WANT FILE ARGS... starts flowrun on three ranks and stops a random one for 30 ms, again and
// again. The job succeeds, and prints what is in the file WANT.
func halting(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: halting WANT FILE ARGS...")
	}
	cmd := exec.Command(filepath.Join(binDir(ts), "flowrun"), args[1:]...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = append(os.Environ(), "FLOW_CACHE="+ts.Getenv("FLOW_CACHE"), "TMPDIR="+ts.Getenv("TMPDIR"), "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	var out, told bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &told
	ts.Check(cmd.Start())
	stops := 0
	for !hasEnded(cmd.Process.Pid) {
		pid := rankProcess(ts, strconv.Itoa(rand.IntN(3)), args[1])
		if pid > 0 && processorTime(pid) > 0 && syscall.Kill(pid, syscall.SIGSTOP) == nil {
			time.Sleep(30 * time.Millisecond)
			_ = syscall.Kill(pid, syscall.SIGCONT) // it may have been killed
			stops++
		}
		time.Sleep(time.Duration(rand.IntN(60)) * time.Millisecond)
	}
	if err := cmd.Wait(); err != nil || stops == 0 || out.String() != ts.ReadFile(args[0]) {
		ts.Fatalf("%d stops, %v, prints %q, want %q\n%s", stops, err, out.String(), ts.ReadFile(args[0]), told.String())
	}
}

// midwayOnRanks starts flowrun on ranks and waits until rank 1, whose process it returns, is
// midway.
func midwayOnRanks(ts *testscript.TestScript, args []string) (cmd *exec.Cmd, stderr *bytes.Buffer, rank int) {
	cmd = exec.Command(filepath.Join(binDir(ts), "flowrun"), args...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = append(os.Environ(), "FLOW_CACHE="+ts.Getenv("FLOW_CACHE"), "TMPDIR="+ts.Getenv("TMPDIR"), "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	stderr = new(bytes.Buffer)
	cmd.Stderr = stderr
	ts.Check(cmd.Start())
	for deadline := time.Now().Add(startsWithin); (rank == 0 || processorTime(rank) < midway) && !hasEnded(cmd.Process.Pid) && time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if processorTime(rank) == 0 { // not found so far
			rank = rankProcess(ts, "1", args[0])
		}
	}
	if rank == 0 {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()         // what it has said is looked at below
		ts.Fatalf("rank 1 did not start: %s", stderr.String())
	}
	return cmd, stderr, rank
}

// launcherkilled SIGNAL CODE FILE ARGS... starts flowrun on ranks, sends their launcher a signal,
// and demands that the job ends with the code and blames no rank.
func launcherKilled(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: launcherkilled SIGNAL CODE FILE ARGS...")
	}
	sig := map[string]syscall.Signal{"KILL": syscall.SIGKILL, "TERM": syscall.SIGTERM}[args[0]]
	cmd, stderr, rank := midwayOnRanks(ts, args[2:])
	ts.Check(syscall.Kill(parentOf(rank), sig))
	_ = cmd.Wait() // the exit code is looked at below
	said := stderr.String()
	if code := cmd.ProcessState.ExitCode(); strconv.Itoa(code) != args[1] || strings.Contains(said, "died") {
		ts.Fatalf("exits with %d, want %s\n%s", code, args[1], said)
	}
	ts.Check(os.WriteFile(ts.MkAbs("stderr.txt"), []byte(said), 0o600))
}

// parentOf is the process that started a process.
func parentOf(pid int) int {
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return 0
	}
	// After the name in parentheses come the state and the parent.
	f := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	parent, _ := strconv.Atoi(f[1])
	return parent
}

// unsampled FILE changes a .npy of f64 between all blocks that ranks compare: 64 of 16 KiB, the
// first at the beginning, the last at the end, the others at equal distances.
func unsampled(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: unsampled FILE")
	}
	b := []byte(ts.ReadFile(args[0]))
	const blocks, size, head = 64, 16 << 10, 128
	gap := (len(b) - blocks*size) / (blocks - 1)
	if gap < 16 {
		ts.Fatalf("%s is compared whole: %d bytes", args[0], len(b))
	}
	for k := range blocks - 1 {
		at := (k+1)*size + k*gap + gap/2
		at -= (at - head) % 8
		binary.LittleEndian.PutUint64(b[at:], math.Float64bits(1e6))
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), b, 0o600))
}

// otherbuild FILE makes FILE a copy of flowrun that the go command would have made of other
// sources: with another hash of its contents.
func otherBuild(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: otherbuild FILE")
	}
	path := filepath.Join(binDir(ts), "flowrun")
	b, err := os.ReadFile(path)
	ts.Check(err)
	e, err := elf.Open(path)
	ts.Check(err)
	defer e.Close()
	note := e.Section(".note.go.buildid")
	if note == nil {
		ts.Fatalf("%s has no note of the go command", path)
	}
	last := b[note.Offset+note.Size-4 : note.Offset+note.Size]
	for i := range last {
		last[i] ^= 1
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), b, 0o700))
}

// jobkilled LIST FILE ARGS... starts flowrun on ranks and kills all processes of the job at once.
// It writes into LIST the folders that the job has left, which must be two.
func jobKilled(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: jobkilled LIST FILE ARGS...")
	}
	cmd, _, rank := midwayOnRanks(ts, args[1:])
	launcher := parentOf(rank)
	env, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(launcher), "environ"))
	ts.Check(err)
	var left []string
	for v := range strings.SplitSeq(string(env), "\x00") {
		name, value, _ := strings.Cut(v, "=")
		if (name == "TMPDIR" || name == "OMPI_MCA_btl_vader_backing_directory") && strings.HasPrefix(filepath.Base(value), "flowrun-") {
			left = append(left, value)
		}
	}
	job := processesOf(ts, args[1])                                        // the launcher and the command among them
	for _, s := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGKILL} { // or some would hear of the end of others, and clean up
		for _, pid := range job {
			_ = syscall.Kill(pid, s) // it may have ended
		}
	}
	_ = cmd.Wait() // it was killed
	for _, dir := range left {
		f, err := os.Open(dir)
		if os.IsNotExist(err) {
			continue // a job that has started since the kill, beside this test, has removed it already
		}
		ts.Check(err)
		// The lock goes with the last thread of the launcher, a while after the process has
		// been killed.
		for deadline := time.Now().Add(startsWithin); syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil && time.Now().Before(deadline); {
			time.Sleep(10 * time.Millisecond)
		}
		ts.Check(f.Close())
	}
	if len(left) != 2 {
		ts.Fatalf("the job has left %v", left)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Join(left, "\n")), 0o600))
}

// swept LIST demands that the folders in LIST are gone.
func swept(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: swept LIST")
	}
	for _, dir := range strings.Fields(ts.ReadFile(args[0])) {
		if _, err := os.Stat(dir); !os.IsNotExist(err) {
			ts.Fatalf("%s is there: %v", dir, err)
		}
	}
}
