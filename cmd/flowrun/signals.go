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

// This file handles Ctrl-C, SIGTERM and SIGHUP (a closed terminal, a lost ssh): the run is
// cancelled, unfinished files are removed, and the command ends within two seconds with 128 + the
// signal.

// stoppedBy and the name of a signal is the message of a command that a signal ended.
const stoppedBy = "flowrun: stopped by "

// grace is how long a cancelled run may take to end by itself; the contract is two seconds in all.
// Tests change it.
var grace = 1500 * time.Millisecond

// graceTicks is the number of parts in which the grace is counted. Each counts once, however late
// its end is seen, so a process that the machine stalls loses no usable time. More ticks would more
// often be late by the ten milliseconds of a busy processor.
const graceTicks = 15

// interruption is the signal that ended this command, if any.
type interruption struct {
	number  atomic.Int32
	discard atomic.Pointer[func()] // removes unfinished files if the run does not
	writing atomic.Pointer[string] // the user's file being written after the run, or nil
	silent  atomic.Bool            // another process reports it, or it has been reported
	code    atomic.Int32           // the exit code, once the reason has been reported; else 0
	ending  atomic.Bool            // the watcher is ending the process
	left    chan struct{}          // closed by leave
}

// watchSignals returns a context that the first SIGINT, SIGTERM or SIGHUP cancels. A second signal,
// or a run that does not end within the grace, ends the process at once. stop restores the system's
// handling.
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

// ends returns the signals that end a command, beside Ctrl-C's.
func ends() []os.Signal {
	if signal.Ignored(syscall.SIGHUP) { // by nohup, which would be in vain
		return []os.Signal{syscall.SIGTERM}
	}
	return []os.Signal{syscall.SIGTERM, syscall.SIGHUP}
}

// endAtOnce lets these signals end the process at once: unfinished files are removed, and clean is
// called. Ctrl-C is the caller's. leave must have been called.
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

// outOfGrace waits for the end of the grace or another signal. It returns false if the run ends
// before. after is time.After.
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

// caught reports whether a signal came. A nil interruption has none.
func (i *interruption) caught() bool { return i != nil && i.number.Load() != 0 }

// wait does not return while the watcher is ending the process: later errors come from closed files
// and mean nothing.
func (i *interruption) wait() {
	if i != nil && i.ending.Load() {
		select {}
	}
}

// onExit sets the function that removes unfinished files. It must be safe to call at any time and
// more than once.
func (i *interruption) onExit(discard func()) {
	if i != nil {
		i.discard.Store(&discard)
	}
}

// writes records what is being written, which the end of the process would leave unfinished; "" is
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

// silence keeps report from printing, for ranks other than 0.
func (i *interruption) silence() { i.silent.Store(true) }

// leave stops handling signals: the next signal.Notify decides what they do. Call it at most once.
func (i *interruption) leave() { close(i.left) }

// told records that the command has reported why it ends, and its exit code: later signals change
// neither.
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
