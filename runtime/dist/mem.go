package dist

// This file runs all ranks of a plan in one process, for tests and for trying a distributed plan on one machine.

import (
	"context"
	"errors"
	"sync"

	"flow/ir/plan"
	"flow/runtime/dist/transport"
	"flow/runtime/dist/transport/mem"
	"flow/runtime/local"
)

// RunInProcess runs every rank of p as an engine of its own, each with a pool of workers threads, over the mem transport. options
// gives the options of each rank; nil is the zero value for all. The report is rank 0's.
func RunInProcess(ctx context.Context, p *plan.Plan, workers int, options func(rank int) Options) (*Report, error) {
	return RunGroup(ctx, mem.New(p.Ranks, mem.Options{}), p, workers, options)
}

// RunGroup is RunInProcess over the given Comms, one a rank, which the caller closes. The failure returned is that of the
// first rank that is alive.
func RunGroup(ctx context.Context, comms []transport.Comm, p *plan.Plan, workers int, options func(rank int) Options) (*Report, error) {
	reports := make([]*Report, len(comms))
	errs := make([]error, len(comms))
	var all sync.WaitGroup
	for i, c := range comms {
		all.Go(func() {
			pool := local.NewPool(max(workers, 1))
			defer pool.Close()
			var o Options
			if options != nil {
				o = options(i)
			}
			reports[i], errs[i] = Run(ctx, c, pool, p, o)
		})
	}
	all.Wait()
	var f *Failure
	for i, err := range errs {
		// A rank that died says so of itself: the others know better what that means.
		if errors.As(err, &f) {
			var d *DeathError
			if errors.As(err, &d) && d.Rank == i && len(comms) > 1 {
				continue
			}
			return reports[i], err
		}
	}
	return reports[0], nil
}
