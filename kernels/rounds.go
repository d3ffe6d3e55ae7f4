package kernels

// This file defines the row `rounds`: a loop over scalars and matrices of a few thousand elements whose
// rounds are all one task. If there are many rounds, compiled nests run many of them in a call, or run
// the stages of a round.

import (
	"sync"
	"sync/atomic"
	"time"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/nest"
)

func roundsRow() *op.Def {
	return define.OfBody(op.Def{
		Name: "rounds",
		Role: op.Rounds,
		Doc:  "rounds runs a loop over numbers that a cache holds as one task; the pass rounds makes it.",
		Cost: func(*op.Sig, types.Type) op.Work {
			return op.Work{Flops: 1e5} // of a loop with an unknown number of rounds
		},
		Kernel: func(c *op.Call) error { return runRounds(c, nil, 0) },
		Loop:   &op.Loop{Team: true, Space: roundsSpace, Begin: beginRounds},
		Nests:  roundsNests,
	})
}

// interpretersOf returns the idle interpreters of b. The first call plans the loops and branches in b.
// All calls share both: a call in a round of an outer loop takes the memory of the call before it.
func interpretersOf(b *op.Body) *roundsOf {
	return b.Compiled(func(b *op.Body) any { nest.PlanStages(b); return &roundsOf{large: nest.Large(b)} }).(*roundsOf)
}

// roundsOf is the state that all calls of a body share.
type roundsOf struct {
	sync.Pool      // of *nest.Interpreter
	large     bool // see nest.Large
}

// roundsNests returns the nests of a call, and the reason why some rounds are made one by one.
func roundsNests(c *op.Call, _ []types.Type) ([]*loop.Nest, string) {
	interpretersOf(c.Bodies[0]) // plans the body
	return nest.LoopsIn(c.Bodies[0])
}

// roundsSpace returns the space of a Team: not empty if a loop of a round is large enough for several
// workers.
func roundsSpace(c *op.Call) (n, leaf int) {
	if interpretersOf(c.Bodies[0]).large {
		return 1, 1
	}
	return 0, 0
}

// teamRounds is a call in which several workers take part. The first one runs the rounds, and the
// others help it.
type teamRounds struct {
	c     *op.Call
	team  *nest.Team
	begun atomic.Bool
}

func beginRounds(c *op.Call, workers int) (op.LoopBody, error) {
	return &teamRounds{c: c, team: nest.NewTeam(workers)}, nil
}

func (r *teamRounds) Chunk(worker, _, _ int) error {
	if r.begun.Swap(true) {
		r.team.Help(worker, r.c.Wanted)
		return nil
	}
	defer r.team.End()
	return runRounds(r.c, r.team, worker)
}

func (r *teamRounds) End() error { return nil }

func (r *teamRounds) Waited(worker int) time.Duration { return r.team.Waited(worker) }

// runRounds runs a loop and sets its results. It fails as the body fails, or with op.ErrStopped. worker
// is the owner of the team, which may be nil.
func runRounds(c *op.Call, team *nest.Team, worker int) error {
	idle := interpretersOf(c.Bodies[0])
	old, _ := idle.Get().(*nest.Interpreter)
	p := nest.NewStaged(old, c.Bodies[0], c, loopsFrom.Load())
	p.Share(team, worker)
	out, err := p.On(c.In)
	if err != nil {
		p.Free()
		if f, ok := err.(*op.BodyFailure); ok && len(f.Path) > 1 {
			f.Path[1].Round += int64(c.Attrs.Int("before"))
			if len(f.Path) > 2 {
				f.Path[2].Round += int64(c.Attrs.Int("inner"))
			}
		}
		return err
	}
	define.LendResults(c)
	for k, v := range out {
		if d, dense := v.(*value.Dense); dense {
			into := c.Lent(k)
			if into == nil {
				into = value.New(d.Elem, d.Rows, d.Cols)
			}
			into.CopyFrom(d)
			v = into
		}
		if v != nil {
			c.Give(k, v)
		}
	}
	p.Free()
	idle.Put(p)
	return nil
}
