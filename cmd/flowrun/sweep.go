package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"flow"
	"flow/runtime/schedule"
	"flow/sweep"
)

// This file defines `flowrun sweep`: one program under many schedules, compared. sweep_figures.go
// draws the results.

func (s *session) sweepCommand() *cli.Command {
	return &cli.Command{
		Name:      "sweep",
		Usage:     "run a program under many schedules in random order and compare their times",
		ArgsUsage: "FILE",
		Description: "All runs are in one process, each after a garbage collection. A round runs every schedule once, in a new random order.\n" +
			"Files that the program writes are compared and thrown away. Where the program names a technique itself, it has those of the sweep.\n" +
			"With --ranks it compares numbers of ranks, under the default technique or those of --partitioning. Each run is then a process of its own, and files are written.",
		Flags: append(append(programFlags(), manySchedules()...),
			&cli.StringFlag{Name: "threads", Aliases: []string{"num-threads"}, Usage: "numbers of threads, `N,N,...`", DefaultText: "one a processor"},
			&cli.StringFlag{Name: "ranks", Usage: "strong scaling over numbers of ranks, `P,P,...`, of one thread unless --threads says more"},
			&cli.StringSliceFlag{Name: "weak", Usage: "with --ranks: weak scaling, too, with a param that grows, as n=1000*ranks or n=1000*ranks^(1/3): `NAME=NUMBER*ranks`; repeatable"},
			&cli.StringFlag{Name: "backend", Usage: "with --ranks: mpi or mem, `NAME`", DefaultText: "mpi where it is built in"},
			&cli.StringFlag{Name: "repeat", Usage: "`N` rounds; six and more give intervals of 95 %", Value: "5"},
			&cli.StringFlag{Name: "warmup", Usage: "`N` rounds before them, not counted", Value: "1"},
			&cli.StringFlag{Name: "seed", Usage: "`SEED` of the order", DefaultText: "drawn, and printed"},
			&cli.BoolFlag{Name: "json", DisableDefaultText: true, Usage: "print JSON"},
			&cli.StringFlag{Name: "csv", Usage: "write a line for each run to `FILE`"},
			&cli.StringFlag{Name: "svg", Usage: "draw times into `FILE`, chunk sizes into FILE-chunks and workers into FILE-workers"},
			&cli.StringFlag{Name: "png", Usage: "likewise, as PNG: `FILE`"},
			&cli.StringFlag{Name: "html", Usage: "write a report with all of it to `FILE`"}),
		Action: func(c *cli.Context) error { return s.sweep(c) },
	}
}

// manySchedules is scheduleFlags for lists.
func manySchedules() []cli.Flag {
	list := scheduleFlags()
	for _, f := range list {
		if f, ok := f.(*cli.StringFlag); ok {
			switch f.Name {
			case "partitioning":
				f.Usage, f.DefaultText = "`TECHNIQUES`: all, or a list; flowrun chunks lists them", "all"
			case "queue-layout":
				f.Usage = "`LAYOUTS`: all, or a list of " + strings.Join(schedule.Layouts(), ", ")
			case "victim":
				f.Usage = "`ORDERS`: all, or a list of " + strings.Join(schedule.Victims(), ", ")
			}
		}
	}
	return list
}

// sweeping is what the flags ask for.
type sweeping struct {
	name       string
	program    *flow.Program
	base       flow.Scheduling // what no config changes
	techniques map[string]*schedule.Technique
	configs    []sweep.Config
	options    sweep.Options
	first      sweep.Config // layout and victim of baselines
	observed   []observation
}

// observation is the record of an observed run, by config.
type observation struct {
	sweep.Config
	account *flow.Account
	seconds float64
}

func (s *session) sweep(c *cli.Context) error {
	if err := writable(c, "csv", "svg", "png", "html"); err != nil {
		return err
	}
	w, err := s.sweeping(c)
	if err != nil {
		return err
	}
	if c.IsSet("ranks") {
		return s.sweepRanks(c, w)
	}
	for _, name := range []string{"weak", "backend"} {
		if c.IsSet(name) {
			return usagef("--%s is about ranks: it needs --ranks", name)
		}
	}
	o, err := s.compileOptions(c)
	if err != nil {
		return err
	}
	if w.program, err = s.compile(c.Context, c, o); err != nil {
		return err
	}
	if err := w.hasLoops(c.Context); err != nil {
		return err
	}
	line := s.progress()
	line.what = "runs"
	report := line.counts()
	w.options.Progress = func(done, total int, _ sweep.Config) {
		if report != nil {
			report(done, total+looks*len(w.configs))
		}
	}
	table, err := sweep.Run(c.Context, w.configs, w.baseline, w.options, w.run)
	if err == nil && table.Ended {
		err = w.observe(c.Context, table, report)
	}
	line.hide()
	if err != nil {
		return err
	}
	if err := w.write(c, s.out, table); err != nil {
		return err
	}
	if c.Context.Err() != nil {
		return context.Cause(c.Context)
	}
	return w.same(table)
}

// sweeping reads the flags.
func (s *session) sweeping(c *cli.Context) (*sweeping, error) {
	w := &sweeping{name: c.Args().First(), techniques: map[string]*schedule.Technique{}}
	list, err := techniqueList(orElse(c.String("partitioning"), c.IsSet("partitioning"), "all"))
	if err != nil {
		return nil, err
	}
	names := []string{"STATIC"} // what others are compared with
	for _, t := range list {
		if t.Name != "STATIC" {
			names = append(names, t.Name)
		}
		w.techniques[t.Name] = t
	}
	if w.techniques["STATIC"], err = technique("STATIC"); err != nil {
		return nil, err
	}
	layouts, err := nameList(c.String("queue-layout"), schedule.Layouts(), func(n string) (string, error) {
		l, err := schedule.ParseLayout(n)
		return l.String(), err
	})
	if err != nil {
		return nil, err
	}
	victims, err := nameList(c.String("victim"), schedule.Victims(), func(n string) (string, error) {
		v, err := schedule.ParseVictim(n)
		return v.String(), err
	})
	if err != nil {
		return nil, err
	}
	if w.base, err = commonSchedule(c); err != nil {
		return nil, err
	}
	w.base.Plan.Override = true
	threads := []int{w.base.Parallelism()}
	if c.IsSet("threads") && !c.IsSet("ranks") {
		if threads, err = numbers("threads", c.String("threads"), mostThreads); err != nil {
			return nil, err
		}
	}
	w.configs = sweep.Cross(names, layouts, victims, threads)
	w.first = w.configs[0]
	return w, w.readRounds(c)
}

// readRounds reads how often to run and what to write.
func (w *sweeping) readRounds(c *cli.Context) (err error) {
	if w.options.Repeat, err = strconv.Atoi(c.String("repeat")); err != nil || w.options.Repeat < 1 || w.options.Repeat > 1e6 {
		return usagef("--repeat %s: at least 1 round counts", c.String("repeat"))
	}
	if w.options.Warmup, err = strconv.Atoi(c.String("warmup")); err != nil || w.options.Warmup < 0 || w.options.Warmup > 1e6 {
		return usagef("--warmup %s is not a number of rounds", c.String("warmup"))
	}
	w.options.Seed = rand.Uint64N(1e6) // short to write; only the order matters
	if c.IsSet("seed") {
		if w.options.Seed, err = strconv.ParseUint(c.String("seed"), 0, 64); err != nil {
			return usagef("--seed %s is not a number from 0 to 2^64-1", c.String("seed"))
		}
	}
	for _, f := range []string{"svg", "png"} {
		if c.IsSet(f) && !strings.EqualFold(filepath.Ext(c.String(f)), "."+f) {
			return usagef("--%s %s: the file ends in .%s", f, c.String(f), f)
		}
	}
	return nil
}

func orElse(value string, isSet bool, otherwise string) string {
	if isSet {
		return value
	}
	return otherwise
}

// nameList parses "all", or names that parse knows. The default is the first of all.
func nameList(text string, all []string, parse func(string) (string, error)) ([]string, error) {
	if text == "" {
		return all[:1], nil
	}
	if strings.EqualFold(text, "all") {
		return all, nil
	}
	var out []string
	for _, n := range splitList(text) {
		name, err := parse(n)
		if err != nil {
			return nil, unknownName(err)
		}
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out, nil
}

// baseline returns the index of the config to compare with: STATIC on as many threads, in the first
// layout.
func (w *sweeping) baseline(c sweep.Config) int {
	b := w.first
	b.Threads = c.Threads
	return slices.Index(w.configs, b)
}

// scheduling converts a config for the engine.
func (w *sweeping) scheduling(c sweep.Config) (flow.Scheduling, error) {
	o := w.base
	o.Plan.Technique = w.techniques[c.Technique]
	var err error
	if o.Plan.Layout, err = schedule.ParseLayout(c.Layout); err != nil {
		return o, err
	}
	if c.Victim != "" {
		o.Plan.Victim, err = schedule.ParseVictim(c.Victim)
	}
	return o, err
}

// run runs the program once and hashes its output and files.
func (w *sweeping) run(ctx context.Context, c sweep.Config) (sweep.Measurement, error) {
	m, _, err := w.once(ctx, c, false)
	return m, err
}

func (w *sweeping) once(ctx context.Context, c sweep.Config, stats bool) (sweep.Measurement, *flow.Report, error) {
	o, err := w.scheduling(c)
	if err != nil {
		return sweep.Measurement{}, nil, err
	}
	h := sha256.New()
	out := flow.NewOutput(h)
	defer out.Discard()
	runtime.GC() // every run begins with an equal heap
	report, err := w.program.Run(ctx, flow.RunOptions{Threads: c.Threads, Schedule: o, Output: out, Stats: stats})
	if err == nil {
		err = w.program.Explain(out.Sum(h))
	}
	if err != nil {
		return sweep.Measurement{}, nil, err
	}
	return sweep.Measurement{Seconds: report.Ranks[0].Seconds, Output: hex.EncodeToString(h.Sum(nil))}, report, nil
}

// hasLoops runs the baseline once, as the first warm-up, and refuses a program without loops to
// schedule.
func (w *sweeping) hasLoops(ctx context.Context) error {
	_, report, err := w.once(ctx, w.first, true)
	if err != nil {
		return err
	}
	if len(report.Ranks[0].Loops) == 0 {
		e := usagef("%s has no loops: none of its operators runs in chunks, so all schedules are the same", w.name)
		e.help = "flowrun " + w.name + " --stats shows where its time goes"
		return e
	}
	return nil
}

// looks is how often a config is run for observation. The fastest run is kept, as the least
// disturbed.
const looks = 3

// observe runs every config some more times with a record of its chunks, in rounds like the timed
// ones.
func (w *sweeping) observe(ctx context.Context, t *sweep.Table, report func(done, total int)) error {
	w.observed = make([]observation, len(t.Rows))
	before := (t.Rounds + t.Warmup) * len(t.Rows)
	random := rand.New(rand.NewPCG(t.Seed, 1))
	for round := range looks {
		for k, i := range random.Perm(len(t.Rows)) {
			if report != nil {
				report(before+round*len(t.Rows)+k, before+looks*len(t.Rows))
			}
			r := &t.Rows[i]
			m, rep, err := w.once(ctx, r.Config, true)
			if err != nil {
				return err
			}
			if !slices.Contains(t.Outputs[m.Output], r.Config) {
				t.Outputs[m.Output] = append(t.Outputs[m.Output], r.Config)
			}
			if round > 0 && m.Seconds >= w.observed[i].seconds {
				continue
			}
			a, err := w.program.Account(rep, false)
			if err != nil {
				return err
			}
			sum := &a.Sum
			r.Seen = &sweep.Seen{Chunks: sum.Chunks, Percent: sum.Percent(), Scheduling: sum.Share(sum.Sched), Idle: sum.Share(sum.Idle),
				Imbalance: sum.Imbalance, COV: sum.COV, BoundBy: sum.Binds()}
			w.observed[i] = observation{r.Config, a, m.Seconds}
		}
	}
	return nil
}

// same reports two schedules with different outputs, which is a bug.
func (w *sweeping) same(t *sweep.Table) error {
	if len(t.Outputs) == 1 {
		return nil
	}
	var groups []string
	for _, configs := range t.Outputs {
		first := configs[0]
		groups = append(groups, fmt.Sprintf("%s %s on %s (of %d alike)", first.Technique, first.Group(), count(first.Threads, "thread"), len(configs)))
	}
	slices.Sort(groups)
	return &flow.Bug{Text: fmt.Sprintf("schedules gave %d different outputs: %s", len(groups), strings.Join(groups, "; "))}
}

// writeSweep writes the files that the flags of a sweep ask for. draw makes a picture, by the ending of
// its path.
func writeSweep(c *cli.Context, csv func(io.Writer) error, draw func(path string) error, html func(io.Writer) error) error {
	if c.IsSet("csv") {
		if err := writeFile(c.String("csv"), csv); err != nil {
			return err
		}
	}
	for _, f := range []string{"svg", "png"} {
		if c.IsSet(f) {
			if err := draw(c.String(f)); err != nil {
				return err
			}
		}
	}
	if c.IsSet("html") {
		return writeFile(c.String("html"), html)
	}
	return nil
}

// write writes the table and all requested files.
func (w *sweeping) write(c *cli.Context, stdout io.Writer, t *sweep.Table) error {
	draw := func(path string) error { return w.draw(path, t) }
	if err := writeSweep(c, t.WriteCSV, draw, func(out io.Writer) error { return w.html(out, t) }); err != nil {
		return err
	}
	if c.Bool("json") {
		e := json.NewEncoder(stdout)
		e.SetEscapeHTML(false)
		return e.Encode(struct {
			File     string      `json:"file"`
			Seed     uint64      `json:"seed"`
			Rounds   int         `json:"rounds"`
			Warmup   int         `json:"warmup"`
			Complete bool        `json:"complete"`
			Outputs  int         `json:"different_outputs"` // 1, or it is a bug
			Rows     []sweep.Row `json:"rows"`

			// what the program names itself, and gets without a sweep
			Overridden []flow.OwnSchedule `json:"overridden,omitempty"`
		}{w.name, t.Seed, t.Rounds, t.Warmup, t.Ended, len(t.Outputs), t.Rows, w.program.OwnSchedules()})
	}
	if err := t.WriteText(stdout); err != nil {
		return err
	}
	for _, line := range w.overridden() {
		fmt.Fprintln(stdout, line)
	}
	if len(t.Outputs) == 1 {
		_, err := fmt.Fprintf(stdout, "all %d runs gave the same output, to the byte\n", w.runs(t))
		return err
	}
	return nil
}

// overridden says where a run would use a technique that the program names. A sweep tries all of
// them there too.
func (w *sweeping) overridden() (lines []string) {
	for _, o := range w.program.OwnSchedules() {
		lines = append(lines, fmt.Sprintf("%s at %s names its technique, %s, which a run uses whatever --partitioning says; here it has each of the table's",
			o.Name, o.Where, o.Technique))
	}
	return lines
}

// runs returns how many runs were compared.
func (w *sweeping) runs(t *sweep.Table) int {
	return (t.Rounds+t.Warmup)*len(t.Rows) + looks*len(w.observed)
}
