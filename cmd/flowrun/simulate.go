package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"flow/figure"
	"flow/runtime/replay"
	"flow/runtime/schedule"
	"flow/runtime/trace"
)

// This file defines `flowrun simulate`: the loops of a recorded run, or costs from a file, under
// any technique on any number of workers.

func (s *session) simulateCommand() *cli.Command {
	return &cli.Command{
		Name:      "simulate",
		Usage:     "replay the loops of a trace in virtual time, under any technique and number of workers",
		ArgsUsage: "FILE",
		Description: "FILE is what --trace wrote, or a text file with the cost of an iteration in seconds on each line (\"---\" begins the next execution).\n" +
			"The time of a recorded chunk is spread evenly over its iterations, so record with small chunks: flowrun P.flow --partitioning SS --trace FILE.\n" +
			"All workers are equal and there from the start of each loop; loops follow each other; adaptive techniques learn from one execution to the next.\n" +
			"With --ranks the workers are threads of ranks that exchange messages: each rank begins with its own rows and steals when it runs dry,\n" +
			"half of what another has left (--protocol steal), or all threads claim from one counter (counter). COST moves rows by their last costs.\n" +
			"Runs have the protocol steal; they have no counter.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "workers", Usage: "numbers of workers, `P,P,...`; \"..\" goes on as before: 1,2,..,1024 or, doubled, 1..1024", Value: "1,2,..,64"},
			&cli.StringFlag{Name: "ranks", Usage: "numbers of ranks, `P,P,...`, in place of workers"},
			&cli.StringFlag{Name: "threads", Usage: "with --ranks: threads of each, `N,N,...`", Value: "1"},
			&cli.StringFlag{Name: "delay", Usage: "with --ranks: `TIMES` that a message takes, such as 0,10us,100us", Value: "10us"},
			&cli.StringFlag{Name: "protocol", Usage: "with --ranks: steal or counter, `NAME`", Value: "steal"},
			&cli.StringFlag{Name: "partitioning", Usage: "`TECHNIQUES`: all, or a list; flowrun chunks lists them", Value: "all"},
			&cli.StringFlag{Name: "loop", Usage: "only the operators whose name or place contains `TEXT`"},
			&cli.StringFlag{Name: "overhead", Usage: "`TIME` of one scheduling operation, in seconds", DefaultText: "as recorded"},
			&cli.StringFlag{Name: "serial", Usage: "serial part of a scheduling operation, in `SECONDS`", Value: "0"},
			&cli.StringFlag{Name: "min-chunk", Usage: "smallest chunk, in `LEAVES` of the loop (iterations, where nothing is coarser)", DefaultText: "as recorded"},
			&cli.BoolFlag{Name: "json", DisableDefaultText: true, Usage: "print JSON"},
			&cli.StringFlag{Name: "csv", Usage: "write a line for each technique and number of workers to `FILE`"},
			&cli.StringFlag{Name: "plot", Usage: "draw speedup and percent of ideal over workers into `FILE`, .svg or .png"},
		},
		Action: func(c *cli.Context) error { return s.simulate(c) },
	}
}

// simulation is the flags of simulate and the contents of the file.
type simulation struct {
	file       string
	recorded   bool // by a run; else costs from a text file
	operators  []replay.Operator
	techniques []*schedule.Technique
	workers    []int
	minChunk   int
	machine    replay.Machine // but for its workers
}

func (s *session) simulate(c *cli.Context) error {
	if c.NArg() != 1 {
		return usagef("flowrun simulate takes one FILE: a trace, or costs")
	}
	m := &simulation{file: c.Args().First()}
	var err error
	if m.techniques, err = techniqueList(c.String("partitioning")); err != nil {
		return err
	}
	if m.workers, err = numbers("workers", c.String("workers"), schedule.MaxP); err != nil {
		return err
	}
	if c.IsSet("min-chunk") {
		if m.minChunk, err = strconv.Atoi(c.String("min-chunk")); err != nil || m.minChunk < 1 {
			return usagef("--min-chunk %s: a chunk has at least 1 iteration", c.String("min-chunk"))
		}
	}
	if err := figureFlag(c, "plot"); err != nil {
		return err
	}
	if err := m.load(c.String("loop")); err != nil {
		return err
	}
	m.machine.H = replay.Claiming(m.operators)
	if err := secondsFlag(c, "overhead", &m.machine.H); err != nil {
		return err
	}
	if err := secondsFlag(c, "serial", &m.machine.Serial); err != nil {
		return err
	}
	if c.IsSet("ranks") {
		return s.simulateRanks(c, m)
	}
	for _, name := range []string{"threads", "delay", "protocol"} {
		if c.IsSet(name) {
			return usagef("--%s is about ranks: it needs --ranks", name)
		}
	}
	line := s.progress()
	line.what = "simulations"
	results, err := m.run(c.Context, line)
	if err != nil {
		return err
	}
	if c.IsSet("csv") {
		if err := writeFile(c.String("csv"), func(w io.Writer) error { return m.writeCSV(w, results) }); err != nil {
			return err
		}
	}
	if c.IsSet("plot") {
		if err := savePage(c.String("plot"), m.page(results)); err != nil {
			return err
		}
	}
	if c.Bool("json") {
		return m.writeJSON(s.out, results)
	}
	return m.writeText(s.out, results)
}

// secondsFlag reads a time if it is given.
func secondsFlag(c *cli.Context, name string, to *float64) error {
	if !c.IsSet(name) {
		return nil
	}
	t, err := strconv.ParseFloat(c.String(name), 64)
	if err != nil || !(t >= 0 && t < 1e9) {
		return usagef("--%s %s is not a time in seconds", name, c.String(name))
	}
	*to = t
	return nil
}

// load reads the file, of either kind.
func (m *simulation) load(only string) error {
	f, err := os.Open(m.file)
	if errors.Is(err, os.ErrNotExist) {
		return usagef("no trace %s here", m.file)
	}
	if err != nil {
		return usagef("cannot read the trace: %v", err)
	}
	defer f.Close()
	first := make([]byte, 1)
	n, err := f.Read(first)
	if err != nil && err != io.EOF {
		return usagef("cannot read the trace: %v", err)
	}
	in := io.MultiReader(strings.NewReader(string(first[:n])), f)
	if m.recorded = n == 1 && (first[0] == '{' || first[0] == '['); !m.recorded {
		o, err := replay.ReadCosts(in)
		if err != nil {
			e := usagef("%s is neither a trace nor a list of costs: %v", m.file, err)
			e.help = "flowrun PROGRAM --trace FILE writes a trace; a list has one number a line"
			return e
		}
		m.operators = []replay.Operator{o}
		return m.choose(only)
	}
	ranks, err := trace.ReadLoops(in)
	if err != nil {
		e := usagef("%s cannot be simulated: %v", m.file, err)
		if errors.Is(err, trace.ErrNoLoops) {
			e.help = "a program has loops where an operator runs in chunks; flowrun PROGRAM --stats lists them"
		}
		return e
	}
	for _, r := range ranks {
		m.operators = append(m.operators, replay.FromRecords(r.Rank, r.Loops, replay.Fine)...)
	}
	if len(m.operators) == 0 {
		return usagef("%s has no loop that was executed to its end", m.file)
	}
	return m.choose(only)
}

// choose keeps the operators that a text matches.
func (m *simulation) choose(only string) error {
	var names []string
	m.operators = slices.DeleteFunc(m.operators, func(o replay.Operator) bool {
		name := place(&o)
		if !slices.Contains(names, name) { // each rank has it
			names = append(names, name)
		}
		return !strings.Contains(name, only)
	})
	if len(m.operators) == 0 {
		e := usagef("no loop has %q in its name or place", only)
		e.help = "there are " + strings.Join(names, ", ")
		return e
	}
	return nil
}

// place describes an operator.
func place(o *replay.Operator) string { return strings.TrimSpace(o.Name + " " + o.Where) }

// run simulates everything: for each number of workers a result for each technique.
func (m *simulation) run(ctx context.Context, line *progressLine) ([][]replay.Result, error) {
	report := line.counts()
	defer line.hide()
	out := make([][]replay.Result, len(m.workers))
	for i, p := range m.workers {
		m.machine.Workers = p
		for k, t := range m.techniques {
			if report != nil {
				report(i*len(m.techniques)+k, len(m.workers)*len(m.techniques))
			}
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			r, err := replay.SimulateAll(m.operators, t, m.machine, m.minChunk)
			if err != nil {
				return nil, usagef("%v", err)
			}
			out[i] = append(out[i], r)
		}
	}
	return out, nil
}

// fastest returns the index of the result with the smallest time.
func fastest(results []replay.Result) int {
	best := 0
	for i := range results {
		if results[i].Time < results[best].Time {
			best = i
		}
	}
	return best
}

// head prints what is simulated.
func (m *simulation) head(w io.Writer) {
	loops, units, chunks, seconds := 0, 0, 0, 0.0
	for i := range m.operators {
		o := &m.operators[i]
		loops += len(o.Loops)
		for k := range o.Loops {
			units += len(o.Loops[k].Costs.Costs())
			seconds += o.Loops[k].Costs.Total()
			if r := o.Loops[k].Record; r != nil {
				chunks += len(r.Chunks)
			}
		}
	}
	fmt.Fprintf(w, "%s: %s of %s, %s, %s of work; a claim takes %s\n", m.file, count(loops, "loop"), count(len(m.operators), "operator"),
		count(units, "iteration"), schedule.Seconds(seconds), schedule.Seconds(m.machine.H+m.machine.Serial))
	switch {
	case m.recorded && units == chunks:
		fmt.Fprintf(w, "costs are those of %s, of one iteration each\n", count(chunks, "recorded chunk"))
	case m.recorded:
		fmt.Fprintf(w, "costs are those of %s, each spread evenly over its %.4g iterations: what varies inside of a chunk is not known\n",
			count(chunks, "recorded chunk"), float64(units)/float64(max(chunks, 1)))
	}
}

func (m *simulation) writeText(w io.Writer, results [][]replay.Result) error {
	m.head(w)
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	if len(m.workers) == 1 {
		a := &results[0][0]
		fmt.Fprintf(w, "%s: ideal %s (%s), LPT %s, best block %s\n", count(m.workers[0], "worker"), schedule.Seconds(a.Bound), a.Binds(),
			schedule.Seconds(a.LPT), schedule.Seconds(a.BestBlock))
		fmt.Fprint(tab, "technique\ttime\t% of ideal\tspeedup\tbusy %\tsched. %\tidle %\tp.i. %\tc.o.v.\tchunks\t\n")
		for i := range results[0] {
			r := &results[0][i]
			fmt.Fprintf(tab, "%s\t%s\t%.1f\t%.2f\t%.1f\t%.1f\t%.1f\t%.1f\t%.3f\t%d\t\n", r.Technique, schedule.Seconds(r.Time), r.Percent(), r.Speedup,
				r.Share(r.Busy), r.Share(r.Sched), r.Share(r.Idle), r.Imbalance, r.COV, r.Chunks)
		}
		if err := tab.Flush(); err != nil {
			return err
		}
		_, err := fmt.Fprintf(w, "fastest: %s\n%s  p.i.: percent imbalance of the workers' finish times; c.o.v.: their coefficient of variation (standard deviation over mean)\n",
			results[0][fastest(results[0])].Technique, simulateLegend)
		return err
	}
	row := func(name string, cell func(r []replay.Result) string) {
		fmt.Fprint(tab, name, "\t")
		for i := range results {
			fmt.Fprint(tab, cell(results[i]), "\t")
		}
		fmt.Fprintln(tab)
	}
	row("workers", func(r []replay.Result) string { return strconv.Itoa(r[0].Workers) })
	row("ideal", func(r []replay.Result) string { return schedule.Seconds(r[0].Bound) })
	row("bound by", func(r []replay.Result) string { return r[0].Binds() })
	row("LPT", func(r []replay.Result) string { return schedule.Seconds(r[0].LPT) })
	row("best block", func(r []replay.Result) string { return schedule.Seconds(r[0].BestBlock) })
	row("fastest", func(r []replay.Result) string { return r[fastest(r)].Technique })
	row("its time", func(r []replay.Result) string { return schedule.Seconds(r[fastest(r)].Time) })
	if err := tab.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w)
	row("% of ideal", func(r []replay.Result) string { return strconv.Itoa(r[0].Workers) })
	for k, t := range m.techniques {
		row(t.Name, func(r []replay.Result) string { return fmt.Sprintf("%.1f", r[k].Percent()) })
	}
	if err := tab.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%s", simulateLegend)
	return err
}

// simulated is a result in JSON.
type simulated struct {
	Technique  string  `json:"technique"`
	Workers    int     `json:"workers"`
	Seconds    float64 `json:"seconds"`
	Percent    float64 `json:"percent_of_ideal"`
	Speedup    float64 `json:"speedup"`
	Ideal      float64 `json:"ideal_seconds"`
	Binds      string  `json:"bound_by"`
	LPT        float64 `json:"lpt_seconds"`
	BestBlock  float64 `json:"best_block_seconds"`
	Busy       float64 `json:"busy_seconds"`
	Scheduling float64 `json:"scheduling_seconds"`
	Idle       float64 `json:"idle_seconds"`
	Imbalance  float64 `json:"imbalance_percent"`
	COV        float64 `json:"cov"`
	Chunks     int     `json:"chunks"`
}

func (m *simulation) flat(results [][]replay.Result) []simulated {
	var out []simulated
	for i := range results {
		for _, r := range results[i] {
			out = append(out, simulated{r.Technique, r.Workers, r.Time, r.Percent(), r.Speedup, r.Bound, r.Binds(), r.LPT, r.BestBlock,
				r.Busy, r.Sched, r.Idle, r.Imbalance, r.COV, r.Chunks})
		}
	}
	return out
}

func (m *simulation) writeJSON(w io.Writer, results [][]replay.Result) error {
	type loops struct {
		Name      string  `json:"name"`
		Where     string  `json:"where,omitempty"`
		Rank      int     `json:"rank"`
		Technique string  `json:"technique,omitempty"`
		Loops     int     `json:"executions"`
		Seconds   float64 `json:"work_seconds"`
	}
	var list []loops
	for i := range m.operators {
		o := &m.operators[i]
		l := loops{o.Name, o.Where, o.Rank, o.Technique, len(o.Loops), 0}
		for k := range o.Loops {
			l.Seconds += o.Loops[k].Costs.Total()
		}
		list = append(list, l)
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(struct {
		File      string      `json:"file"`
		Claim     float64     `json:"claim_seconds"`
		Serial    float64     `json:"serial_seconds"`
		Operators []loops     `json:"operators"`
		Results   []simulated `json:"results"`
	}{m.file, m.machine.H, m.machine.Serial, list, m.flat(results)})
}

func (m *simulation) writeCSV(w io.Writer, results [][]replay.Result) error {
	c := csv.NewWriter(w)
	// the error is kept
	_ = c.Write([]string{"technique", "workers", "seconds", "percent_of_ideal", "speedup", "ideal_seconds", "bound_by", "lpt_seconds",
		"best_block_seconds", "busy_seconds", "scheduling_seconds", "idle_seconds", "imbalance_percent", "cov", "chunks"})
	g := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	for _, r := range m.flat(results) {
		_ = c.Write([]string{r.Technique, strconv.Itoa(r.Workers), g(r.Seconds), g(r.Percent), g(r.Speedup), g(r.Ideal), r.Binds, g(r.LPT),
			g(r.BestBlock), g(r.Busy), g(r.Scheduling), g(r.Idle), g(r.Imbalance), g(r.COV), strconv.Itoa(r.Chunks)})
	}
	c.Flush()
	return c.Error()
}

// page draws the results, workers ascending.
func (m *simulation) page(results [][]replay.Result) *figure.Page {
	sorted := slices.Clone(results)
	slices.SortFunc(sorted, func(a, b []replay.Result) int { return a[0].Workers - b[0].Workers })
	var workers []int
	var bound []float64
	lines := make([]figure.Scaling, len(m.techniques))
	for _, r := range sorted {
		workers = append(workers, r[0].Workers)
		bound = append(bound, r[0].Busy/max(r[0].Bound, 1e-300))
		for k := range lines {
			lines[k].Name = r[k].Technique
			lines[k].Speedup = append(lines[k].Speedup, r[k].Speedup)
			lines[k].Percent = append(lines[k].Percent, r[k].Percent())
		}
	}
	return figure.Speedups(m.file+", simulated", "workers", workers, bound, lines)
}
