package main

import (
	"fmt"
	"strings"

	"flow/runtime/schedule"
	"flow/sweep"
)

// This file defines the words of a sweep's page: the verdict, its columns and its terms.

// column is a column of the table, or a term, and its meaning.
type column struct {
	Name, Means string
	Left        bool // its cells are words
}

// sweepColumns are the columns of the page's table, in order.
func sweepColumns() []column {
	return []column{
		{"technique", "How a loop is cut into chunks, and when each chunk is handed to a worker. `flowrun chunks` lists the techniques, `flowrun chunks NAME` shows the chunks of one.", true},
		{"layout", "Where chunks wait: CENTRALIZED is one queue for all workers, PERGROUP one a memory domain, PERCPU one a worker. After it stands the order in which a worker without chunks looks into the queues of others.", true},
		{"threads", "Workers that share the loops.", false},
		{"", "", false},
		{"median", "Wall time of the whole program: half of the runs took less. Below it is an interval that covers the true median with the probability given under the table.", false},
		{"change", "Median of the time against the baseline of the same round, minus 1; below it is its interval. It is marked faster or slower where the whole interval lies on one side of 0.", false},
		{"% of ideal", "The ideal time of all loops over the time that they took. The ideal is the larger of the work divided by the workers and the largest single iteration: no schedule is faster.", false},
		{"bound by", "What the ideal follows from: the work divided by the workers (area) or the largest iteration.", true},
		{"scheduling %", "Share of the workers' time in loops in which they asked for chunks.", false},
		{"idle %", "Share of the workers' time in loops in which they waited for others to finish.", false},
		{"imbalance %", "Percent imbalance (p.i.) of the workers' finish times, (1 - mean / last) P / (P - 1): 0 where all finish together, 100 where one of P works alone.", false},
		{"variation", "Coefficient of variation (c.o.v.) of the workers' finish times: standard deviation over mean. 0 means that all finished together.", false},
		{"chunks", "How many chunks were handed out in all loops.", false},
	}
}

// sweepTerms are words of the page that are no columns.
func sweepTerms() []column {
	return []column{
		{Name: "round", Means: "One run of every schedule, in an order drawn anew each time, so that what disturbs the machine for a while disturbs all of them."},
		{Name: "baseline", Means: "STATIC with the same threads in the first layout: every worker gets one chunk of equal length."},
		{Name: "chunk", Means: "Consecutive iterations that one worker takes at once."},
		{Name: "steal", Means: "A worker takes a chunk from another worker's queue. Stolen chunks have a colour of their own in the figure of the workers."},
		{Name: "observed run", Means: "A run more that records every chunk. The columns from % of ideal on and the figures of chunks and workers are of such runs; the times are not."},
	}
}

// verdict says which schedule is the fastest, if the intervals show it.
func verdict(t *sweep.Table) string {
	best := t.Best()
	name := func(r *sweep.Row) string {
		return fmt.Sprintf("%s (%s, %s)", r.Technique, r.Group(), count(r.Threads, "thread"))
	}
	time := schedule.Seconds(best.Time.Median)
	rivals, told := t.Rivals()
	switch {
	case len(t.Rows) == 1:
		return fmt.Sprintf("One schedule was measured: %s, median %s.", name(best), time)
	case !told:
		return fmt.Sprintf("The smallest median is that of %s: %s. Which schedule is the fastest is not shown: intervals need at least five rounds (--repeat 5), and this has %d.",
			name(best), time, t.Rounds)
	case len(rivals) == 0:
		return fmt.Sprintf("Fastest: %s, median %s. Against each of the other %d the whole interval of the change lies on its side.", name(best), time, len(t.Rows)-1)
	}
	const most = 5
	var names []string
	for _, r := range rivals[:min(most, len(rivals))] {
		names = append(names, name(r))
	}
	list := strings.Join(names, ", ")
	if more := len(rivals) - most; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("No schedule is shown to be the fastest. The smallest median is that of %s: %s; by the intervals these are not told apart from it: %s.", name(best), time, list)
}
