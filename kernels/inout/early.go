package inout

// This file reads files before the program that needs them can be compiled, because a rank has nothing
// to do while MPI starts. A file that one rank reads alone does not depend on the other ranks, so the
// rank begins with it (Input.Early). The program is compiled again later, and takes what has been read
// (Input.From).

import (
	"sync/atomic"

	"flow/ir/value"
	"flow/kernels/format"
)

// earlyFile is a file that is read in the background.
type earlyFile struct {
	done  chan struct{} // closed when all is read
	read  atomic.Int64  // bytes
	graph *value.CSR    // nil: the file has a mistake
}

// begin starts to read a graph that Brief refuses, unless ranks read it together.
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
		x.graph, _ = format.ReadGraph(path, o) // readGraph reads a file with a mistake again, and reports it
	}()
}

// ReadsEarly reports whether Early has begun to read a file. It is safe for concurrent use.
func (in *Input) ReadsEarly() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return len(in.early) > 0
}

// begun returns a graph that From has begun to read, once, and waits until it is read. It returns nil
// if there is none. A file that has changed since then has another key, so its old contents are not
// taken.
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
