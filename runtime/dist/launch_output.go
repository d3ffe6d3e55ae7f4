package dist

// This file copies the ranks' standard output from the launcher to this process's own. The launcher
// could use it directly, but Open MPI's mpirun crashes when the reader of a pipe has gone, and says
// nothing when a disk is full.

import (
	"errors"
	"io"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"flow/ir/op"
)

// outlet copies what the launcher prints. It reads to the end even after a failed write, and then
// drops the data, because the launcher would suffer otherwise.
type outlet struct {
	launcher *os.File // the launcher's end, to be closed when it has started
	from     *os.File
	to       io.Writer
	own      *os.File    // to, if it is ours to close
	ended    atomic.Bool // the launcher has ended: a read need not wait longer than patience
	patience time.Duration
	broken   chan error // gets the error of the first failed write
	done     chan struct{}
	activity
}

// newOutlet makes one to w; nil means this process's standard output.
func newOutlet(w io.Writer) (*outlet, error) {
	o := &outlet{to: w, patience: outputAfter, broken: make(chan error, 1), done: make(chan struct{})}
	if w == nil {
		// Under another number than 1, or a closed reader would be a fatal signal, not an
		// error.
		fd, err := syscall.Dup(int(os.Stdout.Fd()))
		if err != nil {
			return nil, err
		}
		syscall.CloseOnExec(fd)
		o.own = os.NewFile(uintptr(fd), os.Stdout.Name())
		o.to = o.own
	}
	var err error
	if o.from, o.launcher, err = os.Pipe(); err != nil {
		if o.own != nil {
			o.own.Close()
		}
		return nil, err
	}
	return o, nil
}

// run copies until the launcher and all that it started have closed their ends.
func (o *outlet) run() {
	defer close(o.done)
	buf := make([]byte, 64<<10)
	for failed := false; ; {
		if o.ended.Load() {
			// pipes have deadlines
			_ = o.from.SetReadDeadline(time.Now().Add(o.patience))
		}
		n, err := o.from.Read(buf)
		// the system may not have let this process run meanwhile
		if errors.Is(err, os.ErrDeadlineExceeded) {
			n, err = o.take(buf)
		}
		if n > 0 && !failed {
			o.begin()
			if _, werr := o.to.Write(buf[:n]); werr != nil {
				failed = true
				o.broken <- werr
			}
			o.end()
		}
		if err != nil {
			return
		}
	}
}

// take reads what is in the pipe without waiting. The error is io.EOF also if there is nothing.
func (o *outlet) take(buf []byte) (n int, err error) {
	_ = o.from.SetReadDeadline(time.Time{})
	raw, err := o.from.SyscallConn()
	if err != nil {
		return 0, err
	}
	if rerr := raw.Read(func(fd uintptr) bool {
		// it never blocks: the poller's descriptors do not
		n, err = syscall.Read(int(fd), buf)
		return true
	}); rerr != nil {
		return 0, rerr
	}
	if n <= 0 {
		return 0, io.EOF
	}
	return n, nil
}

// finish waits for the rest of the output after the launcher's end. It waits for a slow reader,
// unless the user has asked to stop.
func (o *outlet) finish(stopped bool) {
	o.ended.Store(true)
	_ = o.from.SetReadDeadline(time.Now().Add(o.patience))
	var enough <-chan time.Time
	if stopped {
		enough = time.After(outputAfter)
	}
	select {
	case <-o.done:
		o.close()
	case <-enough: // the descriptors stay open: a write is under way
	}
}

func (o *outlet) close() {
	o.from.Close()
	if o.own != nil {
		o.own.Close()
	}
}

// outputFailure returns the end of a job whose output could not be written: silent if nobody reads
// it any more, as with other programs.
func outputFailure(err error) (exit int, failure error) {
	if errors.Is(err, syscall.EPIPE) {
		return 128 + int(syscall.SIGPIPE), nil
	}
	return 1, &op.Failure{Code: "E507", Msg: "standard output cannot be written: " + err.Error()}
}

// activity says whether output is being passed on. It is safe for concurrent use.
type activity struct {
	writing atomic.Int32
	last    atomic.Int64 // when the last write ended: nanoseconds since 1970
}

func (a *activity) begin() { a.writing.Add(1) }

func (a *activity) end() {
	a.last.Store(time.Now().UnixNano())
	a.writing.Add(-1)
}

// idle reports whether nothing was passed on for d.
func (a *activity) idle(d time.Duration) bool {
	return a.writing.Load() == 0 && time.Now().UnixNano()-a.last.Load() > int64(d)
}
