//go:build mpi

package mpi

// #include "binding.h"
import "C"

import "unsafe"

// Window is memory that other ranks read and write with one-sided operations. It is
// open for them (MPI_Win_lock_all) from WinAllocate to Free. The methods may be
// called from any goroutine; each waits for its own completion at the target.
type Window struct {
	env    *Environment
	h      C.MPI_Win
	result *C.int64_t // in C memory: MPI writes it until the flush
}

// WinAllocate makes a window of n int64, all zero, on this rank; n may differ
// between ranks. Collective: it waits for the other ranks, and every rank's zeros
// are in place when it returns. Ranks of one node share the memory
// (MPI_Win_allocate_shared).
func (c *Communicator) WinAllocate(n int) (*Window, error) {
	c.env.mu.Lock()
	defer c.env.mu.Unlock()
	const size = C.MPI_Aint(unsafe.Sizeof(int64(0)))
	var base unsafe.Pointer
	w := &Window{env: c.env}
	if err := check("MPI_Win_allocate", C.flow_win_allocate(C.MPI_Aint(n)*size, C.int(size), c.h, &base, &w.h)); err != nil {
		return nil, err
	}
	if n > 0 {
		clear(unsafe.Slice((*int64)(base), n))
	}
	if err := check("MPI_Win_lock_all", C.MPI_Win_lock_all(0, w.h)); err != nil {
		return nil, err
	}
	if err := check("MPI_Win_sync", C.MPI_Win_sync(w.h)); err != nil {
		return nil, err
	}
	w.result = (*C.int64_t)(C.malloc(C.size_t(size)))
	return w, check("MPI_Barrier", C.MPI_Barrier(c.h))
}

// FetchAndOp combines element at of target's part with operand and returns the
// value before, atomically.
func (w *Window) FetchAndOp(operand int64, target, at int, op Op) (int64, error) {
	w.env.mu.Lock()
	defer w.env.mu.Unlock()
	rc := C.flow_fetch_and_op(C.int64_t(operand), w.result, C.int(target), C.MPI_Aint(at), C.int(op), w.h)
	return int64(*w.result), check("MPI_Fetch_and_op", rc)
}

// CompareAndSwap sets element at of target's part to desired if it is expected, and
// returns the value before, atomically. Across nodes it is as good as the MPI
// library's; see flow_win_allocate for one that is not.
func (w *Window) CompareAndSwap(expected, desired int64, target, at int) (int64, error) {
	w.env.mu.Lock()
	defer w.env.mu.Unlock()
	rc := C.flow_compare_and_swap(C.int64_t(desired), C.int64_t(expected), w.result, C.int(target), C.MPI_Aint(at), w.h)
	return int64(*w.result), check("MPI_Compare_and_swap", rc)
}

// Free releases the window. Collective: it waits for the other ranks.
func (w *Window) Free() error {
	w.env.mu.Lock()
	defer w.env.mu.Unlock()
	C.free(unsafe.Pointer(w.result))
	if err := check("MPI_Win_unlock_all", C.MPI_Win_unlock_all(w.h)); err != nil {
		return err
	}
	return check("MPI_Win_free", C.MPI_Win_free(&w.h))
}
