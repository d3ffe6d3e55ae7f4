package schedule

// This file moves work between ranks before a loop begins, by what its last execution took. Runs and
// simulations use it.

// Move is work that one rank gives another.
type Move struct {
	From, To int
	Work     float64 // seconds
}

// Moves returns what ranks give each other so that each has the mean of these totals, in seconds. Ranks
// with more than the mean give, in the order of ranks, to ranks with less. So each rank that knows the
// totals knows all moves, and no work moves twice.
func Moves(totals []float64) (list []Move) {
	mean := meanOf(totals)
	from, to, more, less := 0, 0, 0., 0.
	for {
		for ; more <= 0 && from < len(totals); from++ {
			more = totals[from] - mean
		}
		for ; less <= 0 && to < len(totals); to++ {
			less = mean - totals[to]
		}
		if more <= 0 || less <= 0 {
			return list
		}
		m := Move{from - 1, to - 1, min(more, less)}
		list = append(list, m)
		more, less = more-m.Work, less-m.Work
	}
}

func meanOf(x []float64) (mean float64) {
	for _, v := range x {
		mean += v / float64(len(x))
	}
	return mean
}

// Span is the bins From..Past-1.
type Span struct{ From, Past int }

// dearPart is the part of the mean work of a rank from which iterations do not move. COST runs them
// first at home. A rank runs given iterations in their order, so a long one would end late.
const dearPart = 128

// Parts chooses what a rank gives by its moves, from the end of its rows: for each move spans of bins
// that cost its work together, or a little less. costs has the seconds of each bin. A bin that costs
// more than is left of the work stays.
func Parts(gives []Move, mean float64, costs []float64) [][]Span {
	dear := max(mean/dearPart, 2*meanOf(costs))
	parts, taken := make([][]Span, len(gives)), make([]bool, len(costs))
	for k, m := range gives {
		left := m.Work
		for i := len(costs) - 1; i >= 0 && left > 0; i-- {
			if taken[i] || costs[i] > min(left, dear) {
				continue
			}
			taken[i] = true
			left -= costs[i]
			if n := len(parts[k]); n > 0 && parts[k][n-1].From == i+1 {
				parts[k][n-1].From = i
			} else {
				parts[k] = append(parts[k], Span{i, i + 1})
			}
		}
	}
	return parts
}

// Staying calls part with each part of iterations lo..hi-1 that is in none of n spans. span has the
// bounds of span k, in ascending order of k.
func Staying(lo, hi, n int, span func(k int) (lo, hi int), part func(lo, hi int)) {
	for k := 0; k <= n && lo < hi; k++ {
		from, past := hi, hi
		if k < n {
			from, past = span(k)
		}
		if end := min(hi, max(lo, from)); lo < end {
			part(lo, end)
		}
		lo = min(hi, max(lo, past))
	}
}
