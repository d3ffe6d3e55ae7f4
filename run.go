package flow

import (
	"context"
	"crypto/sha256"
	"io"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"flow/kernels/blas"
	"flow/lang/source"
	"flow/memory"
	"flow/runtime/dist"
	"flow/runtime/local"
	"flow/runtime/trace"
)

// This file says how a program is run, and connects its plan to an engine: on this machine, on ranks in
// this process, or as one rank of a group.

// RunOptions says how a program is run. The zero value runs it on all processors and discards its
// output.
type RunOptions struct {
	Stdout io.Writer // where emit prints; nil: nowhere
	// Take gets each value emitted to standard output, in program order, instead of its text;
	// of several ranks, rank 0 calls it. nil: values are printed.
	Take    func(Result)
	Threads int // 0: one a processor
	// Schedule says how loops are handed out to the threads.
	Schedule Scheduling
	// Output receives files; nil: an Output over Stdout that the run commits. A caller's Output
	// is committed by the caller, or discarded if the run fails.
	Output *Output
	// Stats asks for busy times and arithmetic, by kernel and by call.
	Stats bool
	// Trace asks for a recording of every task.
	Trace bool
	// Progress is called a few times a second.
	Progress func(Progress)
	// Notice, on ranks in processes of their own, gets messages about other ranks: one has been
	// silent for ten seconds, or is heard again. Of several ranks, one calls it.
	Notice func(text string)
	// Memory bounds the values of each rank whose size the plan knows: one beyond it is a failure. Each
	// thread after the first may take as much again. Zero is what the system gives.
	Memory memory.Limit
	// Buffers lends the memory of values in RunRank, if Memory is zero: see Warm. nil: a pool of the
	// run's own.
	Buffers *Buffers
	// Grace is how long after a failure earlier parts of the program may still run, so that the
	// first failure in the text is reported and everything before it is printed; 0 means ten
	// seconds. A failure reported after that says so.
	Grace time.Duration
}

// Buffers is memory for the values of runs.
type Buffers = local.BufferPool

// Report is what a run did.
type Report struct {
	// by rank; with ranks in processes of their own, only rank 0 has all
	Ranks      []dist.RankReport
	Recordings []*trace.Recording // of the ranks that recorded
}

// runLocal runs a plan of one rank.
func (p *Program) runLocal(ctx context.Context, out *Output, o RunOptions) (*Report, error) {
	pool := local.NewPool(o.Threads, o.Schedule.pool())
	defer pool.Close()
	eo := local.EngineOptions{Env: out, Read: p.read(), Stats: o.Stats, OnProgress: p.told(o.Progress), Schedule: o.Schedule.Plan, Grace: o.Grace, Memory: o.Memory}
	if o.Trace || o.Stats { // a critical path takes the events
		eo.Trace = trace.New(0, pool.Workers())
	}
	r, err := local.RunPlan(ctx, pool, p.made.Plan, eo)
	report := &Report{}
	if r != nil {
		report.Ranks = []dist.RankReport{{Report: r}}
	}
	if eo.Trace != nil {
		report.Recordings = []*trace.Recording{eo.Trace.Recording()}
	}
	return report, err
}

// output returns where a run writes, and whether the run has to commit it.
func (o RunOptions) output() (out *Output, own bool) {
	if out, own = o.Output, false; out == nil {
		w := o.Stdout
		if w == nil {
			w = io.Discard
		}
		out, own = NewOutput(w), true
	}
	if o.Take != nil {
		out.take = o.Take
	}
	return out, own
}

// finish commits or discards the run's own output, and converts err for the user.
func finish(out *Output, own bool, p *Program, err error) error {
	if own {
		if err == nil {
			err = out.Commit()
		} else {
			out.Discard()
		}
	}
	return p.Explain(err)
}

// read returns the counter of the bytes that are read of files, with those that this process has read
// before the run. Of ranks in this process, rank 0 gets it.
func (p *Program) read() *atomic.Int64 {
	n := new(atomic.Int64)
	if in := p.options.Input; in != nil {
		n.Store(in.TakeRead())
	}
	return n
}

// canStart refuses a run whose threads the system would not start: the Go runtime would end the
// process.
func (p *Program) canStart(o RunOptions, ranks int) error {
	n := o.Threads
	if n < 1 {
		n = max(1, o.Schedule.Parallelism()/ranks)
	}
	err := memory.Threads(n * ranks)
	if err == nil {
		return nil
	}
	d := source.Errorf("E610", source.Span{}, "%v", err).WithHelp("--threads N runs on fewer, with the same result")
	return &Refusal{Files: p.made.Files, Diagnostics: source.Diagnostics{d}, Ran: true}
}

// runMem runs all ranks of a plan as goroutines. Threads are those of each rank; 0 divides the
// processors among them.
func (p *Program) runMem(ctx context.Context, out *Output, o RunOptions) (*Report, error) {
	if o.Threads < 1 {
		o.Threads = max(1, o.Schedule.Parallelism()/p.made.Plan.Ranks)
	}
	read := p.read()
	r, err := dist.RunInProcess(ctx, p.made.Plan, o.Threads, func(rank int) dist.Options {
		ro := o
		if rank > 0 {
			ro.Progress = nil // one bar is enough
		}
		do := p.rankOptions(rank, o.Threads, out, ro)
		do.Agree = p.options.Verify
		if rank == 0 {
			do.Read = read
		}
		return do
	})
	return reportOf(r), err
}

// rankOptions returns the engine options of one rank.
func (p *Program) rankOptions(rank, threads int, out *Output, o RunOptions) dist.Options {
	do := dist.Options{Env: out, Read: new(atomic.Int64), Stats: o.Stats, OnProgress: p.told(o.Progress), Schedule: o.Schedule.Plan, Grace: o.Grace, Memory: o.Memory, Fingerprint: p.fingerprint(), Notice: o.Notice}
	if o.Trace || o.Stats { // hidden communication is computed from the events
		do.Trace = trace.New(rank, threads)
	}
	return do
}

func reportOf(r *dist.Report) *Report {
	if r == nil {
		return nil
	}
	return &Report{Ranks: r.Ranks, Recordings: r.Recordings}
}

// fingerprint is what ranks compare beside the plan: a param that only changes an input's contents
// changes no task, and neither does a kernel set. Sets that keep the order of every sum
// (blas.Set.Chain) may be mixed.
func (p *Program) fingerprint() []dist.Item {
	order := "chain"
	if set, err := blas.Select(p.kernels); err == nil && !set.Chain {
		order = set.Name
	}
	items := []dist.Item{
		{Name: "operator table", Hash: dist.TableHash(p.table)},
		{Name: "kernel set", Hash: sha256.Sum256([]byte(order))},
	}
	for _, f := range p.made.Files.Files()[p.earlier:] {
		if p.options.store != nil && f.Library {
			// an entry that was not run may have read it on one rank; the build is the
			// same
			continue
		}
		items = append(items, dist.Item{Name: "the text of " + f.Name, Hash: sha256.Sum256([]byte(f.Text))})
	}
	for _, prm := range p.made.Params {
		items = append(items, dist.Item{Name: "param " + prm.Name, Hash: sha256.Sum256([]byte(prm.Value))})
	}
	for _, name := range slices.Sorted(maps.Keys(p.given)) {
		h := sha256.New()
		hashValue(h, p.given[name])
		items = append(items, dist.Item{Name: "the value " + name, Hash: [32]byte(h.Sum(nil))})
	}
	return items
}

// Traffic returns what the ranks sent each other.
func (r *Report) Traffic() (messages, bytes int64) {
	for _, k := range r.Ranks {
		messages += k.MessagesSent
		bytes += k.BytesSent
	}
	return messages, bytes
}

// Waiting returns the seconds, summed over workers, in which no worker of a rank had a task while a
// message of that rank was under way, and the share of communication time in which some worker had
// one. Both are 0 without a recording.
func (r *Report) Waiting() (seconds, hidden float64) {
	if len(r.Recordings) == 0 || len(r.Ranks) < 2 {
		return 0, 0
	}
	s := trace.Summarise(r.Recordings...)
	workers := 0
	for _, k := range r.Ranks {
		workers += k.Workers
	}
	return float64(s.Communication-s.Hidden) / 1e9 * float64(workers) / float64(len(r.Ranks)), s.HiddenShare()
}
