package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

// This file defines how contestants take turns, and how a figure is read from a program.

// contestant is a way to do the work. run does it once and returns the measured seconds.
type contestant struct {
	name   string
	run    func() (float64, error)
	chosen func() string // the result of a scan, for the table; nil: nothing was scanned
}

// result is a contestant's times, or why they are missing.
type result struct {
	name    string
	chosen  func() string
	seconds []float64
	err     error
}

func (r *result) median() float64 {
	s := slices.Clone(r.seconds)
	slices.Sort(s)
	if len(s) == 0 {
		return 0
	}
	if len(s)%2 == 1 {
		return s[len(s)/2]
	}
	return (s[len(s)/2-1] + s[len(s)/2]) / 2
}

// contest runs all in turn, reps times after one warm-up round. One that fails is out.
func contest(reps int, list []contestant) []*result {
	out := entered(list)
	takeTurns(1, list, out)
	for _, r := range out {
		r.seconds = nil
	}
	takeTurns(reps, list, out)
	return out
}

// entered returns the empty results of contestants.
func entered(list []contestant) []*result {
	out := make([]*result, len(list))
	for i, c := range list {
		out[i] = &result{name: c.name, chosen: c.chosen}
	}
	return out
}

// takeTurns runs all in turn, rounds times, and adds the seconds to out. One that fails is out.
func takeTurns(rounds int, list []contestant, out []*result) {
	for range rounds {
		for i, c := range list {
			if out[i].err != nil {
				continue
			}
			sec, err := c.run()
			if err != nil {
				out[i].err = err
				continue
			}
			out[i].seconds = append(out[i].seconds, sec)
		}
	}
}

// table prints results of one piece of work. Ratios refer to the first, Flow. work is its
// arithmetic operations, or 0.
func (b *bench) table(title string, work float64, results []*result) {
	fmt.Fprintf(b.out, "| %s | median s | min..max | %stimes Flow's |\n|---|---|---|%s---|\n", title, ifWork(work, "GFLOP/s | "), ifWork(work, "---|"))
	base := results[0].median()
	for _, r := range results {
		if r.err != nil {
			fmt.Fprintf(b.out, "| %s | left out: %s | | |%s\n", r.name, firstLine(r.err), ifWork(work, " |"))
			continue
		}
		m, rate, name := r.median(), "", r.name
		if r.chosen != nil {
			name += ", " + r.chosen()
		}
		if work > 0 {
			rate = fmt.Sprintf("%.1f | ", work/m/1e9)
		}
		fmt.Fprintf(b.out, "| %s | %.4g | %.4g..%.4g | %s%.2f |\n", name, m, slices.Min(r.seconds), slices.Max(r.seconds), rate, m/base)
	}
	fmt.Fprintln(b.out)
}

func ifWork(work float64, s string) string {
	if work > 0 {
		return s
	}
	return ""
}

func firstLine(err error) string {
	s, _, _ := strings.Cut(err.Error(), "\n")
	return strings.ReplaceAll(s, "|", "/")
}

// limit is the longest that one program may take.
const limit = 10 * time.Minute

// output is the output of a finished program.
type output struct {
	stdout, stderr []byte
	wall           float64 // seconds
	cpu            float64 // seconds, with the children it waited for
	maxRSS         int64   // bytes
}

// launch runs a program to its end. env is added to the environment.
func launch(env []string, name string, args ...string) (output, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	start := time.Now()
	err := cmd.Run()
	o := output{stdout: stdout.Bytes(), stderr: stderr.Bytes(), wall: time.Since(start).Seconds()}
	if err != nil {
		last := strings.TrimSpace(string(o.stderr))
		if i := strings.LastIndexByte(last, '\n'); i >= 0 {
			last = last[i+1:]
		}
		return o, fmt.Errorf("%s: %w: %s", name, err, last)
	}
	o.cpu = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		o.maxRSS = u.Maxrss * 1024
	}
	return o, nil
}

// lastJSON decodes the last line of text that is a JSON object.
func lastJSON(text []byte, into any) error {
	lines := bytes.Split(text, []byte("\n"))
	for i := len(lines) - 1; i >= 0; i-- {
		if bytes.HasPrefix(lines[i], []byte("{")) {
			return json.Unmarshal(lines[i], into)
		}
	}
	return errors.New("it printed no JSON line")
}

// stats is the output of `flowrun --stats=json`.
type stats struct {
	Execution float64 `json:"execution_seconds"`
	Calls     []struct {
		Name  string  `json:"name"`
		Line  int     `json:"line"`
		First float64 `json:"first_seconds"`
		Last  float64 `json:"last_seconds"`
	} `json:"calls"`
	Loops []struct {
		Name    string  `json:"name"`
		Percent float64 `json:"percent_of_ideal"`
	} `json:"loops"`
}

// callSeconds runs flowrun and returns the seconds of the named call: of several the median without
// the first, the warm-up.
func callSeconds(call string, env []string, name string, args ...string) (float64, error) {
	s, err := runStats(env, name, args...)
	if err != nil {
		return 0, err
	}
	return s.callSeconds(call)
}

// callSeconds returns the seconds of the named call; of several the median, without the first. A
// call begins at the end of a call of `after` before it, which makes its operand: what does not
// depend on the operand (an assert, the edges of a histogram) may run long before. A call
// with `after` on two operands would be timed wrong if its costly part needs one of them alone: that
// part would run before the other operand is there.
func (s *stats) callSeconds(call string) (float64, error) {
	var r result
	ready := 0.0
	for _, c := range s.Calls {
		switch c.Name {
		case "after":
			ready = c.Last
		case call:
			r.seconds = append(r.seconds, c.Last-max(c.First, ready))
		}
	}
	switch len(r.seconds) {
	case 0:
		return 0, fmt.Errorf("the statistics have no call %s", call)
	case 1:
	default:
		r.seconds = r.seconds[1:]
	}
	return r.median(), nil
}

// runStats runs Flow and returns its statistics.
func runStats(env []string, name string, args ...string) (s stats, err error) {
	o, err := launch(env, name, append(args, "--stats=json")...)
	if err == nil {
		err = lastJSON(o.stderr, &s)
	}
	return s, err
}

// timing is the output of `flowrun --timing`.
type timing struct {
	Startup     float64 `json:"startup_seconds"`
	Parsing     float64 `json:"parsing_seconds"`
	Compilation float64 `json:"compilation_seconds"`
	Execution   float64 `json:"execution_seconds"`
	Total       float64 `json:"total_seconds"`
}
