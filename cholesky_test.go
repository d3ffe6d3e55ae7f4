package flow

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"flow/ir"
	"flow/ir/plan"
)

// This file tests the tiled Cholesky as a graph: the number of its tasks, and that two ways to
// write it are one graph.

// kernelCounts is the tasks of a plan by kernel.
func kernelCounts(t *testing.T, text string, sets ...Setting) map[string]int {
	t.Helper()
	p, err := Compile(context.Background(), "c.flow", []byte(text), CompileOptions{Set: sets, Verify: true})
	if err != nil {
		t.Fatal(err)
	}
	n := map[string]int{}
	for i := range p.made.Plan.Graph.Nodes {
		n[p.made.Plan.Graph.Nodes[i].Op.Name]++
	}
	return n
}

const tiledCholesky = `
param n: i64
param nb: i64
A = rand_spd(n, seed = 7)
nt = ceildiv(n, nb)
chan L = tiles(A, nb, part = "lower")
for k in 0..nt {
  L[k,k] <- potrf(L[k,k])
  for i in k+1..nt { L[i,k] <- trsm(L[k,k], L[i,k]) }
  for i in k+1..nt, j in k+1..=i { L[i,j] <- L[i,j] - L[i,k] @ t(L[j,k]) }
}
`

// nt potrf, nt(nt-1)/2 trsm, as many syrk, nt(nt-1)(nt-2)/6 gemm.
func TestCholeskyCounts(t *testing.T) {
	for _, nt := range []int{1, 2, 3, 7, 20} {
		n := kernelCounts(t, tiledCholesky+"emit sum(untile(L))", Setting{Name: "n", Text: fmt.Sprint(nt*8 - 3)}, Setting{Name: "nb", Text: "8"})
		for kernel, want := range map[string]int{"potrf": nt, "trsm": nt * (nt - 1) / 2, "syrk": nt * (nt - 1) / 2, "gemm": nt * (nt - 1) * (nt - 2) / 6} {
			if n[kernel] != want {
				t.Errorf("%d x %d tiles: %d %s, want %d", nt, nt, n[kernel], kernel, want)
			}
		}
	}
}

// With 40 x 40 tiles on 16 ranks no rank has more than 1.2 times the mean of the work. By guessed
// costs, so that the test does not depend on a measurement; measured ones give 1.19.
func TestCholeskyLoad(t *testing.T) {
	p, err := Compile(context.Background(), "c.flow", []byte(tiledCholesky+"emit sum(untile(L))"),
		CompileOptions{Ranks: 16, Set: []Setting{{Name: "n", Text: "10240"}, {Name: "nb", Text: "256"}}})
	if err != nil {
		t.Fatal(err)
	}
	if s := plan.Summarise(p.made.Plan, nil, 1); !(s.LoadRatio <= 1.2) || s.BusyRanks != 16 {
		t.Errorf("load max/mean %.3f on %d ranks, want at most 1.2 on 16", s.LoadRatio, s.BusyRanks)
	}
}

// The loops and the equations are the same tasks with the same inputs.
func TestCholeskyForms(t *testing.T) {
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join("examples", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	sets := []Setting{{Name: "n", Text: "100"}, {Name: "nb", Text: "16"}}
	loops := factorTasks(t, tiledCholesky+"emit sum(untile(L))", sets)
	// The example goes on to compute a residual, whose products are no part of the factorisation.
	text, _, ok := strings.Cut(read("cholesky_eq.flow"), "L1 = untile(L)")
	if !ok {
		t.Fatal("cholesky_eq.flow has no line L1 = untile(L) any more")
	}
	equations := factorTasks(t, text+"emit sum(untile(L))", sets)
	if len(loops) < 7+21+21+35 {
		t.Errorf("only %d tasks were found in the loops", len(loops))
	}
	for task, n := range loops {
		if equations[task] != n {
			t.Errorf("%s: %d in the loops, %d in the equations", task, n, equations[task])
		}
	}
	for task := range equations {
		if loops[task] == 0 {
			t.Errorf("%s is in the equations alone", task)
		}
	}
}

// factorTasks is the tasks of a factorisation, each written as the expression that it computes from
// tiles of the input, so that equal graphs have equal sets.
func factorTasks(t *testing.T, text string, sets []Setting) map[string]int {
	t.Helper()
	p, err := Compile(context.Background(), "c.flow", []byte(text), CompileOptions{Set: sets, Verify: true})
	if err != nil {
		t.Fatal(err)
	}
	g := p.made.Plan.Graph
	kernel := map[string]bool{"potrf": true, "trsm": true, "syrk": true, "gemm": true}
	form := make([]string, g.Len())
	out := map[string]int{}
	for i := range g.Nodes {
		n := &g.Nodes[i]
		s := n.Op.Name + n.Attrs.String()
		for _, in := range g.In(ir.ID(i)) {
			s += " " + form[in]
		}
		if kernel[n.Op.Name] {
			out[s]++
		}
		form[i] = fmt.Sprintf("(%s)#%d", n.Op.Name, hash(s))
	}
	return out
}

// hash is FNV-1a, enough to tell a few hundred expressions apart.
func hash(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}
