package nest

// This file makes many rounds of a loop in one call. The loop is a nest of one point: its operands are the carried
// values, the others that the body reads, and a bound of the rounds; its results are the carried values after these
// rounds. A call whose check fails has made none. Shorter calls find the round, which an interpreter makes. It says
// what failed, or goes on: some checks only mean that a sum needs more words.

import (
	"slices"
	"sync/atomic"
	"time"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/loop/launch"
)

const (
	// mostHeld is the most elements of a matrix for a nest of one point, which computes an element at a time.
	// Larger ones are worth loops over their elements.
	mostHeld = 64
	// firstRounds is how many rounds the first call makes. A call that takes less than leapTime is followed by one
	// of more rounds, so that progress can be told.
	firstRounds = 256
	leapTime    = 50 * time.Millisecond
)

// leapCode is a loop as nests of one point, which are written when they are first needed. It is safe for concurrent
// use.
type leapCode struct {
	a     *op.Action
	known []writer // see Stages
	work  int64    // of a round
	seen  atomic.Int64
	forms define.Made[int, *leapForm] // by words of exact sums
}

// leapForm is the nest in one form.
type leapForm struct {
	loop     *launch.Loop // nil: there is none
	operands []Operand
	why      string
	made     bool // the results end with the number of rounds made
	times    *roundCount
}

// form returns the nest with sums of so many words.
func (c *leapCode) form(words int) *leapForm {
	return c.forms.Of(words, func() *leapForm {
		f := &leapForm{}
		f.why, _ = Written(func() { f.loop = LoopOf(f.write(c.a, c.known, words)) })
		return f
	})
}

// write writes loop a. Operand registers are those of the loop's body, and the one behind them is the
// bound of the rounds. Result i is a row of all elements of carried value i.
func (f *leapForm) write(a *op.Action, known []writer, words int) *loop.Nest {
	// Subscripts are checked: what is in registers or in the loop's own memory, no launch proves.
	x := NewBuilder(Form{Words: words})
	in := make([]Ref, len(a.Args))
	for i := range in {
		if known[i] != nil {
			in[i] = known[i](x)
		} else {
			in[i] = x.Outer(a.Bodies[0], i)
		}
	}
	most := loop.Of(loop.ParamSym, x.param(types.ScalarOf(types.I64), Operand{Register: len(a.Args)}))
	out, made, left := x.iterated(a, in, make([]*MemoMap, 2), &most)
	f.made, f.times = made != loop.NoVal, left
	if f.made {
		out = append(out, Ref{Type: types.ScalarOf(types.I64), Val: made})
	}
	for _, y := range out {
		if y.Parts != nil || !isNumber(y.Type) && !holdable(y.Type) {
			panic(NoBody{Why: "a result of " + y.Type.String()})
		}
		x.keepRow(y, loop.Num(0), loop.Num(1))
	}
	f.operands = x.Operands
	return loop.Merge(x.Done())
}

// leapOf returns loop a as such a nest; nil: it is run by stages, or one action after the other. known is of its
// operands.
func leapOf(a *op.Action, known []writer) *leapCode {
	for _, in := range a.Bodies {
		if !fewNumbers(in) {
			return nil
		}
	}
	if apart(a) {
		return nil
	}
	return &leapCode{a: a, known: known, work: max(1, int64(ActionsOf(a.Bodies[0])))}
}

// begin returns what makes rounds for an interpreter.
func (c *leapCode) begin() *leap {
	if c == nil {
		return nil
	}
	return &leap{leapCode: c, words: loop.FastLevels, most: firstRounds}
}

// fewNumbers reports whether all matrices that a body makes are small, except ramps (op.Def.Ramp).
func fewNumbers(b *op.Body) bool {
	ramps := Ramps(b)
	for k := range b.Acts {
		a := &b.Acts[k]
		if a.Type.IsDense() && a.Type.Count() > mostHeld && !ramps[k] || slices.ContainsFunc(a.Bodies, func(in *op.Body) bool { return !fewNumbers(in) }) {
			return false
		}
	}
	return true
}

// leap makes rounds of one loop for one interpreter.
type leap struct {
	*leapCode
	words  int   // of exact sums
	most   int64 // rounds of the next call
	failed int   // calls of one round that failed, one after the other
	none   bool
	run    launch.Run
	in     []value.Value
	out    [2][]*value.Dense // results of even and odd calls, whose operands are those of the other ones
	rows   []*value.Dense    // views of them
	odd    int
}

// worthwhile reports whether the next rounds are worth a compilation: if from actions will be run, or a tenth of these
// where their number is not known (left is negative) and has been run.
func (l *leap) worthwhile(left, from int64) bool {
	if left < 0 {
		return 10*l.seen.Add(l.work) >= from
	}
	return left >= from/l.work
}

// rounds makes rounds: up to left, or any number if left is negative. args are the values that the body reads, and it
// sets the carried ones. n is how many rounds it has made. ended: there are no more. Else the caller makes one. It
// fails with op.ErrStopped.
func (l *leap) rounds(args []value.Value, carried int, left int64, c *op.Call) (n int64, ended bool, err error) {
	told := left >= 0
	for !l.none {
		f := l.form(l.words)
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
			return n, !told, nil
		}
		most := l.most
		if left > 0 {
			most = min(most, left)
		}
		begun := time.Now()
		done, err := l.call(f, args, carried, most, c)
		switch {
		case err == op.ErrStopped:
			return n, false, err
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
			return n, !told, nil
		}
		if time.Since(begun) < leapTime {
			l.most = min(4*max(l.most, 1), mostRounds)
		}
		if c.Rounds != nil {
			c.Rounds.Begun.Add(done)
		}
	}
	return n, false, nil
}

// mostRounds is the most rounds of a call.
const mostRounds = 1 << 40

// operands sets the operands of the nest.
func (l *leap) operands(f *leapForm, args []value.Value) {
	l.in = l.in[:0]
	for _, o := range f.operands {
		if o.Register == len(args) {
			l.in = append(l.in, nil) // the bound, see call
		} else {
			l.in = append(l.in, args[o.Register])
		}
	}
}

// call makes up to most rounds and sets the carried values of args. It returns the number of rounds made, or -1 if a
// check has failed. It fails with op.ErrStopped, or if there is no loop for these operands.
func (l *leap) call(f *leapForm, args []value.Value, carried int, most int64, c *op.Call) (done int64, err error) {
	for i, o := range f.operands {
		if o.Register == len(args) {
			l.in[i] = value.I64(most)
		}
	}
	l.odd ^= 1
	out := l.results(args, carried, f)
	if err := f.loop.Bind(&l.run, l.in, l.rows); err != nil {
		return 0, err
	}
	w := l.run.Worker()
	flagged, err := w.Window(0, 1, 0, 1, c.Stopped)
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

// results returns the memory for the results of a call, and sets rows.
func (l *leap) results(args []value.Value, carried int, f *leapForm) []*value.Dense {
	if l.out[l.odd] == nil {
		for _, v := range args[:carried] {
			t := v.Type()
			d := value.New(t.Elem, 1, max(1, t.Rows)*max(1, t.Cols))
			if t.IsDense() {
				d.Rows, d.Cols, d.Stride = t.Rows, t.Cols, t.Cols
			}
			l.out[l.odd] = append(l.out[l.odd], d)
		}
		l.out[l.odd] = append(l.out[l.odd], value.New(types.I64, 1, 1))
	}
	l.rows = l.rows[:0]
	for _, d := range l.out[l.odd] {
		row := *d
		row.Rows, row.Cols, row.Stride = 1, d.Rows*d.Cols, d.Rows*d.Cols
		l.rows = append(l.rows, &row)
	}
	if !f.made {
		l.rows = l.rows[:carried]
	}
	return l.out[l.odd]
}
