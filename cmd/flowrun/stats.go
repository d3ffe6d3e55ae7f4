package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"

	"flow"
	"flow/explain"
	"flow/ir/plan"
)

// This file defines --stats: what a run did, as text or as one line of JSON on standard error.

// runStats is the JSON form. Shares are of workers x wall time.
type runStats struct {
	Execution     float64       `json:"execution_seconds"`
	Ranks         int           `json:"ranks"`
	Workers       int           `json:"workers"` // of all ranks
	Tasks         int           `json:"tasks"`
	Rounds        int           `json:"rounds"` // of all iterate loops
	Busy          float64       `json:"busy_share"`
	Communication float64       `json:"communication_share"`
	Idle          float64       `json:"idle_share"`
	Hidden        float64       `json:"communication_hidden_share,omitempty"`
	Gflops        float64       `json:"gflops"`
	Bound         float64       `json:"plan_bound_seconds"`
	BytesRead     int64         `json:"bytes_read"` // of files, also before the run
	BytesLent     int64         `json:"bytes_lent"`
	BytesReused   int64         `json:"bytes_reused"`
	BytesPeak     int64         `json:"bytes_peak"`
	BytesSent     int64         `json:"bytes_between_ranks"`
	Messages      int64         `json:"messages"`
	ByRank        []rankStats   `json:"by_rank"`
	Kernels       []kernelStats `json:"kernels"`
	Calls         []callStats   `json:"calls"`
	Run           boundStats    `json:"run"`
	Loops         []loopStats   `json:"loops"`                    // by operator
	Together      []loopStats   `json:"loops_of_ranks,omitempty"` // those that several ranks share
	LoopSum       *loopStats    `json:"loops_total,omitempty"`
	// Interpreted lists the work over an index space that no compiled loop does.
	Interpreted []explain.Interpreted `json:"interpreted,omitempty"`

	account *flow.Account
	assumed bool // the plan assumes the rounds of a loop
}

type kernelStats struct {
	Name   string  `json:"name"`
	Tasks  int64   `json:"tasks"`
	Busy   float64 `json:"busy_seconds"`
	Gflops float64 `json:"gflops"` // of one worker
}

type callStats struct {
	Name  string `json:"name"`
	Line  int    `json:"line"`
	File  string `json:"file"`
	Tasks int64  `json:"tasks"`
	// seconds from the start of the run to its first task
	First   float64 `json:"first_seconds"`
	Last    float64 `json:"last_seconds"` // when its last one ended
	Seconds float64 `json:"seconds"`      // wall, from the one to the other
	Busy    float64 `json:"busy_seconds"`
	Gflops  float64 `json:"gflops"`
}

// stats prints what the run did. The plan's bound is a lower bound for these workers: the critical
// path, or all work spread evenly, at the kernel costs measured earlier, with the rounds that the
// plan assumes. A run may be faster, so no share of it is printed. boundStats measures the run
// itself, which is never faster than its bound.
func (s *session) stats(p *flow.Program, o flow.CompileOptions, report *flow.Report, seconds float64, asJSON bool) error {
	if o.Rates == nil {
		r, err := flow.MeasureRates(o.Kernels)
		if err != nil {
			return err
		}
		_ = r.Save() // only the next run would gain from it
		o.Rates = r
	}
	st := gather(p, report)
	var err error
	if st.account, err = p.Account(report, true); err != nil {
		return err
	}
	st.addLoops()
	st.ByRank = ranksOf(report, st.account)
	if st.Interpreted, err = explain.InterpretedWork(p.Compiled().Plan.Graph, p.Compiled().Files); err != nil {
		return err
	}
	st.timeInterpreted(p)
	// The time of the run is that of the slowest rank, without starting threads and reading
	// reports.
	for _, r := range report.Ranks {
		st.Execution = max(st.Execution, r.Seconds)
	}
	if st.Execution == 0 {
		st.Execution = seconds
	}
	workers := max(st.Workers/max(st.Ranks, 1), 1)
	sum := plan.Summarise(p.Compiled().Plan, o.Rates, workers)
	st.Bound = sum.Bound
	for _, l := range sum.Loops {
		st.assumed = st.assumed || l.Assumed
	}
	if st.Execution > 0 {
		all := st.Execution * float64(max(st.Workers, 1))
		st.Busy /= all
		st.Communication = min(st.Communication/all, 1-st.Busy)
		st.Idle = max(0, 1-st.Busy-st.Communication)
		st.Gflops /= st.Execution
	}
	if asJSON {
		line, err := json.Marshal(st)
		if err != nil {
			return err
		}
		fmt.Fprintf(s.err, "%s\n", line)
		return nil
	}
	fmt.Fprint(s.err, st.text())
	return nil
}

// timeInterpreted sets how long interpreted work took.
func (st *runStats) timeInterpreted(p *flow.Program) {
	kernels := map[string]float64{}
	for _, k := range st.Kernels {
		kernels[k.Name] = k.Busy
	}
	explain.Timed(st.Interpreted, p.Compiled().Plan.Graph, loopTimes(st.Loops), kernels)
}

// loopTimes returns how long the loops took, by name and place. What has no loop runs before or after
// the chunks, which counts in the time of its executions alone.
func loopTimes(list []loopStats) map[string]float64 {
	times := map[string]float64{}
	for _, l := range list {
		times[l.Name+" "+l.Where] += max(l.Busy, l.Seconds)
	}
	return times
}

// gather adds up the ranks. Busy and Communication are seconds and Gflops is work until stats
// divides them.
func gather(p *flow.Program, report *flow.Report) *runStats {
	st := &runStats{Ranks: len(report.Ranks)}
	kernel := map[string]int{}
	call := map[int32]int{}
	for _, r := range report.Ranks {
		st.Workers += r.Workers
		st.Tasks += r.Tasks
		st.Rounds += r.Rounds
		st.Busy += r.Busy
		st.Gflops += r.Flops / 1e9
		st.BytesRead += r.BytesRead
		st.BytesLent += r.BytesLent
		st.BytesReused += r.BytesReused
		st.BytesPeak += r.BytesPeak
		for _, k := range r.Kernels {
			i, ok := kernel[k.Name]
			if !ok {
				i = len(st.Kernels)
				kernel[k.Name] = i
				st.Kernels = append(st.Kernels, kernelStats{Name: k.Name})
			}
			st.Kernels[i].Tasks += k.Tasks
			st.Kernels[i].Busy += k.Busy
			st.Kernels[i].Gflops += k.Flops / 1e9
		}
		for _, c := range r.Calls {
			i, ok := call[c.Call]
			if !ok {
				i = len(st.Calls)
				call[c.Call] = i
				file, line, _ := p.Compiled().Files.Position(c.Span.From)
				st.Calls = append(st.Calls, callStats{Name: c.Name, Line: line, File: file, First: c.First, Last: c.Last})
			}
			sum := &st.Calls[i]
			sum.Tasks += c.Tasks
			sum.Busy += c.Busy
			sum.Gflops += c.Flops / 1e9
			sum.First, sum.Last = min(sum.First, c.First), max(sum.Last, c.Last)
		}
	}
	for i := range st.Kernels {
		if k := &st.Kernels[i]; k.Busy > 0 {
			k.Gflops /= k.Busy
		}
	}
	for i := range st.Calls {
		c := &st.Calls[i]
		if c.Seconds = c.Last - c.First; c.Seconds > 0 {
			c.Gflops /= c.Seconds
		}
	}
	st.Messages, st.BytesSent = report.Traffic()
	st.Communication, st.Hidden = report.Waiting()
	return st
}

// headline returns the first line of the statistics.
func (st *runStats) headline() string {
	s := count(st.Tasks, "task")
	if st.Rounds > 0 {
		s += fmt.Sprintf(" in %s of iterate", count(st.Rounds, "round"))
	}
	s += " on " + count(st.Workers, "worker")
	if st.Ranks > 1 {
		s += " of " + count(st.Ranks, "rank")
	}
	return s + fmt.Sprintf(" in %.4g s: %.1f GFLOP/s; the plan expected at least %.4g s%s\n", st.Execution, st.Gflops, st.Bound, st.faster())
}

// text returns the statistics as text.
func (st *runStats) text() string {
	var b strings.Builder
	b.WriteString(st.headline())
	fmt.Fprintf(&b, "workers: busy %.1f %%, idle %.1f %%, communication %.1f %%\n", 100*st.Busy, 100*st.Idle, 100*st.Communication)
	fmt.Fprintf(&b, "memory: %s at most, %s lent, %s reused in place\n", size(st.BytesPeak), size(st.BytesLent), size(st.BytesReused))
	if st.BytesRead > 0 {
		fmt.Fprintf(&b, "files: %s read\n", size(st.BytesRead))
	}
	if st.Ranks > 1 {
		fmt.Fprintf(&b, "messages: %d, %s, %.0f %% of the time hidden behind tasks\n", st.Messages, size(st.BytesSent), 100*st.Hidden)
	}
	rankText(&b, st.ByRank)
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "kernel\ttasks\tbusy s\tGFLOP/s\t")
	for _, k := range st.Kernels {
		fmt.Fprintf(w, "%s\t%d\t%.4g\t%.1f\t\n", k.Name, k.Tasks, k.Busy, k.Gflops)
	}
	_ = w.Flush() // into a strings.Builder
	kernelLegend(&b, st.kernelNames())
	if len(st.Calls) > 0 {
		w = tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintln(w, "call\tline\ttasks\twall s\tbusy s\tGFLOP/s\t")
		for _, c := range st.Calls {
			fmt.Fprintf(w, "%s\t%d\t%d\t%.4g\t%.4g\t%.1f\t\n", c.Name, c.Line, c.Tasks, c.Seconds, c.Busy, c.Gflops)
		}
		_ = w.Flush()
	}
	for _, x := range st.Interpreted {
		fmt.Fprintln(&b, x.Text())
	}
	if all := explain.Machine(); all != "" {
		fmt.Fprintln(&b, all)
	}
	st.loopText(&b)
	return b.String()
}

// faster says why a run may take less time than its plan predicts.
func (st *runStats) faster() string {
	switch {
	case st.Execution >= st.Bound:
		return ""
	case st.assumed:
		return ", for more rounds of its loops than there were"
	}
	return ", at costs of kernels that were measured on larger tiles or on a busier machine"
}

func (st *runStats) kernelNames() []string {
	names := make([]string, len(st.Kernels))
	for i, k := range st.Kernels {
		names[i] = k.Name
	}
	return names
}

// size formats a number of bytes.
func size(n int64) string {
	const units = "KMGT"
	if n < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	x, i := float64(n)/1024, 0
	for x >= 1024 && i < len(units)-1 {
		x, i = x/1024, i+1
	}
	return fmt.Sprintf("%.1f %ciB", x, units[i])
}
