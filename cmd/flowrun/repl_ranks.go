package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"flow"
	"flow/runtime/dist"
	"flow/runtime/dist/transport/mpi"
)

// This file defines the REPL over MPI. A launcher starts the ranks once. Rank 0 reads the entries,
// from a terminal that it takes over or from a pipe, and the other ranks run them too
// (flow.Follow).

// terminalVariable tells rank 0 which of its standard files, by number, are the terminal of the
// command that started the ranks: launchers give ranks pipes.
const terminalVariable = "FLOWRUN_TERMINAL"

// replRanks is what a REPL on rank 0 needs beside a session.
type replRanks struct {
	comm job
	// working has an element while an entry runs.
	working chan struct{}
}

// job is the part of a transport.Comm that the command needs.
type job interface {
	Abort(code int)
	Close() error
}

// overMPI runs the REPL on the ranks of a launcher, or starts them.
func (r *repl) overMPI(c *cli.Context) error {
	switch {
	case !mpi.Available():
		return withoutMPI()
	case mpi.Launched():
		return r.join(c)
	}
	return r.launch(c)
}

// launch starts the ranks on this machine and gives rank 0 the terminal until they end.
func (r *repl) launch(c *cli.Context) error {
	told := &lookout{to: r.s.err, text: stoppedBy}
	lo := dist.LaunchOptions{Ranks: r.options.Ranks, Leaves: true, Session: true, Stderr: told, Listening: r.s.signal.leave}
	terminals := ""
	for i, f := range []*os.File{os.Stdin, os.Stdout, os.Stderr} {
		if isTerminal(f) {
			terminals += fmt.Sprint(i)
		}
	}
	if isTerminal(os.Stdin) {
		state, err := term.GetState(int(os.Stdin.Fd()))
		if err != nil {
			return err
		}
		lo.Env = append(lo.Env, terminalVariable+"="+terminals)
		told.passed = isTerminal(os.Stderr)
		defer func() {
			takeTerminal(os.Stdin)
			_ = term.Restore(int(os.Stdin.Fd()), state)
		}()
	}
	return r.s.launched(c.Context, lo, told)
}

// join runs this process as a rank that a launcher has started.
func (r *repl) join(c *cli.Context) error {
	s := r.s
	comm, err := mpi.Init()
	if err != nil {
		return err
	}
	speakAs(fmt.Sprintf("rank %d", comm.Rank()))
	if r.threads == 0 {
		r.threads = shareOf(flow.Scheduling{}.Parallelism())
	}
	runtime.GOMAXPROCS(max(runtime.GOMAXPROCS(0), r.threads+1)) // as in session.join
	stderr := s.err
	meet := flow.MeetOptions{Notice: func(text string) { fmt.Fprintf(stderr, "flowrun: %s\n", text) }}
	r.options.Input.NoStreams = noStreams
	if comm.Rank() > 0 {
		return r.follow(comm, comm.Rank(), func() error {
			return flow.Follow(context.WithoutCancel(c.Context), comm, r.options, flow.RunOptions{Threads: r.threads, Notice: meet.Notice}, meet)
		})
	}
	if which := os.Getenv(terminalVariable); which != "" {
		if err := adoptTerminal(which); err != nil {
			return s.tellAndClose(fmt.Errorf("rank 0 cannot open the terminal: %w", err), abortion{comm})
		}
		s.color = wantsColor(os.Stderr)
	}
	if r.session, err = flow.NewSessionOn(c.Context, comm, r.options, meet); err != nil {
		return s.tellAndClose(err, abortion{comm})
	}
	r.ranks = &replRanks{comm: comm, working: make(chan struct{}, 1)}
	err = r.loop(c.Context)
	ctx, stop := context.WithTimeout(context.Background(), grace)
	defer stop()
	if r.session.Close(ctx) != nil { // an interrupted entry still runs
		return s.tellAndClose(orDone(err), abortion{comm})
	}
	return s.tellAndClose(err, comm)
}

// orDone returns err, or the successful end of a command.
func orDone(err error) error {
	if err == nil {
		return exit(exitOK)
	}
	return err
}

// abortion ends a job whose other ranks cannot be told to end.
type abortion struct{ comm job }

// Close does not return.
func (a abortion) Close() error {
	a.comm.Abort(dist.Leave(exitFailed))
	return nil
}

// follow runs the ranks other than 0. It decides what signals do.
func (r *repl) follow(comm job, rank int, run func() error) error {
	s, stderr := r.s, r.s.err
	s.out, s.err = io.Discard, io.Discard
	s.signal.silence()
	s.signal.leave()
	signal.Ignore(append(ends(), os.Interrupt)...)
	err := run()
	if err == nil {
		return comm.Close()
	}
	var failure *dist.Failure
	if errors.As(err, &failure) && failure.Speaker == rank {
		s.err = stderr
	} else if failure != nil {
		time.Sleep(sayFirst)
	}
	comm.Abort(dist.Leave(s.tell(err)))
	return err
}

// sayFirst is how much later the other ranks abort a job than the rank that reports why.
const sayFirst = 300 * time.Millisecond

// one executes an entry. A failure after which the ranks cannot go on together ends the job.
func (k *replRanks) one(ctx context.Context, r *repl, entry string) error {
	k.working <- struct{}{}
	err := r.one(ctx, entry)
	<-k.working
	var failure *dist.Failure
	if errors.As(err, &failure) && !failure.Clean {
		k.abort(r, err)
	}
	return err
}

// abort reports why the job ends, and ends it.
func (k *replRanks) abort(r *repl, why error) {
	r.in.close()
	code := r.s.tell(why)
	r.s.signal.told(code) // the launcher sends SIGTERM next
	k.comm.Abort(dist.Leave(code))
}

// watch ends the job if a rank ends while an entry is awaited, until stop is called.
func (k *replRanks) watch(ctx context.Context, r *repl) (stop func()) {
	watched, stop := r.session.Watch(ctx)
	go func() {
		<-watched.Done()
		if err := r.session.Lost(watched); err != nil {
			if r.in.interactive() {
				fmt.Fprintln(r.s.out)
			}
			k.abort(r, err)
		}
	}()
	return stop
}

// endInOrder returns a context for entries, which SIGTERM and SIGHUP cancel; the session then ends
// on all ranks. An interrupt while an entry is awaited ends it too; during an entry it only ends
// that entry.
func (k *replRanks) endInOrder(ctx context.Context, r *repl) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	caught := make(chan os.Signal, 4)
	signal.Notify(caught, append(ends(), os.Interrupt)...)
	go func() {
		for sig := range caught {
			idle := false
			select {
			case k.working <- struct{}{}:
				idle = true
			default:
			}
			if !idle && sig == os.Interrupt {
				continue
			}
			r.s.signal.number.Store(int32(sig.(syscall.Signal)))
			r.s.signal.ending.Store(true)
			cancel()
			k.end(r, idle)
		}
	}()
	return ctx
}

// end ends the session on all ranks, and this process. idle: no entry is running, nor will one.
func (k *replRanks) end(r *repl, idle bool) {
	late := time.After(grace)
	if !idle {
		select {
		case k.working <- struct{}{}:
			idle = true
		case <-late:
		}
	}
	r.in.close()
	code := r.s.signal.report(os.Stderr)
	ctx, stop := context.WithTimeout(context.Background(), grace)
	defer stop()
	if !idle || r.session.Close(ctx) != nil || k.comm.Close() != nil {
		k.comm.Abort(dist.Leave(code))
	}
	os.Exit(dist.Leave(code))
}
