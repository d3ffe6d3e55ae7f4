package replay

import (
	"cmp"
	"math"
	"slices"

	"flow/runtime/schedule"
	"flow/runtime/trace"
)

// This file makes loops with costs from recorded chunks.

// Loop is one execution of a loop. It caches bounds, so it is not safe for concurrent use.
type Loop struct {
	Costs    *schedule.Trace // seconds of each unit at speed 1
	MinChunk int             // units; 0: nobody said
	Workers  int
	Start    int64 // nanoseconds on the clock of the recording
	Record   *trace.LoopRecord
	executed schedule.Outcome
	known    struct { // see ideal
		p     int
		ideal schedule.Ideal
	}
}

// Operator is the executions of one operator in order.
type Operator struct {
	Name      string // of the row
	Where     string // file:line:column, "" if unknown
	Rank      int
	Technique string // of the last execution
	Loops     []Loop
}

// The resolution of loops: units beyond these numbers are merged. That moves a bound by at most one
// part in minUnits of the loop.
const (
	maxUnits = 1 << 20 // of a loop
	minUnits = 1 << 10
)

// Fine and Quick are budgets for FromRecords: a few seconds for all analyses of the loops, or some
// tenths of one.
const (
	Fine  = 1 << 24
	Quick = 1 << 19
)

// FromRecords groups the loops of a rank by operator. It omits executions that failed or have no
// iterations. Records are read and kept. All loops together get about budget units, and each at
// least minUnits if it has as many.
func FromRecords(rank int, records []trace.LoopRecord, budget int) []Operator {
	most := int64(min(max(budget/max(len(records), 1), minUnits), maxUnits))
	type key struct{ op, where string }
	at := map[key]int{}
	var out []Operator
	for i := range records {
		r := &records[i]
		if r.Failed || r.N == 0 || len(r.Chunks) == 0 {
			continue
		}
		k := key{r.Op, r.Where}
		o, ok := at[k]
		if !ok {
			o = len(out)
			at[k] = o
			out = append(out, Operator{Name: r.Op, Where: r.Where, Rank: rank})
		}
		out[o].Loops = append(out[o].Loops, loopOf(r, most))
		out[o].Technique = r.Technique
	}
	for i := range out {
		slices.SortStableFunc(out[i].Loops, func(a, b Loop) int { return cmp.Compare(a.Start, b.Start) })
	}
	slices.SortStableFunc(out, func(a, b Operator) int { return cmp.Compare(a.Loops[0].Start, b.Loops[0].Start) })
	return out
}

// loopOf spreads the chunks over units and adds up what was executed.
func loopOf(r *trace.LoopRecord, most int64) Loop {
	leaf := r.Leaf
	if units := r.Units(); units > most {
		leaf *= (units + most - 1) / most
	}
	l := Loop{MinChunk: int(max(min(r.MinChunk, 1), r.MinChunk*r.Leaf/leaf)), Workers: int(r.Workers), Start: r.Start, Record: r}
	costs := make([]float64, (r.N+leaf-1)/leaf)
	o := schedule.Outcome{Makespan: seconds(r.End - r.Start), Chunks: len(r.Chunks), Finish: make([]float64, r.Workers)}
	for i := range r.Chunks {
		c := &r.Chunks[i]
		t := seconds(c.End - c.Start)
		if c.Worker != trace.Elsewhere {
			o.Busy += t
			o.Sched += seconds(c.Start - c.Asked)
			o.Finish[c.Worker] = max(o.Finish[c.Worker], seconds(c.End-r.Start))
		}
		each := t / float64(c.Hi-c.Lo)
		for lo := c.Lo; lo < c.Hi; {
			hi := min(c.Hi, (lo/leaf+1)*leaf)
			costs[lo/leaf] += each * float64(hi-lo)
			lo = hi
		}
	}
	for _, f := range o.Finish {
		if f > 0 { // a worker that never came was elsewhere
			o.Idle += max(0, o.Makespan-f)
		}
	}
	l.executed = o
	l.Costs = schedule.NewTrace(costs)
	return l
}

func seconds(ns int64) float64 { return float64(ns) / 1e9 }

// Account returns where the time of one execution went, against the ideal on its workers.
func (l *Loop) Account() schedule.Account {
	return l.ideal(schedule.Machine{P: l.Workers}).Account(l.executed)
}

// Account returns the sum over the executions.
func (o *Operator) Account() schedule.Account {
	var a schedule.Account
	for i := range o.Loops {
		a = a.Plus(o.Loops[i].Account())
	}
	return a
}

// Together returns the account of a loop that ranks share, from the parts of all ranks. Any rank may
// have run iterations of another one, so only the sum over ranks is compared with the ideal. The
// account has no finish times. ok is false if ranks ran the loop a different number of times. parts is
// not empty.
func Together(parts []*Operator) (a schedule.Account, ok bool) {
	for k := range parts[0].Loops {
		var costs []float64
		var o schedule.Outcome
		for _, x := range parts {
			if len(x.Loops) != len(parts[0].Loops) {
				return a, false
			}
			l := &x.Loops[k]
			costs = append(costs, l.Costs.Costs()...)
			o.Makespan, o.Sched, o.Chunks = max(o.Makespan, l.executed.Makespan), o.Sched+l.executed.Sched, o.Chunks+l.executed.Chunks
			o.Finish = append(o.Finish, make([]float64, l.Workers)...)
		}
		work := schedule.NewTrace(costs)
		o.Busy = work.Total()
		o.Idle = max(0, o.Makespan*float64(len(o.Finish))-o.Busy-o.Sched)
		a = a.Plus(schedule.NewIdeal(work, schedule.Machine{P: len(o.Finish)}).Account(o))
	}
	return a, true
}

// Claiming returns the mean seconds of claiming a chunk, or 0.
func Claiming(operators []Operator) float64 {
	sum, chunks := 0.0, 0
	for i := range operators {
		for k := range operators[i].Loops {
			o := &operators[i].Loops[k].executed
			sum += o.Sched
			chunks += o.Chunks
		}
	}
	return sum / float64(max(chunks, 1))
}

// Overlap reports whether executions ran at the same time: the sum of their times then exceeds wall
// time.
func (o *Operator) Overlap() bool {
	end := int64(math.MinInt64)
	for i := range o.Loops {
		if r := o.Loops[i].Record; r != nil {
			if r.Start < end {
				return true
			}
			end = r.End
		}
	}
	return false
}

// Longest returns the execution that took most time.
func (o *Operator) Longest() *Loop {
	best := &o.Loops[0]
	for i := range o.Loops {
		if o.Loops[i].executed.Makespan > best.executed.Makespan {
			best = &o.Loops[i]
		}
	}
	return best
}

// Units returns the number of units of all executions.
func (o *Operator) Units() int {
	n := 0
	for i := range o.Loops {
		n += len(o.Loops[i].Costs.Costs())
	}
	return n
}

// Largest returns the cost of the largest unit in seconds.
func (l *Loop) Largest() float64 { return slices.Max(l.Costs.Costs()) }
