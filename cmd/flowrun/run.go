package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"flow"
	"flow/runtime/dist/transport/mpi"
)

// This file defines `flowrun run`, the default command.

func (s *session) runCommand() *cli.Command {
	return &cli.Command{
		Name:      "run",
		Usage:     "run a program (the default command)",
		ArgsUsage: "FILE",
		Flags: append(append(programFlags(), scheduleFlags()...),
			&cli.IntFlag{Name: "threads", Aliases: []string{"num-threads"}, Usage: "run on `N` threads, in each rank", DefaultText: "one a processor"},
			&cli.BoolFlag{Name: "distributed", DisableDefaultText: true, Usage: "run on several ranks"},
			&cli.StringFlag{Name: "backend", Usage: "transport between ranks: mpi, or mem (all ranks in this process)", Value: "mpi"},
			&cli.IntFlag{Name: "ranks", Usage: "start `N` ranks; inside mpirun or srun theirs count", DefaultText: "one a memory domain, at least 2"},
			&cli.DurationFlag{Name: "grace", Usage: "after a failure let earlier tasks run for `TIME`, to report the first failure of the program", DefaultText: "10s"},
			&cli.BoolFlag{Name: "verify-inputs", DisableDefaultText: true, Usage: "compare every byte of the files that ranks read, not a sample"},
			timingFlag(),
			&cli.StringFlag{Name: "stats", Usage: "print what the run did, on stderr; --stats=json as one JSON line"},
			&cli.StringFlag{Name: "trace", Usage: "write a trace of all tasks to `FILE`, for Perfetto or chrome://tracing"},
			&cli.BoolFlag{Name: "tune", DisableDefaultText: true, Usage: "measure the kernels at several tile sizes first, print the best, store the costs"}),
		Action: func(c *cli.Context) error { return s.run(c) },
	}
}

// runRequest is what the flags of run ask for beside the program.
type runRequest struct {
	threads     int
	schedule    flow.Scheduling
	stats       string // "", "text" or "json"
	timing      bool
	trace       string
	grace       time.Duration // 0: not said
	limited     bool          // by --memory
	distributed bool
	backend     string
	ranks       int // 0: not said
	verify      bool
}

func (s *session) runRequest(c *cli.Context) (runRequest, error) {
	r := runRequest{stats: c.String("stats"), timing: c.Bool("timing"), trace: c.String("trace"),
		distributed: c.Bool("distributed"), limited: c.IsSet("memory"), backend: strings.ToLower(c.String("backend")), verify: c.Bool("verify-inputs")}
	var err error
	if r.threads, err = threads(c); err != nil {
		return r, err
	}
	if !c.IsSet("threads") {
		r.threads = 0
	}
	if r.schedule, err = s.schedule(c); err != nil {
		return r, err
	}
	if r.ranks, err = ranks(c, 0); err != nil {
		return r, err
	}
	if c.IsSet("grace") {
		if r.grace = c.Duration("grace"); r.grace < 0 {
			return r, usagef("--grace %v: a time is at least 0s", r.grace)
		}
		r.grace = max(r.grace, 1) // 0 means that the flag is absent
	}
	if err := canWrite(r.trace); err != nil {
		return r, usagef("--trace: %v", err)
	}
	switch {
	case r.stats != "" && r.stats != "text" && r.stats != "json":
		return r, usagef("--stats=%s: there are --stats and --stats=json", r.stats)
	case r.backend != "mpi" && r.backend != "mem":
		return r, usagef("--backend=%s: there are mpi and mem", r.backend)
	case !r.distributed && (c.IsSet("ranks") || c.IsSet("backend") || r.verify):
		e := usagef("--ranks, --backend and --verify-inputs are about distributed runs")
		e.help = "add --distributed"
		return r, e
	case r.distributed && r.backend == "mem" && max(r.threads, 1)*max(r.ranks, 1) > mostThreads:
		return r, usagef("--ranks %d of %s: one process has at most %d in all", r.ranks, count(max(r.threads, 1), "thread"), mostThreads)
	}
	return r, nil
}

func (s *session) run(c *cli.Context) error {
	req, err := s.runRequest(c)
	if err != nil {
		return err
	}
	o, err := s.compileOptions(c)
	if err != nil {
		return err
	}
	// who started the ranks has measured
	if c.Bool("tune") && !(req.distributed && mpi.Launched()) {
		r, err := s.tune(o.Kernels)
		if err != nil {
			return err
		}
		o.Rates = r
	}
	if req.distributed {
		return s.runDistributed(c, req, o)
	}
	p, err := s.compile(c.Context, c, o)
	if err != nil {
		return err
	}
	return s.execute(c.Context, p, o, req, p.Run)
}

// execute runs a compiled program by run and reports on it. Files appear when everything has
// succeeded.
func (s *session) execute(ctx context.Context, p *flow.Program, o flow.CompileOptions, req runRequest, run func(context.Context, flow.RunOptions) (*flow.Report, error)) error {
	line := s.progress()
	out := flow.NewOutput(line.above(s.out))
	defer out.Discard()
	s.signal.onExit(out.Discard)
	start := time.Now()
	limit := o.Memory
	if !req.limited {
		limit.Bytes = 0 // what the system gives
	}
	flow.BoundMemory(limit)
	report, err := run(ctx, flow.RunOptions{Threads: req.threads, Schedule: req.schedule, Output: out, Stats: req.stats != "", Trace: req.trace != "", Progress: line.report(), Grace: req.grace, Memory: limit})
	seconds := time.Since(start).Seconds()
	line.hide()
	if err == nil {
		err = p.Explain(out.Commit())
	} else {
		out.Discard()
	}
	if err == nil && req.distributed {
		s.warn(p, idleRanks)
	}
	if report == nil { // a rank that does not report
		return err
	}
	if seconds > longRun && err == nil {
		s.measureForNextTime(o)
	}
	if req.trace != "" {
		if terr := s.writeTrace(req.trace, p, report); err == nil {
			err = terr
		}
	}
	if req.stats != "" && len(report.Ranks) > 0 {
		if serr := s.stats(p, o, report, seconds, req.stats == "json"); err == nil {
			err = serr
		}
	}
	if req.timing {
		s.timing(p, seconds)
	}
	return err
}

// longRun is the seconds from which a run may be followed by a measurement of the kernels, which
// takes up to 50 ms.
const longRun = 3

// measureForNextTime stores measured kernel costs in the cache if there are none, for planning the
// next run. It never delays a result, and its failure is not reported: the next run guesses again.
func (s *session) measureForNextTime(o flow.CompileOptions) {
	if o.Rates != nil {
		return
	}
	if r, err := flow.MeasureRates(o.Kernels); err == nil {
		_ = r.Save()
	}
}

// writeTrace writes the recordings to a file, also for a run that failed or was interrupted. The
// file appears whole or not at all. After a rank's death only rank 0's recording is left, unless
// rank 0 died. Files of the run itself must have been committed or discarded.
func (s *session) writeTrace(path string, p *flow.Program, report *flow.Report) error {
	if len(report.Recordings) == 0 {
		return nil
	}
	file := flow.NewOutput(io.Discard)
	defer file.Discard()
	s.signal.onExit(file.Discard)
	s.signal.writes("the trace " + path)
	defer s.signal.writes("")
	w, err := file.Create(path)
	if err == nil {
		err = report.WriteTrace(w, p)
	}
	if err == nil {
		err = file.Commit()
	}
	if err != nil {
		return fmt.Errorf("--trace %s: %w", path, err)
	}
	return nil
}

// tune measures the fastest tile of each kernel on this machine (--tune), prints a table on standard
// error and stores the costs for later runs. It changes no default: the tile of a program depends on
// shape and element type, so that its bytes do not depend on the machine.
func (s *session) tune(kernels string) (*flow.Rates, error) {
	speeds, err := flow.TuneTiles(kernels)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(s.err, "%-8s %-5s %9s   GFLOP/s by tile\n", "kernel", "type", "best tile")
	for _, k := range speeds {
		best, line := 0, ""
		for i, t := range k.Tiles {
			if k.Gflops[i] > k.Gflops[best] {
				best = i
			}
			line += fmt.Sprintf("  %d: %.1f", t, k.Gflops[i])
		}
		fmt.Fprintf(s.err, "%-8s %-5s %9d %s\n", k.Kernel, k.Elem, k.Tiles[best], line)
	}
	r, err := flow.MeasureRates(kernels)
	if err != nil {
		return nil, err
	}
	if err := r.Save(); err != nil {
		fmt.Fprintf(s.err, "flowrun: the measured costs cannot be kept: %v\n", err)
	}
	return r, nil
}
