package sweep

// This file decides whether the schedule with the smallest median is shown to be the fastest.

// leastCoverage is the coverage from which on intervals distinguish schedules: five rounds have
// 93.75 %.
const leastCoverage = 0.9

// Rivals returns the rows that the measurements do not distinguish from Best: the interval of their
// time relative to Best's in the same round is not above 0. told is false if there are too few
// rounds. Best has the smallest of many medians partly by luck, so it is shown to be the fastest
// only without rivals.
func (t *Table) Rivals() (rivals []*Row, told bool) {
	best := t.Best()
	if best.Time.Coverage < leastCoverage {
		return nil, false
	}
	for i := range t.Rows {
		r := &t.Rows[i]
		if r == best {
			continue
		}
		ratio := make([]float64, len(r.Seconds))
		for k := range ratio {
			ratio[k] = r.Seconds[k]/best.Seconds[k] - 1
		}
		if !(Estimated(ratio, level).Low > 0) {
			rivals = append(rivals, r)
		}
	}
	return rivals, true
}
