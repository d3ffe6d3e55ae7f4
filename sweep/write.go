package sweep

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"flow/runtime/schedule"
)

// This file writes a Table: as text, and as CSV with a line for each run.

// WriteText writes the table for people, rows by time, and below it what the columns mean.
func (t *Table) WriteText(w io.Writer) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(tab, "technique\tlayout\tthreads\tmedian\tinterval\tchange\tinterval\t\t% ideal\tp.i. %\tchunks\t\n")
	for _, r := range t.Sorted() {
		change, of, mark := "baseline", "", ""
		if !r.Base {
			change, of = Percent(r.Change.Median), Percent(r.Change.Low)+" .. "+Percent(r.Change.High)
		}
		switch {
		case r.Faster():
			mark = "faster"
		case r.Slower():
			mark = "slower"
		}
		ideal, imbalance, chunks := "", "", ""
		if r.Seen != nil {
			ideal, imbalance, chunks = fmt.Sprintf("%.1f", r.Seen.Percent), fmt.Sprintf("%.1f", r.Seen.Imbalance), strconv.Itoa(r.Seen.Chunks)
		}
		fmt.Fprintf(tab, "%s\t%s\t%d\t%s\t%s .. %s\t%s\t%s\t%s\t%s\t%s\t%s\t\n", r.Technique, r.Group(), r.Threads,
			schedule.Seconds(r.Time.Median), schedule.Seconds(r.Time.Low), schedule.Seconds(r.Time.High), change, of, mark, ideal, imbalance, chunks)
	}
	if err := tab.Flush(); err != nil {
		return err
	}
	_, err := io.WriteString(w, t.Legend())
	return err
}

// Legend says how the figures were taken.
func (t *Table) Legend() string {
	var b strings.Builder
	e := t.Rows[0].Time
	fmt.Fprintf(&b, "median of %s in random order (seed %d) after %d of warm-up; ", count(t.Rounds, "round"), t.Seed, t.Warmup)
	if e.Coverage == 0 {
		fmt.Fprint(&b, "one run has no interval\n")
	} else {
		fmt.Fprintf(&b, "intervals between order statistics cover the median with %.1f %%\n", 100*e.Coverage)
	}
	if others := len(t.Rows) - 1; others > 0 && e.Coverage > 0 {
		fmt.Fprintf(&b, "changes are of runs in the same round; if nothing differed, about %.1f of %d would still be marked\n",
			float64(others)*(1-e.Coverage), others)
	}
	if t.Rows[0].Seen != nil {
		fmt.Fprint(&b, "% ideal, p.i. and chunks are of all loops of the fastest of three more runs each, which were observed\n")
	}
	if !t.Ended {
		fmt.Fprint(&b, "the sweep was ended early\n")
	}
	return b.String()
}

// WriteCSV writes a line for each run that counts, with a head line.
func (t *Table) WriteCSV(w io.Writer) error {
	c := csv.NewWriter(w)
	// the error is kept
	_ = c.Write([]string{"technique", "layout", "victim", "threads", "round", "seconds"})
	for _, r := range t.Rows {
		for k, s := range r.Seconds {
			_ = c.Write([]string{r.Technique, r.Layout, r.Victim, strconv.Itoa(r.Threads), strconv.Itoa(k + 1), strconv.FormatFloat(s, 'g', -1, 64)})
		}
	}
	c.Flush()
	return c.Error()
}

// Percent is a change with its sign.
func Percent(x float64) string { return fmt.Sprintf("%+.1f %%", 100*x) }

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
