package inout

// This file reads files before the program that needs them can be compiled: a rank has nothing to do while MPI
// starts. Which files one rank reads alone does not depend on the others, so it begins with these
// (Input.Early), and the program that is compiled then takes what has been read (Input.From).

import (
	"sync/atomic"

	"flow/ir/value"
	"flow/kernels/format"
)

// earlyFile is a file that is being read or has been.
type earlyFile struct {
	done  chan struct{} // closed at the end
	read  atomic.Int64  // bytes
	graph *value.CSR    // nil: there is a mistake in the file
}

// begin starts reading a graph that Brief refuses, unless ranks read it together.
func (in *Input) begin(path string, k fileKey, o format.Options) {
	if !in.Early || format.Plain(path) {
		return
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.early[k] != nil {
		return
	}
	if in.early == nil {
		in.early = map[fileKey]*earlyFile{}
	}
	x := &earlyFile{done: make(chan struct{})}
	in.early[k] = x
	o.Read = &x.read
	go func() {
		defer close(x.done)
		x.graph, _ = format.ReadGraph(path, o) // who takes none reads the file again, and tells the mistake
	}()
}

// begun returns a graph that From has read or is reading, the first time it is asked for. It waits for the end. It
// returns nil if there is none: a file that has changed since has another key.
func (in *Input) begun(k fileKey) *value.CSR {
	if in.From == nil {
		return nil
	}
	in.From.mu.Lock()
	x := in.From.early[k]
	delete(in.From.early, k)
	in.From.mu.Unlock()
	if x == nil {
		return nil
	}
	if <-x.done; x.graph != nil {
		in.read.Add(x.read.Load())
	}
	return x.graph
}

// readGraph is format.ReadGraph of a file that may have been read early.
func (in *Input) readGraph(path string, k fileKey, o format.Options) (*value.CSR, error) {
	if m := in.begun(k); m != nil {
		return m, nil
	}
	return format.ReadGraph(path, in.sharing(o))
}
