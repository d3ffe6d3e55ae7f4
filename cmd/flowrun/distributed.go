package main

import (
	"context"
	"errors"
	"io"

	"github.com/urfave/cli/v2"

	"flow"
	"flow/lang/source"
	"flow/runtime/dist"
	"flow/runtime/dist/transport/mpi"
)

// This file defines --distributed: ranks in this process (mem), ranks that a launcher has started (mpi), or ranks
// that this command starts itself.

// defaultMemRanks is how many ranks --backend=mem runs without --ranks.
const defaultMemRanks = 2

func (s *session) runDistributed(c *cli.Context, req runRequest, o flow.CompileOptions) error {
	if req.backend == "mem" {
		o.Ranks = req.ranks
		if o.Ranks == 0 {
			o.Ranks = defaultMemRanks
		}
		p, err := s.compile(c.Context, c, o)
		if err != nil {
			return err
		}
		return s.execute(c.Context, p, o, req, p.Run)
	}
	switch {
	case !mpi.Available():
		d := source.Errorf("E703", source.Span{}, "this flowrun was built without MPI").
			WithHelp("build it with -tags mpi (make build does), or use --backend=mem")
		return &flow.Refusal{Files: source.NewFileSet(), Diagnostics: source.Diagnostics{d}}
	case mpi.Launched():
		return s.join(c, req, o)
	}
	return s.launch(c, req, o)
}

// join is this process's part as a rank that a launcher has started. All ranks meet the same mistakes of the
// program, so rank 0 alone tells them; a failure of the run is told by the rank that it names as the speaker.
func (s *session) join(c *cli.Context, req runRequest, o flow.CompileOptions) error {
	comm, err := mpi.Init()
	if err != nil {
		return err
	}
	o.Ranks = comm.Size()
	stderr := s.err
	if comm.Rank() > 0 {
		s.out, s.err = io.Discard, io.Discard
	}
	p, err := s.compile(c.Context, c, o)
	if err != nil {
		return errors.Join(err, comm.Close())
	}
	var failure *dist.Failure
	err = s.execute(c.Context, p, o, req, func(ctx context.Context, ro flow.RunOptions) (*flow.Report, error) {
		report, err := p.RunRank(ctx, comm, ro)
		errors.As(err, &failure)
		if comm.Rank() > 0 {
			report = nil
		}
		return report, err
	})
	if failure != nil && failure.Speaker == comm.Rank() {
		s.err = stderr
	}
	if failure != nil && !failure.Clean {
		comm.Abort(s.tell(err)) // requests are left that nobody will answer: the job ends here
	}
	return errors.Join(err, comm.Close())
}

// launch refuses for now to start ranks by itself.
func (s *session) launch(*cli.Context, runRequest, flow.CompileOptions) error {
	e := usagef("--backend=mpi runs under a launcher")
	e.help = "mpirun -n 4 flowrun FILE --distributed --backend=mpi"
	return e
}
