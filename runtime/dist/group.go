package dist

// This file keeps ranks together over many runs: a session, which rank 0 directs.

import (
	"context"
	"encoding/binary"
	"errors"
	"time"

	"flow/ir/plan"
	"flow/runtime/dist/transport"
	"flow/runtime/local"
)

// Group is the ranks of a job that run one thing after another, as rank 0 directs. Its methods must
// not be called concurrently, except Watch.
type Group struct {
	comm  transport.Comm
	peers []process
}

// Assemble makes a Group of the ranks of comm, which all call it. It blocks until they have. The
// error is a *Failure, as of Agree.
func Assemble(ctx context.Context, comm transport.Comm, notice func(text string)) (*Group, error) {
	ofKernel.begin()
	r := newRank(comm, nil, Options{Notice: notice})
	if _, f := r.greet(ctx, hello{From: r.me, Process: thisProcess(), Build: Build()}); f != nil {
		return nil, f
	}
	return &Group{comm, r.peers}, nil
}

// Watch returns a context that ends with ctx, or when the process of another rank has ended: Lost
// then returns the *Failure. stop ends the watch.
func (g *Group) Watch(ctx context.Context) (watched context.Context, stop func()) {
	watched, cancel := context.WithCancelCause(ctx)
	go func() {
		look := time.NewTicker(lookEvery)
		defer look.Stop()
		for {
			select {
			case <-watched.Done():
				return
			case <-look.C:
				if f := g.death(); f != nil {
					cancel(f)
				}
			}
		}
	}()
	return watched, func() { cancel(nil) }
}

// Lost returns the failure that has ended a context of Watch, or nil.
func Lost(watched context.Context) *Failure {
	var f *Failure
	errors.As(context.Cause(watched), &f)
	return f
}

// death is the failure of the first rank that has ended, nil if all run.
func (g *Group) death() *Failure {
	gone := firstGone(g.peers, g.comm.Rank())
	if dead := g.comm.Dead(); gone < 0 && len(dead) > 0 {
		gone = dead[0]
	}
	if gone < 0 {
		return nil
	}
	return (&failure{Severity: rankDied, Rank: gone, Where: g.peers[gone].String()}).public()
}

// Tell sends a word of rank 0 to the other ranks, which wait for it in Hear. It blocks until they
// have it. Only the death of a rank ends it earlier: the error is then the *Failure.
func (g *Group) Tell(word []byte) error {
	ctx, stop := g.Watch(context.Background())
	defer stop()
	_, err := Share(ctx, g.comm, word)
	return orLost(ctx, err)
}

// Hear returns the next word of rank 0, however long that takes. The error is a *Failure if a rank
// has ended, or ctx's; the job is to be aborted after either.
func (g *Group) Hear(ctx context.Context) ([]byte, error) {
	ctx, stop := g.Watch(ctx)
	defer stop()
	size := make([]byte, 8)
	if err := g.arrived(ctx, g.comm.Irecv(transport.Data, 0, shareTag, size)); err != nil {
		return nil, orLost(ctx, err)
	}
	word := make([]byte, binary.LittleEndian.Uint64(size))
	err := transport.WaitAll(ctx, g.comm, []transport.Request{g.comm.Irecv(transport.Data, 0, shareTag, word)})
	return word, orLost(ctx, err)
}

// arrived waits for a message that may be hours away. Its naps grow to a fiftieth of the time
// waited, as those of a run do.
func (g *Group) arrived(ctx context.Context, req transport.Request) error {
	reqs := []transport.Request{req}
	for began := time.Now(); ; {
		done, err := g.comm.Testsome(reqs, nil)
		if err != nil || len(done) > 0 {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		time.Sleep(max(firstNap, min(time.Since(began)/50, deepestNap)))
	}
}

// orLost is the failure that has ended a context of Watch, or else err as a *Failure.
func orLost(watched context.Context, err error) error {
	if err == nil {
		return nil
	}
	if f := Lost(watched); f != nil {
		return f
	}
	var f *Failure
	if errors.As(err, &f) {
		return err
	}
	return failureOfTransport(err).public()
}

// Agree is Agree on the ranks of the group. An interruption does not end it.
func (g *Group) Agree(mine Introduction) (unshared []string, err error) {
	ctx, stop := g.Watch(context.Background())
	defer stop()
	unshared, err = Agree(ctx, g.comm, mine)
	return unshared, orLost(ctx, err)
}

// Refuse is Refuse on the ranks of the group.
func (g *Group) Refuse(why string) error {
	ctx, stop := g.Watch(context.Background())
	defer stop()
	return orLost(ctx, Refuse(ctx, g.comm, why))
}

// Run is Run on the ranks of the group. An interruption ends it when all ranks have given up, so
// that another run can follow after every failure that is Clean.
func (g *Group) Run(ctx context.Context, pool *local.Pool, p *plan.Plan, o Options) (*Report, error) {
	r := newRank(g.comm, p, o)
	r.persists = true
	watched, stop := g.Watch(context.WithoutCancel(ctx))
	unready := r.prepare()
	f := r.handshake(watched)
	lost := Lost(watched)
	stop()
	switch {
	case f != nil && lost != nil:
		return nil, lost
	case f != nil:
		return nil, f
	}
	return r.run(ctx, pool, unready)
}
