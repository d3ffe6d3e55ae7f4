package dist

// This file defines Run: the loop of a rank from the handshake to the end.

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"flow/ir"
	"flow/ir/plan"
	"flow/runtime/dist/transport"
	"flow/runtime/local"
)

// Run executes this rank's tasks of p, together with the other ranks, which must call it with the
// same plan. It blocks until the run has ended on all of them. The error is a *Failure, the same on
// every living rank.
func Run(ctx context.Context, comm transport.Comm, pool *local.Pool, p *plan.Plan, o Options) (*Report, error) {
	ofKernel.begin()
	r := newRank(comm, p, o)
	unready := r.prepare()
	if f := r.handshake(ctx); f != nil {
		return nil, f
	}
	return r.run(ctx, pool, unready)
}

// run is Run after the handshake. unready is why there is no engine.
func (r *rank) run(ctx context.Context, pool *local.Pool, unready *Failure) (*Report, error) {
	f := unready
	if f == nil {
		f = r.loop(ctx, pool)
	}
	if f != nil && !f.Clean && f.Speaker != r.me {
		time.Sleep(sayFirst)
		if r.o.Trace != nil {
			time.Sleep(traceFirst)
		}
	}
	report := r.finish(f)
	if f != nil {
		return report, f
	}
	return report, nil
}

// prepare makes the routes and the engine, before the handshake: after it no rank waits for another
// that still prepares. The handshake refuses a plan for another number of ranks.
func (r *rank) prepare() *Failure {
	if r.p.Ranks != r.n {
		return nil
	}
	r.routes = newRoutes(r.p, r.me)
	for dst, c := range r.routes.toCount {
		r.begun[dst] = make([]uint64, (c+63)/64)
	}
	if err := r.prepareGathers(); err != nil {
		return &Failure{Code: "E606", Speaker: r.me, Err: fmt.Errorf("rank %d: %w", r.me, err)} // the others know nothing of it
	}
	r.arrived = make([]bool, len(r.routes.receives))
	r.missing = len(r.routes.receives)
	r.variables = map[ir.ID]int{}
	for i, x := range r.routes.receives {
		if x.form == variable {
			r.variables[x.exchange] = i
		}
	}
	r.ending.init(r.n)
	eng, err := local.NewEngine(r.p, local.EngineOptions{
		Env: r.o.Env, Read: r.o.Read, Buffers: r.o.Buffers, Memory: r.o.Memory, Stats: r.o.Stats, Trace: r.o.Trace, Rank: r.me, OnProgress: r.o.OnProgress,
		Observe: r.o.Observe, Grace: r.o.Grace, HelpFrom: r.o.HelpFrom, Schedule: r.o.Schedule,
		Remote: &local.Remote{
			Sends:    func(id ir.ID) int { return len(r.routes.of(id)) },
			Produced: r.produced,
			Freed:    r.freed,
			Between:  r.between,
			Idle:     r.idle,
			Failed:   func(f *local.TaskFailure) { r.tell(failureOf(f)) },
			Cleared:  r.cleared,
			Gather:   r.gather, GatherSparse: r.gatherSparse, Fetch: r.fetch,
			Ask:    r.ask,
			Give:   r.give,
			Return: r.giveBack,
			Tell:   r.tellTimes,
			Near:   func(rank int) bool { return r.peers[rank].Host == r.peers[r.me].Host },
			Wait:   r.wait,
		},
	})
	if err != nil {
		return &Failure{Code: "E606", Speaker: r.me, Err: fmt.Errorf("rank %d: %w", r.me, err)} // the others know nothing of it
	}
	r.eng = eng
	return nil
}

// loop is the progress engine: it polls unless workers do, listens, and sleeps when nothing
// happens.
func (r *rank) loop(ctx context.Context, pool *local.Pool) *Failure {
	// Cancellation is handled here, so that all ranks end together: the engine's context is
	// another.
	r.keen = r.keenness(pool, runtime.NumCPU())
	switch {
	case !r.sharesProcess():
		r.clock = processorTime
	case r.o.Stats:
		r.clock = pool.ProcessorTime
	}
	if r.clock != nil {
		r.consumed = r.clock()
	}
	r.eng.Start(context.WithoutCancel(ctx), pool)
	r.started.Store(true)
	r.o.watch.enter(r)
	defer r.o.watch.leave(r)
	engineDone := r.eng.Done()
	now := time.Now()
	beat, look := now.Add(r.o.beats), now.Add(r.o.looks)
	quit := ctx.Done()
	for {
		r.left.Store(false)
		attended := r.attended.Swap(false)
		worked := !attended && r.poll()
		if r.listen() {
			worked, attended = true, false
		}
		now = time.Now()
		if now.After(beat) {
			beat = now.Add(r.o.beats)
			r.sendBeat()
		}
		if now.After(look) {
			look = now.Add(r.o.looks)
			r.look()
			r.listenForSilence()
		}
		select {
		case <-quit:
			quit = nil
			r.interrupted(context.Cause(ctx))
		default:
		}
		select {
		case <-engineDone:
			engineDone = nil
			r.mu.Lock()
			r.mute = true
			r.mu.Unlock()
			r.ending.idle = true
			r.broke()
			worked = true
			r.attended.Store(false) // there will be no more of it
		default:
		}
		if f, over := r.step(now); over {
			return f
		}
		switch nap := r.napAt(now, attended); {
		case worked:
		case r.ending.idle && nap < time.Millisecond:
			transport.Nap(nap)
		default:
			r.pause(nap, engineDone, quit)
		}
	}
}

// broke ends the run of all ranks if the engine has ended with an error that no task reports. Then it
// has stopped in the middle of a task, which is a bug in Flow. Without broke the ranks would agree that
// all has been done.
func (r *rank) broke() {
	var task *local.TaskFailure
	if _, err := r.eng.Wait(); err != nil && r.ending.failure == nil && !errors.As(err, &task) {
		r.tell(&failure{Severity: transportFailed, Rank: r.me, Bug: true, Code: "B001", Msg: err.Error()})
	}
}

// finish closes the engine and gathers the reports.
func (r *rank) finish(f *Failure) *Report {
	if r.eng == nil {
		return nil
	}
	if r.started.Load() && (f == nil || f.Clean) && r.ending.idle {
		report, _ := r.eng.Wait()
		r.stats.Report = report
		if err := r.eng.Close(); err != nil && f == nil {
			// Memory was not given back: a bug, though the results are right.
			panic(fmt.Sprintf("BUG: after a run: %v", err))
		}
	}
	out := r.gathered()
	if len(out.Recordings) == 0 && f != nil && !f.Clean && r.me == 0 && r.started.Load() && r.halted() {
		// of the dead there is none; this rank's shows where it stopped
		if rec := r.o.Trace.Recording(); rec != nil {
			out.Recordings = append(out.Recordings, rec)
		}
	}
	return out
}

// halted stops the engine and reports whether its workers have ended within haltFor.
func (r *rank) halted() bool {
	r.eng.Cancel(context.Canceled)
	select {
	case <-r.eng.Done():
		return true
	case <-time.After(haltFor):
		return false
	}
}
