package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"flow"
	"flow/figure"
	"flow/runtime/schedule"
)

// This file reads counts and lists of them from flags, for all commands, and writes the files of sweep
// and simulate.

// techniqueList parses "all", or comma-separated names and expressions. A comma in parentheses
// belongs to an expression.
func techniqueList(text string) ([]*schedule.Technique, error) {
	var out []*schedule.Technique
	if strings.EqualFold(text, "all") {
		all := schedule.Techniques()
		for i := range all {
			out = append(out, &all[i])
		}
		return out, nil
	}
	for _, name := range splitList(text) {
		t, err := technique(name)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(out, func(o *schedule.Technique) bool { return o.Name == t.Name }) {
			out = append(out, t)
		}
	}
	if len(out) == 0 {
		return nil, usagef("--partitioning needs the name of a technique")
	}
	return out, nil
}

// splitList splits at commas outside parentheses.
func splitList(text string) []string {
	var out []string
	depth, from := 0, 0
	for i, r := range text + "," {
		switch {
		case r == '(':
			depth++
		case r == ')':
			depth--
		case r == ',' && depth <= 0:
			if word := strings.TrimSpace(text[from:i]); word != "" {
				out = append(out, word)
			}
			from = i + 1
		}
	}
	return out
}

// numbers parses a list of counts. ".." between two continues the numbers before: by a factor if
// they have one, else by a difference. A..B stands for A, its doubles below B, and B.
func numbers(flag, text string, most int) ([]int, error) {
	var out []int
	words := splitList(text)
	for i := 0; i < len(words); i++ {
		if words[i] == ".." {
			if i+1 == len(words) || len(out) == 0 {
				return nil, usagef("--%s %s: \"..\" stands between two numbers", flag, text)
			}
			last, err := number(flag, words[i+1], most)
			if err != nil {
				return nil, err
			}
			var more []int
			if more, err = goOn(out, last); err != nil {
				return nil, usagef("--%s %s: %v", flag, text, err)
			}
			out = append(out, more...)
			i++
			continue
		}
		first, last, double := strings.Cut(words[i], "..")
		n, err := number(flag, first, most)
		if err != nil {
			return nil, err
		}
		if double {
			end, err := number(flag, last, most)
			if err != nil {
				return nil, err
			}
			if end < n {
				return nil, usagef("--%s: %s ends below its begin; write %d..%d", flag, words[i], end, n)
			}
			for ; n < end; n *= 2 {
				out = append(out, n)
			}
			n = end
		}
		out = append(out, n)
	}
	if len(out) == 0 {
		return nil, usagef("--%s needs a number", flag)
	}
	var once []int
	for _, n := range out {
		if !slices.Contains(once, n) {
			once = append(once, n)
		}
	}
	return once, nil
}

func number(flag, word string, most int) (int, error) {
	n, err := strconv.Atoi(word)
	if err != nil || n < 1 || n > most {
		return 0, usagef("--%s: %s is not a number from 1 to %d", flag, word, most)
	}
	return n, nil
}

// mostThreads is the most workers of one process: each needs a thread, and the Go runtime ends a
// process with 10000. mostRanks is the most ranks of a plan.
const (
	mostThreads = 4096
	mostRanks   = 1 << 20
)

// between returns n, the value of a flag from 1 to most, or an error.
func between(flag string, n, most int) (int, error) {
	switch {
	case n < 1:
		return 0, usagef("--%s is at least 1, not %d", flag, n)
	case n > most:
		return 0, usagef("--%s is at most %d, not %d", flag, most, n)
	}
	return n, nil
}

// ranks reads --ranks, or returns otherwise.
func ranks(c *cli.Context, otherwise int) (int, error) {
	if !c.IsSet("ranks") {
		return otherwise, nil
	}
	return between("ranks", c.Int("ranks"), mostRanks)
}

// count formats a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// threads reads --threads. The default is one a processor, as far as quotas allow.
func threads(c *cli.Context) (int, error) {
	if !c.IsSet("threads") {
		return flow.Scheduling{}.Parallelism(), nil
	}
	return between("threads", c.Int("threads"), mostThreads)
}

// maxNumbers is the longest list.
const maxNumbers = 1000

// goOn returns the numbers that follow up to last, inclusive.
func goOn(before []int, last int) ([]int, error) {
	a := before[len(before)-1]
	next := func(x int) int { return x + 1 }
	if n := len(before); n > 1 {
		switch b := before[n-2]; {
		case a <= b:
			return nil, fmt.Errorf("%d, %d do not grow", b, a)
		case a%b == 0 && (b != 1 || a == 2 || a == 10):
			next = func(x int) int { return x * (a / b) }
		default:
			next = func(x int) int { return x + a - b }
		}
	}
	if last <= a {
		return nil, fmt.Errorf("%d is not above %d", last, a)
	}
	var out []int
	for x := next(a); x < last; x = next(x) {
		if out = append(out, x); len(out) > maxNumbers {
			return nil, fmt.Errorf("there are more than %d numbers up to %d", maxNumbers, last)
		}
	}
	return append(out, last), nil
}

// figureFlag refuses a file whose extension is no figure format.
func figureFlag(c *cli.Context, flag string) error {
	if !c.IsSet(flag) {
		return nil
	}
	if _, ok := figure.Format(c.String(flag)); !ok {
		return usagef("--%s %s: the figure is an .svg or a .png", flag, c.String(flag))
	}
	return writable(c, flag)
}

// writable refuses flags whose files could not be written, before the work is done.
func writable(c *cli.Context, flags ...string) error {
	for _, flag := range flags {
		if err := canWrite(c.String(flag)); err != nil {
			return usagef("--%s: %v", flag, err)
		}
	}
	return nil
}

// canWrite checks before a run that a file can be written after it, without changing anything. ""
// is no file.
func canWrite(path string) error {
	if path == "" {
		return nil
	}
	if f, err := os.OpenFile(path, os.O_WRONLY, 0); err == nil {
		return f.Close()
	} else if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, ".flow-*")
	if err != nil {
		return fmt.Errorf("cannot write %s into %s: %w", filepath.Base(path), dir, errors.Unwrap(err))
	}
	_ = os.Remove(f.Name()) // what is left would be empty
	return f.Close()
}

// savePage writes a figure. The extension of its file has been checked.
func savePage(file string, p *figure.Page) error {
	format, _ := figure.Format(file)
	return writeFile(file, func(w io.Writer) error { return p.Write(w, format) })
}

// writeFile writes a file that appears when it is complete.
func writeFile(file string, write func(io.Writer) error) error {
	o := flow.NewOutput(nil)
	defer o.Discard()
	w, err := o.Create(file)
	if err != nil {
		return fmt.Errorf("%s: cannot be written: %w", file, err)
	}
	if err := write(w); err != nil {
		return fmt.Errorf("%s: cannot be written: %w", file, err)
	}
	return o.Commit()
}
