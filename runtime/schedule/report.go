package schedule

import (
	"fmt"
	"strings"
)

// This file defines Account, the report on a finished loop: where its time went, and how near to
// the ideal it came.

// Account is one execution of a loop, or several in sequence, real or simulated. Times are seconds.
//
// P * Time = Busy + Sched + Idle + Other for P workers. Other occurs in real executions only:
// workers that came late or were busy elsewhere, and time between chunks.
type Account struct {
	Executions               int
	Workers                  int // the most of any execution
	Time                     float64
	Busy, Sched, Idle, Other float64
	Chunks                   int
	// of finish times; the mean over executions, weighted by their time
	Imbalance, COV             float64
	Area, Largest              float64
	Bound, LPT, BestBlock      float64 // Bound is the sum of the larger bound of each execution
	boundByArea, workerSeconds float64
}

// Account compares one execution with the ideal of the same costs. Idle is taken from the
// execution; the rest of P * T is Other.
func (i Ideal) Account(o Outcome) Account {
	bound, which := i.Bound()
	p := float64(len(o.Finish))
	a := Account{Executions: 1, Workers: len(o.Finish), Time: o.Makespan, Busy: o.Busy, Sched: o.Sched, Idle: o.Idle, Chunks: o.Chunks,
		Imbalance: Imbalance(o.Finish), COV: COV(o.Finish), Area: i.Area, Largest: i.Largest, Bound: bound, LPT: i.LPT, BestBlock: i.BestBlock,
		workerSeconds: p * o.Makespan}
	a.Other = max(0, a.workerSeconds-o.Busy-o.Sched-o.Idle)
	if which == areaBound {
		a.boundByArea = bound
	}
	return a
}

// Plus returns both accounts in sequence with a barrier between. The bounds add up: the ideal with
// barriers.
func (a Account) Plus(b Account) Account {
	mean := func(x, y float64) float64 {
		if a.Time+b.Time <= 0 {
			return max(x, y)
		}
		return (x*a.Time + y*b.Time) / (a.Time + b.Time)
	}
	return Account{Executions: a.Executions + b.Executions, Workers: max(a.Workers, b.Workers), Time: a.Time + b.Time,
		Busy: a.Busy + b.Busy, Sched: a.Sched + b.Sched, Idle: a.Idle + b.Idle, Other: a.Other + b.Other, Chunks: a.Chunks + b.Chunks,
		Imbalance: mean(a.Imbalance, b.Imbalance), COV: mean(a.COV, b.COV),
		Area: a.Area + b.Area, Largest: a.Largest + b.Largest, Bound: a.Bound + b.Bound, LPT: a.LPT + b.LPT, BestBlock: a.BestBlock + b.BestBlock,
		boundByArea: a.boundByArea + b.boundByArea, workerSeconds: a.workerSeconds + b.workerSeconds}
}

// Binds names the bound that is the larger one for most of the time.
func (a Account) Binds() string {
	if a.boundByArea*2 >= a.Bound {
		return areaBound
	}
	return largestJob
}

// Percent returns the percent of ideal, 100 Bound/Time.
func (a Account) Percent() float64 {
	if a.Time <= 0 {
		return 100
	}
	return 100 * a.Bound / a.Time
}

// Share returns t as a percentage of all workers' time.
func (a Account) Share(t float64) float64 {
	if a.workerSeconds <= 0 {
		return 0
	}
	return 100 * t / a.workerSeconds
}

// Text returns two lines on the account. more is added to the first line, such as the oracle.
func (a Account) Text(more ...string) string {
	parts := append([]string{fmt.Sprintf("T %s | ideal %s (%s) -> %.1f %% of ideal | LPT %s | best block %s",
		Seconds(a.Time), Seconds(a.Bound), a.Binds(), a.Percent(), Seconds(a.LPT), Seconds(a.BestBlock))}, more...)
	return strings.Join(parts, " | ") + fmt.Sprintf("\nbusy %.1f %%  scheduling %.1f %%  idle %.1f %%  other %.1f %% | p.i. %.1f %%  c.o.v. %.3f | %d chunks\n",
		a.Share(a.Busy), a.Share(a.Sched), a.Share(a.Idle), a.Share(a.Other), a.Imbalance, a.COV, a.Chunks)
}

// Seconds formats a time with four digits in its unit.
func Seconds(t float64) string {
	switch {
	case t >= 1 || t <= 0:
		return fmt.Sprintf("%.4g s", t)
	case t >= 1e-3:
		return fmt.Sprintf("%.4g ms", t*1e3)
	case t >= 1e-6:
		return fmt.Sprintf("%.4g us", t*1e6)
	}
	return fmt.Sprintf("%.4g ns", t*1e9)
}
