package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"flow/figure"
	"flow/runtime/schedule"
)

// This file defines `flowrun chunks`: the sequence of chunks that a self-scheduling technique hands
// out, and the list of techniques.

func (s *session) chunksCommand() *cli.Command {
	return &cli.Command{
		Name:      "chunks",
		Usage:     "print the chunks that a self-scheduling technique hands out; without TECHNIQUE, list the techniques",
		ArgsUsage: "[TECHNIQUE | 'expr: EXPRESSION']",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "n", Value: "1000", Usage: "`COUNT` of iterations"},
			&cli.StringFlag{Name: "p", Value: "4", Usage: "`COUNT` of workers"},
			&cli.StringFlag{Name: "min-chunk", Usage: "smallest chunk, in `ITERATIONS`", DefaultText: "1; StaticSteal: that of AUTO_CHUNK"},
			&cli.StringFlag{Name: "overhead", Value: "0.5", Usage: "`TIME` of one scheduling operation"},
			&cli.StringFlag{Name: "mu", Value: "1", Usage: "mean `TIME` of an iteration"},
			&cli.StringFlag{Name: "sigma", Value: "0.5", Usage: "standard deviation of the `TIME` of an iteration"},
			&cli.StringFlag{Name: "alpha", Value: "1.3", Usage: "`ALPHA` of TAP, its head room in deviations"},
			&cli.StringFlag{Name: "seed", Value: "42", Usage: "`SEED` of RAND and PSS_SEEDED"},
			&cli.StringFlag{Name: "swr", Value: "0.5", Usage: "static workload `RATIO` of PLS"},
			&cli.StringFlag{Name: "first", Usage: "first chunk of TSS and TFSS, in `ITERATIONS`", DefaultText: "ceil(N/2P)"},
			&cli.StringFlag{Name: "last", Value: "1", Usage: "last chunk of TSS and TFSS, in `ITERATIONS`"},
			&cli.StringFlag{Name: "stages", Value: "3", Usage: "`COUNT` of stages of FISS"},
			&cli.StringFlag{Name: "divisor", Value: "4", Usage: "`X` of VISS, whose first stage is N/(X P)"},
			&cli.StringFlag{Name: "idle", Usage: "mean `COUNT` of workers that ask at a time, of PSS", DefaultText: "P"},
			&cli.StringFlag{Name: "weights", Usage: "relative speeds of the workers, `W,W,...`"},
			&cli.BoolFlag{Name: "json", DisableDefaultText: true, Usage: "print JSON: pairs of size and repeat"},
			&cli.StringFlag{Name: "plot", Usage: "draw chunk size over step into `FILE`, .svg or .png"},
		},
		Action: func(c *cli.Context) error {
			if c.NArg() == 0 {
				for _, name := range []string{"plot", "n", "p"} {
					if c.IsSet(name) {
						return usagef("flowrun chunks --%s needs a TECHNIQUE", name)
					}
				}
				return s.listTechniques(c.Bool("json"))
			}
			if c.NArg() > 1 {
				e := usagef("flowrun chunks takes one TECHNIQUE, got %q as well", c.Args().Get(1))
				e.help = "an expression is one argument: 'expr: ceil(R/(1.5*P))'"
				return e
			}
			t, err := technique(c.Args().First())
			if err != nil {
				return err
			}
			return s.chunks(c, t)
		},
	}
}

// chunks prints and draws the sequence.
func (s *session) chunks(c *cli.Context, t *schedule.Technique) error {
	p, err := chunkParams(c)
	if err != nil {
		return err
	}
	if err := figureFlag(c, "plot"); err != nil {
		return err
	}
	runs, err := schedule.Sequence(t, p)
	if err != nil {
		return usagef("%v", err)
	}
	count := 0
	for _, r := range runs {
		count += r.Repeat
	}
	if c.IsSet("plot") {
		if err := drawChunks(c.String("plot"), t.Name, p, runs); err != nil {
			return err
		}
	}
	if c.Bool("json") {
		if runs == nil {
			runs = []schedule.Run{}
		}
		return json.NewEncoder(s.out).Encode(struct {
			Technique string         `json:"technique"`
			N         int            `json:"n"`
			P         int            `json:"p"`
			Count     int            `json:"count"`
			Chunks    []schedule.Run `json:"chunks"`
		}{t.Name, p.N, p.P, count, runs})
	}
	line := make([]string, 0, len(runs)+1)
	for _, r := range runs {
		word := strconv.Itoa(r.Size)
		if r.Repeat > 1 {
			word += "x" + strconv.Itoa(r.Repeat)
		}
		line = append(line, word)
	}
	noun := "chunks"
	if count == 1 {
		noun = "chunk"
	}
	_, err = fmt.Fprintf(s.out, "%s  n = %d, p = %d: %d %s\n%s\n", t.Name, p.N, p.P, count, noun, strings.Join(line, " "))
	return err
}

// chunkParams reads the flags.
func chunkParams(c *cli.Context) (p schedule.Params, err error) {
	for _, f := range []struct {
		name string
		to   *int
	}{{"n", &p.N}, {"p", &p.P}, {"min-chunk", &p.MinChunk}, {"first", &p.First}, {"last", &p.Last}, {"stages", &p.Stages}, {"divisor", &p.Divisor}} {
		text := c.String(f.name)
		if text == "" && !c.IsSet(f.name) {
			continue // the technique knows
		}
		switch *f.to, err = strconv.Atoi(text); {
		case err != nil:
			return p, usagef("--%s %s is not a count", f.name, text)
		case *f.to < 1 && f.name != "n" && f.name != "p":
			// the technique limits these itself
			return p, usagef("--%s %s: it is at least 1", f.name, text)
		}
	}
	if p.Seed, err = strconv.ParseUint(c.String("seed"), 0, 64); err != nil {
		return p, usagef("--seed %s is not a number from 0 to 2^64-1", c.String("seed"))
	}
	for _, f := range []struct {
		name string
		to   *float64
	}{{"overhead", &p.H}, {"mu", &p.Mu}, {"sigma", &p.Sigma}, {"swr", &p.SWR}, {"alpha", &p.Alpha}, {"idle", &p.Idle}} {
		if f.name == "idle" && !c.IsSet(f.name) {
			continue
		}
		if *f.to, err = strconv.ParseFloat(c.String(f.name), 64); err != nil {
			return p, usagef("--%s %s is not a number", f.name, c.String(f.name))
		}
	}
	for _, f := range []struct {
		name, what string
		value      float64
	}{{"mu", "the mean time of an iteration", p.Mu}, {"swr", "the static workload ratio", p.SWR}, {"alpha", "the head room", p.Alpha}} {
		if !(f.value > 0) { // 0 is what leaves it to the technique
			return p, usagef("--%s %s: %s must be positive", f.name, c.String(f.name), f.what)
		}
	}
	if c.IsSet("idle") && !(p.Idle > 0) {
		return p, usagef("--idle %s: at least one worker asks", c.String("idle"))
	}
	if c.IsSet("weights") {
		for _, word := range strings.Split(c.String("weights"), ",") {
			w, err := strconv.ParseFloat(strings.TrimSpace(word), 64)
			if err != nil {
				return p, usagef("--weights: %q is not a number", word)
			}
			p.Weights = append(p.Weights, w)
		}
	}
	return p, nil
}

// listTechniques prints the table.
func (s *session) listTechniques(asJSON bool) error {
	if asJSON {
		type row struct {
			Name    string   `json:"name"`
			Aliases []string `json:"aliases,omitempty"`
			Class   string   `json:"class"`
			Needs   string   `json:"needs"`
			Doc     string   `json:"size"`
			Source  string   `json:"source"`
		}
		var rows []row
		for _, t := range schedule.Techniques() {
			rows = append(rows, row{t.Name, t.Aliases, t.Class, t.Needs, t.Doc, t.Source})
		}
		enc := json.NewEncoder(s.out)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(rows)
	}
	for _, t := range schedule.Techniques() {
		name := t.Name
		if len(t.Aliases) > 0 {
			name += " (" + strings.Join(t.Aliases, ", ") + ")"
		}
		fmt.Fprintf(s.out, "%-21s %-10s  %s\n%-21s %-10s  needs %s; %s\n", name, t.Class, t.Doc, "", "", t.Needs, t.Source)
	}
	fmt.Fprintf(s.out, "%-21s %-10s  %s\n", schedule.Auto.Name, schedule.Auto.Class, schedule.Auto.Doc)
	fmt.Fprint(s.out, "\nN: iterations, P: workers, h: seconds that a claim takes, mu and sigma: mean and standard deviation of an iteration's seconds,\n"+
		"R: iterations left, i: step, j = i div P: batch, R_j: iterations left when it began, w: weight of the worker that asks.\n"+
		"Your own: 'expr: ceil(R/(1.5*P))' over N, P, R, i, h, mu, sigma.\n"+
		"An iteration is what a run cuts loops into: of a parfor of numbers a 64th of them, at most 256, for as many fill the lanes of the\n"+
		"processor's vectors. So chunks are multiples of that, also where a technique says 1. SS alone claims single iterations, as published:\n"+
		"then most lanes are empty, and a body of arithmetic may take a hundred times as long. --grain-size N makes its chunks N iterations.\n")
	return nil
}

// drawChunks draws the sequence.
func drawChunks(file, title string, p schedule.Params, runs []schedule.Run) error {
	c := figure.Chunks{Title: title}
	for _, r := range runs {
		c.Runs = append(c.Runs, figure.Run(r))
	}
	return savePage(file, figure.Steps(fmt.Sprintf("%s, N = %d, P = %d", title, p.N, p.P), []figure.Chunks{c}))
}
