package dist

// This file starts the ranks of a job on this machine: it runs mpirun on this very program, hands signals to the ranks,
// and leaves nothing behind.

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
	// Ranks is how many; 0 means DefaultRanks.
	Ranks int
	// Program and Args are what every rank runs; "" and nil mean this program with its arguments.
	Program string
	Args    []string
	// Env is added to the environment.
	Env []string
	// Stdin goes to rank 0, Stdout and Stderr come from all. nil means this process's own; a terminal as standard
	// input is not handed on, because the ranks are not in its foreground.
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Leaves says that every rank ends by os.Exit(Leave(code)), whatever the reason. A job that fails then ends at once
	// instead of 2 s later; see Note [Exit codes].
	Leaves bool
	// Mpirun is the launcher; "" looks for mpirun and mpiexec in PATH.
	Mpirun string
}

const (
	// killAfter is how long the ranks may take to end after a signal before they are killed: they have 2 s by contract.
	killAfter = 3 * time.Second
	// outputAfter is how long output may still come after the launcher's end.
	outputAfter = time.Second
)

// DefaultRanks is one rank for each memory domain of the machine, but at least two.
func DefaultRanks() int {
	nodes, _ := filepath.Glob("/sys/devices/system/node/node[0-9]*") // the pattern is well-formed
	return max(len(nodes), 2)
}

// Launch runs the job to its end and returns the exit code: that of a rank that failed, or 128 and the number of the signal
// that ended it. It forwards SIGINT, SIGTERM and SIGHUP to the ranks; ctx's end counts as SIGTERM. An *op.Failure with code E704 says
// that there is no launcher, one with code E507 that standard output could not be written. Do not call it in a process that a launcher has started (mpi.Launched).
func Launch(ctx context.Context, o LaunchOptions) (exit int, err error) {
	if o.Ranks <= 0 {
		o.Ranks = DefaultRanks()
	}
	status := ""
	if o.Leaves {
		if status, err = os.MkdirTemp("", "flowrun-"); err != nil {
			return 1, err
		}
		defer os.RemoveAll(status)
		o.Env = append([]string{"OMPI_MCA_orte_abort_on_non_zero_status=0"}, append(o.Env, statusVariable+"="+status)...)
	}
	cmd, filter, err := launchCommand(o)
	if err != nil {
		return 1, err
	}
	out, err := newOutlet(o.Stdout)
	if err != nil {
		return 1, err
	}
	cmd.Stdout = out.launcher
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // or nohup would be in vain
		signal.Notify(signals, syscall.SIGHUP)
	}
	defer signal.Stop(signals)

	adopt := becomeGuardian()
	// The kernel tells the launcher when the thread that started it ends, not the process: so this thread stays.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err = cmd.Start()
	out.launcher.Close()
	if err != nil {
		out.close()
		return 1, noLauncher(err.Error())
	}
	go out.run()
	var broken error
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	var kill <-chan time.Time
	first := syscall.Signal(0)
	stop := func(s syscall.Signal) {
		if first == 0 {
			first = s
			kill = time.After(killAfter)
		}
		// To the ranks and not to mpirun, which would kill them a second later, in the middle of their clean-up.
		for _, pid := range childrenOf(cmd.Process.Pid) {
			_ = syscall.Kill(pid, s) // it may have ended by itself
		}
	}
	done := ctx.Done()
	for {
		select {
		case s := <-signals:
			stop(s.(syscall.Signal))
		case <-done:
			done = nil
			stop(syscall.SIGTERM)
		case broken = <-out.broken:
			filter.silence() // the ranks would tell of a signal that nobody has sent
			stop(syscall.SIGTERM)
		case <-kill:
			for _, pid := range append(childrenOf(cmd.Process.Pid), cmd.Process.Pid) {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		case err := <-ended:
			filter.flush()
			adopt.killRest()
			out.finish(first != 0)
			left := 0
			if o.Leaves {
				left = collect(status, o.Ranks)
			}
			select {
			case broken = <-out.broken: // what came last
			default:
			}
			if broken != nil {
				return outputFailure(broken)
			}
			return exitCode(err, first, left)
		}
	}
}

// launchCommand finds the launcher and words the command.
func launchCommand(o LaunchOptions) (*exec.Cmd, *noiseFilter, error) {
	path := o.Mpirun
	var err error
	if path == "" {
		if path, err = exec.LookPath("mpirun"); err != nil {
			path, err = exec.LookPath("mpiexec")
		}
	} else {
		path, err = exec.LookPath(path)
	}
	if err != nil {
		return nil, nil, noLauncher("found neither mpirun nor mpiexec")
	}
	if o.Program == "" {
		if o.Program, err = os.Executable(); err != nil {
			return nil, nil, err
		}
		if o.Args == nil {
			o.Args = os.Args[1:]
		}
	}
	args := []string{"-n", strconv.Itoa(o.Ranks)}
	version, err := exec.Command(path, "--version").Output()
	if err != nil {
		return nil, nil, noLauncher(fmt.Sprintf("%s --version: %v", path, err))
	}
	if strings.Contains(string(version), "Open MPI") || strings.Contains(string(version), "Open RTE") {
		args = append(args, "--bind-to", "none")
		if os.Geteuid() == 0 {
			args = append(args, "--allow-run-as-root")
		}
		if o.Ranks > runtime.NumCPU() {
			args = append(args, "--oversubscribe")
		}
	}
	cmd := exec.Command(path, append(append(args, o.Program), o.Args...)...)
	cmd.Env = append(os.Environ(), o.Env...)
	if cmd.Stdin = o.Stdin; o.Stdin == nil && !isTerminal(os.Stdin) {
		cmd.Stdin = os.Stdin
	}
	if o.Stderr == nil {
		o.Stderr = os.Stderr
	}
	filter := &noiseFilter{to: o.Stderr}
	cmd.Stderr = filter
	cmd.WaitDelay = outputAfter
	cmd.SysProcAttr = apart()
	return cmd, filter, nil
}

func noLauncher(why string) error {
	return &op.Failure{Code: "E704", Msg: "cannot start ranks: " + why,
		Help: "install an MPI (Debian, Ubuntu: apt install openmpi-bin), or use --backend=mem"}
}

// isTerminal reports a character device; /dev/null is one as well, and it does not matter.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// exitCode is what the whole job ends with. first is the signal that was forwarded, or 0; left is what the ranks left.
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
