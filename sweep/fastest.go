package sweep

// This file says whether the schedule with the smallest median is shown to be the fastest.

// leastCoverage is the coverage from which on intervals tell schedules apart: five rounds have 93.75 %.
const leastCoverage = 0.9

// Rivals are the rows that the measurements do not tell apart from Best: the interval of the change of their time against
// Best's in the same round does not lie above 0. Where told is false there are too few rounds for any such statement. Best has
// the smallest of many medians by luck too, so it is shown to be the fastest only if it has no rival.
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
