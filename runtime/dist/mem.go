package dist

// This file runs all ranks of a plan in one process, for tests and for trying a distributed plan on
// one machine.

import (
	"context"
	"errors"
	"sync"

	"flow/ir/plan"
	"flow/runtime/dist/transport"
	"flow/runtime/dist/transport/mem"
	"flow/runtime/local"
)

// RunInProcess runs every rank of p as an engine of its own, each with a pool of workers threads,
// over the mem transport. options returns the options of each rank; nil means zero values. The
// report is rank 0's.
func RunInProcess(ctx context.Context, p *plan.Plan, workers int, options func(rank int) Options) (*Report, error) {
	return RunGroup(ctx, mem.New(p.Ranks, mem.Options{}), p, workers, options)
}

// RunGroup is RunInProcess over the given Comms, one a rank, which the caller closes. The failure
// is that of the first living rank.
func RunGroup(ctx context.Context, comms []transport.Comm, p *plan.Plan, workers int, options func(rank int) Options) (*Report, error) {
	reports := make([]*Report, len(comms))
	errs := make([]error, len(comms))
	watch := newStandstill(len(comms))
	defer watch.stop()
	agree := newAgreement(len(comms))
	var all sync.WaitGroup
	for i, c := range comms {
		all.Go(func() {
			var o Options
			if options != nil {
				o = options(i)
			}
			pool := o.Pool
			if pool == nil {
				pool = local.NewPool(max(workers, 1))
				defer pool.Close()
			}
			if o.watch = watch; o.Agree {
				o.agree = agree
			}
			reports[i], errs[i] = Run(ctx, c, pool, p, o)
		})
	}
	all.Wait()
	var f *Failure
	for i, err := range errs {
		// A dead rank also reports its death, but the others know better what it means.
		if errors.As(err, &f) {
			var d *DeathError
			if errors.As(err, &d) && d.Rank == i && len(comms) > 1 {
				continue
			}
			return reports[i], err
		}
	}
	if err := agree.verdict(); err != nil {
		return reports[0], &Failure{Code: "E606", Err: err, Clean: true}
	}
	return reports[0], nil
}
