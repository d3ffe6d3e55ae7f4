package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"flow"
	"flow/runtime/schedule"
	"flow/runtime/trace"
)

// This file defines what --stats prints about loops, about each rank, and about the whole run against
// the ideal.

// boundStats is the whole run. Workers * execution = busy + scheduling + idle.
type boundStats struct {
	Busy         float64 `json:"busy_seconds"`
	Scheduling   float64 `json:"scheduling_seconds"`
	Idle         float64 `json:"idle_seconds"`
	Area         float64 `json:"area_seconds"`
	CriticalPath float64 `json:"critical_path_seconds"`
	BoundBy      string  `json:"bound_by"`
	Percent      float64 `json:"percent_of_ideal"`
	// busy time over that of the last run on one worker; omitted if there was none
	Inflation float64 `json:"work_inflation,omitempty"`
}

// loopStats is one operator, or the sum over all. Workers * seconds = busy + scheduling + idle +
// other, for each execution.
type loopStats struct {
	Name      string `json:"name"`
	Where     string `json:"where,omitempty"`
	Rank      int    `json:"rank"`
	Ranks     int    `json:"ranks,omitempty"` // the number of ranks, in an account of several
	Technique string `json:"technique,omitempty"`
	// of the last execution: "program" if it names one, "AUTO" if it was chosen
	By         string  `json:"technique_by,omitempty"`
	Layout     string  `json:"queue_layout,omitempty"`
	Victim     string  `json:"victim,omitempty"`
	Executions int     `json:"executions"`
	Overlap    bool    `json:"overlapping"` // executions ran at the same time
	Workers    int     `json:"workers"`
	Chunks     int     `json:"chunks"`
	Seconds    float64 `json:"seconds"`
	Busy       float64 `json:"busy_seconds"`
	Scheduling float64 `json:"scheduling_seconds"`
	Idle       float64 `json:"idle_seconds"`
	Other      float64 `json:"other_seconds"`
	Imbalance  float64 `json:"imbalance_percent"`
	COV        float64 `json:"cov"`
	Ideal      float64 `json:"ideal_seconds"`
	BoundBy    string  `json:"bound_by"`
	Percent    float64 `json:"percent_of_ideal"`
	Area       float64 `json:"area_seconds"`
	Largest    float64 `json:"largest_job_seconds"`
	LPT        float64 `json:"lpt_seconds"`
	BestBlock  float64 `json:"best_block_seconds"`
	Oracle     string  `json:"oracle,omitempty"`
	OracleTime float64 `json:"oracle_seconds,omitempty"`
	OracleOf   string  `json:"oracle_of,omitempty"` // "all", or "longest" execution
}

// newLoopStats converts an account.
func newLoopStats(name string, a schedule.Account) loopStats {
	return loopStats{Name: name, Executions: a.Executions, Workers: a.Workers, Chunks: a.Chunks, Seconds: a.Time, Busy: a.Busy, Scheduling: a.Sched,
		Idle: a.Idle, Other: a.Other, Imbalance: a.Imbalance, COV: a.COV, Ideal: a.Bound, BoundBy: a.Binds(), Percent: a.Percent(),
		Area: a.Area, Largest: a.Largest, LPT: a.LPT, BestBlock: a.BestBlock}
}

// addLoops converts the accounts for JSON.
func (st *runStats) addLoops() {
	a := st.account
	bound, which := a.Run.Bound()
	st.Run = boundStats{Busy: a.Run.Busy, Scheduling: a.Run.Sched, Idle: a.Run.Idle, Area: a.Run.Area, CriticalPath: a.Run.CriticalPath, BoundBy: which, Inflation: a.Run.Inflation}
	if a.Run.Time > 0 {
		st.Run.Percent = 100 * bound / a.Run.Time
	}
	st.Loops = []loopStats{}
	for i := range a.Loops {
		o := &a.Loops[i]
		l := newLoopStats(o.Name, o.Sum)
		l.Where, l.Rank, l.Technique, l.Overlap = o.Where, o.Rank, o.Technique, o.Recorded().Overlap()
		executions := o.Recorded().Loops
		if r := executions[0].Record; r != nil {
			l.Layout, l.Victim = r.Layout, r.Victim
			switch last := executions[len(executions)-1].Record; {
			case last != nil && last.Chosen:
				l.By = schedule.Auto.Name
			case o.Named:
				l.By = "program"
			}
		}
		if l.Oracle, l.OracleTime = o.Oracle, o.OracleTime; l.Oracle != "" {
			l.OracleOf = map[bool]string{true: "all", false: "longest"}[o.OracleAll]
		}
		st.Loops = append(st.Loops, l)
	}
	for _, s := range a.Shared {
		l := newLoopStats(s.Name, s.Sum)
		l.Where, l.Ranks = s.Where, s.Ranks
		st.Together = append(st.Together, l)
	}
	if len(st.Loops) > 0 {
		sum := newLoopStats("total", a.Sum)
		st.LoopSum = &sum
	}
}

// loopText writes the accounts: each operator, all of them, the run.
func (st *runStats) loopText(b *strings.Builder) {
	a := st.account
	for i := range a.Loops {
		o := &a.Loops[i]
		l := &st.Loops[i]
		fmt.Fprintf(b, "loop %s", strings.TrimSpace(o.Name+" "+o.Where))
		if st.Ranks > 1 {
			fmt.Fprintf(b, ", rank %d", o.Rank)
		}
		by := map[string]string{"program": " (named by the program)", schedule.Auto.Name: " (chosen)"}[l.By]
		fmt.Fprintf(b, ": %s%s, %s", l.Technique, by, l.Layout)
		if l.Layout != schedule.Centralized.String() {
			fmt.Fprintf(b, " %s", l.Victim)
		}
		if l.Executions > 1 {
			fmt.Fprintf(b, ", %d executions", l.Executions)
			if l.Overlap {
				fmt.Fprint(b, ", some at the same time: T is their sum, and p.i. counts workers that were in others")
			}
		}
		fmt.Fprintf(b, "\n%s", indent(o.Sum.Text(oracleText(o)...)))
	}
	for _, s := range a.Shared {
		t := &s.Sum
		fmt.Fprintf(b, "loop %s, %d ranks together\n", strings.TrimSpace(s.Name+" "+s.Where), s.Ranks)
		fmt.Fprintf(b, "  T %s | ideal %s (%s) -> %.1f %% of ideal | busy %.1f %%  scheduling %.1f %%  idle %.1f %%\n",
			schedule.Seconds(t.Time), schedule.Seconds(t.Bound), t.Binds(), t.Percent(), t.Share(t.Busy), t.Share(t.Sched), t.Share(t.Idle))
	}
	if len(a.Shared) > 0 {
		b.WriteString(togetherLegend)
	}
	if len(a.Loops) > 1 {
		fmt.Fprintf(b, "all loops, %d executions\n%s", a.Sum.Executions, indent(a.Sum.Text()))
	}
	if len(a.Loops) > 0 {
		fmt.Fprint(b, loopLegend, "  (a chunk's time counts as spread evenly over its iterations; --partitioning=SS, with the smallest chunks, tells most about other schedules)\n")
	}
	if a.Run.Time <= 0 {
		return
	}
	bound, which := a.Run.Bound()
	all := a.Run.Time * float64(max(a.Run.Workers, 1))
	fmt.Fprintf(b, "run: T %s | ideal %s (%s) -> %.1f %% of ideal | area %s | critical path %s\n", schedule.Seconds(a.Run.Time), schedule.Seconds(bound), which,
		st.Run.Percent, schedule.Seconds(a.Run.Area), schedule.Seconds(a.Run.CriticalPath))
	fmt.Fprintf(b, "  busy %.1f %%  scheduling %.1f %%  idle %.1f %% | ", 100*a.Run.Busy/all, 100*a.Run.Sched/all, 100*a.Run.Idle/all)
	if a.Run.Inflation > 0 {
		fmt.Fprintf(b, "work inflation %.2f: busy time over that of one worker\n", a.Run.Inflation)
	} else {
		fmt.Fprint(b, "work inflation: unknown until a run with --threads=1 --stats\n")
	}
	b.WriteString(runLegend)
}

// oracleText says which technique would have been fastest, as far as known.
func oracleText(o *flow.LoopAccount) []string {
	switch {
	case o.Oracle == "":
		return nil
	case o.OracleAll:
		return []string{fmt.Sprintf("oracle %s %s", o.Oracle, schedule.Seconds(o.OracleTime))}
	}
	longest := o.Recorded().Longest().Account()
	return []string{fmt.Sprintf("oracle %s %s (longest execution: %s)", o.Oracle, schedule.Seconds(o.OracleTime), schedule.Seconds(longest.Time))}
}

// indent puts two blanks before each line.
func indent(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n  ") + "\n"
}

// rankStats is the statistics of one rank. Busy is the time of its workers in tasks, scheduling that
// in which they claim chunks of loops, and waiting the rest of the time of the run.
type rankStats struct {
	Rank       int     `json:"rank"`
	Tasks      int     `json:"tasks"`
	Busy       float64 `json:"busy_seconds"`
	Scheduling float64 `json:"scheduling_seconds"`
	Waiting    float64 `json:"waiting_seconds"`
	Processor  float64 `json:"processor_seconds,omitempty"` // see dist.RankReport; 0: unknown
	Claims     int     `json:"claims"`
	Stolen     int     `json:"stolen_chunks"`    // from another worker's queue
	Helped     int64   `json:"helped_chunks"`    // of other ranks
	Moved      int64   `json:"moved_iterations"` // given to others before the first chunk
	Sent       int64   `json:"bytes_sent"`
	Messages   int64   `json:"messages_sent"`
	Read       int64   `json:"bytes_read"`      // of files
	ReadSent   int64   `json:"bytes_read_sent"` // of Sent, what was read and is sent on
}

// ranksOf returns the statistics of each rank of a run.
func ranksOf(report *flow.Report, a *flow.Account) []rankStats {
	list := make([]rankStats, len(report.Ranks))
	for i, r := range report.Ranks {
		own := a.Run.Ranks[i]
		list[i] = rankStats{Rank: r.Rank, Tasks: r.Tasks, Busy: own.Busy, Scheduling: own.Sched, Waiting: own.Idle, Processor: r.Processor,
			Helped: r.Helped, Moved: r.Moved, Sent: r.BytesSent, Messages: r.MessagesSent, Read: r.BytesRead, ReadSent: r.ReadSent}
		for _, l := range r.Loops {
			for _, c := range l.Chunks {
				if c.Worker != trace.Elsewhere {
					list[i].Claims++
				}
				if c.Stolen {
					list[i].Stolen++
				}
			}
		}
	}
	return list
}

// rankText prints the ranks, and how evenly they have shared the work.
func rankText(out io.Writer, ranks []rankStats) {
	if len(ranks) < 2 {
		return
	}
	work := func(r rankStats) float64 { return r.Busy }
	of := "busy time"
	if ranks[0].Processor > 0 {
		work, of = func(r rankStats) float64 { return r.Processor }, "processor time"
	}
	total, most := 0.0, 0.0
	for _, r := range ranks {
		total += work(r)
		most = max(most, work(r))
	}
	if total == 0 {
		return // a run without a clock
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "rank\ttasks\tbusy s\tscheduling s\twaiting s\tprocessor s\tshare\tclaims\tstolen\thelped\tmessages\tsent\tread\tsent on\t")
	for _, r := range ranks {
		processor := "-"
		if r.Processor > 0 {
			processor = fmt.Sprintf("%.4g", r.Processor)
		}
		fmt.Fprintf(w, "%d\t%d\t%.4g\t%.4g\t%.4g\t%s\t%.1f %%\t%d\t%d\t%d\t%d\t%s\t%s\t%s\t\n", r.Rank, r.Tasks, r.Busy, r.Scheduling, r.Waiting, processor,
			100*work(r)/total, r.Claims, r.Stolen, r.Helped, r.Messages, size(r.Sent), size(r.Read), size(r.ReadSent))
	}
	_ = w.Flush() // into a strings.Builder
	fmt.Fprintf(out, "  share: of all %s; of all ranks over the busiest: %.2f of %d\n", of, total/most, len(ranks))
	fmt.Fprint(out, rankLegend)
}
