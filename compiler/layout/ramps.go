package layout

import (
	"flow/ir/loop"
	"flow/ir/plan"
)

// This file calculates with subscripts that are ramps of an index.

// everyRow is the value of ramp.within without bounds.
var everyRow plan.Range

// mostRamps bounds the parts of a subscript.
const mostRamps = 16

// farRow is beyond the rows of every matrix. Ramps that go further are not followed, so no subscript
// that is followed overflows.
const farRow = 1 << 40

// ramp is the values by*i + c + times*s for i in from..to-1. by is not negative. s is an integer that
// only the run knows, the same for all i: number of - 1 of the loop's operands or of the graph's nodes.
// of is 0 if there is no s. If per is above 1, the values are divided by it and rounded down.
//
// A counter of a loop in the body has other values in other rounds, and so has another index of the
// loop. If more is above 0, by*i + c may be greater by up to more. With per or more there is no s.
//
// Values with an s may change once more. If within is not everyRow, those outside become its nearest
// value. If around is above 0, they become their remainders by it, which are not negative.
type ramp struct {
	from, to, by, c, of, times int
	per, around, more          int
	within                     plan.Range
}

// ramped returns a list of one ramp, or an empty one if it descends or goes beyond farRow.
func ramped(r ramp) []ramp {
	if r.by < 0 || r.by > farRow/max(1, r.to) || r.c < -farRow || r.c > farRow || r.more > farRow || r.per > 1<<20 {
		return nil
	}
	return []ramp{r}
}

// fromEnd adds n to subscripts below 0, which count from the end of an axis of length n.
func fromEnd(at []ramp, n int) []ramp {
	return eachRamp(at, func(r ramp) []ramp {
		below, rest := r.below(0)
		if below.from < below.to {
			if r.more > 0 { // some may count from the end
				return nil
			}
			below.c += n * max(1, r.per)
			if rest.from < rest.to {
				return []ramp{below, rest}
			}
			return []ramp{below}
		}
		return []ramp{rest}
	})
}

// below cuts a ramp into the values below x and the rest.
func (r ramp) below(x int) (low, rest ramp) {
	low, rest = r, r
	x *= max(1, r.per)
	at := r.from
	switch {
	case r.by == 0 && r.c < x:
		at = r.to
	case r.by > 0: // the first i with by*i + c >= x
		at = min(max((x-r.c+r.by-1)/r.by, r.from), r.to) // no range begins below 0, so rounding towards 0 is fine
	}
	low.to, rest.from = at, at
	return low, rest
}

// eachRamp replaces every ramp of a list by those that f returns. The result is empty if f returns none
// for one of them, or if it has more than mostRamps.
func eachRamp(at []ramp, f func(r ramp) []ramp) (out []ramp) {
	for _, r := range at {
		x := f(r)
		if out = append(out, x...); len(x) == 0 || len(out) > mostRamps {
			return nil
		}
	}
	return out
}

// paired applies an operation to two numbers, range by range.
func paired(code loop.Code, a, b []ramp) (out []ramp) {
	for at := 0; len(a) > 0 && len(b) > 0; {
		x, y := a[0], b[0]
		end := min(x.to, y.to)
		x.from, y.from, x.to, y.to = at, at, end, end
		z := applied(code, x, y)
		if out = append(out, z...); len(z) == 0 || len(out) > mostRamps {
			return nil
		}
		if at = end; a[0].to == end {
			a = a[1:]
		}
		if b[0].to == end {
			b = b[1:]
		}
	}
	return out
}

// applied applies an operation to two ramps on the same range.
func applied(code loop.Code, x, y ramp) []ramp {
	of := max(x.of, y.of)
	if code == loop.Max && x.of == 0 && of > 0 || code == loop.Min && x.of == 0 && of > 0 {
		x, y = y, x
	}
	switch bound := y.of+y.by == 0; {
	case x.around+y.around > 0: // nothing follows
		return nil
	case x.per+y.per > 0:
		return x.quotient(code, y)
	case x.more+y.more > 0:
		return x.uncertain(code, y)
	case of > 0 && bound && (code == loop.Max || code == loop.Min):
		return x.bounded(code == loop.Max, y.c)
	case x.within != everyRow || y.within != everyRow:
		return nil
	case of > 0 && bound && code == loop.Mod && y.c > 0:
		x.around = y.c
		return []ramp{x}
	}
	if of > 0 && (x.of+y.of != of && (x.of != y.of || code == loop.Mul) || code != loop.Add && code != loop.Sub && code != loop.Mul) {
		return nil
	}
	switch code {
	case loop.Add:
		return ramped(ramp{from: x.from, to: x.to, by: x.by + y.by, c: x.c + y.c, of: of, times: x.times + y.times})
	case loop.Sub:
		return ramped(ramp{from: x.from, to: x.to, by: x.by - y.by, c: x.c - y.c, of: of, times: x.times - y.times})
	case loop.Mul:
		if x.by > 0 && y.by+y.of > 0 || y.by > 0 && x.of > 0 || max(x.by, x.c, -x.c) > 1<<20 || max(y.by, y.c, -y.c) > 1<<20 {
			return nil
		}
		return ramped(ramp{from: x.from, to: x.to, by: x.by*y.c + y.by*x.c, c: x.c * y.c, of: of, times: x.times*y.c + y.times*x.c})
	case loop.IDiv:
		if of > 0 || y.by != 0 || y.c < 1 || y.c > 1<<20 {
			return nil
		}
		x.per = y.c
		return ramped(x)
	case loop.Min, loop.Max:
		if x.by == 0 {
			x, y = y, x
		}
		if y.by != 0 {
			return nil
		}
		low, high := x.below(y.c)
		if code == loop.Min {
			high.by, high.c = 0, y.c
		} else {
			low.by, low.c = 0, y.c
		}
		return filledRamps(low, high)
	case loop.Mod:
		if y.by != 0 || y.c <= 0 {
			return nil
		}
		return x.modulo(y.c)
	}
	return nil
}

// quotient is applied if one of the ramps is divided. Neither has an s.
func (r ramp) quotient(code loop.Code, y ramp) []ramp {
	if r.per == 0 && code != loop.Sub && code != loop.IDiv && code != loop.Mod {
		r, y = y, r
	}
	switch per := r.per; {
	case r.of+y.of > 0 || r.within != everyRow || y.within != everyRow || r.per > 0 && y.per > 0:
	case r.per == 0 && code == loop.Sub: // a - b//p is (p*a - b + p - 1)//p
		per = y.per
		return ramped(ramp{from: r.from, to: r.to, by: per*r.by - y.by, c: per*r.c - y.c - y.more + per - 1, more: per*r.more + y.more, per: per})
	case r.per == 0:
	case code == loop.Add:
		r.by, r.c, r.more = r.by+per*y.by, r.c+per*y.c, r.more+per*y.more
		return ramped(r)
	case code == loop.Sub:
		r.by, r.c, r.more = r.by-per*y.by, r.c-per*(y.c+y.more), r.more+per*y.more
		return ramped(r)
	case y.by+y.more != 0: // what follows has a constant
	case (code == loop.Min || code == loop.Max) && r.more == 0:
		low, high := r.below(y.c)
		if code == loop.Min {
			high.by, high.c, high.per = 0, y.c, 0
		} else {
			low.by, low.c, low.per = 0, y.c, 0
		}
		return filledRamps(low, high)
	case y.c < 1 || y.c > 1<<20:
	case code == loop.IDiv:
		r.per *= y.c
		return ramped(r)
	case code == loop.Mod:
		return r.modulo(y.c)
	case code == loop.Mul && r.by*r.from+r.c >= 0: // the first quotient is 0, so the ramp would begin below it
		low, high := r.below(1)
		low = ramp{from: low.from, to: low.to, more: (per - 1 + r.more) / per * y.c}
		high.by, high.c, high.more = r.by*y.c, (r.c-per+1)*y.c, (r.more+per-1)*y.c
		if high.from < high.to && ramped(high) == nil {
			return nil
		}
		return filledRamps(low, high)
	}
	return nil
}

// uncertain is applied if one of the ramps has several values for an index.
func (r ramp) uncertain(code loop.Code, y ramp) []ramp {
	switch {
	case r.of+y.of > 0 || r.within != everyRow || y.within != everyRow:
	case code == loop.Add:
		return ramped(ramp{from: r.from, to: r.to, by: r.by + y.by, c: r.c + y.c, more: r.more + y.more})
	case code == loop.Sub:
		return ramped(ramp{from: r.from, to: r.to, by: r.by - y.by, c: r.c - y.c - y.more, more: r.more + y.more})
	case y.by+y.more != 0 || y.c < 1 || y.c > 1<<20: // what follows has a constant
	case code == loop.Mul && max(r.by, r.more) < 1<<20:
		return ramped(ramp{from: r.from, to: r.to, by: r.by * y.c, c: r.c * y.c, more: r.more * y.c})
	case code == loop.IDiv && r.by == 0:
		least := int(loop.FloorDiv(int64(r.c), int64(y.c)))
		return ramped(ramp{from: r.from, to: r.to, c: least, more: int(loop.FloorDiv(int64(r.c+r.more), int64(y.c))) - least})
	case code == loop.IDiv:
		r.per = y.c
		return ramped(r)
	case code == loop.Mod:
		return r.modulo(y.c)
	}
	return nil
}

// bounded returns the ramp whose values are max(r, c) if least is set, else min(r, c). r has an s.
func (r ramp) bounded(least bool, c int) []ramp {
	if r.within == everyRow {
		r.within = plan.Range{From: -farRow, To: farRow}
	}
	if least {
		r.within.From = max(r.within.From, c)
	} else {
		r.within.To = min(r.within.To, c+1)
	}
	if r.within.From >= r.within.To {
		return nil
	}
	return []ramp{r}
}

// filledRamps returns those of two ramps whose ranges are not empty.
func filledRamps(a, b ramp) (out []ramp) {
	for _, r := range []ramp{a, b} {
		if r.from < r.to {
			out = append(out, r)
		}
	}
	return out
}

// modulo returns the remainder of each value by n. It is never negative. If the ramp comes to its begin
// too often, it returns all remainders for each value.
func (r ramp) modulo(n int) (out []ramp) {
	any := ramp{from: r.from, to: r.to, more: n - 1}
	if r.more > 0 {
		return ramped(any)
	}
	for r.from < r.to {
		per := max(1, r.per)
		period := int(loop.FloorDiv(int64(r.by*r.from+r.c), int64(n*per)))
		part, rest := r.below((period + 1) * n)
		part.c -= period * n * per
		if out = append(out, part); len(out) > mostRamps {
			return ramped(any)
		}
		r = rest
	}
	return out
}
