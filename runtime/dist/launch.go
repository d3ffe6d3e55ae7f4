package dist

// This file starts the ranks of a job on this machine: it runs mpirun on this program, forwards
// signals to the ranks, and leaves nothing behind.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"flow/ir/op"
)

// LaunchOptions says what to start. The zero value starts this program with its own arguments.
type LaunchOptions struct {
	// Ranks is the number of ranks; 0 means DefaultRanks.
	Ranks int
	// Program and Args are what every rank runs; "" and nil mean this program with its
	// arguments.
	Program string
	Args    []string
	// Env is added to the environment.
	Env []string
	// Stdin goes to rank 0, Stdout and Stderr come from all. nil means this process's own. A
	// terminal as standard input is not passed on, because the ranks are not in its foreground.
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Leaves: every rank ends by os.Exit(Leave(code)). A failing job then ends at once instead
	// of 2 s later, and one that hangs because a rank was killed is ended; see Note [Exit
	// codes]. It has no effect if the launcher may start ranks on other machines.
	Leaves bool
	// Listening, if not nil, is called when Launch begins to receive the signals that it
	// forwards. Until then they are the caller's.
	Listening func()
	// Session: SIGINT does not end the job; the ranks handle it.
	Session bool
	// Mpirun is the launcher; "" looks for mpirun and mpiexec in PATH.
	Mpirun string
}

const (
	// killAfter is how long the ranks may take to end after a signal before they are killed.
	// The contract gives them 2 s.
	killAfter = 3 * time.Second
	// lateRank is the period of looking for ranks that had not been started when a signal came.
	lateRank = 100 * time.Millisecond
	// outputAfter is how long output may still arrive after the launcher's end.
	outputAfter = time.Second
)

// DefaultRanks returns the number of memory domains of the machine, at least two.
func DefaultRanks() int {
	// the pattern is well-formed
	nodes, _ := filepath.Glob("/sys/devices/system/node/node[0-9]*")
	return max(len(nodes), 2)
}

// Launch runs the job to its end and returns the exit code: that of a failed rank, or 128 and the
// number of the signal that ended it. It forwards SIGINT, SIGTERM and SIGHUP to the ranks; ctx's
// end counts as SIGTERM. An *op.Failure with code E704 means that there is no launcher, E507 that
// standard output could not be written, E702 that a rank has died without a report. Do not call it
// in a process that a launcher has started (mpi.Launched).
func Launch(ctx context.Context, o LaunchOptions) (exit int, err error) {
	ofKernel.begin()
	if o.Ranks <= 0 {
		o.Ranks = DefaultRanks()
	}
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // or nohup would be in vain
		signal.Notify(signals, syscall.SIGHUP)
	}
	defer signal.Stop(signals)
	if o.Listening != nil {
		o.Listening()
	}
	o.Leaves = o.Leaves && onThisMachine()
	j := &job{o: o, heard: map[int]bool{}}
	if o.Leaves {
		err := j.settleHere()
		defer j.leaveNothing()
		if err != nil {
			return 1, err
		}
	}
	j.cmd, j.filter, j.inward, err = launchCommand(j.o)
	select {
	case s := <-signals: // before there is a job; it may have ended what launchCommand asks
		return 128 + int(s.(syscall.Signal)), nil
	default:
	}
	if err != nil {
		return 1, err
	}
	if j.out, err = newOutlet(o.Stdout); err != nil {
		return 1, err
	}
	j.cmd.Stdout = j.out.launcher

	for _, f := range j.folders {
		// the launcher may outlive this process
		j.cmd.ExtraFiles = append(j.cmd.ExtraFiles, f.lock)
	}
	adopt := becomeGuardian()
	over := make(chan struct{})
	defer close(over)
	err = j.start(over)
	j.out.launcher.Close()
	if err != nil {
		j.out.close()
		return 1, noLauncher(err.Error())
	}
	go j.out.run()
	j.filter.of(j.cmd.Process.Pid)
	err = j.loop(ctx, signals)
	j.deserted = j.lostLauncher(err)
	j.filter.flush()
	adopt.killRest()
	j.out.finish(j.first != 0)
	return j.outcome(err)
}

// job is a running job.
type job struct {
	o       LaunchOptions
	folders []*folder // with Leaves: folders to remove after the job
	status  string    // where ranks leave their exit codes; "" if they do not
	cmd     *exec.Cmd
	filter  *noiseFilter
	out     *outlet
	inward  bool // the job cannot be reached from outside this machine

	watch    *watch           // with Leaves
	first    syscall.Signal   // that was forwarded; 0: none
	heard    map[int]bool     // the processes that it was forwarded to
	kill     <-chan time.Time // when the remaining ranks are killed
	killed   bool             // that time has come
	broken   error            // standard output's
	deserted error            // the launcher was killed by another process
}

// start starts the launcher, in a thread that stays until over is closed: the kernel ends the
// launcher with the thread that started it, not with the process. The thread is confined, which
// cannot be undone, so it ends with the job.
func (j *job) start(over <-chan struct{}) error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked
		if j.inward {
			if c, err := confine(); err == nil {
				go c.serve()
				defer c.end()
			}
		}
		started <- j.cmd.Start()
		<-over
	}()
	return <-started
}

// loop handles events until the launcher's end, which it returns.
func (j *job) loop(ctx context.Context, signals <-chan os.Signal) error {
	ended := make(chan error, 1)
	go func() { ended <- j.cmd.Wait() }()
	var looks <-chan time.Time
	var clock patientClock
	if j.o.Leaves {
		j.watch = newWatch(j.cmd.Process.Pid, j.o.Ranks, j.status)
		looks = time.After(j.watch.period())
	}
	done := ctx.Done()
	for {
		var late <-chan time.Time
		if j.first != 0 && len(j.heard) < j.o.Ranks {
			late = time.After(lateRank)
		}
		select {
		case <-late:
			j.signalRanks(j.first, j.heard)
		case s := <-signals:
			if s == syscall.SIGINT && j.o.Session {
				j.signalRanks(syscall.SIGINT, nil)
				continue
			}
			j.forward(s.(syscall.Signal))
		case <-done:
			done = nil
			j.forward(syscall.SIGTERM)
		case j.broken = <-j.out.broken:
			// the ranks would report a signal that the user has not sent
			j.filter.silence()
			j.forward(syscall.SIGTERM)
		case <-j.kill:
			j.killed = true
			j.signalRanks(syscall.SIGKILL, nil)
			_ = j.cmd.Process.Kill() // it may have ended by itself
		case now := <-looks:
			at := clock.at(now, j.watch.period())
			looks = time.After(j.watch.period())
			switch j.watch.look(at, j.first != 0, j.out.idle(launcherStays) && j.filter.idle(launcherStays)) {
			case stopTheOthers:
				j.filter.silence()
				j.signalRanks(syscall.SIGTERM, nil)
				j.killAfter(othersStay)
			case endLauncher:
				_ = j.cmd.Process.Signal(syscall.SIGTERM)
				j.killAfter(launcherStays)
			}
		case err := <-ended:
			return err
		}
	}
}

// forward forwards a signal to the ranks, and not to mpirun, which would kill them a second later,
// in the middle of their clean-up.
func (j *job) forward(s syscall.Signal) {
	if j.first == 0 {
		j.first = s
		j.killAfter(killAfter)
	}
	j.signalRanks(s, nil)
}

// signalRanks sends a signal to all existing ranks except those in except.
func (j *job) signalRanks(s syscall.Signal, except map[int]bool) {
	for _, pid := range childrenOf(j.cmd.Process.Pid) {
		if !except[pid] {
			_ = syscall.Kill(pid, s) // it may have ended by itself
			j.heard[pid] = true
		}
	}
}

// killAfter counts ticks, each once however late it comes, because the ranks have been held up as
// well.
func (j *job) killAfter(d time.Duration) {
	const ticks = 15
	over := make(chan time.Time, 1)
	go func() {
		for range ticks {
			time.Sleep(d / ticks)
		}
		over <- time.Now()
	}()
	j.kill = over
}

// outcome returns Launch's results after the launcher's end.
func (j *job) outcome(err error) (exit int, failure error) {
	select {
	case j.broken = <-j.out.broken: // what came last
	default:
	}
	if j.broken != nil {
		return outputFailure(j.broken)
	}
	if !j.o.Leaves {
		return exitCode(err, j.first, 0)
	}
	left := collect(j.status, j.o.Ranks)
	if j.deserted != nil && left != 0 && !j.filter.hasTold() {
		return 1, j.deserted
	}
	if j.first == 0 && left != 0 { // the launcher knows less, above all if it was ended
		lost := j.watch.atEnd()
		if left > 128 && !j.watch.told && !j.watch.ended && (lost == nil || lost.stopped || !j.filter.hasBlamed()) {
			// The launcher was told to stop, and told the ranks. One without time to
			// record its code is not to blame. One that died earlier is: another rank
			// has failed because of it, and the launcher has said so.
			return left, nil
		}
		// In a session rank 0 may write to a terminal, past the filter.
		if lost != nil && !j.filter.hasTold() && !(j.o.Session && j.watch.hasLeft(0)) {
			return 1, lost.failure()
		}
		return left, nil
	}
	// all ranks have succeeded, and this process ended the launcher
	if j.first == 0 && j.watch.ended {
		return 0, nil
	}
	return exitCode(err, j.first, left)
}

// lostLauncher returns the failure of a launcher that was killed from outside; its ranks, which
// lived, are not blamed. err is what it ended with; nil means any other end.
func (j *job) lostLauncher(err error) error {
	var e *exec.ExitError
	if !errors.As(err, &e) || j.killed || j.first != 0 || j.watch == nil || j.watch.ended || j.watch.told {
		return nil
	}
	// The ranks of a launcher that is being killed may end before it. It is different if mpirun
	// fails because of a lost rank, or the kernel kills for lack of memory.
	s, ok := e.Sys().(syscall.WaitStatus)
	lost := j.watch.lost
	if ok && s.Signaled() && (lost == nil || s.Signal() == syscall.SIGKILL && lost.killed == "") {
		return &op.Failure{Code: "E707", Msg: fmt.Sprintf("the launcher of the ranks (%s, process %d) was killed: %v", filepath.Base(j.cmd.Path), e.Pid(), s.Signal()),
			Help: "no rank has failed; they were stopped, because nobody could end them in order any more"}
	}
	return nil
}

// launchCommand finds the launcher and makes the command. inward: all of it stays on this machine,
// in ways that confine supports.
func launchCommand(o LaunchOptions) (cmd *exec.Cmd, filter *noiseFilter, inward bool, err error) {
	path := o.Mpirun
	if path == "" {
		if path, err = exec.LookPath("mpirun"); err != nil {
			path, err = exec.LookPath("mpiexec")
		}
	} else {
		path, err = exec.LookPath(path)
	}
	if err != nil {
		return nil, nil, false, noLauncher("found neither mpirun nor mpiexec")
	}
	if o.Program == "" {
		if o.Program, err = os.Executable(); err != nil {
			return nil, nil, false, err
		}
		if o.Args == nil {
			o.Args = os.Args[1:]
		}
	}
	args := []string{"-n", strconv.Itoa(o.Ranks)}
	version, err := exec.Command(path, "--version").Output()
	if err != nil {
		return nil, nil, false, noLauncher(fmt.Sprintf("%s --version: %v", path, err))
	}
	if strings.Contains(string(version), "Open MPI") || strings.Contains(string(version), "Open RTE") {
		inward = o.Leaves
		args = append(args, "--bind-to", "none")
		if os.Geteuid() == 0 {
			args = append(args, "--allow-run-as-root")
		}
		if o.Ranks > runtime.NumCPU() {
			args = append(args, "--oversubscribe")
		}
	}
	cmd = exec.Command(path, append(append(args, o.Program), o.Args...)...)
	cmd.Env = append(os.Environ(), o.Env...)
	if cmd.Stdin = o.Stdin; o.Stdin == nil && !isTerminal(os.Stdin) {
		cmd.Stdin = os.Stdin
	}
	if o.Stderr == nil {
		o.Stderr = os.Stderr
	}
	filter = &noiseFilter{to: o.Stderr}
	cmd.Stderr = filter
	cmd.WaitDelay = outputAfter
	cmd.SysProcAttr = apart()
	return cmd, filter, inward, nil
}

func noLauncher(why string) error {
	return &op.Failure{Code: "E704", Msg: "cannot start ranks: " + why,
		Help: "install an MPI (Debian, Ubuntu: apt install openmpi-bin), or use --backend=mem"}
}

// isTerminal reports a character device. /dev/null is one as well, which is harmless.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// exitCode returns the exit code of the whole job. first is the forwarded signal, or 0; left is
// what the ranks left.
func exitCode(err error, first syscall.Signal, left int) (int, error) {
	var e *exec.ExitError
	switch {
	case err != nil && !errors.Is(err, exec.ErrWaitDelay) && !errors.As(err, &e):
		return 1, err
	case first != 0 && (left != 0 || e != nil):
		return 128 + int(first), nil
	case e == nil:
		return left, nil
	}
	if s, ok := e.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		return 128 + int(s.Signal()), nil
	}
	return e.ExitCode(), nil
}
