package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"flow"
	"flow/ir"
	"flow/ir/plan"
)

// This file defines the text that `flowrun plan` prints.

// printSummary writes the plan. With verbose it adds the passes of the compiler, with the nodes
// before and after each.
func (s *session) printSummary(p *flow.Program, sum plan.Summary, threads int, verbose bool) {
	fmt.Fprintf(s.out, "%s, %s", count(sum.Tasks, "task"), count(sum.Edges, "edge"))
	if sum.Ranks > 1 {
		fmt.Fprintf(s.out, ", on %s of %s\n", count(sum.Ranks, "rank"), count(threads, "thread"))
	} else {
		fmt.Fprintf(s.out, ", on %s\n", count(threads, "thread"))
	}
	w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "kernel\ttasks\tseconds\t")
	for _, k := range sum.Kernels {
		fmt.Fprintf(w, "%s\t%d\t%.4g\t\n", k.Name, k.Tasks, k.Seconds)
	}
	_ = w.Flush() // an error of standard output, which the next line also gets
	names := make([]string, len(sum.Kernels))
	for i, k := range sum.Kernels {
		names[i] = k.Name
	}
	kernelLegend(s.out, names)
	for _, l := range sum.Loops {
		fmt.Fprintf(s.out, "loop %s", whereIs(p, l.Node))
		if l.Assumed {
			fmt.Fprintf(s.out, ": until the run says so, %d rounds are assumed", l.Rounds)
		} else {
			fmt.Fprintf(s.out, ": %s", count(int(l.Rounds), "round"))
		}
		fmt.Fprintf(s.out, " of %s, %.4g s each\n", count(l.Tasks, "task"), l.Seconds)
	}
	if sum.Shares != "" {
		fmt.Fprintf(s.out, "ranks share matrices %s\n", sum.Shares)
	}
	printLayouts(s.out, sum.Layouts, mostLayouts)
	printSparse(s.out, sum.Sparse, func(id ir.ID) string { return whereIs(p, id) })
	fmt.Fprintf(s.out, "critical path      %.4g s, %s\n", sum.CriticalPath, count(sum.CriticalLen, "task"))
	fmt.Fprintf(s.out, "mean parallelism   %.1f\n", sum.Parallelism)
	fmt.Fprintf(s.out, "predicted makespan %.4g s (bound %.4g s)\n", sum.Makespan, sum.Bound)
	if sum.Ranks > 1 {
		fmt.Fprintf(s.out, "between ranks      %d bytes in %s\n", sum.Bytes, count(sum.Messages, "message"))
		fmt.Fprintf(s.out, "load max/mean      %.3f, %d of %s with work\n", sum.LoadRatio, sum.BusyRanks, count(sum.Ranks, "rank"))
		fmt.Fprintf(s.out, "load by rank       %s\n", shares(sum.Load))
	}
	printMemory(s.out, sum.Memory, func(id ir.ID) string { return whereIs(p, id) })
	fmt.Fprint(s.out, planLegend)
	if len(p.Compiled().Passes) == 0 || !verbose {
		return
	}
	w = tabwriter.NewWriter(s.out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "pass\tnodes before\tafter\tms\t")
	for _, ps := range p.Compiled().Passes {
		fmt.Fprintf(w, "%s\t%d\t%d\t%.1f\t\n", ps.Name, ps.Before, ps.After, 1e3*ps.Seconds)
	}
	_ = w.Flush()
}

// printMemory prints the predicted memory of each rank, and the largest values at that time.
func printMemory(w io.Writer, m *plan.Memory, where func(ir.ID) string) {
	fmt.Fprintf(w, "memory             %s", size(m.Most()))
	if n := len(m.Peak); n > 1 {
		fmt.Fprintf(w, " on a rank, %s on all %d", size(m.On(n)), n)
	}
	if m.Smaller < m.Most() {
		fmt.Fprintf(w, " (%s if the smaller branches are taken)", size(m.Smaller))
	}
	for k, h := range m.Largest {
		word := ", of which"
		if k > 0 {
			word = ","
		}
		fmt.Fprintf(w, "%s %s of %s", word, size(h.Bytes), where(h.Node))
	}
	fmt.Fprintln(w)
}

// whereIs describes the origin of a node of a plan.
func whereIs(p *flow.Program, id ir.ID) string {
	file, line, col := p.Compiled().Files.Position(p.Compiled().Plan.Graph.Nodes[id].Span.From)
	return fmt.Sprintf("%s:%d:%d", file, line, col)
}

// printSparse prints estimates of sparse matrices before the run: nonzeros, the basis of the
// estimate, memory, and memory in the other form. A matrix without an S is a product of sparse ones
// that pass represent made dense.
func printSparse(out io.Writer, edges []plan.SparseEdge, where func(ir.ID) string) {
	if len(edges) == 0 {
		return
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "sparse matrix\toperator\ttype\tnonzeros\t\tbytes\tin the other form")
	total := 0.0
	for _, e := range edges {
		fmt.Fprintf(w, "%s\t%s\t%s\t%.4g\t%s\t%s\t%s\n", where(e.Node), e.Op, e.Type, e.NNZ, e.Basis, size(int64(e.Bytes)), size(int64(e.Other)))
		total += e.Bytes
	}
	_ = w.Flush()
	fmt.Fprintf(out, "all sparse matrices: %s\n", size(int64(total)))
}

// mostLayouts bounds the values that `flowrun plan` prints.
const mostLayouts = 60

// printAllLayouts prints where all values of a program lie.
func (s *session) printAllLayouts(p *flow.Program) {
	list := plan.Layouts(p.Compiled().Plan)
	printLayouts(s.out, list, len(list))
}

// printLayouts prints where at most so many values of a plan lie, and what ranks send of them.
func printLayouts(out io.Writer, list []plan.Layout, most int) {
	if len(list) == 0 {
		return
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "value\toperator\ttype\tlies on\tsent\twhy")
	for _, x := range list[:min(len(list), most)] {
		kind := x.Type
		if x.Pieces > 1 {
			kind = fmt.Sprintf("%d x %s", x.Pieces, kind)
		}
		sent := ""
		if x.Messages > 0 {
			sent = fmt.Sprintf("%s in %s", size(int64(x.Bytes)), count(int(x.Messages), "message"))
		}
		where := x.Where
		if n := len(x.Cuts) - 1; n > 0 {
			where += " from " + strings.Join(strings.Fields(strings.Trim(fmt.Sprint(x.Cuts[:min(n, 5)]), "[]")), ", ")
			if n > 5 {
				where += ", .."
			}
		}
		if x.Helped {
			where += ", helped"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", x.At, x.Op, kind, where, sent, x.Why)
	}
	_ = w.Flush()
	if n := len(list) - most; n > 0 {
		fmt.Fprintf(out, "and %d more: flowrun explain --pass=layout\n", n)
	}
	fmt.Fprint(out, layoutLegend)
}

// shares writes the share of each rank in percent; of many ranks, only the least and the largest.
func shares(load []float64) string {
	total := 0.0
	for _, x := range load {
		total += x
	}
	if total == 0 {
		return "none"
	}
	if len(load) > 16 {
		return fmt.Sprintf("%.3g to %.3g %%", 100*slices.Min(load)/total, 100*slices.Max(load)/total)
	}
	var text strings.Builder
	for _, x := range load {
		fmt.Fprintf(&text, "%.0f ", 100*x/total)
	}
	return text.String() + "%"
}
