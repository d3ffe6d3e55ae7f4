package kernels

// This file decides which loops of very different length run with lanes that take the next point
// when they have ended: see ir/loop/refill.go.

import (
	"sync"
	"sync/atomic"

	"flow/ir/loop"
	"flow/ir/value"
	"flow/kernels/loop/launch"
	"flow/kernels/nest"
)

// nestRefill is a nest whose lanes take points.
type nestRefill struct {
	*loop.Refilled
	loop *launch.Loop
}

func refillOf(n *loop.Nest) *nestRefill {
	f := loop.Refill(n)
	if f == nil {
		return nil
	}
	return &nestRefill{f, nest.LoopOf(f.Nest)}
}

// refillRun is such a nest bound to an execution, when a worker first needs it.
type refillRun struct {
	of   *nestRefill
	in   []value.Value // of the nest that it comes from
	once sync.Once
	run  *launch.Run
}

// waits is what samples of a body have cost, in rounds of lanes times statements, with lanes that
// wait for one another and with lanes that take the next point.
type waits struct{ waiting, taking, points, sampled atomic.Int64 }

const (
	// mostSampled is the most points of a sample, leastSampled the fewest for each that is evaluated
	// at a time: the last ones wait in either way. One point of samplesApart is in a sample.
	mostSampled  = 512
	leastSampled = 8
	samplesApart = 256
	// takingRound and takingPoint are the statements by which the rounds and the points of lanes
	// that take points are longer.
	takingRound, takingPoint = 6, 8
)

// takeAlways makes lanes take points wherever they can, for tests; pointsTaken counts the windows in
// which they did.
var (
	takeAlways  atomic.Bool
	pointsTaken atomic.Int64
)

// TakePoints makes lanes take points wherever they can, for tests. What is computed does not change.
func TakePoints(always bool) { takeAlways.Store(always) }

// PointsTaken is in how many windows of this process lanes have taken points.
func PointsTaken() int64 { return pointsTaken.Load() }

// refills reports that lanes take the points of a window. Some windows are sampled, the first of all
// executions among them.
func (w *nestWorker) refills(r0, r1, l0, l1 int) bool {
	n := w.n
	if n.refill.of == nil || w.words != n.words {
		return false
	}
	s := &n.code.waits
	points := s.points.Add(int64((r1 - r0) * (l1 - l0)))
	if samples := s.sampled.Load(); samples == 0 || samplesApart*samples < points {
		w.sample(r0, l0, l1)
	}
	// They must be a fifth faster, for the statements are counted alike.
	return (5*s.waiting.Load() > 6*s.taking.Load() || takeAlways.Load()) && w.taker()
}

// taker makes the worker of lanes that take points, if there is one.
func (w *nestWorker) taker() bool {
	n := w.n
	if w.fill == nil {
		f := &n.refill
		f.once.Do(func() {
			for _, o := range n.operands {
				if o.What == nest.CellKnown { // they may come while it runs
					return
				}
			}
			in := append(append([]value.Value{}, f.in...), value.I64(0), value.I64(1), value.I64(1))
			f.run, _ = f.of.loop.Begin(in, []*value.Dense{n.r.out})
		})
		if f.run == nil {
			return false
		}
		w.fill = f.run.Worker()
	}
	return w.fill.Points() > 0
}

// taking evaluates rows r0..r1-1 and lanes l0..l1-1 by lanes that take points.
func (w *nestWorker) taking(r0, r1, l0, l1 int) (flagged bool, err error) {
	f, step := w.n.refill.of, w.fill.Points()
	pointsTaken.Add(1)
	w.fill.Scalar(f.From, value.I64(int64(l0)))
	w.fill.Scalar(f.To, value.I64(int64(l1)))
	w.fill.Scalar(f.Step, value.I64(int64(step)))
	return w.fill.Window(r0, r1, 0, step, w.halt)
}

// sample evaluates points of a row in both ways and notes what they cost.
func (w *nestWorker) sample(r, l0, l1 int) {
	first := w.with(w.words)
	if !w.taker() {
		return
	}
	s, least := &w.n.code.waits, leastSampled*max(first.Points(), w.fill.Points())
	if l1-l0 < least {
		return
	}
	if l1 = min(l1, l0+mostSampled); s.sampled.Add(int64(l1-l0)) == int64(l1-l0) {
		l1 = l0 + least // the first one may be most of the work
	}
	was := first.Rounds()
	if flagged, err := w.evaluate(first, r, r+1, l0, l1); flagged || err != nil {
		return // the evaluation of the window reports it
	}
	f := w.n.refill.of
	waiting := (first.Rounds() - was) * int64(first.Points()) * int64(f.Round)
	was = w.fill.Rounds()
	if flagged, err := w.taking(r, r+1, l0, l1); flagged || err != nil {
		return
	}
	rounds, points := w.fill.Rounds()-was, int64(l1-l0)
	taking := rounds*int64(f.Round+takingRound) + min(rounds, points)*int64(f.Point+takingPoint)
	s.waiting.Add(waiting)
	s.taking.Add(taking * int64(w.fill.Points()))
}
