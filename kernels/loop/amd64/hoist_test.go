package amd64

import (
	"slices"
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
	return lowered(avx512, n, make([]Layout, len(n.Params)), make([]Layout, len(n.Results)), loop.FastLevels, plan, &workshop{})
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

// TestChecksOfAllLanes: one instruction tells whether all lanes pass a check. In the rest of a row
// only the lanes of a mask count, so the lanes that fail are found first.
func TestChecksOfAllLanes(t *testing.T) {
	l := loweringOf(t, `
nest(%0: f64[], %1: i64[]) (i: 0..%1.rows) {
  v0 = load %1[i, 0]
  v1 = i64 9
  v2 = lt v0, v1
  check 0 v2, v0
  v3 = load %0[v0, 0]
  store out0[i, 0] v3
} : (f64[%1.rows, 1])`, Schedule{together: 3})
	if got := l.stepsOf(KNOTW, 2); got != 1 {
		t.Errorf("%d complements of masks, want that of the rest of the rows alone", got)
	}
}

// TestFuel: a round that does more takes more fuel, and rounds of inner loops take theirs apart.
func TestFuel(t *testing.T) {
	fuel := func(body string) (int, []int) {
		return loweringOf(t, `
nest(%0: f64[]) (i: 0..%0.rows, j: 0..%0.cols) {
  v0 = load %0[i, j]
`+body+`
} : (f64[%0.rows, %0.cols])`, Schedule{together: 1}).roundFuel()
	}
	short, all := fuel("v1 = add v0, v0\nstore out0[i, j] v1")
	long, around := fuel("v1 = call exp(v0)\nstore out0[i, j] v1")
	inner, nested := fuel("v1 = for q: 0..1000000 (v2 = v0) {\nv3 = call exp(v2)\nnext v3\n}\nstore out0[i, j] v1")
	if long <= short || inner > long || short < 2 || cyclesOfCall/long < 100 {
		t.Errorf("a round takes %d cycles of a short body, %d of a long one, %d of an inner loop", short, long, inner)
	}
	if len(all) != 4 || all[0] != 1 || all[1] != 1 || len(nested) != 5 || nested[0] != 1 || nested[1] < 1 {
		t.Errorf("fuel of rounds: %v, with an inner loop %v", all, nested)
	}
	// A round of a loop around a longer one takes fuel, too: its inner loop may have no rounds.
	if slices.Min(around) < 1 || slices.Min(nested) < 1 {
		t.Errorf("fuel of rounds around a long body: %v, around an inner loop %v", around, nested)
	}
	// An outer round with roots takes the fuel of several inner ones. The body of the inner loop is written
	// several times, and once more for the rest of its rounds.
	_, roots := fuel("v1 = for q: 0..1000 (v2 = v0) {\nv3 = add v2, v0\nnext v3\n}\nv4 = sqrt v1\nv5 = div v4, v0\nv6 = sqrt v5\nstore out0[i, j] v6")
	if roots[0] != 1 || roots[1] != 1 || roots[2] < 8 {
		t.Errorf("fuel of rounds with roots outside of the inner loop: %v", roots)
	}
}

// TestHoistCounts: if two equal steps leave a loop, one stays, so what they read is read once. An
// instruction can then take it from memory.
func TestHoistCounts(t *testing.T) {
	p := &program{shop: &workshop{}}
	p.fresh(maskClass) // stands for no value
	base, x, y, z, sum := p.fresh(generalClass), p.fresh(vectorClass), p.fresh(vectorClass), p.fresh(vectorClass), p.fresh(vectorClass)
	code := func(*maker, Reg, regs) {}
	load := memoryRead{at: At(0, 8), reg: base, size: 8, len: L512}
	root := Inst{Op: VSQRTPD, Len: L512}
	p.steps = []step{
		{dst: base, pure: true, scalar: code},
		{enters: true, scalar: code},
		{dst: x, a: base, pure: true, scalar: code, loads: &load},
		{enters: true, scalar: code},
		{Inst: root, b: x, dst: y},
		{Inst: root, b: x, dst: z},
		{Inst: Inst{Op: VADDPD, Len: L512}, a: y, b: z, dst: sum, effect: true},
		{a: sum, scalar: code},
		{leaves: true, scalar: code},
		{leaves: true, scalar: code},
	}
	p.hoist()
	reads, makers := make([]uint8, len(p.values)), make([]uint8, len(p.values))
	for k := range p.steps {
		p.steps[k].reads(func(v virt) { reads[v]++ })
		makers[p.steps[k].dst]++
	}
	for _, v := range []virt{base, x, sum} {
		if p.readers[v] != reads[v] || p.makers[v] != makers[v] {
			t.Errorf("value %d: %d steps read it and %d make it, want %d and %d", v, p.readers[v], p.makers[v], reads[v], makers[v])
		}
	}
	if p.readInPlace(avx512, intervals{}); p.values[x].inPlace == nil {
		t.Error("the load stays")
	}
}
