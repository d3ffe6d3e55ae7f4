package flow

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync/atomic"

	"flow/ir"
	"flow/kernels/blas"
	"flow/lang/source"
	"flow/memory"
	"flow/runtime/dist"
	"flow/runtime/dist/transport"
	"flow/runtime/local"
	"flow/runtime/trace"
)

// This file connects a plan to its engine: on this machine, on ranks in this process, or as one
// rank of a group.

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

// pool returns the options of a run's pool.
func (s Scheduling) pool() local.PoolOptions {
	return local.PoolOptions{Pin: s.Pin, OneThreadPerCore: s.OneThreadPerCore}
}

// Parallelism returns the threads of a run of one rank if RunOptions.Threads is 0.
func (s Scheduling) Parallelism() int { return local.Parallelism(s.OneThreadPerCore) }

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

// RunRank executes one rank's part of the plan, together with the other ranks of comm, which must
// run the same program: differences are named before anything runs. The plan must be for
// comm.Size() ranks. Output is as in Run; only rank 0 prints. On rank 0 the report covers all
// ranks.
func (p *Program) RunRank(ctx context.Context, comm transport.Comm, o RunOptions) (*Report, error) {
	return p.runRank(comm, o, func(why string) error { return dist.Refuse(ctx, comm, why) },
		func(pool *local.Pool, do dist.Options) (*dist.Report, error) {
			return dist.Run(ctx, comm, pool, p.made.Plan, do)
		})
}

// runRank is RunRank with given ways to refuse a run and to run.
func (p *Program) runRank(comm transport.Comm, o RunOptions, refuse func(why string) error, run func(*local.Pool, dist.Options) (*dist.Report, error)) (*Report, error) {
	if p.made.Plan.Ranks != comm.Size() {
		return nil, fmt.Errorf("the plan is for %d ranks, and there are %d", p.made.Plan.Ranks, comm.Size())
	}
	out, own := o.output()
	err := p.canStart(o, 1)
	if comm.Rank() == 0 && err == nil { // the one that writes
		err = p.checkSinks(out)
	}
	if err != nil {
		if e := refuse(err.Error()); e != nil {
			err = e
		}
		return nil, finish(out, own, p, err)
	}
	pool := local.NewPool(o.Threads, o.Schedule.pool())
	defer pool.Close()
	var r *dist.Report
	err = p.withChoices(o.Schedule, func(s Scheduling) (err error) {
		o := o
		o.Schedule = s
		do := p.rankOptions(comm.Rank(), pool.Workers(), out, o)
		do.Read = p.read()
		r, err = run(pool, do)
		return err
	})
	return reportOf(r), refusedRun(finish(out, own, p, err))
}

// refusedRun marks what a rank or another one refuses as a failed run: after Meet all have a valid program.
func refusedRun(err error) error {
	if r := (*Refusal)(nil); errors.As(err, &r) {
		r.Ran = true
	}
	return err
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

// WriteTrace writes the recordings in the format of Chrome's tracing, which Perfetto opens: a
// process a rank, a track a worker.
func (r *Report) WriteTrace(w io.Writer, p *Program) error {
	for _, rec := range r.Recordings {
		if rec != nil {
			p.locate(rec.Loops)
		}
	}
	names := map[int][]string{}
	for _, rec := range r.Recordings {
		if rec != nil {
			names[rec.Rank] = rec.Names
		}
	}
	describe := func(rank int, e *trace.Event) []trace.Arg {
		if int(e.ID) >= p.made.Plan.Graph.Len() || e.ID < 0 {
			return nil
		}
		kernel := ""
		if all := names[rank]; e.Name >= 0 && int(e.Name) < len(all) {
			kernel = all[e.Name]
		}
		args := []trace.Arg{{Key: trace.NameKey, Text: p.statement(ir.ID(e.ID), kernel)}}
		if where := p.made.Plan.Where(ir.ID(e.ID)); where != "" {
			args = append(args, trace.Arg{Key: "where", Text: where})
		}
		if file, line, _ := p.made.Files.Position(p.made.Plan.Graph.Nodes[e.ID].Span.From); line > 0 {
			args = append(args, trace.Arg{Key: "source", Text: fmt.Sprintf("%s:%d", file, line)})
		}
		return args
	}
	return trace.WriteChrome(w, describe, r.Recordings...)
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
