package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"flow/runtime/dist"
)

// This file defines what Ctrl-C, SIGTERM and SIGHUP (a terminal that has gone, a lost ssh) do: the
// run is cancelled, files in progress are removed, and the command ends within two seconds with 128
// + the signal.

// stoppedBy and the name of a signal is what the command says when one has ended it.
const stoppedBy = "flowrun: stopped by "

// grace is how long a cancelled run may take to end by itself; the contract is two seconds in all.
// A variable for tests of what it does when it has the time.
var grace = 1500 * time.Millisecond

// graceTicks is in how many parts the grace is counted. Each counts once, however late its end is
// seen: of a process that the machine holds up meanwhile nothing is taken away that it could have
// used. More of them would be more often late by the ten milliseconds that a busy processor is.
const graceTicks = 15

// interruption is the signal that ended this command, if one did.
type interruption struct {
	number  atomic.Int32
	discard atomic.Pointer[func()] // removes files in progress, should the run not come to it
	writing atomic.Pointer[string] // what of the user's is being written after the run; nil: nothing
	silent  atomic.Bool            // another process says it, or it has been said
	code    atomic.Int32           // what the command ends with, once it has told why; 0: it has not
	ending  atomic.Bool            // the watcher is ending the process
	left    chan struct{}          // closed by leave
}

// watchSignals returns a context that the first SIGINT, SIGTERM or SIGHUP cancels. A second signal,
// or a run that does not end within the grace, ends the process at once. Stop gives signals back to
// the system.
func (s *session) watchSignals() (ctx context.Context, stop func()) {
	s.signal = &interruption{left: make(chan struct{})}
	ctx, cancel := context.WithCancel(context.Background())
	caught := make(chan os.Signal, 2)
	done := make(chan struct{})
	signal.Notify(caught, append(ends(), os.Interrupt)...)
	go func() {
		select {
		case sig := <-caught:
			s.signal.number.Store(int32(sig.(syscall.Signal)))
			dist.Leaving(128 + int(sig.(syscall.Signal)))
			cancel()
		case <-s.signal.left:
			signal.Stop(caught)
			return
		case <-done:
			return
		}
		if !outOfGrace(caught, done, time.After) {
			return
		}
		s.signal.ending.Store(true)
		if f := s.signal.discard.Load(); f != nil {
			(*f)()
		}
		os.Exit(dist.Leave(s.signal.report(os.Stderr)))
	}()
	return ctx, func() {
		signal.Stop(caught)
		close(done)
		cancel()
	}
}

// ends are the signals that end a command, beside that of Ctrl-C.
func ends() []os.Signal {
	if signal.Ignored(syscall.SIGHUP) { // by nohup, which would be in vain
		return []os.Signal{syscall.SIGTERM}
	}
	return []os.Signal{syscall.SIGTERM, syscall.SIGHUP}
}

// endAtOnce makes these signals end the process without waiting for what it does: files in progress
// are removed, and clean is called. Ctrl-C is left to the caller. The signals must have been given
// up by leave.
func (i *interruption) endAtOnce(clean func()) {
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, ends()...)
	go func() {
		i.number.Store(int32((<-caught).(syscall.Signal)))
		i.ending.Store(true)
		if f := i.discard.Load(); f != nil {
			(*f)()
		}
		clean()
		os.Exit(i.report(os.Stderr))
	}()
}

// outOfGrace waits for the end of the grace or another signal; false if the run ends before. After
// is time.After.
func outOfGrace(caught <-chan os.Signal, done <-chan struct{}, after func(time.Duration) <-chan time.Time) bool {
	for range graceTicks {
		select {
		case <-caught:
			return true
		case <-after(grace / graceTicks):
		case <-done:
			return false
		}
	}
	return true
}

// caught reports whether a signal came; a nil interruption never was.
func (i *interruption) caught() bool { return i != nil && i.number.Load() != 0 }

// wait does not return when the watcher is ending the process: what fails from then on fails
// because its files were closed, and has nothing to tell.
func (i *interruption) wait() {
	if i != nil && i.ending.Load() {
		select {}
	}
}

// onExit gives the function that removes files in progress; it must be safe to call at any time and
// more than once.
func (i *interruption) onExit(discard func()) {
	if i != nil {
		i.discard.Store(&discard)
	}
}

// writes notes what is written from now on, which an end of the process leaves unwritten; "" is
// nothing.
func (i *interruption) writes(what string) {
	switch {
	case i == nil:
	case what == "":
		i.writing.Store(nil)
	default:
		i.writing.Store(&what)
	}
}

// silence makes report say nothing, for ranks beside rank 0.
func (i *interruption) silence() { i.silent.Store(true) }

// leave gives signals up: the next signal.Notify decides what they mean. At most once.
func (i *interruption) leave() { close(i.left) }

// told notes that the command has said why it ends, and with which code: a signal that comes now
// changes neither.
func (i *interruption) told(code int) {
	i.code.Store(int32(code))
	i.silence()
}

// report says which signal ended the run, once, and returns the exit code.
func (i *interruption) report(w io.Writer) int {
	sig := syscall.Signal(i.number.Load())
	if !i.silent.Swap(true) {
		fmt.Fprintf(w, "%s%v\n", stoppedBy, sig)
		if lost := i.writing.Load(); lost != nil && i.ending.Load() {
			fmt.Fprintf(w, "  = note: there was no time to write %s\n", *lost)
		}
	}
	if code := int(i.code.Load()); code != 0 {
		return code
	}
	return 128 + int(sig)
}
