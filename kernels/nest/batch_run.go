package nest

// This file runs batches of rounds. batch.go writes their nests.

import (
	"errors"
	"time"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/value"
	"flow/kernels/loop/launch"
)

// batch makes rounds of one loop for one interpreter, many in a call.
type batch struct {
	*batchCode
	batchKey
	most   int64 // the most rounds of the next call
	failed int   // successive calls of one round that failed
	none   bool  // the interpreter makes all further rounds
	run    launch.Run
	team   teamLoop // of run, if workers share its points
	in     []value.Value
	// out has the results of even and of odd calls. A call reads the results of the call before it.
	out  [2][]*value.Dense
	made [2][]*value.Dense // the same memory, with a row for each point
	rows []*value.Dense    // the results of a call as rows
	odd  int               // the index in out of the last call that succeeded
}

// begin returns a new batch for one interpreter; nil if c is nil.
func (c *batchCode) begin() *batch {
	if c == nil {
		return nil
	}
	return &batch{batchCode: c, batchKey: batchKey{loop.FastLevels, true}, most: firstRounds + c.laid}
}

// worthwhile reports whether the remaining rounds pay for a compilation: they run at least from
// actions. If their number is unknown (left < 0), a tenth of from actions must have been run already,
// because a loop that has run for long may run for as long again. They must also pay for the copies of
// large carried matrices.
func (l *batch) worthwhile(left, from int64) bool {
	if left < 0 {
		seen := l.seen.Add(l.work)
		return 10*seen >= from && (l.laid <= laidElements || l.outweigh(seen/l.work))
	}
	return left >= from/l.work && l.outweigh(left)
}

// outweigh reports whether rounds in one call save more time than the copies of the carried matrices
// take. They save half of a round by stages, and copying an element takes as long as an operation.
func (c *batchCode) outweigh(rounds int64) bool {
	return float64(rounds)*c.apart/2 >= float64(c.laid)
}

// rounds makes up to left rounds, or any number if left is negative. args are the values that the body
// reads; rounds sets the first carried of them. It returns the number n of rounds made. ended reports
// that the condition of the loop holds. If it does not and n is below left, the caller makes the next
// round. The workers of p's team share the points. rounds fails with op.ErrStopped.
func (l *batch) rounds(p *Interpreter, args []value.Value, carried int, left int64, c *op.Call) (n int64, ended bool, err error) {
	given := left >= 0
	for !l.none {
		f := l.form(l.batchKey)
		if f.loop == nil {
			l.none = true
			break
		}
		l.operands(f, args)
		if left < 0 && f.times != nil {
			if left = f.times.of(l.in); left < 0 {
				l.none = true
				break
			}
		}
		if left == 0 {
			return n, !given, nil
		}
		most := l.most
		if left > 0 {
			most = min(most, left)
		}
		begun := time.Now()
		done, err := l.call(p, f, args, carried, most, c)
		switch {
		case err == op.ErrStopped:
			return n, false, err
		case errors.Is(err, launch.ErrOutside) && l.proved:
			l.proved = false // the nest checks subscripts itself
			continue
		case err != nil:
			l.none = true
			continue
		case done < 0 && l.words < WideWords:
			l.words++
			continue
		case done < 0 && most > 1:
			l.most = max(1, most/8)
			continue
		case done < 0:
			l.failed++
			l.none = l.failed > mostFlags
			return n, false, nil
		}
		n, l.failed = n+done, 0
		if left >= 0 {
			left -= done
		}
		if left == 0 || done < most {
			return n, !given, nil
		}
		if time.Since(begun) < batchTime {
			l.most = min(4*max(l.most, 1), mostRounds)
		}
		if c.Rounds != nil {
			c.Rounds.Begun.Add(done)
		}
	}
	return n, false, nil
}

// operands sets the operands of the nest, except the most rounds to make.
func (l *batch) operands(f *batchForm, args []value.Value) {
	l.in = l.in[:0]
	for _, o := range f.operands {
		if o.Register == len(args) {
			l.in = append(l.in, nil) // the most rounds, see call
		} else {
			l.in = append(l.in, o.Of(args))
		}
	}
}

// call makes up to most rounds and sets the first carried values of args, after operands. It returns
// the number of rounds made, or -1 if a check failed. It fails with op.ErrStopped, or if no target runs
// the nest on these operands.
func (l *batch) call(p *Interpreter, f *batchForm, args []value.Value, carried int, most int64, c *op.Call) (done int64, err error) {
	for i, o := range f.operands {
		if o.Register == len(args) {
			l.in[i] = value.I64(most)
		}
	}
	l.odd ^= 1
	out := l.results(args, carried, f)
	if err := f.loop.Bind(&l.run, l.in, l.rows); err != nil {
		l.odd ^= 1
		return 0, err
	}
	w := l.run.Worker()
	flagged, err := l.window(p, f, w, most, c.Stopped)
	w.Free()
	switch {
	case err != nil:
		return 0, op.ErrStopped
	case flagged:
		l.odd ^= 1
		return -1, nil
	}
	launch.Begun.Add(1)
	for i := range carried {
		if args[i].Type().IsScalar() {
			args[i] = out[i].At(0, 0)
		} else {
			args[i] = out[i]
		}
	}
	done = most
	if f.made {
		done = out[carried].At(0, 0).I
	}
	return done, nil
}

// window runs all points of a bound call that makes up to most rounds. Parts are ranges of points,
// which do not read each other. They may take long, so waiting for one is no stall.
func (l *batch) window(p *Interpreter, f *batchForm, w *launch.Worker, most int64, stopped func() bool) (flagged bool, err error) {
	if t := p.team; t != nil && w.Direct() {
		from := float64(teamFrom.Load())
		l.team.columns, l.team.parts = true, t.Workers()*batchParts
		l.team.parts = min(l.team.parts, f.points/launch.Lanes(), int(min(f.ops(most)/from, mostCarried)))
		if l.team.parts > 1 {
			alone := t.alone
			flagged, err = l.team.run(t, p.owner, &l.run, w, [2][2]int{{0, 1}, {0, f.points}}, false, stopped)
			t.alone = alone
			l.team.free()
			return flagged, err
		}
	}
	return w.Window(0, 1, 0, f.points, stopped)
}

// ops estimates the operations on elements of so many rounds.
func (f *batchForm) ops(rounds int64) float64 {
	return f.work() * float64(launch.Lanes()) * float64(rounds)
}

// Large reports whether a loop or branch in b has work for several workers: a stage, or all rounds of a
// loop whose rows are points. b has been planned by PlanStages.
func Large(b *op.Body) bool {
	for k := range b.Acts {
		if c := b.Acts[k].Def.Control; c != op.Select && c != op.Iterate {
			continue
		}
		times, known := b.Acts[k].Attrs.Get("times")
		if !known {
			times.I = -1
		}
		if planOf(b.Acts[k].Bodies[0]).batch.large(times.I) {
			return true
		}
		for _, in := range b.Acts[k].Bodies {
			if Large(in) {
				return true
			}
			if s := planOf(in).stages; s != nil {
				for h := range s.members {
					if s.ops(h) >= float64(teamFrom.Load()) || s.root[h] < 0 && dear(in, h) {
						return true
					}
				}
			}
		}
	}
	return false
}

// large reports whether the points of up to times rounds are work for several workers. times < 0 means
// that their number is unknown. large writes the nest if it is likely to be shared.
func (c *batchCode) large(times int64) bool {
	if times < 0 {
		times = longRounds
	}
	from := float64(batchFrom * teamFrom.Load())
	if c == nil || c.rows < 2*launch.Lanes() || c.apart*float64(launch.Lanes())*float64(times) < from {
		return false
	}
	f := c.form(batchKey{loop.FastLevels, true})
	return f.loop != nil && f.points > 1 && f.ops(times) >= from
}

// results returns the memory for the results of a call, and sets rows to views of it.
func (l *batch) results(args []value.Value, carried int, f *batchForm) []*value.Dense {
	if l.out[l.odd] == nil || l.made[l.odd][0].Rows != f.points {
		l.out[l.odd], l.made[l.odd] = nil, nil
		for _, v := range append(append([]value.Value{}, args[:carried]...), value.I64(0)) {
			t := v.Type()
			size := max(1, t.Count())
			if t.IsDense() && f.points > 1 && t.Rows == f.points {
				size = t.Cols
			}
			d := value.New(t.Elem, f.points, size)
			shaped := *d // what is no matrix of rows is the same in all points
			if t.IsDense() {
				shaped.Rows, shaped.Cols, shaped.Stride = t.Rows, t.Cols, t.Cols
			}
			l.out[l.odd], l.made[l.odd] = append(l.out[l.odd], &shaped), append(l.made[l.odd], d)
		}
	}
	l.rows = l.made[l.odd]
	if !f.made {
		l.rows = l.rows[:carried]
	}
	return l.out[l.odd]
}
