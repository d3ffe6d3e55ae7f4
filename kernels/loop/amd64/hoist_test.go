package amd64

import (
	"testing"

	"flow/ir/loop"
)

// lowering of a text for AVX-512.
func loweringOf(t *testing.T, text string, plan Schedule) *lowering {
	t.Helper()
	n, err := loop.Parse(text, loop.Standard{})
	if err != nil {
		t.Fatal(err)
	}
	return lowered(avx512, n, make([]Layout, len(n.Params)), make([]Layout, len(n.Results)), loop.FastLevels, plan)
}

// stepsOf is how many steps with an instruction are in so many loops.
func (p *program) stepsOf(op Op, depth int) (n int) {
	at := 0
	for k := range p.steps {
		s := &p.steps[k]
		if s.enters {
			at++
		}
		if s.scalar == nil && s.Op == op && at == depth {
			n++
		}
		if s.leaves {
			at--
		}
	}
	return n
}

// TestHoist: what depends on scalars alone is computed once, what depends on the row once a row,
// for all vectors and the rest of the row.
func TestHoist(t *testing.T) {
	l := loweringOf(t, `
nest(%0: f64[], %1: f64) (i: 0..%0.rows, j: 0..%0.cols) {
  v0 = load %1
  v1 = sqrt v0
  v2 = load %0[i, 0]
  v3 = div v2, v1
  v4 = load %0[i, j]
  v5 = for q: 0..97 (v6 = v4) {
    v7 = mul v3, v4
    v8 = add v6, v7
    next v8
  }
  store out0[i, j] v5
} : (f64[%0.rows, %0.cols])`, Schedule{together: 3})
	for _, c := range []struct {
		op   Op
		want [4]int // in 0 to 3 loops: before all, in a row, in a vector, in the inner loop
	}{
		{VSQRTPD, [4]int{1, 0, 0, 0}},
		{VDIVPD, [4]int{0, 1, 0, 0}},
		{VMULPD, [4]int{0, 0, 4, 0}}, // three vectors together, and the rest
		{VADDPD, [4]int{0, 0, 0, 4}},
	} {
		for depth, want := range c.want {
			if got := l.stepsOf(c.op, depth); got != want {
				t.Errorf("%s: %d in %d loops, want %d", forms[c.op].name, got, depth, want)
			}
		}
	}
}

// TestFuel: a call of a loop that does more makes fewer rounds, and a round of inner loops counts
// by itself.
func TestFuel(t *testing.T) {
	fuel := func(body string) int {
		return loweringOf(t, `
nest(%0: f64[]) (i: 0..%0.rows, j: 0..%0.cols) {
  v0 = load %0[i, j]
`+body+`
} : (f64[%0.rows, %0.cols])`, Schedule{together: 1}).fuel()
	}
	short := fuel("v1 = add v0, v0\nstore out0[i, j] v1")
	long := fuel("v1 = call exp(v0)\nstore out0[i, j] v1")
	inner := fuel("v1 = for q: 0..1000000 (v2 = v0) {\nv3 = index q\nv4 = to_f64 v3\nv5 = add v2, v4\nnext v5\n}\nstore out0[i, j] v1")
	if long >= short || inner < long || long < 100 || short > cyclesOfCall {
		t.Errorf("fuel for %d rounds of a short body, %d of a long one, %d of one with an inner loop", short, long, inner)
	}
}
