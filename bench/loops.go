package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// This file measures loops in natural words of the language that no operator table foresees, each
// beside a plain C program. bench/loops/programs.txt and bench/everyday/programs.txt list them.

// loopLimit is the longest time of a process of these sections, with data and warm-up.
const loopLimit = 25 * time.Second

// loopSlow is the least time, in seconds, of a loop that did not end within loopLimit. A process
// runs the loop twice, after some seconds of making data.
const loopSlow = 10

// loop is a row of a programs.txt.
type loop struct {
	name string
	flow string // the Flow program, without folder and extension
	peer string // the C program; "" for another formulation of the loop twin
	// sizes and small are the params of the benchmark and of the tests, "name=value" each. C
	// takes the values in this order.
	sizes, small []string
	tolerance    float64 // how far the two results may differ, relative to their size
	twin         string  // the loop that this one formulates in other words, or ""
	bits         bool    // a third contestant gives Flow's bytes: see bitsOf
}

// readPrograms reads the list of a folder.
func readPrograms(folder string) ([]loop, error) {
	text, err := os.ReadFile(filepath.Join(folder, "programs.txt"))
	if err != nil {
		return nil, err
	}
	var list []loop
	known := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) == 0 || strings.HasPrefix(line, "#") {
			continue
		}
		if len(f) != 6 {
			return nil, fmt.Errorf("%s/programs.txt: %d fields in %q", folder, len(f), line)
		}
		l := loop{name: f[0], flow: f[1], peer: f[1], sizes: strings.Split(f[2], ","), small: strings.Split(f[3], ",")}
		if l.tolerance, err = strconv.ParseFloat(f[4], 64); err != nil {
			return nil, fmt.Errorf("%s/programs.txt: %w", folder, err)
		}
		if f[5] != "-" {
			l.twin, l.peer = f[5], ""
			if !known[l.twin] {
				return nil, fmt.Errorf("%s/programs.txt: %s comes before %s", folder, l.name, l.twin)
			}
		}
		known[l.name] = l.peer != ""
		list = append(list, l)
	}
	return list, nil
}

// params returns the settings as arguments of flowrun.
func params(sizes []string) (args []string) {
	for _, s := range sizes {
		args = append(args, "--set="+s)
	}
	return args
}

// values returns the values of the settings, as arguments of a C program.
func values(sizes []string) (args []string) {
	for _, s := range sizes {
		_, v, _ := strings.Cut(s, "=")
		args = append(args, v)
	}
	return args
}

// errSlow is the error of a program that did not end within loopLimit.
var errSlow = errors.New("it did not end")

// within runs a program for at most loopLimit.
func within(env []string, name string, args ...string) (stdout, stderr []byte, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), loopLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err = cmd.Run(); ctx.Err() != nil {
		return nil, nil, errSlow
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w: %s", filepath.Base(name), err, strings.TrimSpace(errs.String()))
	}
	return out.Bytes(), errs.Bytes(), nil
}

// compared is a contestant that also returns a result to compare.
type compared struct {
	contestant
	check *string
}

// flowLoop runs a loop by Flow on two threads.
func (b *bench) flowLoop(folder string, l loop) compared {
	check := new(string)
	run := func() (float64, error) {
		args := append([]string{filepath.Join(folder, l.flow+".flow"), "--threads=2", "--stats=json"}, params(l.sizes)...)
		out, errs, err := within(nil, b.flowrun, args...)
		if err != nil {
			return 0, err
		}
		_, *check, _ = strings.Cut(strings.TrimSpace(string(out)), "check: ")
		var s stats
		if err := lastJSON(errs, &s); err != nil {
			return 0, err
		}
		return s.callSeconds("work")
	}
	return compared{contestant{name: "Flow", run: run}, check}
}

// cLoop runs a loop in C on two threads.
func cLoop(binary string, l loop) compared {
	check := new(string)
	run := func() (float64, error) {
		out, _, err := within([]string{"OMP_NUM_THREADS=2", "OMP_PROC_BIND=true"}, binary, values(l.sizes)...)
		if err != nil {
			return 0, err
		}
		var f struct {
			Seconds float64     `json:"seconds"`
			Check   jsonLiteral `json:"check"`
		}
		if err := lastJSON(out, &f); err != nil {
			return 0, err
		}
		*check = string(f.Check)
		return f.Seconds, nil
	}
	return compared{contestant{name: "C", run: run}, check}
}

// jsonLiteral is a value as its text.
type jsonLiteral string

func (j *jsonLiteral) UnmarshalJSON(b []byte) error { *j = jsonLiteral(b); return nil }

// agree reports whether two results are numbers that differ by at most tolerance of their size.
func agree(a, b string, tolerance float64) bool {
	x, err1 := strconv.ParseFloat(a, 64)
	y, err2 := strconv.ParseFloat(b, 64)
	return err1 == nil && err2 == nil && math.Abs(x-y) <= tolerance*math.Max(math.Abs(x), math.Abs(y))
}

// bitsOf is the name of the C program that does the work of a C program and gives the bytes that
// Flow gives. It is compiled without -ffast-math: sums are exact, and nothing is contracted.
func bitsOf(peer string) string { return peer + "_bits" }

// flagsOf are the arguments of gcc for a C program.
func flagsOf(source string) []string {
	args := []string{"-O3", "-march=native", "-fopenmp", "-Wall"}
	if strings.HasSuffix(source, bitsOf("")+".c") {
		return append(args, "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math")
	}
	return append(args, "-ffast-math")
}

// buildLoops compiles every C program of a folder and returns their directory.
func (b *bench) buildLoops(folder string) (dir string, err error) {
	if dir, err = os.MkdirTemp(b.dir, "loops-"); err != nil {
		return "", err
	}
	sources, err := filepath.Glob(filepath.Join(folder, "*.c"))
	if err != nil || len(sources) == 0 {
		return "", fmt.Errorf("no C programs in %s: %v", folder, err)
	}
	for _, src := range sources {
		args := append(flagsOf(src), "-I", b.peers.source, "-o", filepath.Join(dir, strings.TrimSuffix(filepath.Base(src), ".c")), src, "-lm")
		if out, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
			return "", fmt.Errorf("gcc %s: %w\n%s", strings.Join(args, " "), err, out)
		}
	}
	return dir, nil
}

func loops(b *bench) error {
	return b.besideC(filepath.Join(b.root, "bench", "loops"), filepath.Join(b.peers.source, "loops"))
}

func everyday(b *bench) error {
	folder := filepath.Join(b.root, "bench", "everyday")
	return b.besideC(folder, folder)
}

// besideC prints the table of the loops of a folder: the seconds of C and Flow, the ratio, whether
// the results agree, and the geometric mean of the ratios. Other formulations of a loop are
// measured in turn with it and are not in the mean; a second table compares formulations. The error
// says that results differ.
func (b *bench) besideC(folder, source string) error {
	list, err := readPrograms(folder)
	if err != nil {
		return err
	}
	match, err := regexp.Compile(b.match)
	if err != nil {
		return err
	}
	for i, l := range list {
		_, err := os.Stat(filepath.Join(source, bitsOf(l.peer)+".c"))
		list[i].bits = l.peer != "" && err == nil
	}
	dir, err := b.buildLoops(source)
	if err != nil {
		b.skip("the loops: %v", err)
		return nil
	}
	fmt.Fprintf(b.out, "C: gcc -O3 -march=native -ffast-math -fopenmp. \"Times Flow's\" is C's time over Flow's: above 1 Flow is faster. "+
		"\"Same bytes\" is C that obeys section 11 of the language, without -ffast-math.\n\n")
	fmt.Fprintf(b.out, "| loop | C s | Flow s | times Flow's | same bytes s | times Flow's | results |\n|---|---|---|---|---|---|---|\n")
	var ratios []float64
	atMost, differ := "", 0
	rows := map[string]*loopRow{}
	for i, l := range list {
		if l.twin != "" || !match.MatchString(l.name) {
			continue
		}
		group := []loop{l}
		for _, other := range list[i+1:] {
			if other.twin == l.name {
				group = append(group, other)
			}
		}
		for k, m := range b.measure(folder, filepath.Join(dir, l.peer), group) {
			rows[group[k].name] = m
			fmt.Fprintf(b.out, "| %s | %s | %s | %s | %s | %s | %s |\n", group[k].name, m.c, m.flow, m.ratioText(), m.bits, m.bitsRatio, m.verdict)
			if m.differ {
				differ++
			}
			if k == 0 && m.ratio > 0 {
				ratios = append(ratios, m.ratio)
				if m.slow {
					atMost = "at most "
				}
			}
		}
	}
	if len(ratios) > 0 {
		fmt.Fprintf(b.out, "\nGeometric mean over %d loops: %s%.2f.\n\n", len(ratios), atMost, geometricMean(ratios))
	}
	if differ += b.formulations(list, rows); differ > 0 {
		return fmt.Errorf("%d results differ", differ)
	}
	return nil
}

// loopRow is a row of the table.
type loopRow struct {
	c, flow string // the medians as printed
	// bits is the median of the C program with Flow's bytes, bitsRatio its time over Flow's; "":
	// there is none.
	bits, bitsRatio string
	check           string // Flow's result
	seconds         float64
	ratio           float64 // C's time over Flow's; 0: one of them failed
	slow            bool    // Flow did not end in time, so ratio is an upper bound
	differ          bool    // the results are too far apart
	verdict         string
}

func (m *loopRow) ratioText() string {
	switch {
	case m.ratio == 0:
		return ""
	case m.slow:
		return fmt.Sprintf("< %.2g", m.ratio)
	}
	if m.ratio < 0.1 {
		return fmt.Sprintf("%.2g", m.ratio)
	}
	return fmt.Sprintf("%.2f", m.ratio)
}

// measure runs the formulations of a loop and the C program in turn.
func (b *bench) measure(folder, binary string, group []loop) (rows []*loopRow) {
	theirs := cLoop(binary, group[0])
	all := []compared{theirs}
	if group[0].bits {
		all = append(all, cLoop(bitsOf(binary), group[0]))
	}
	first := len(all)
	for _, l := range group {
		all = append(all, b.flowLoop(folder, l))
	}
	var list []contestant
	for _, c := range all {
		list = append(list, c.contestant)
	}
	out := entered(list)
	takeTurns(b.reps, list, out)
	for k, l := range group {
		m := beside(out[0], out[first+k], *theirs.check, *all[first+k].check, l.tolerance)
		if first > 1 {
			m.besideBits(out[1], *all[1].check)
		}
		rows = append(rows, m)
	}
	return rows
}

// beside returns the row of Flow's result beside C's.
func beside(c, flow *result, theirs, ours string, tolerance float64) *loopRow {
	text := func(r *result) string {
		if r.err != nil {
			return "failed: " + firstLine(r.err)
		}
		return fmt.Sprintf("%.4f", r.median())
	}
	m := &loopRow{check: ours, flow: text(flow), c: text(c), verdict: "not compared"}
	switch {
	case c.err != nil || flow.err != nil && flow.err != errSlow:
	case flow.err == errSlow:
		m.flow, m.seconds, m.slow = fmt.Sprintf("more than %d", loopSlow), loopSlow, true
		m.ratio = c.median() / loopSlow
	default:
		m.seconds = flow.median()
		m.ratio, m.verdict = c.median()/m.seconds, "agree"
		if !agree(ours, theirs, tolerance) {
			m.differ, m.verdict = true, fmt.Sprintf("DIFFER: %s and %s", ours, theirs)
		}
	}
	return m
}

// besideBits adds the C program whose result has to be Flow's.
func (m *loopRow) besideBits(bits *result, check string) {
	if bits.err != nil {
		m.bits = "failed: " + firstLine(bits.err)
		return
	}
	m.bits = fmt.Sprintf("%.4f", bits.median())
	if m.seconds > 0 && !m.slow {
		m.bitsRatio = fmt.Sprintf("%.2f", bits.median()/m.seconds)
	}
	if m.check != "" && !agree(m.check, check, 0) {
		m.differ, m.verdict = true, fmt.Sprintf("DIFFER in bytes: %s and %s", m.check, check)
	}
}

// formulations prints the ratio of two formulations of one computation, and returns how many give
// different results.
func (b *bench) formulations(list []loop, rows map[string]*loopRow) (differ int) {
	head := false
	for _, l := range list {
		a, other := rows[l.twin], rows[l.name]
		if l.twin == "" || a == nil || other == nil {
			continue
		}
		if !head {
			fmt.Fprintf(b.out, "| loop | in other words | times the faster one | results |\n|---|---|---|---|\n")
			head = true
		}
		slower, same := "", "not compared"
		if a.seconds > 0 && other.seconds > 0 && !(a.slow && other.slow) {
			slower = fmt.Sprintf("%.2f", math.Max(a.seconds/other.seconds, other.seconds/a.seconds))
			if a.slow || other.slow {
				slower = "more than " + slower
			}
		}
		if a.check != "" && other.check != "" {
			same = "same"
			if a.check != other.check {
				differ++
				same = fmt.Sprintf("DIFFER: %s and %s", a.check, other.check)
			}
		}
		fmt.Fprintf(b.out, "| %s | %s | %s | %s |\n", l.twin, l.name, slower, same)
	}
	if head {
		fmt.Fprintln(b.out)
	}
	return differ
}

func geometricMean(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s += math.Log(v)
	}
	return math.Exp(s / float64(len(x)))
}
