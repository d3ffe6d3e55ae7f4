//go:build mpi

package mpi

// #include "binding.h"
import "C"

import "unsafe"

// Datatype is the type of a collective's elements.
type Datatype int

// The values are those that binding.h knows.
const (
	Int64 Datatype = iota
	Double
)

// Op is the operation of a reduction or of FetchAndOp.
type Op int

// The values are those that binding.h knows. Replace and NoOp are for windows.
const (
	Sum Op = iota
	Min
	Max
	Replace
	NoOp
)

// Iallreduce combines the elements of in over all ranks into out, which must be as
// long. Type is Int64 or Double and both have 8 bytes an element. MPI may combine in
// any order: use it on floating point numbers only where that cannot show.
func (c *Communicator) Iallreduce(in, out []byte, t Datatype, op Op) (*Request, error) {
	r := new(Request)
	from, to := address(&r.pin, in), address(&r.pin, out)
	n := min(len(in), len(out)) / int(unsafe.Sizeof(int64(0)))
	c.env.mu.Lock()
	defer c.env.mu.Unlock()
	return c.start("MPI_Iallreduce", r, C.flow_iallreduce(from, to, C.int(n), C.int(t), C.int(op), c.h))
}

// Ibarrier starts a barrier; the request finishes when every rank has started it.
func (c *Communicator) Ibarrier() (*Request, error) {
	r := new(Request)
	c.env.mu.Lock()
	defer c.env.mu.Unlock()
	return c.start("MPI_Ibarrier", r, C.flow_ibarrier(c.h))
}
