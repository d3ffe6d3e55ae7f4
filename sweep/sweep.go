package sweep

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
)

// This file defines what is compared, Config, and Run, which takes the measurements.

// Config is one way to schedule a program. Layout and Victim are "" where they do not matter.
type Config struct {
	Technique string `json:"technique"`
	Layout    string `json:"queue_layout"`
	Victim    string `json:"victim,omitempty"`
	Threads   int    `json:"threads"`
	Ranks     int    `json:"ranks,omitempty"` // 0: a run without ranks
	Weak      bool   `json:"weak,omitempty"`  // the problem grows with the ranks
}

// Group returns the config without its technique, within which techniques are compared.
func (c Config) Group() string {
	g := c.Layout
	if c.Victim != "" {
		g += " " + c.Victim
	}
	return g
}

// Centralized is the layout with one queue. Nothing is stolen there, so its configs have no victim.
const Centralized = "CENTRALIZED"

// Cross returns every technique under every layout, victim and number of threads, without repeats,
// in the given order.
func Cross(techniques, layouts, victims []string, threads []int) []Config {
	var out []Config
	for _, t := range threads {
		for _, l := range layouts {
			for _, v := range victims {
				for _, name := range techniques {
					c := Config{Technique: name, Layout: l, Victim: v, Threads: t}
					if l == Centralized {
						c.Victim = ""
					}
					if !slices.Contains(out, c) {
						out = append(out, c)
					}
				}
			}
		}
	}
	return out
}

// Measurement is the result of one run.
type Measurement struct {
	Seconds float64
	Output  string // identifies the bytes of a run: their hash
}

// Options says how a sweep is made.
type Options struct {
	Repeat int    // rounds that count, at least 1
	Warmup int    // rounds before them that do not
	Seed   uint64 // of the random order
	// Progress is called before each run; nil for none.
	Progress func(done, total int, c Config)
}

// Row is the result of one config.
type Row struct {
	Config
	Time Estimate `json:"seconds"`
	// of time against the baseline of the same round, as a ratio minus 1
	Change  Estimate  `json:"change"`
	Base    bool      `json:"baseline"`
	Seconds []float64 `json:"samples"` // by round
	Seen    *Seen     `json:"observed,omitempty"`
}

// Seen is what an observed run says about its loops; it is not one of the timed runs.
type Seen struct {
	Chunks     int     `json:"chunks"`
	Percent    float64 `json:"percent_of_ideal"`
	Scheduling float64 `json:"scheduling_percent"` // of the workers' time in loops
	Idle       float64 `json:"idle_percent"`
	Imbalance  float64 `json:"imbalance_percent"`
	COV        float64 `json:"cov"`
	BoundBy    string  `json:"bound_by"`
}

// Faster reports whether the whole interval of change is below 0.
func (r *Row) Faster() bool { return !r.Base && r.Change.Coverage > 0 && r.Change.High < 0 }

// Slower reports whether the whole interval of change is above 0. Both may be false.
func (r *Row) Slower() bool { return !r.Base && r.Change.Coverage > 0 && r.Change.Low > 0 }

// Table is the result of a sweep, in the order of the configs.
type Table struct {
	Rows   []Row
	Rounds int
	Warmup int
	Seed   uint64
	// configs by the output that they gave; more than one key is a bug
	Outputs map[string][]Config
	Ended   bool // all rounds were run; else those that were complete count
}

// level is the coverage that intervals aim at.
const level = 0.95

// Run measures all configs, in rounds. Each round runs every config once, in an order of its own,
// drawn from the seed.
//
// base gives the baseline of a config: its index in configs. The first error of a run ends the
// sweep and is returned. A context that ends ends the sweep too, but the table then has the rounds
// that were complete, if there is one.
func Run(ctx context.Context, configs []Config, base func(Config) int, o Options, run func(context.Context, Config) (Measurement, error)) (*Table, error) {
	if len(configs) == 0 || o.Repeat < 1 {
		return nil, fmt.Errorf("BUG: a sweep of %d configs and %d rounds", len(configs), o.Repeat)
	}
	t := &Table{Rows: make([]Row, len(configs)), Warmup: o.Warmup, Seed: o.Seed, Outputs: map[string][]Config{}}
	for i, c := range configs {
		t.Rows[i].Config = c
	}
	random := rand.New(rand.NewPCG(o.Seed, 0))
	total := (o.Warmup + o.Repeat) * len(configs)
	round := make([]float64, len(configs))
	for r := range o.Warmup + o.Repeat {
		for k, i := range random.Perm(len(configs)) {
			if o.Progress != nil {
				o.Progress(r*len(configs)+k, total, configs[i])
			}
			m, err := run(ctx, configs[i])
			if ctx.Err() != nil && t.Rounds > 0 {
				t.finish(base)
				return t, nil
			}
			if err != nil {
				return nil, err
			}
			round[i] = m.Seconds
			if !slices.Contains(t.Outputs[m.Output], configs[i]) {
				t.Outputs[m.Output] = append(t.Outputs[m.Output], configs[i])
			}
		}
		if r >= o.Warmup {
			for i := range t.Rows {
				t.Rows[i].Seconds = append(t.Rows[i].Seconds, round[i])
			}
			t.Rounds++
		}
	}
	t.Ended = true
	t.finish(base)
	return t, nil
}

// finish estimates times and changes.
func (t *Table) finish(base func(Config) int) {
	for i := range t.Rows {
		r := &t.Rows[i]
		r.Time = Estimated(r.Seconds, level)
		b := base(r.Config)
		r.Base = b == i
		ratio := make([]float64, len(r.Seconds))
		for k := range ratio {
			ratio[k] = r.Seconds[k]/t.Rows[b].Seconds[k] - 1
		}
		r.Change = Estimated(ratio, level)
	}
}

// Best is the row with the smallest median.
func (t *Table) Best() *Row {
	i := 0
	for k := range t.Rows {
		if t.Rows[k].Time.Median < t.Rows[i].Time.Median {
			i = k
		}
	}
	return &t.Rows[i]
}

// Sorted is the rows by threads, then by median time.
func (t *Table) Sorted() []Row {
	rows := slices.Clone(t.Rows)
	slices.SortStableFunc(rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(a.Threads, b.Threads), cmp.Compare(a.Time.Median, b.Time.Median))
	})
	return rows
}
