package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/urfave/cli/v2"

	"flow/figure"
	"flow/runtime/replay"
	"flow/runtime/schedule"
)

// This file defines `flowrun simulate --ranks`: loops in virtual time on ranks that exchange messages.

// spreadSimulation is simulate on ranks.
type spreadSimulation struct {
	*simulation
	ranks, threads []int
	delays         []float64
	counter        bool
}

// ranked is a result. Its fields are those of the table, the JSON and the CSV.
type ranked struct {
	Technique  string  `json:"technique"`
	Ranks      int     `json:"ranks"`
	Threads    int     `json:"threads"`
	Delay      float64 `json:"delay_seconds"`
	Seconds    float64 `json:"seconds"`
	Ideal      float64 `json:"ideal_seconds"`
	Percent    float64 `json:"percent_of_ideal"`
	Busy       float64 `json:"busy_seconds"`
	Scheduling float64 `json:"scheduling_seconds"`
	Idle       float64 `json:"idle_seconds"`
	Chunks     int     `json:"chunks"`
	Messages   int     `json:"messages"`
}

// counterOp is how long a claim occupies a counter in memory that ranks of a machine share: 0.14 us.
const counterOp = 0.14e-6

func (s *session) simulateRanks(c *cli.Context, m *simulation) error {
	r := &spreadSimulation{simulation: m}
	if c.IsSet("workers") || c.IsSet("serial") {
		return usagef("--ranks takes --threads for each rank, and neither --workers nor --serial")
	}
	var err error
	if r.ranks, err = numbers("ranks", c.String("ranks"), schedule.MaxP); err != nil {
		return err
	}
	if r.threads, err = numbers("threads", c.String("threads"), mostThreads); err != nil {
		return err
	}
	if r.delays, err = delays(c.String("delay")); err != nil {
		return err
	}
	switch c.String("protocol") {
	case "steal":
	case "counter":
		r.counter = true
	default:
		return usagef("--protocol %s: there are steal and counter", c.String("protocol"))
	}
	line := s.progress()
	line.what = "simulations"
	results, err := r.run(c.Context, line)
	if err != nil {
		return err
	}
	if c.IsSet("csv") {
		if err := writeFile(c.String("csv"), func(w io.Writer) error { return r.writeCSV(w, results) }); err != nil {
			return err
		}
	}
	if c.IsSet("plot") {
		if err := savePage(c.String("plot"), r.page(results)); err != nil {
			return err
		}
	}
	if c.Bool("json") {
		e := json.NewEncoder(s.out)
		e.SetEscapeHTML(false)
		return e.Encode(struct {
			File    string   `json:"file"`
			Claim   float64  `json:"claim_seconds"`
			Results []ranked `json:"results"`
		}{m.file, m.machine.H, results})
	}
	return r.writeText(s.out, results)
}

// delays reads a list of times: numbers of seconds, or with a unit as in 10us.
func delays(text string) ([]float64, error) {
	var out []float64
	for _, word := range splitList(text) {
		t, err := strconv.ParseFloat(word, 64)
		if err != nil {
			var d time.Duration
			d, err = time.ParseDuration(word)
			t = d.Seconds()
		}
		if err != nil || !(t >= 0 && t < 1e9) {
			return nil, usagef("--delay: %s is no time, such as 0, 10us or 1e-5 (seconds)", word)
		}
		out = append(out, t)
	}
	if len(out) == 0 {
		return nil, usagef("--delay needs a time")
	}
	return out, nil
}

// run simulates everything: techniques, then delays, then ranks and threads.
func (m *spreadSimulation) run(ctx context.Context, line *progressLine) (out []ranked, err error) {
	report := line.counts()
	defer line.hide()
	all := len(m.techniques) * len(m.delays) * len(m.ranks) * len(m.threads)
	for _, t := range m.techniques {
		for _, d := range m.delays {
			for _, p := range m.ranks {
				for _, threads := range m.threads {
					if report != nil {
						report(len(out), all)
					}
					if ctx.Err() != nil {
						return nil, context.Cause(ctx)
					}
					if p*threads > schedule.MaxP {
						return nil, usagef("%d ranks of %d threads are more than %d threads", p, threads, schedule.MaxP)
					}
					s, err := replay.SimulateRanks(m.operators, t, replay.Cluster{Ranks: p, Threads: threads, H: m.machine.H, Delay: d,
						Counter: m.counter, Op: counterOp}, m.minChunk)
					if err != nil {
						return nil, usagef("%v", err)
					}
					out = append(out, ranked{t.Name, p, threads, d, s.Time, s.Ideal, s.Percent(), s.Busy, s.Sched, s.Idle, s.Chunks, s.Messages})
				}
			}
		}
	}
	return out, nil
}

// writeText prints a table for each delay; for a single number of ranks and threads, a line for each
// technique and delay.
func (m *spreadSimulation) writeText(w io.Writer, results []ranked) error {
	m.head(w)
	protocol := "ranks without work take some from others"
	if m.counter {
		protocol = "all threads claim from one counter"
	}
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	each := len(m.ranks) * len(m.threads)
	if each == 1 {
		fmt.Fprintf(w, "%s of %s; %s\n", count(m.ranks[0], "rank"), count(m.threads[0], "thread"), protocol)
		fmt.Fprint(tab, "technique\ta message\ttime\tideal\t% of ideal\tbusy %\tsched. %\tidle %\tchunks\tmessages\t\n")
		for i := range results {
			r := &results[i]
			part := 100 / (r.Seconds * float64(r.Ranks*r.Threads))
			fmt.Fprintf(tab, "%s\t%s\t%s\t%s\t%.1f\t%.1f\t%.1f\t%.1f\t%d\t%d\t\n", r.Technique, schedule.Seconds(r.Delay), schedule.Seconds(r.Seconds),
				schedule.Seconds(r.Ideal), r.Percent, r.Busy*part, r.Scheduling*part, r.Idle*part, r.Chunks, r.Messages)
		}
		if err := tab.Flush(); err != nil {
			return err
		}
		_, err := io.WriteString(w, ranksLegend)
		return err
	}
	fmt.Fprintf(w, "%% of ideal; %s\n", protocol)
	for d, delay := range m.delays {
		fmt.Fprintf(tab, "\na message of %s\t", schedule.Seconds(delay))
		for _, r := range results[:each] {
			fmt.Fprintf(tab, "%s\t", r.machine())
		}
		fmt.Fprintln(tab)
		for k, t := range m.techniques {
			fmt.Fprintf(tab, "%s\t", t.Name)
			for _, r := range results[(k*len(m.delays)+d)*each:][:each] {
				fmt.Fprintf(tab, "%.1f\t", r.Percent)
			}
			fmt.Fprintln(tab)
		}
	}
	if err := tab.Flush(); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n"+ranksLegend)
	return err
}

// machine is ranks and threads in few letters.
func (r *ranked) machine() string {
	if r.Threads == 1 {
		return strconv.Itoa(r.Ranks)
	}
	return fmt.Sprintf("%dx%d", r.Ranks, r.Threads)
}

func (m *spreadSimulation) writeCSV(w io.Writer, results []ranked) error {
	c := csv.NewWriter(w)
	// the error is kept
	_ = c.Write([]string{"technique", "ranks", "threads", "delay_seconds", "seconds", "ideal_seconds", "percent_of_ideal", "busy_seconds",
		"scheduling_seconds", "idle_seconds", "chunks", "messages"})
	g := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	for _, r := range results {
		_ = c.Write([]string{r.Technique, strconv.Itoa(r.Ranks), strconv.Itoa(r.Threads), g(r.Delay), g(r.Seconds), g(r.Ideal), g(r.Percent), g(r.Busy),
			g(r.Scheduling), g(r.Idle), strconv.Itoa(r.Chunks), strconv.Itoa(r.Messages)})
	}
	c.Flush()
	return c.Error()
}

// page draws a line for each technique, delay and number of threads over the ranks, ascending.
func (m *spreadSimulation) page(results []ranked) *figure.Page {
	numbers := slices.Sorted(slices.Values(m.ranks))
	bound := make([]float64, len(numbers))
	var lines []figure.Scaling
	at := map[string]int{}
	sorted := slices.Clone(results)
	slices.SortStableFunc(sorted, func(a, b ranked) int { return a.Ranks - b.Ranks })
	for _, r := range sorted {
		words := []string{r.Technique}
		if len(m.delays) > 1 {
			words = append(words, schedule.Seconds(r.Delay))
		}
		if len(m.threads) > 1 {
			words = append(words, count(r.Threads, "thread"))
		}
		name := strings.Join(words, ", ")
		k, ok := at[name]
		if !ok {
			k = len(lines)
			at[name] = k
			lines = append(lines, figure.Scaling{Name: name})
		}
		lines[k].Speedup = append(lines[k].Speedup, r.Busy/max(r.Seconds, 1e-300))
		lines[k].Percent = append(lines[k].Percent, r.Percent)
		i := slices.Index(numbers, r.Ranks)
		bound[i] = max(bound[i], r.Busy/max(r.Ideal, 1e-300))
	}
	return figure.Speedups(m.file+", simulated on ranks", "ranks", numbers, bound, lines)
}
