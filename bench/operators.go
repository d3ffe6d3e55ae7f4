package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// This file measures every operator of the table beside NumPy and SciPy; operators_list.go lists
// them. Flow's operands are stored before a call starts and its result is stored when it ends, and
// calls do not overlap. NumPy does the same in one process, which keeps its memory between calls.

// operand is an input of a group of operators: how either side makes it, and how a program makes a
// copy that waits for g, a 0 that only the run knows.
type operand struct {
	name, flow, numpy, copy string
}

// stored returns the expression, stored if it is a dense matrix; sparse ones always are.
func (o operand) stored(expression string) string {
	if o.copy == timesG {
		return expression
	}
	return "materialize(" + expression + ")"
}

// operator is one operator on both sides. If the expression is no dense matrix, seen says how its
// end is observed.
type operator struct {
	flow, numpy string
	seen        string
}

// The ways to observe that the whole of a result r exists; "" is seenMatrix.
const (
	seenMatrix = "count(r)"
	seenScalar = "r"
	seenSparse = "nnz(r)"
)

// operatorGroup is operators on the same inputs, measured by one process on either side.
type operatorGroup struct {
	name      string
	operands  []operand
	operators []operator
	reps      int // 0: those of the run
}

// timing2 holds the measurements of one operator.
type timing2 struct {
	label       string
	flow, numpy result
}

// ratio returns NumPy's over Flow's best time.
func (t timing2) ratio() float64 { return slices.Min(t.numpy.seconds) / slices.Min(t.flow.seconds) }

// operators runs all groups that match -match, by their name or by some of their operators.
func operators(b *bench) error {
	match, err := regexp.Compile(b.match)
	if err != nil {
		return err
	}
	var all []timing2
	for _, g := range operatorGroups {
		g.operators = slices.DeleteFunc(slices.Clone(g.operators), func(o operator) bool { return !match.MatchString(g.name + ": " + o.flow) })
		if len(g.operators) == 0 {
			continue
		}
		list, err := b.operatorGroup(g)
		if err != nil {
			return fmt.Errorf("%s: %w", g.name, err)
		}
		all = append(all, list...)
	}
	slices.SortStableFunc(all, func(x, y timing2) int {
		switch a, c := x.ratio(), y.ratio(); {
		case a < c:
			return -1
		case a > c:
			return 1
		}
		return 0
	})
	fmt.Fprintf(b.out, "Flow on two threads; NumPy and SciPy as they are, BLAS on two threads. Milliseconds of %d runs; ratios are NumPy's over Flow's, sorted by that of the best.\n\n", b.reps)
	fmt.Fprintf(b.out, "| operator | Flow, best | median | NumPy, best | median | ratio of bests | of medians |\n|---|---|---|---|---|---|---|\n")
	for _, t := range all {
		f, n := &t.flow, &t.numpy
		fmt.Fprintf(b.out, "| %s | %.3g | %.3g | %.3g | %.3g | %.2f | %.2f |\n", strings.ReplaceAll(t.label, "|", "\\|"), 1e3*slices.Min(f.seconds), 1e3*f.median(),
			1e3*slices.Min(n.seconds), 1e3*n.median(), t.ratio(), n.median()/f.median())
	}
	fmt.Fprintln(b.out)
	return nil
}

// operatorGroup measures one group, Flow's side first.
func (b *bench) operatorGroup(g operatorGroup) ([]timing2, error) {
	reps := b.reps
	if g.reps > 0 {
		reps = g.reps
	}
	flow, err := b.flowOperators(g, reps)
	if err != nil {
		return nil, err
	}
	numpy, err := b.numpyOperators(g, reps)
	if err != nil {
		return nil, err
	}
	var out []timing2
	for k, o := range g.operators {
		t := timing2{label: g.name + ": `" + o.flow + "`", flow: result{seconds: flow[k]}}
		for _, v := range numpy[fmt.Sprint(k)] {
			if s, ok := v.(float64); ok {
				t.numpy.seconds = append(t.numpy.seconds, s)
			} else {
				b.skip("%s in NumPy: %v", t.label, v)
				break
			}
		}
		if len(t.numpy.seconds) == reps && len(t.flow.seconds) == reps {
			out = append(out, t)
		}
	}
	return out, nil
}

// program returns the group as a program: 1 + reps calls of the function op_k for operator k, each
// of which waits for the one before.
func (g operatorGroup) program(reps int) string {
	var s strings.Builder
	var params, copies []string
	s.WriteString("fn qr_q(a) { q, r = qr(a); q }\n")
	for _, o := range g.operands {
		fmt.Fprintf(&s, "%s0 = %s\n", o.name, o.stored(o.flow))
		params = append(params, o.name)
	}
	for _, o := range g.operands {
		copied := strings.NewReplacer("X", "x", "G", "g").Replace(o.copy)
		fmt.Fprintf(&s, "fn %s%s(x, g) = %s\n", copyCall, o.name, o.stored(copied))
	}
	for seen, name := range seenCalls {
		fmt.Fprintf(&s, "fn %s(r) = f64(%s)\n", name, seen)
	}
	for k, o := range g.operators {
		result := "materialize(" + o.flow + ")"
		if o.seen != "" {
			result = o.flow
		}
		fmt.Fprintf(&s, "fn op_%d(%s) = %s\n", k, strings.Join(params, ", "), result)
	}
	s.WriteString("g0 = 0.0\n")
	call := 0
	for k, o := range g.operators {
		seen := o.seen
		if seen == "" {
			seen = seenMatrix
		}
		for range reps + 1 {
			copies = copies[:0]
			for _, in := range g.operands {
				name := "1.0" // what this operator does not read
				if regexp.MustCompile(`\b` + in.name + `\b`).MatchString(o.flow) {
					name = fmt.Sprintf("%s_%d", in.name, call)
					fmt.Fprintf(&s, "%s = %s%s(%s0, g%d)\n", name, copyCall, in.name, in.name, call)
				}
				copies = append(copies, name)
			}
			fmt.Fprintf(&s, "r%d = op_%d(%s)\n", call, k, strings.Join(copies, ", "))
			fmt.Fprintf(&s, "g%d = f64(%s(r%d) == -1.25e300)\n", call+1, seenCalls[seen], call)
			call++
		}
	}
	fmt.Fprintf(&s, "emit g%d\n", call)
	return s.String()
}

// copyCall starts the names of functions that copy operands, seenCall of those that observe a
// result.
const copyCall, seenCall = "copy_", "seen_"

// seenCalls maps each way to observe a result to its function.
var seenCalls = map[string]string{seenMatrix: seenCall + "matrix", seenScalar: seenCall + "scalar", seenSparse: seenCall + "sparse"}

// flowOperators returns the seconds of the operators' calls, without the first of each. A call
// begins when its operands exist: what depends on none of them (zeros, random numbers) may run long
// before, while another operator is measured, and once for all calls. It ends with its last task,
// or when its result has been observed: an assert that the result does not wait for may run long
// after.
func (b *bench) flowOperators(g operatorGroup, reps int) ([][]float64, error) {
	path := filepath.Join(b.dir, "operators.flow")
	if err := os.WriteFile(path, []byte(g.program(reps)), 0o644); err != nil {
		return nil, err
	}
	o, err := launch(nil, b.flowrun, path, "--threads=2", "--stats=json")
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, o.stderr)
	}
	var s stats
	if err := lastJSON(o.stderr, &s); err != nil {
		return nil, err
	}
	out := make([][]float64, len(g.operators))
	ready := 0.0 // when the operands of the next call existed
	begun, k := 0.0, 0
	for _, c := range s.Calls {
		switch last := len(out[k]) - 1; {
		case strings.HasPrefix(c.Name, copyCall):
			ready = max(ready, c.Last)
		case strings.HasPrefix(c.Name, seenCall):
			// no call if the result is observed directly
			out[k][last] = min(out[k][last], c.Last-begun)
		default:
			if _, err := fmt.Sscanf(c.Name, "op_%d", &k); err == nil {
				begun = max(c.First, ready)
				out[k] = append(out[k], c.Last-begun)
			}
		}
	}
	for k := range out {
		out[k] = out[k][min(1, len(out[k])):]
	}
	return out, nil
}

// numpyOperators returns the same for NumPy, by the operators' numbers, with reasons instead of
// seconds for failures.
func (b *bench) numpyOperators(g operatorGroup, reps int) (map[string][]any, error) {
	job := struct {
		Inputs    [][2]string `json:"inputs"`
		Operators [][2]string `json:"operators"`
		Reps      int         `json:"reps"`
	}{Reps: reps}
	for _, o := range g.operands {
		job.Inputs = append(job.Inputs, [2]string{o.name, o.numpy})
	}
	for k, o := range g.operators {
		job.Operators = append(job.Operators, [2]string{fmt.Sprint(k), o.numpy})
	}
	text, err := json.Marshal(job)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("/usr/bin/python3", filepath.Join(b.root, "bench", "operators.py"))
	// Freed memory is kept for the next result, in huge pages, so that first touches are not
	// measured.
	cmd.Env = append(os.Environ(), peerEnv("OPENBLAS_NUM_THREADS=2",
		"GLIBC_TUNABLES=glibc.malloc.mmap_threshold=17179869184:glibc.malloc.trim_threshold=17179869184:glibc.malloc.hugetlb=1")...)
	cmd.Stdin = bytes.NewReader(text)
	var errors bytes.Buffer
	cmd.Stderr = &errors
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("NumPy: %w: %s", err, errors.String())
	}
	seconds := map[string][]any{}
	return seconds, lastJSON(out, &seconds)
}
