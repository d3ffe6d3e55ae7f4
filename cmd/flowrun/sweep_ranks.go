package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"flow"
	"flow/figure"
	"flow/runtime/dist/transport/mpi"
	"flow/runtime/schedule"
	"flow/sweep"
)

// This file defines `flowrun sweep --ranks`: how a program scales over ranks. Strong scaling keeps
// the problem, weak scaling lets params grow with the ranks. Each run is a process of its own.

// rankSweep is what the flags ask for.
type rankSweep struct {
	*sweeping
	program string // this command
	args    []string
	backend string
	threads int
	ranks   []int // ascending
	grown   []grownParam
}

// grownParam is a param that grows with the ranks: at times ranks to a power.
type grownParam struct {
	name      string
	at, power float64
	whole     bool
}

// grownForm is NAME=NUMBER*ranks or NAME=NUMBER*ranks^POWER, where POWER may be a fraction.
var grownForm = regexp.MustCompile(`^(\w+)=([0-9._eE+-]+)\*ranks(?:\^\(?([0-9.]+)(?:/([0-9.]+))?\)?)?$`)

// grownParams reads --weak.
func grownParams(words []string) (out []grownParam, err error) {
	for _, word := range words {
		m := grownForm.FindStringSubmatch(strings.ReplaceAll(word, " ", ""))
		wrong := func() error {
			e := usagef("--weak %s: it is NAME=NUMBER*ranks", word)
			e.help = "such as n=1000*ranks, or n=1000*ranks^(1/2) where the work grows with the square of n"
			return e
		}
		if m == nil {
			return nil, wrong()
		}
		g := grownParam{name: m[1], power: 1}
		digits := strings.ReplaceAll(m[2], "_", "")
		if g.at, err = strconv.ParseFloat(digits, 64); err != nil || math.IsInf(g.at, 0) {
			return nil, wrong()
		}
		_, notWhole := strconv.ParseInt(digits, 10, 64)
		g.whole = notWhole == nil
		if m[3] != "" {
			if g.power, err = strconv.ParseFloat(m[3], 64); err != nil {
				return nil, wrong()
			}
		}
		if m[4] != "" {
			below, err := strconv.ParseFloat(m[4], 64)
			if err != nil || below == 0 {
				return nil, wrong()
			}
			g.power /= below
		}
		out = append(out, g)
	}
	return out, nil
}

// of returns the param as --set takes it.
func (g *grownParam) of(ranks int) string {
	x := g.at * math.Pow(float64(ranks), g.power)
	if g.whole {
		return fmt.Sprintf("%s=%.0f", g.name, x)
	}
	return fmt.Sprintf("%s=%g", g.name, x)
}

func (s *session) sweepRanks(c *cli.Context, w *sweeping) (err error) {
	r := &rankSweep{sweeping: w, backend: c.String("backend")}
	if r.ranks, err = numbers("ranks", c.String("ranks"), 4096); err != nil {
		return err
	}
	slices.Sort(r.ranks)
	if r.grown, err = grownParams(c.StringSlice("weak")); err != nil {
		return err
	}
	switch {
	case c.IsSet("queue-layout") || c.IsSet("victim"):
		return usagef("--ranks compares techniques and ranks: --queue-layout and --victim are for sweeps without it")
	case mpi.Launched():
		return usagef("sweep starts its own ranks: run it without mpirun or srun")
	case s.fromStdin(c, false):
		return usagef("--ranks runs the program in other processes: it is a FILE, not standard input")
	case r.backend == "":
		if r.backend = "mem"; mpi.Available() {
			r.backend = "mpi"
		}
	case r.backend != "mpi" && r.backend != "mem":
		return usagef("--backend %s: there are mpi and mem", r.backend)
	case r.backend == "mpi" && !mpi.Available():
		return withoutMPI()
	}
	if r.threads = 1; c.IsSet("threads") {
		if r.threads, err = number("threads", c.String("threads"), mostThreads); err != nil {
			return err
		}
	}
	if r.program, err = os.Executable(); err != nil {
		return err
	}
	r.arguments(c)
	// mistakes in the program are told once, before the first run
	o, err := s.compileOptions(c)
	if err != nil {
		return err
	}
	if w.program, err = s.compile(c.Context, c, o); err != nil {
		return err
	}
	for _, g := range r.grown {
		if !slices.ContainsFunc(w.program.Params(), func(p flow.Param) bool { return p.Name == g.name }) {
			return usagef("--weak: %s has no param %s", w.name, g.name)
		}
	}
	techniques := []string{schedule.Default().Name}
	if c.IsSet("partitioning") {
		list, err := techniqueList(c.String("partitioning"))
		if err != nil {
			return err
		}
		techniques = techniques[:0]
		for _, t := range list {
			techniques = append(techniques, t.Name)
		}
	}
	w.configs = nil
	for _, weak := range []bool{false, true} {
		for _, name := range techniques {
			for _, n := range r.ranks {
				if !weak || len(r.grown) > 0 {
					w.configs = append(w.configs, sweep.Config{Technique: name, Layout: sweep.Centralized, Threads: r.threads, Ranks: n, Weak: weak})
				}
			}
		}
	}
	line := s.progress()
	line.what = "runs"
	report := line.counts()
	w.options.Progress = func(done, total int, _ sweep.Config) {
		if report != nil {
			report(done, total)
		}
	}
	table, err := sweep.Run(c.Context, w.configs, r.baseline, w.options, r.run)
	line.hide()
	if err != nil {
		return err
	}
	if err := r.write(c, s.out, table); err != nil {
		return err
	}
	if c.Context.Err() != nil {
		return context.Cause(c.Context)
	}
	return r.same(table)
}

// arguments keeps what every run is given.
func (r *rankSweep) arguments(c *cli.Context) {
	r.args = append(r.args, c.Args().Slice()...)
	for _, name := range []string{"e", "set", "disable"} {
		for _, value := range c.StringSlice(name) {
			r.args = append(r.args, "--"+name+"="+value)
		}
	}
	for _, name := range []string{"set-file", "kernels", "memory"} {
		if c.IsSet(name) {
			r.args = append(r.args, "--"+name+"="+c.String(name))
		}
	}
	for _, name := range []string{"max-tasks", "grain-size"} {
		if c.IsSet(name) {
			r.args = append(r.args, "--"+name+"="+strconv.Itoa(c.Int(name)))
		}
	}
	for _, name := range []string{"no-fuse", "pre-partition", "pin-workers"} {
		if c.Bool(name) {
			r.args = append(r.args, "--"+name)
		}
	}
}

// baseline returns the index of the same config on the fewest ranks.
func (r *rankSweep) baseline(c sweep.Config) int {
	c.Ranks = r.ranks[0]
	return slices.Index(r.configs, c)
}

// run starts the program on ranks. Its time is that of the tasks, without the start of processes.
func (r *rankSweep) run(ctx context.Context, c sweep.Config) (m sweep.Measurement, err error) {
	args := append(slices.Clone(r.args), "--stats=json", "--threads="+strconv.Itoa(c.Threads), "--partitioning="+c.Technique)
	if c.Ranks > 1 {
		args = append(args, "--distributed", "--backend="+r.backend, "--ranks="+strconv.Itoa(c.Ranks))
	}
	if c.Weak {
		for _, g := range r.grown {
			args = append(args, "--set="+g.of(c.Ranks))
		}
	}
	var out, told bytes.Buffer
	cmd := exec.CommandContext(ctx, r.program, append([]string{"run"}, args...)...)
	cmd.Args[0] = os.Args[0]
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.Stdout, cmd.Stderr = &out, &told
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return m, context.Cause(ctx)
		}
		told := withoutStats(told.String())
		if cmd.ProcessState != nil && cmd.ProcessState.ExitCode() == 2 { // the program, with the params of these ranks
			return m, usagef("a run on %s was refused:\n%s", count(c.Ranks, "rank"), told)
		}
		return m, fmt.Errorf("a run on %s failed (%v):\n%s", count(c.Ranks, "rank"), err, told)
	}
	var stats struct {
		Seconds *float64 `json:"execution_seconds"`
	}
	for _, line := range bytes.Split(told.Bytes(), []byte("\n")) {
		if bytes.HasPrefix(line, []byte("{")) && json.Unmarshal(line, &stats) == nil && stats.Seconds != nil {
			sum := sha256.Sum256(out.Bytes())
			return sweep.Measurement{Seconds: *stats.Seconds, Output: hex.EncodeToString(sum[:])}, nil
		}
	}
	return m, fmt.Errorf("BUG: a run on %s printed no statistics: %q", count(c.Ranks, "rank"), told.String())
}

// withoutStats is what a run has told beside its statistics.
func withoutStats(told string) string {
	lines := slices.DeleteFunc(strings.Split(told, "\n"), func(l string) bool { return strings.HasPrefix(l, "{") })
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// same reports that one problem has given different outputs, which is a bug.
func (r *rankSweep) same(t *sweep.Table) error {
	of := map[sweep.Config]string{}
	for output, configs := range t.Outputs {
		for _, c := range configs {
			problem := sweep.Config{Weak: c.Weak}
			if c.Weak {
				problem.Ranks = c.Ranks
			}
			if before, ok := of[problem]; ok && before != output {
				return &flow.Bug{Text: fmt.Sprintf("%s on %s gave another output than the same problem did otherwise", c.Technique, count(c.Ranks, "rank"))}
			}
			of[problem] = output
		}
	}
	return nil
}

// speedup returns time on the fewest ranks over time, times these ranks if the problem is the same:
// the median, and the ends of the interval.
func (r *rankSweep) speedup(row *sweep.Row) (median, low, high float64) {
	fewest := 1.0
	if !row.Weak {
		fewest = float64(r.ranks[0])
	}
	of := func(change float64) float64 { return fewest / (1 + change) }
	return of(row.Change.Median), of(row.Change.High), of(row.Change.Low)
}

// efficiency is the part of the ideal that a row reaches: of a speedup by the ranks, or under weak
// scaling of a time that stays.
func (r *rankSweep) efficiency(row *sweep.Row) float64 {
	median, _, _ := r.speedup(row)
	if row.Weak {
		return 100 * median
	}
	return 100 * median / float64(row.Ranks)
}

// write writes the table and all requested files.
func (r *rankSweep) write(c *cli.Context, stdout io.Writer, t *sweep.Table) error {
	csv := func(out io.Writer) error { return r.writeCSV(out, t) }
	draw := func(path string) error { return savePage(path, r.page(t)) }
	if err := writeSweep(c, csv, draw, func(out io.Writer) error { return r.html(out, t) }); err != nil {
		return err
	}
	if c.Bool("json") {
		e := json.NewEncoder(stdout)
		e.SetEscapeHTML(false)
		return e.Encode(struct {
			File     string      `json:"file"`
			Backend  string      `json:"backend"`
			Weak     []string    `json:"weak,omitempty"`
			Seed     uint64      `json:"seed"`
			Rounds   int         `json:"rounds"`
			Warmup   int         `json:"warmup"`
			Complete bool        `json:"complete"`
			Rows     []sweep.Row `json:"rows"`
		}{r.name, r.backend, c.StringSlice("weak"), t.Seed, t.Rounds, t.Warmup, t.Ended, t.Rows})
	}
	return r.text(stdout, t)
}

// text prints a line for each config, and what the columns mean.
func (r *rankSweep) text(w io.Writer, t *sweep.Table) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(tab, "scaling\ttechnique\tranks\tmedian\tinterval\tspeedup\tinterval\tefficiency %\t\n")
	for i := range t.Rows {
		row := &t.Rows[i]
		median, low, high := r.speedup(row)
		kind, speedup, interval := "strong", fmt.Sprintf("%.2f", median), fmt.Sprintf("%.2f .. %.2f", low, high)
		if row.Weak {
			kind, speedup, interval = "weak", "", ""
		}
		fmt.Fprintf(tab, "%s\t%s\t%d\t%s\t%s .. %s\t%s\t%s\t%.1f\t\n", kind, row.Technique, row.Ranks, schedule.Seconds(row.Time.Median),
			schedule.Seconds(row.Time.Low), schedule.Seconds(row.Time.High), speedup, interval, r.efficiency(row))
	}
	if err := tab.Flush(); err != nil {
		return err
	}
	_, err := io.WriteString(w, r.legend(t))
	return err
}

// legend says how the figures were taken.
func (r *rankSweep) legend(t *sweep.Table) string {
	var b strings.Builder
	b.WriteString(t.Legend())
	fmt.Fprintf(&b, "ranks of %s over %s; times are of all tasks, with --stats, without the start of processes\n", count(r.threads, "thread"), r.backend)
	b.WriteString("strong: the same problem; efficiency is speedup over ranks\n")
	if len(r.grown) > 0 {
		var sets []string
		for _, g := range r.grown {
			sets = append(sets, fmt.Sprintf("%s on %d to %s on %d", g.of(r.ranks[0]), r.ranks[0], g.of(r.ranks[len(r.ranks)-1]), r.ranks[len(r.ranks)-1]))
		}
		fmt.Fprintf(&b, "weak: %s; efficiency is the time on the fewest ranks over the time\n", strings.Join(sets, ", "))
	}
	return b.String()
}

func (r *rankSweep) writeCSV(w io.Writer, t *sweep.Table) error {
	c := csv.NewWriter(w)
	// the error is kept
	_ = c.Write([]string{"scaling", "technique", "threads", "ranks", "round", "seconds"})
	for _, row := range t.Rows {
		kind := "strong"
		if row.Weak {
			kind = "weak"
		}
		for k, s := range row.Seconds {
			_ = c.Write([]string{kind, row.Technique, strconv.Itoa(row.Threads), strconv.Itoa(row.Ranks), strconv.Itoa(k + 1), strconv.FormatFloat(s, 'g', -1, 64)})
		}
	}
	c.Flush()
	return c.Error()
}

// page draws speedup, and efficiency of strong or weak scaling beside it.
func (r *rankSweep) page(t *sweep.Table) *figure.Page {
	var names []string
	left := figure.ScalingPanel{Title: "strong scaling: speedup", Unit: fmt.Sprintf("time on %s / time", count(r.ranks[0], "rank"))}
	right := figure.ScalingPanel{Title: "efficiency", Unit: "% of speedup = ranks", Percent: true}
	if len(r.grown) > 0 {
		right.Title, right.Unit = "weak scaling: efficiency", left.Unit+", %"
	}
	for _, n := range r.ranks {
		left.Ideal = append(left.Ideal, float64(n)/float64(r.ranks[0]))
	}
	for i := 0; i < len(t.Rows); i += len(r.ranks) { // those of a technique follow each other
		row := t.Rows[i : i+len(r.ranks)]
		var speedup, efficiency []float64
		for k := range row {
			s, _, _ := r.speedup(&row[k])
			speedup, efficiency = append(speedup, s/float64(r.ranks[0])), append(efficiency, r.efficiency(&row[k]))
		}
		if !row[0].Weak {
			names, left.Lines = append(names, row[0].Technique), append(left.Lines, speedup)
		}
		if row[0].Weak == (len(r.grown) > 0) {
			right.Lines = append(right.Lines, efficiency)
		}
	}
	title := fmt.Sprintf("%s: medians of %s, ranks of %s over %s", filepath.Base(cmp.Or(r.name, lineName)), count(t.Rounds, "run"), count(r.threads, "thread"), r.backend)
	return figure.Scalings(title, "ranks", r.ranks, names, []figure.ScalingPanel{left, right})
}

// rankPage is the report: the figure and the table.
var rankPage = template.Must(template.New("ranks").Parse(`<!doctype html><html lang="en"><meta charset="utf-8"><title>{{.Name}}</title>
<style>{{.Theme}} body{font:16px sans-serif;max-width:62em;margin:2em auto;padding:0 1em;background:var(--paper);color:var(--ink)} pre{overflow-x:auto}</style>
<h1>{{.Name}}</h1>{{.Figure}}<pre>{{.Text}}</pre><p>{{.Version}}</p></html>
`))

func (r *rankSweep) html(out io.Writer, t *sweep.Table) error {
	var drawn, text bytes.Buffer
	if err := r.page(t).Write(&drawn, "svg"); err != nil {
		return err
	}
	if err := r.text(&text, t); err != nil {
		return err
	}
	return rankPage.Execute(out, map[string]any{"Name": r.name, "Theme": template.CSS(figure.Theme), "Text": text.String(), "Version": buildVersion(),
		// drawn by this program; its texts are escaped there
		"Figure": template.HTML(figure.Themed(drawn.Bytes(), "scaling of "+r.name))})
}
