package flow

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"math"
	"sync"

	"flow/kernels/format"
	"flow/kernels/inout"
	"flow/memory"
	"flow/runtime/dist"
	"flow/runtime/dist/transport"
)

// This file lets one rank read before the run what all need to know of files.

// request is what rank 0 sends to the others before the run: a task, or at the end the facts.
type request struct {
	Task   *format.Task // blocks of a file to read; nil: this is the last request
	Ends   []int        // by rank: the block behind those that it reads of a task
	Size   int64        // of the file, as dist.InputOf returns it, and a task's end may be before
	Sample [32]byte     // likewise
	Facts  []readFact   // what rank 0 has read
}

// room is the memory that a rank compiles for, as in CompileOptions.
type room struct {
	Memory   memory.Limit
	Together int
}

// each returns what one rank of it has.
func (r room) each(ranks int) int64 {
	if r.Together > 0 {
		ranks = r.Together
	}
	if r.Memory.Bytes <= 0 {
		return math.MaxInt64
	}
	return r.Memory.Bytes / int64(ranks)
}

// ShareMemory gives all ranks of comm the Memory and Together of the one with the least memory for
// itself. All call it before ReadTogether and Compile: which plan fits depends on them, and all ranks
// must choose the same. It waits for all ranks until ctx ends.
func ShareMemory(ctx context.Context, comm transport.Comm, o *CompileOptions) error {
	if comm.Size() == 1 {
		return nil
	}
	least := room{o.Memory, o.Together}
	var mine bytes.Buffer
	if err := gob.NewEncoder(&mine).Encode(least); err != nil {
		return err
	}
	all, err := dist.Gather(ctx, comm, mine.Bytes())
	text := mine.Bytes()
	for rank := 1; rank < len(all) && err == nil; rank++ {
		var other room
		if err = gob.NewDecoder(bytes.NewReader(all[rank])).Decode(&other); err == nil && other.each(comm.Size()) < least.each(comm.Size()) {
			least, text = other, all[rank]
		}
	}
	if err == nil {
		text, err = dist.Share(ctx, comm, text)
	}
	if err == nil {
		err = gob.NewDecoder(bytes.NewReader(text)).Decode(&least)
	}
	o.Memory, o.Together = least.Memory, least.Together
	return err
}

// ReadTogether lets the ranks of comm read together what must be read of files to compile a program
// with in. All ranks call it, and then share: rank 0 after Compile, also if that fails, and the others
// before it, with the Input that they compile with. In share they read blocks of files for rank 0,
// until it knows all sizes, and get what it has read: the size of a graph is known when all of it is
// read. Rank 0 tells them as soon as it knows, so all compile at the same time. A rank whose file has
// another size or other contents in a sample reads its own; Meet then tells the difference. share
// blocks until rank 0 has told, or until ctx ends.
func ReadTogether(ctx context.Context, comm transport.Comm, in *Input) (share func() error) {
	if comm.Size() == 1 {
		return func() error { return nil }
	}
	if comm.Rank() > 0 {
		return func() error { return askedToRead(ctx, comm, in) }
	}
	share = sync.OnceValue(func() error { return tellFacts(ctx, comm, in) })
	in.Settled = func() { _ = share() } // the call after Compile returns the error
	in.Share = func(c format.Task) (all format.Answer, err error) {
		file, err := dist.InputOf(c.Path, "", false)
		switch few := err != nil || c.Blocks() < 2*comm.Size(); {
		case few && c.Keep && !c.Sum:
			return all, errNotKept
		case few:
			return c.All()
		}
		r := request{Task: &c, Ends: c.Ends(comm.Size()), Size: file.Size, Sample: file.Sample}
		if err := tell(ctx, comm, r); err != nil {
			return all, err
		}
		_, hi := r.blocks(0)
		all, err = c.Range(0, hi)
		answers, late := dist.Gather(ctx, comm, nil)
		if err != nil || late != nil {
			return all, errors.Join(err, late)
		}
		all = kept(in, c, 0, hi, all)
		for rank, text := range answers[1:] {
			lo, hi := r.blocks(rank + 1)
			var part format.Answer
			if err := gob.NewDecoder(bytes.NewReader(text)).Decode(&part); err != nil || len(part.Spans)+len(part.Parts) == 0 {
				if c.Keep && !c.Sum {
					return all, errNotKept
				}
				if part, err = c.Range(lo, hi); err != nil { // its file is another one, or there is none
					return all, err
				}
			}
			all.Spans, all.Parts = append(all.Spans, part.Spans...), append(all.Parts, part.Parts...)
		}
		return all, nil
	}
	return share
}

// errNotKept is the error of ranks that do not all keep their parts of a file.
var errNotKept = errors.New("not all ranks keep a part")

// kept returns what the other ranks need of answer a, which is for blocks lo..hi-1. If the task asks
// for it, this rank stores the parts of a and returns only their Told.
func kept(in *Input, c format.Task, lo, hi int, a format.Answer) format.Answer {
	if !c.Keep {
		return a
	}
	told := c.Told(a.Parts)
	in.Keep(c, lo, hi, told.Count, a.Parts)
	return format.Answer{Parts: []format.Entries{told}}
}

// tell sends a request to the other ranks.
func tell(ctx context.Context, comm transport.Comm, r request) error {
	var text bytes.Buffer
	if err := gob.NewEncoder(&text).Encode(r); err != nil {
		return err
	}
	_, err := dist.Share(ctx, comm, text.Bytes())
	return err
}

// blocks returns the blocks lo..hi-1 of a task that a rank reads.
func (r request) blocks(rank int) (lo, hi int) {
	if rank > 0 {
		lo = r.Ends[rank-1]
	}
	return lo, r.Ends[rank]
}

// done reads this rank's part of a task and returns the encoded answer. The answer is empty if the file
// differs from that of rank 0, or if it has a mistake: rank 0 then reads the part and finds it.
func (r request) done(comm transport.Comm, in *Input) (text []byte, err error) {
	var part format.Answer
	if own, err := dist.InputOf(r.Task.Path, "", false); err == nil && own.Size == r.Size && own.Sample == r.Sample {
		lo, hi := r.blocks(comm.Rank())
		if part, err = r.Task.Counting(in.Helped()).Range(lo, hi); err != nil {
			part = format.Answer{}
		} else {
			part = kept(in, *r.Task, lo, hi, part)
		}
	}
	var b bytes.Buffer
	err = gob.NewEncoder(&b).Encode(part)
	return b.Bytes(), err
}

// readFact is what rank 0 has read of a file, and the file.
type readFact struct {
	inout.Fact
	Size   int64
	Sample [32]byte // as in dist.Input
}

// tellFacts tells the other ranks what rank 0 has read. They read no more tasks.
func tellFacts(ctx context.Context, comm transport.Comm, in *Input) error {
	in.Share = nil
	var list []readFact
	for _, x := range in.Learned() {
		if file, err := dist.InputOf(x.Path, "", false); err == nil {
			list = append(list, readFact{x, file.Size, file.Sample})
		}
	}
	return tell(ctx, comm, request{Facts: list})
}

// askedToRead does the tasks of rank 0, and takes over what that has read.
func askedToRead(ctx context.Context, comm transport.Comm, in *Input) error {
	var r request
	for again := true; again; again = r.Task != nil {
		stop := memory.Warm(comm.Size())
		text, err := dist.Share(ctx, comm, nil)
		if stop(); err != nil {
			return err
		}
		r = request{}
		if err := gob.NewDecoder(bytes.NewReader(text)).Decode(&r); err != nil {
			return err
		}
		if r.Task != nil {
			mine, err := r.done(comm, in)
			if err != nil {
				return err
			}
			if _, err := dist.Gather(ctx, comm, mine); err != nil {
				return err
			}
		}
	}
	for _, x := range r.Facts {
		if own, err := dist.InputOf(x.Path, "", false); err == nil && own.Size == x.Size && own.Sample == x.Sample {
			in.Known = append(in.Known, &x.Fact)
		}
	}
	return nil
}
