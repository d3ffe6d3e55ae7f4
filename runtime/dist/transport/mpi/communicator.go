//go:build mpi

package mpi

// #include "binding.h"
import "C"

import (
	"runtime"
	"time"
	"unsafe"

	"flow/memory"
)

// Communicator is an MPI communicator. Its methods may be called from any goroutine.
type Communicator struct {
	env *Environment
	h   C.MPI_Comm
}

// World is the communicator of all ranks.
func (e *Environment) World() *Communicator { return &Communicator{e, C.flow_world()} }

// Dup makes a communicator of the same ranks whose messages never meet c's.
// Collective: it waits for the other ranks.
func (c *Communicator) Dup() (*Communicator, error) {
	c.env.mu.Lock()
	defer c.env.mu.Unlock()
	var h C.MPI_Comm
	if err := check("MPI_Comm_dup", C.MPI_Comm_dup(c.h, &h)); err != nil {
		return nil, err
	}
	return &Communicator{c.env, h}, check("MPI_Comm_set_errhandler", C.flow_return_errors(h))
}

// Free releases a communicator that Dup has made. Collective.
func (c *Communicator) Free() error {
	c.env.mu.Lock()
	defer c.env.mu.Unlock()
	return check("MPI_Comm_free", C.MPI_Comm_free(&c.h))
}

// Rank is this process's number in the communicator.
func (c *Communicator) Rank() (int, error) {
	c.env.mu.Lock()
	defer c.env.mu.Unlock()
	var n C.int
	err := check("MPI_Comm_rank", C.MPI_Comm_rank(c.h, &n))
	return int(n), err
}

// Size is the number of its processes.
func (c *Communicator) Size() (int, error) {
	c.env.mu.Lock()
	defer c.env.mu.Unlock()
	var n C.int
	err := check("MPI_Comm_size", C.MPI_Comm_size(c.h, &n))
	return int(n), err
}

// MaxTag is the largest tag of a message (MPI_TAG_UB).
func (c *Communicator) MaxTag() (int, error) {
	c.env.mu.Lock()
	defer c.env.mu.Unlock()
	var n C.int
	err := check("MPI_Comm_get_attr", C.flow_tag_upper_bound(c.h, &n))
	return int(n), err
}

// Abort ends all processes of the job with the exit code.
func (c *Communicator) Abort(code int) {
	// Another goroutine may be stuck inside MPI, which must not keep a job alive
	// that has failed.
	for range 100 {
		if c.env.mu.TryLock() {
			break
		}
		time.Sleep(time.Millisecond)
	}
	C.MPI_Abort(c.h, C.int(code))
}

// Request is a non-blocking operation in progress; it keeps its buffers alive and
// pinned. Make it with a method of Communicator, finish it with Test.
type Request struct {
	env *Environment
	op  string
	h   C.MPI_Request
	pin runtime.Pinner
}

// Status describes a finished operation.
type Status struct {
	Source, Tag int
	Bytes       int // received
	Cancelled   bool
}

// address pins a buffer and gives its address for MPI; that of an empty one is 0.
func address(pin *runtime.Pinner, buf []byte) C.uintptr_t {
	if len(buf) == 0 {
		return 0
	}
	p := unsafe.Pointer(unsafe.SliceData(buf))
	pin.Pin(p)
	return C.uintptr_t(uintptr(p))
}

// start wraps a started operation.
func (c *Communicator) start(op string, r *Request, s C.flow_started) (*Request, error) {
	if err := check(op, s.rc); err != nil {
		r.pin.Unpin()
		return nil, err
	}
	r.env, r.op, r.h = c.env, op, s.request
	return r, nil
}

// Isend starts to send buf.
func (c *Communicator) Isend(buf []byte, dst, tag int) (*Request, error) {
	r := new(Request)
	at := address(&r.pin, buf)
	c.env.mu.Lock()
	defer c.env.mu.Unlock()
	return c.start("MPI_Isend", r, C.flow_isend(at, C.int(len(buf)), C.int(dst), C.int(tag), c.h, 0))
}

// Irecv starts to receive at most len(buf) bytes.
func (c *Communicator) Irecv(buf []byte, src, tag int) (*Request, error) {
	r := new(Request)
	at := address(&r.pin, buf)
	c.env.mu.Lock()
	defer c.env.mu.Unlock()
	return c.start("MPI_Irecv", r, C.flow_irecv(at, C.int(len(buf)), C.int(src), C.int(tag), c.h, 0))
}

// Test drives progress and tells whether the operation has finished. Once it has,
// the request is spent.
func (r *Request) Test() (Status, bool, error) {
	r.env.mu.Lock()
	defer r.env.mu.Unlock()
	r.env.requests()[0] = r.h
	found, err := r.env.testsome(1, 1)
	if err != nil || len(found) == 0 {
		return Status{}, false, err
	}
	f := found[0]
	r.h = r.env.null
	r.pin.Unpin()
	return Status{int(f.source), int(f.tag), int(f.bytes), f.cancelled != 0}, true, check(r.op, f.rc)
}

// Cancel asks for a receive that has not met its message to finish as cancelled.
func (r *Request) Cancel() error {
	r.env.mu.Lock()
	defer r.env.mu.Unlock()
	return check("MPI_Cancel", C.flow_cancel(r.h))
}

// Improbe takes a waiting message of any source and tag out of the matching, and
// receives it; ok is false if there is none. A message above the eager limit waits
// for its sender's progress.
func (c *Communicator) Improbe() (payload []byte, s Status, ok bool, err error) {
	c.env.mu.Lock()
	defer c.env.mu.Unlock()
	return c.improbe()
}

// improbe is Improbe with the lock held.
func (c *Communicator) improbe() (payload []byte, s Status, ok bool, err error) {
	p := C.flow_improbe(c.h)
	if p.rc != C.MPI_SUCCESS || p.flag == 0 {
		return nil, s, false, check("MPI_Improbe", p.rc)
	}
	payload = memory.Fresh[byte](int(p.bytes))
	var pin runtime.Pinner
	defer pin.Unpin()
	err = check("MPI_Mrecv", C.flow_mrecv(address(&pin, payload), C.int(len(payload)), p.message))
	return payload, Status{Source: int(p.source), Tag: int(p.tag), Bytes: len(payload)}, err == nil, err
}
