package main

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"flow/figure"
	"flow/runtime/replay"
	"flow/runtime/schedule"
	"flow/runtime/trace"
	"flow/sweep"
)

// This file draws a sweep: times, chunk sizes and workers as figures, and an HTML report with all
// of them and its words: the verdict, the columns and the terms.

// draw writes the figures to FILE, FILE-chunks and FILE-workers.
func (w *sweeping) draw(file string, t *sweep.Table) error {
	ext := filepath.Ext(file)
	stem := strings.TrimSuffix(file, ext)
	if err := savePage(file, w.times(t)); err != nil {
		return err
	}
	if p := w.chunkSizes(); p != nil {
		if err := savePage(stem+"-chunks"+ext, p); err != nil {
			return err
		}
	}
	if p := w.timelines(); p != nil {
		return savePage(stem+"-workers"+ext, p)
	}
	return nil
}

// times draws the bars: techniques beside each other, a panel for each layout and victim, a colour
// for each number of threads.
func (w *sweeping) times(t *sweep.Table) *figure.Page {
	var names, groups, series []string
	add := func(list *[]string, name string) int {
		i := slices.Index(*list, name)
		if i < 0 {
			i = len(*list)
			*list = append(*list, name)
		}
		return i
	}
	for i := range t.Rows {
		r := &t.Rows[i]
		add(&names, label(r.Technique))
		add(&groups, r.Group())
		add(&series, count(r.Threads, "thread"))
	}
	panels := make([]figure.BarPanel, len(groups))
	for i := range panels {
		panels[i] = figure.BarPanel{Title: groups[i], Bars: make([][]figure.Bar, len(series)), Baseline: slices.Repeat([]float64{math.NaN()}, len(series))}
		for k := range series {
			panels[i].Bars[k] = slices.Repeat([]figure.Bar{figure.Missing}, len(names))
		}
	}
	for i := range t.Rows {
		r := &t.Rows[i]
		k := add(&series, count(r.Threads, "thread"))
		panels[add(&groups, r.Group())].Bars[k][add(&names, label(r.Technique))] = figure.Bar{Value: r.Time.Median, Low: r.Time.Low, High: r.Time.High}
		if r.Base {
			for p := range panels {
				panels[p].Baseline[k] = r.Time.Median
			}
		}
	}
	title := fmt.Sprintf("%s: median time of %d runs, intervals of %.1f %%; dashed: STATIC, %s", filepath.Base(w.name), t.Rounds, 100*t.Rows[0].Time.Coverage, w.first.Group())
	return figure.Bars(title, names, series, panels)
}

// label shortens a technique's name to fit.
func label(name string) string {
	const most = 24
	if r := []rune(name); len(r) > most {
		return string(r[:most-3]) + "..."
	}
	return name
}

// slowest returns the operator whose loops took most time under the baseline, as each technique
// executed it in the first layout on the most threads.
func (w *sweeping) slowest() (name string, list []observation, loops []*replay.Loop) {
	threads := 0
	for _, o := range w.observed {
		threads = max(threads, o.Threads)
	}
	var best *replay.Operator
	most := -1.0
	for _, o := range w.observed {
		if o.Technique == w.first.Technique && o.Group() == w.first.Group() && o.Threads == threads {
			for i := range o.account.Loops {
				if l := &o.account.Loops[i]; l.Sum.Time > most {
					best, most = l.Recorded(), l.Sum.Time
				}
			}
		}
	}
	if best == nil {
		return "", nil, nil
	}
	for _, o := range w.observed {
		if o.Group() != w.first.Group() || o.Threads != threads {
			continue
		}
		for i := range o.account.Loops {
			if l := &o.account.Loops[i]; l.Name == best.Name && l.Where == best.Where {
				list = append(list, o)
				loops = append(loops, l.Recorded().Longest())
				break
			}
		}
	}
	return place(best), list, loops
}

// chunkSizes draws the chunks that each technique handed out in the slowest loop, by start.
func (w *sweeping) chunkSizes() *figure.Page {
	name, list, loops := w.slowest()
	if len(loops) == 0 {
		return nil
	}
	var all []figure.Chunks
	for i, l := range loops {
		c := figure.Chunks{Title: label(list[i].Technique)}
		order := slices.Clone(l.Record.Chunks)
		slices.SortFunc(order, func(a, b trace.Chunk) int { return cmp.Compare(a.Start, b.Start) })
		for _, x := range order {
			size := int((x.Hi - x.Lo + l.Record.Leaf - 1) / l.Record.Leaf)
			if n := len(c.Runs); n > 0 && c.Runs[n-1].Size == size {
				c.Runs[n-1].Repeat++
			} else {
				c.Runs = append(c.Runs, figure.Run{Size: size, Repeat: 1})
			}
		}
		all = append(all, c)
	}
	return figure.Steps(fmt.Sprintf("%s: chunk sizes of %s in units of %s, %s", filepath.Base(w.name), name, count(int(loops[0].Record.Leaf), "iteration"), w.about(list)), all)
}

// timelines draws what each worker did in the slowest loop.
func (w *sweeping) timelines() *figure.Page {
	name, list, loops := w.slowest()
	if len(loops) == 0 {
		return nil
	}
	var all []figure.Timeline
	for i, l := range loops {
		r := l.Record
		at := func(ns int64) float64 { return float64(ns-r.Start) / 1e9 }
		t := figure.Timeline{Title: label(list[i].Technique), Workers: l.Workers, End: at(r.End)}
		for _, x := range r.Chunks {
			t.Spans = append(t.Spans, figure.Span{Worker: int(x.Worker), Asked: at(x.Asked), Start: at(x.Start), End: at(x.End), Stolen: x.Stolen})
		}
		all = append(all, t)
	}
	return figure.Timelines(fmt.Sprintf("%s: workers in %s, %s", filepath.Base(w.name), name, w.about(list)), all)
}

// about says which configs the figures of one loop show.
func (w *sweeping) about(list []observation) string {
	return fmt.Sprintf("%s, %s", w.first.Group(), count(list[0].Threads, "thread"))
}

//go:embed sweep.html
var sweepPage string

// html writes the report.
func (w *sweeping) html(out io.Writer, t *sweep.Table) error {
	page, err := template.New("sweep").Parse(sweepPage)
	if err != nil {
		return fmt.Errorf("BUG: %w", err)
	}
	type row struct {
		sweep.Row
		Layout, Time, Interval, Change, ChangeInterval, Mark string
		Width                                                float64 // of the bar, percent
		Baseline                                             bool
	}
	slowest := 0.0
	for i := range t.Rows {
		slowest = max(slowest, t.Rows[i].Time.Median)
	}
	var rows []row
	for _, r := range t.Sorted() {
		x := row{Row: r, Layout: r.Group(), Time: schedule.Seconds(r.Time.Median), Interval: schedule.Seconds(r.Time.Low) + " .. " + schedule.Seconds(r.Time.High), Baseline: r.Base}
		if !r.Base {
			x.Change, x.ChangeInterval = sweep.Percent(r.Change.Median), sweep.Percent(r.Change.Low)+" .. "+sweep.Percent(r.Change.High)
		}
		switch {
		case r.Faster():
			x.Mark = "faster"
		case r.Slower():
			x.Mark = "slower"
		}
		if slowest > 0 {
			x.Width = 100 * r.Time.Median / slowest
		}
		rows = append(rows, x)
	}
	var figures []template.HTML
	for _, p := range []*figure.Page{w.times(t), w.chunkSizes(), w.timelines()} {
		if p == nil {
			continue
		}
		var b bytes.Buffer
		if err := p.Write(&b, "svg"); err != nil {
			return err
		}
		// drawn by this program; its texts are escaped there
		figures = append(figures, template.HTML(figure.Themed(b.Bytes(), "figure of "+w.name)))
	}
	type param struct{ Name, Value string }
	var params []param
	for _, p := range w.program.Params() {
		params = append(params, param{p.Name, fmt.Sprint(p.Value)})
	}
	return page.Execute(out, map[string]any{
		"Name": w.name, "Rows": rows, "Figures": figures, "Legend": append(strings.Split(strings.TrimSpace(t.Legend()), "\n"), w.overridden()...), "Params": params,
		"Verdict": verdict(t), "Columns": sweepColumns(), "Terms": sweepTerms(), "Theme": template.CSS(figure.Theme),
		"Same": len(t.Outputs) == 1, "Runs": w.runs(t), "Date": time.Now().Format("2006-01-02 15:04"),
		"Machine": fmt.Sprintf("%s, %s/%s, %s", runtime.Version(), runtime.GOOS, runtime.GOARCH, count(runtime.NumCPU(), "processor")),
		"Version": buildVersion(),
	})
}

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
