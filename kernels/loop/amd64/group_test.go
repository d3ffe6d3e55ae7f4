//go:build linux && amd64

package amd64

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
)

// twiceOver is a nest whose points read so many neighbours, and then read them again. A result is
// stored between, in the memory of the first operand.
func twiceOver(n int) string {
	var b strings.Builder
	v := n
	b.WriteString("nest(%0: f64[], %1: f64[]) (i: 0..%0.rows, j: 0..%0.cols) {\nv0 = load %0[i, j]\n")
	for k := 1; k < n; k++ {
		fmt.Fprintf(&b, "v%d = load %%1[i, j+%d]\n", k, k)
	}
	pass := func(op string) {
		fmt.Fprintf(&b, "v%d = %s v0, v1\n", v, op)
		for k := 2; k < n; k++ {
			fmt.Fprintf(&b, "v%d = %s v%d, v%d\n", v+1, op, v, k)
			v++
		}
		v++
	}
	pass("sub")
	first := v - 1
	fmt.Fprintf(&b, "v%d = lt v0, v%d\ncheck 3 v%[1]d\n", v, n-1)
	v++
	pass("mul")
	fmt.Fprintf(&b, "store out0[i, j] v%d\n", v-1)
	fmt.Fprintf(&b, "v%d = sub v%d, v0\nstore out1[i, j] v%[1]d\n} : (f64[%%0.rows, %%0.cols], f64[%%0.rows, %%0.cols])", v, first)
	return b.String()
}

// TestReload: what has no register is loaded again, but not once memory may have changed.
func TestReload(t *testing.T) {
	const many = 40
	n, err := loop.Parse(twiceOver(many), loop.Standard{})
	if err != nil {
		t.Fatal(err)
	}
	l := lowered(avx512, n, make([]Layout, 2), make([]Layout, 2), loop.FastLevels, Schedule{together: 1}, &workshop{})
	loads := 0
	for k := range l.steps {
		if l.steps[k].again || l.steps[k].near != 0 { // a step, or what its reader does
			loads++
		}
	}
	// Of two bodies, whole vectors and the rest: in front, and again behind the check.
	if few := 2 * many; loads <= few+many {
		t.Errorf("%d loads", loads)
	}
	for _, target := range those(avx512, avx2, starved(avx512), starved(avx2)) {
		m := need(t, target)
		x, y, other := value.New(types.F64, 3, 45), value.New(types.F64, 3, 45+many), value.New(types.F64, 3, 45)
		for k := range x.F64 {
			x.F64[k] = float64(k%7) / 8
		}
		for k := range y.F64 {
			y.F64[k] = 1 + float64(k%11)/16
		}
		in, out := []value.Value{x, y}, []*value.Dense{x, other}
		want, err := n.Eval(in, loop.Env{})
		if err != nil {
			t.Fatal(err)
		}
		f, err := compile(m, target, n, in, out)
		if err != nil {
			t.Fatal(err)
		}
		f.run(0, 3, 0, 45)
		for k, d := range out {
			if err := same(d, want[k].(*value.Dense)); err != nil {
				t.Errorf("result %d on %s: %v", k, target.name, err)
			}
		}
	}
}

// TestBalance: differences use the units that multiply where those that add have no time, and stay
// where each waits for the one before.
func TestBalance(t *testing.T) {
	replaced := func(text string) (n int) {
		l := loweringOf(t, text, Schedule{together: 2})
		for k := range l.steps {
			if f := l.steps[k].fused; f.is && f.minusProduct {
				n++
			}
		}
		return n
	}
	// wide has products, then 60 differences that do not wait for one another, then other statements.
	wide := func(products int, then string) string {
		var b strings.Builder
		b.WriteString("nest(%0: f64[]) (i: 0..%0.rows, j: 0..%0.cols) {\nv0 = load %0[i, j]\nv1 = f64 3.5\n")
		v := 2
		for k := range products {
			fmt.Fprintf(&b, "v%d = load %%0[i, j+%d]\nv%d = mul v%[1]d, v1\nstore out0[i, j+%[2]d] v%[3]d\n", v, 50+k, v+1)
			v += 2
		}
		for k := range 30 {
			fmt.Fprintf(&b, "v%d = load %%0[i, j+%d]\nv%d = sub v%d, v1\nv%d = sub v%d, v0\nv%d = add v%d, v%d\n", v, k, v+1, v, v+2, v, v+3, v+1, v+2)
			fmt.Fprintf(&b, "store out0[i, j+%d] v%d\n", k, v+3)
			v += 4
		}
		return b.String() + then + "} : (f64[%0.rows, %0.cols])"
	}
	alone := replaced(wide(0, ""))
	if alone < 120 || alone > 150 { // of three bodies
		t.Errorf("%d of 180 differences are multiply-adds", alone)
	}
	const waits = `v122 = for k: 0..%0.cols (v123 = v0) {
v124 = add v123, v1
v125 = sub v124, v0
v126 = add v125, v1
v127 = sub v126, v0
next v127
}
store out0[i, j+40] v122
`
	if n := replaced(wide(0, waits)); n != alone {
		t.Errorf("%d differences are multiply-adds where there is a loop whose rounds wait for each other, %d without it", n, alone)
	}
	if n := replaced(wide(60, "")); n > alone || n < alone-30 {
		t.Errorf("%d differences are multiply-adds behind products, %d without them: the units of products have no work left", n, alone)
	}
	if n := replaced(twiceOver(20)); n != 0 {
		t.Errorf("%d differences of a chain are multiply-adds", n)
	}
}

// TestTogether: loops that end by their values take two vectors, as all lanes wait for the last one,
// but three where their rounds divide integers.
func TestTogether(t *testing.T) {
	for round, want := range map[string]int{"add v4, v3": 2, "mod v4, v3": 3} {
		l := loweringOf(t, `
nest(%0: i64[]) (i: 0..%0.rows, j: 0..%0.cols) {
  v0 = load %0[i, j]
  v1 = i64 3
  v2 = for k: forever (v3 = v0) {
    v4 = mul v3, v3
    v5 = `+round+`
    v6 = lt v5, v1
    break v6
    next v5
  }
  store out0[i, j] v2
} : (i64[%0.rows, %0.cols])`, Schedule{})
		if l.together != want {
			t.Errorf("%d vectors of rounds with %s, want %d", l.together, round, want)
		}
	}
}

// TestTogetherMediumRounds: with few registers, a loop of some 60 operations takes two vectors,
// whatever ends it. A long one takes one. With many registers they take three and two, but the former
// takes two if three have no registers.
func TestTogetherMediumRounds(t *testing.T) {
	for _, c := range []struct {
		target               *target
		lines, carried, want int
	}{
		{avx2, 60, 1, 2}, {avx2, 200, 1, 1}, {avx512, 60, 1, 3}, {avx512, 200, 1, 2}, {avx512, 60, 8, 2},
	} {
		var begins, body, next strings.Builder
		v := 1 + 2*c.carried // the results of the loop, then what it carries
		for k := range c.carried {
			fmt.Fprintf(&begins, ", v%d = v0", 1+c.carried+k)
			fmt.Fprintf(&next, ", v%d", v+max(c.lines, c.carried)-1-k)
		}
		for k := range max(c.lines, c.carried) {
			fmt.Fprintf(&body, "v%d = mul v%d, v0\n", v+k, v+k-c.carried)
		}
		var results, sum strings.Builder
		at := v + max(c.lines, c.carried)
		last := 1
		for k := range c.carried {
			fmt.Fprintf(&results, ", v%d", 1+k)
			if k > 0 {
				fmt.Fprintf(&sum, "v%d = add v%d, v%d\n", at, last, 1+k)
				last, at = at, at+1
			}
		}
		n, err := loop.Parse(fmt.Sprintf("nest(%%0: f64[]) (i: 0..%%0.rows, j: 0..%%0.cols) {\nv0 = load %%0[i, j]\n%s = for k: 0..50 (%s) {\n%snext %s\n}\n%sstore out0[i, j] v%d\n} : (f64[%%0.rows, %%0.cols])",
			results.String()[2:], begins.String()[2:], body.String(), next.String()[2:], sum.String(), last), loop.Standard{})
		if err != nil {
			t.Fatal(err)
		}
		if l := lowered(c.target, n, make([]Layout, 1), make([]Layout, 1), loop.FastLevels, Schedule{}, &workshop{}); l.together != c.want {
			t.Errorf("%s: %d vectors of rounds of %d operations that carry %d values, want %d", c.target.name, l.together, c.lines, c.carried, c.want)
		}
	}
}

// TestGroup: if two vectors have too few registers, the steps of each lie together in runs, for every
// target. Otherwise they alternate.
func TestGroup(t *testing.T) {
	for _, target := range []*target{avx512, avx2} {
		for _, many := range []int{4, 40} {
			n, err := loop.Parse(twiceOver(many), loop.Standard{})
			if err != nil {
				t.Fatal(err)
			}
			l := lowered(target, n, make([]Layout, 2), make([]Layout, 2), loop.FastLevels, Schedule{together: 2}, &workshop{})
			steps, changes, part := 0, 0, int32(0)
			for k := range l.steps {
				if s := &l.steps[k]; s.dst != 0 && s.scalar == nil && (s.Op == VMULPD || s.Op == VSUBPD) {
					if steps++; s.part != part {
						part = s.part
						changes++
					}
				}
			}
			if grouped := 4*changes < steps; grouped != (many == 40) {
				t.Errorf("%s: %d of %d operations on %d values follow one on the other vector", target.name, changes, steps, many)
			}
		}
	}
}

// TestReadInPlace: an instruction reads its operand from memory, but not once memory may have changed.
func TestReadInPlace(t *testing.T) {
	for _, c := range []struct {
		body  string
		moved bool
	}{
		{"v0 = load %0[i, j]\nv1 = load %1[i, j]\nv2 = mul v1, v1\nv3 = add v0, v2\nstore out0[i, j] v1\nstore out1[i, j] v3", true},
		{"v0 = load %0[i, j]\nv1 = load %1[i, j]\nv2 = mul v1, v1\nstore out0[i, j] v1\nv3 = add v0, v2\nstore out1[i, j] v3", false},
	} {
		n, err := loop.Parse("nest(%0: f64[], %1: f64[]) (i: 0..%0.rows, j: 0..%0.cols) {\n"+c.body+"\n} : (f64[%0.rows, %0.cols], f64[%0.rows, %0.cols])", loop.Standard{})
		if err != nil {
			t.Fatal(err)
		}
		for _, target := range []*target{avx512, avx2} {
			l, moved := lowered(target, n, make([]Layout, 2), make([]Layout, 2), loop.FastLevels, Schedule{together: 1}, &workshop{}), false
			for v := range l.values {
				x := l.values[v].inPlace
				moved = moved || x != nil
			}
			if moved != c.moved {
				t.Errorf("%s: in place %v, want %v:\n%s", target.name, moved, c.moved, c.body)
			}
			if !has(target) {
				continue
			}
			m := need(t, target)
			x, y, other := value.New(types.F64, 3, 45), value.New(types.F64, 3, 45), value.New(types.F64, 3, 45)
			for k := range x.F64 {
				x.F64[k], y.F64[k] = float64(k%7)/8, 1+float64(k%11)/16
			}
			in, out := []value.Value{x, y}, []*value.Dense{x, other} // the first result lies where the first operand does
			want, err := n.Eval(in, loop.Env{})
			if err != nil {
				t.Fatal(err)
			}
			f, err := compile(m, target, n, in, out)
			if err != nil {
				t.Fatal(err)
			}
			f.run(0, 3, 0, 45)
			if err := same(other, want[1].(*value.Dense)); err != nil {
				t.Errorf("%s: %v of\n%s", target.name, err, c.body)
			}
		}
	}
}

// TestTriesShareMemory lowers a nest that has too few registers for the vectors that are tried first.
// The last try is in the memory of the others.
func TestTriesShareMemory(t *testing.T) {
	n, err := loop.Parse(`
nest(%0: f64[]) (i: 0..%0.rows, j: 0..%0.cols) {
  v0 = load %0[i, j]
  reduce out0[0, 0] v0
} : (sum f64[1, 1])`, loop.Standard{})
	if err != nil {
		t.Fatal(err)
	}
	const levels = 5 // the states of four vectors have registers, what adds to them has not
	shop := &workshop{}
	l := lowered(avx512, n, make([]Layout, 1), make([]Layout, 1), levels, Schedule{}, shop)
	first := loweredOnce(avx512, n, make([]Layout, 1), make([]Layout, 1), levels, Schedule{}, &workshop{}).together
	if l.together >= first {
		t.Fatalf("%d vectors are lowered together, and %d were tried: the nest has enough registers", l.together, first)
	}
	if shop.values.most == 0 || shop.values.asked > shop.values.most {
		t.Errorf("the last try took room for %d registers, and %d were given back before", shop.values.asked, shop.values.most)
	}
}

// TestTriesEndEarly: if registers cannot hold even the states of the vectors that are tried first,
// their program is given up before states are merged, and numbers of vectors that cannot do either are
// left out. The code is that of as many vectors that nothing else was tried before. Roots are asked for
// at each try.
func TestTriesEndEarly(t *testing.T) {
	n, err := loop.Parse(`
nest(%0: f64[]) (i: 0..%0.rows, j: 0..%0.cols) {
  v0 = load %0[i, j]
  v1 = sqrt v0
  v2 = for k: 0..%0.rows (v3 = v1) {
    v4 = add v3, v0
    next v4
  }
  reduce out0[0, 0] v2
} : (sum f64[1, 1])`, loop.Standard{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ levels, tries, together int }{{3, 1, 4}, {8, 2, 2}, {loop.DeepLevels, 2, 2}} {
		tries := 0
		made := func(together int) *Code {
			plan := Schedule{together: together, Roots: func() bool { tries++; return true }}
			code, err := Compile(AVX512, n, make([]Layout, 1), make([]Layout, 1), c.levels, plan)
			if err != nil {
				t.Fatal(err)
			}
			return code
		}
		code := made(0)
		if got := code.Points / avx512.lanes; got != c.together || tries != c.tries {
			t.Errorf("%d levels: %d tries, %d vectors together, want %d and %d", c.levels, tries, got, c.tries, c.together)
		}
		if !bytes.Equal(code.Text, made(c.together).Text) {
			t.Errorf("%d levels: the code differs from that of one try", c.levels)
		}
		first := loweredOnce(avx512, n, make([]Layout, 1), make([]Layout, 1), c.levels, Schedule{}, &workshop{})
		last := loweredOnce(avx512, n, make([]Layout, 1), make([]Layout, 1), c.levels, Schedule{together: c.together}, &workshop{})
		if c.tries > 1 && 2*len(first.steps) > len(last.steps) {
			t.Errorf("%d levels: the first try has %d steps, the last %d", c.levels, len(first.steps), len(last.steps))
		}
	}
}
