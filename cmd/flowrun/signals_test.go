package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"flow/runtime/dist/calm"
)

// This file defines the script command that interrupts a run.

// midway is how much of the processors a program, or each of its ranks, has had when it is in the
// middle of its work: twice what it has had when it has joined the others.
var midway = 300 * time.Millisecond

// startsWithin is how long that may take, a hundred times what it takes on a machine at rest: no
// program that works takes longer.
const startsWithin = 3 * time.Minute

// interrupted SIGNAL DIR FILE ARGS... starts flowrun with FILE and ARGS, or as a session if FILE is
// "repl", with the script's stdin.txt as its input, waits until it has begun to write into DIR or
// is midway, sends the signal and demands 128 + the signal within two seconds of the machine's time
// (package calm), and DIR empty. Of several tries one must be as fast: what else runs on the
// machine may hold up any.
func interrupted(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: interrupted SIGNAL DIR FILE ARGS...")
	}
	bound := 2 * time.Second
	if onRanks(args) {
		bound += 2500 * time.Millisecond // the ranks have ended by then, and Open MPI's mpirun takes two seconds more to say so
	}
	const tries = 6
	for try := 1; ; try++ {
		took, held := interruptedOnce(ts, args)
		if took <= bound {
			return
		}
		if try == tries {
			ts.Fatalf("took %v to end, besides %v without a processor, and longer than %v %d times before", took, held, bound, tries-1)
		}
	}
}

// onRanks reports that the command line args starts processes over MPI.
func onRanks(args []string) bool { return strings.Contains(strings.Join(args, " "), "backend=mpi") }

// interruptedOnce is one try of interrupted; it took so long to end, and was held up for so long
// beside that.
func interruptedOnce(ts *testscript.TestScript, args []string) (took, held time.Duration) {
	dir := ts.MkAbs(args[1])
	cmd, stderr := begin(ts, "flowrun", args[2:])
	worker := cmd.Process.Pid
	if onRanks(args) {
		worker = 0
	}
	for deadline := time.Now().Add(startsWithin); !hasEnded(cmd.Process.Pid) && time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
			break
		}
		if onRanks(args) && processorTime(worker) == 0 { // not found so far
			worker = rankProcess(ts, "1", args[2])
		}
		if processorTime(worker) >= midway {
			break
		}
	}
	sig := signalOf[args[0]]
	ts.Check(cmd.Process.Signal(sig))
	clock := calm.Start()
	gone := make(chan struct{})
	go func() {
		_ = cmd.Wait() // the exit code is looked at below
		close(gone)
	}()
	held = heldUp(cmd.Process.Pid, gone)
	took = clock.Stop() - held
	leftNothing(ts, cmd, sig, dir, stderr.String())
	return took, held
}

// stopped SIGNAL DIR FILE ARGS... starts a flowrun whose grace does not end, waits until it has
// printed a line, sends the signal, and demands what interrupted demands, however long it takes:
// what a run does in its grace when it has the time, on any machine.
func stopped(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: stopped SIGNAL DIR FILE ARGS...")
	}
	r, w, err := os.Pipe()
	ts.Check(err)
	defer r.Close()
	cmd, stderr := begin(ts, "patient", args[2:], w)
	ts.Check(w.Close())
	if _, err := r.Read(make([]byte, 1)); err != nil {
		_ = cmd.Wait() // its words say more
		ts.Fatalf("it prints nothing: %v\n%s", err, stderr)
	}
	sig := signalOf[args[0]]
	ts.Check(cmd.Process.Signal(sig))
	_ = cmd.Wait() // the exit code is looked at below
	leftNothing(ts, cmd, sig, ts.MkAbs(args[1]), stderr.String())
}

// signalOf are the signals of scripts.
var signalOf = map[string]syscall.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP}

// begin starts a command with the script's stdin.txt as its input if it is "repl".
func begin(ts *testscript.TestScript, command string, args []string, out ...*os.File) (cmd *exec.Cmd, stderr *bytes.Buffer) {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP) // whoever is caught here is not ignored there, as nohup would have it
	path, err := exec.LookPath(filepath.Join(binDir(ts), command))
	ts.Check(err)
	cmd = exec.Command(path, args...)
	cmd.Dir = ts.MkAbs(".")
	if args[0] == "repl" {
		in, err := os.Open(ts.MkAbs("stdin.txt"))
		ts.Check(err)
		defer in.Close()
		cmd.Stdin = in
	}
	for _, f := range out {
		cmd.Stdout = f
	}
	cmd.Env = append(os.Environ(), "FLOW_CACHE="+ts.Getenv("FLOW_CACHE"), "PATH="+ts.Getenv("PATH"),
		"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	stderr = new(bytes.Buffer)
	cmd.Stderr = stderr
	ts.Check(cmd.Start())
	return cmd, stderr
}

// leftNothing demands of a command that a signal has ended its code, its words, and nothing in dir.
func leftNothing(ts *testscript.TestScript, cmd *exec.Cmd, sig syscall.Signal, dir, said string) {
	if code := cmd.ProcessState.ExitCode(); code != 128+int(sig) {
		ts.Fatalf("exits with %d, want %d\n%s", code, 128+int(sig), said)
	}
	entries, err := os.ReadDir(dir)
	ts.Check(err)
	for _, e := range entries {
		ts.Fatalf("left %s behind", e.Name())
	}
	if !strings.Contains(said, "stopped by") {
		ts.Fatalf("does not say that a signal stopped it:\n%s", said)
	}
}

// killedmidway DIR FILE ARGS... starts flowrun, waits until it has begun to write into DIR, and
// ends it with SIGKILL, which leaves what it was writing behind: DIR must hold that.
func killedMidway(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: killedmidway DIR FILE ARGS...")
	}
	cmd := exec.Command(filepath.Join(binDir(ts), "flowrun"), args[1:]...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = append(os.Environ(), "FLOW_CACHE="+ts.Getenv("FLOW_CACHE"))
	ts.Check(cmd.Start())
	holds := func() bool {
		entries, err := os.ReadDir(ts.MkAbs(args[0]))
		return err == nil && len(entries) > 0
	}
	for deadline := time.Now().Add(startsWithin); !holds() && time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
	}
	ts.Check(cmd.Process.Kill())
	_ = cmd.Wait() // it was killed
	if !holds() {
		ts.Fatalf("nothing was being written")
	}
}

// heldUp watches a process until gone is closed, and returns the longest that one of its threads
// has been ready to run meanwhile and had no processor: the clock of package calm sees what holds
// up all processes, this what holds up one.
func heldUp(pid int, gone <-chan struct{}) time.Duration {
	before := map[string]time.Duration{}
	longest := time.Duration(0)
	for {
		threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid)) // the pattern is well formed
		for _, path := range threads {
			text, err := os.ReadFile(path)
			f := strings.Fields(string(text)) // nanoseconds on a processor, nanoseconds waiting for one, turns
			if err != nil || len(f) < 3 {
				continue // it has ended meanwhile
			}
			ns, _ := strconv.ParseInt(f[1], 10, 64)
			if _, known := before[path]; !known {
				before[path] = time.Duration(ns)
			}
			longest = max(longest, time.Duration(ns)-before[path])
		}
		select {
		case <-gone:
			return longest
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// The grace is counted in ticks, so that one that comes late costs no more than itself; a second
// signal ends it, and so does the end of the run.
func TestGraceIsCountedInTicks(t *testing.T) {
	caught, done := make(chan os.Signal, 1), make(chan struct{})
	late, never := make(chan time.Time), make(chan time.Time)
	close(late)
	var sum, most time.Duration
	n := 0
	ticks := func(d time.Duration) <-chan time.Time {
		n++
		sum, most = sum+d, max(most, d)
		return late
	}
	if !outOfGrace(caught, done, ticks) || sum != grace || most > grace/10 {
		t.Errorf("the grace ends after %d ticks of at most %v, %v in all, want %v", n, most, sum, grace)
	}
	n = 0
	ended := func(time.Duration) <-chan time.Time {
		if n++; n == 3 { // the second was as late as can be
			close(done)
			return never
		}
		return late
	}
	if outOfGrace(caught, done, ended) || n != 3 {
		t.Errorf("a run that ends in the third tick is out of grace, after %d", n)
	}
	caught <- os.Interrupt
	if !outOfGrace(caught, nil, func(time.Duration) <-chan time.Time { return never }) {
		t.Error("a second signal does not end the grace")
	}
}

// binDir is where testscript put the flowrun of this test: the first entry of the script's PATH.
func binDir(ts *testscript.TestScript) string {
	first, _, _ := strings.Cut(ts.Getenv("PATH"), string(os.PathListSeparator))
	return first
}

// survivors fails while processes of this flowrun are left: a killed run must leave no orphans. It
// waits five seconds of the machine's time for the last to go.
func survivors(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: survivors FILE (the program that no process may have on its command line any more)")
	}
	clock := calm.Start()
	defer clock.Stop()
	for {
		left := processesOf(ts, args[0])
		if len(left) == 0 {
			return
		}
		if clock.Elapsed() > 5*time.Second {
			ts.Fatalf("processes %v are left", left)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// processorTime is how much of the processors a process has had, with all its threads; 0 if there
// is none.
func processorTime(pid int) time.Duration {
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return 0
	}
	// After the name in parentheses come the state, ten other fields, and the hundredths of a
	// second in the program and in the system.
	f := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(f) < 13 {
		return 0
	}
	user, _ := strconv.Atoi(f[11])
	system, _ := strconv.Atoi(f[12])
	return time.Duration(user+system) * 10 * time.Millisecond
}

// hasEnded reports that a process is gone, or has nobody yet who asked how it ended.
func hasEnded(pid int) bool {
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	return err != nil || bytes.HasPrefix(bytes.TrimSpace(b[bytes.LastIndexByte(b, ')')+1:]), []byte("Z"))
}

// rankProcess is the process of an Open MPI rank that runs the file, 0 if there is none yet.
func rankProcess(ts *testscript.TestScript, rank, file string) int {
	for _, pid := range processesOf(ts, file) {
		env, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "environ"))
		if err == nil && bytes.Contains(env, []byte("\x00OMPI_COMM_WORLD_RANK="+rank+"\x00")) {
			return pid
		}
	}
	return 0
}

// processesOf lists the processes of a script that have word on their command line. Those of
// another, which may be the same script in another test on this machine, run in another directory.
func processesOf(ts *testscript.TestScript, word string) []int {
	var out []int
	dir, err := filepath.EvalSymlinks(ts.MkAbs("."))
	ts.Check(err)
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline") // the pattern is well formed
	for _, path := range lines {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended meanwhile
		}
		if !slices.Contains(strings.Split(string(text), "\x00"), word) {
			continue
		}
		if cwd, err := os.Readlink(filepath.Join(filepath.Dir(path), "cwd")); err == nil && cwd == dir {
			if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil {
				out = append(out, pid)
			}
		}
	}
	return out
}

// A command that ends before it has written what the user wants says so; one that has written it
// does not.
func TestInterruptionNamesWhatIsLost(t *testing.T) {
	for _, c := range []struct {
		ending, done bool
		want         string
	}{
		{true, false, "flowrun: stopped by terminated\n  = note: there was no time to write the trace a.json\n"},
		{false, false, "flowrun: stopped by terminated\n"},
		{true, true, "flowrun: stopped by terminated\n"},
	} {
		var i interruption
		i.number.Store(int32(syscall.SIGTERM))
		i.ending.Store(c.ending)
		if i.writes("the trace a.json"); c.done {
			i.writes("")
		}
		var said strings.Builder
		if code := i.report(&said); code != 143 || said.String() != c.want {
			t.Errorf("%+v: exit code %d, %q", c, code, said.String())
		}
	}
}
