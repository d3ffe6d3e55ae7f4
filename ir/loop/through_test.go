package loop_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
)

// TestThrough: a loop takes the values of the one before from registers where each of its rounds reads
// what a round has stored, and from the local elsewhere. The results stay.
func TestThrough(t *testing.T) {
	const scan = `
  v0 = load %0[0, i]
  store w0[0, 0] v0
  v1 = for k: 0..9 (v2 = v0) {
    v3 = load %0[k+1, i]
    v4 = add v2, v3
    store w0[k+1, 0] v4
    next v4
  }`
	const most = `
  v5 = f64 -inf
  v6 = for r: 0..10 (v7 = v5) {
    v8 = index r
    v9 = load w0[r, 0]
    v10 = to_f64 v8
    v11 = mul v9, v10
    v12 = max v7, v11
    next v12
  }
  store out0[i, 0] v6`
	const fill = `
  for k: 0..10 {
    v0 = load %0[k, i]
    v1 = mul v0, v0
    store w0[0, k] v1
  }`
	read := func(from, to, at string) string {
		return `
  v2 = f64 0
  v3 = for r: ` + from + `..` + to + ` (v4 = v2) {
    v5 = load w0[` + at + `]
    v6 = sub v5, v4
    next v6
  }
  store out0[i, 0] v3`
	}
	const peak = `
  v5 = load w0[0, 0]
  store w1[0, 0] v5
  v6 = for q: 0..9 (v7 = v5) {
    v8 = load w0[q+1, 0]
    v9 = max v7, v8
    store w1[q+1, 0] v9
    next v9
  }`
	const fall = `
  v10 = f64 -inf
  v11 = for r: 0..10 (v12 = v10) {
    v13 = load w0[r, 0]
    v14 = load w1[r, 0]
    v15 = sub v14, v13
    v16 = max v12, v15
    next v16
  }
  store out0[i, 0] v11`
	for k, c := range []struct {
		body  string
		loops int
		local bool
	}{
		{scan + most, 1, false},
		{scan + strings.Replace(most, "0..10", "0..9", 1), 2, true},
		{scan + strings.Replace(most, "w0[r, 0]", "w0[9-r, 0]", 1), 2, true},
		{scan + strings.Replace(most, "max v7, v11", "add v1, v11", 1), 2, true}, // it needs the last round
		{scan + most + "\n  v13 = load w0[3, 0]\n  store out0[i, 1] v13", 1, true},
		{scan + "\n  store w0[4, 0] v1" + most, 2, true},
		{scan + peak + fall, 1, false},
		{scan + peak + strings.Replace(fall, "w1[r, 0]", "w1[9-r, 0]", 1), 2, true},
		{fill + read("0", "10", "0, r"), 1, false},
		{fill + read("3", "13", "0, r-3"), 1, false},
		{fill + read("3", "12", "0, r-3"), 2, true},
		{fill + read("0", "10", "1, r"), 2, true},
	} {
		n, err := loop.Parse("nest(%0: f64[]) (i: 0..%0.cols) {\n  local w0 f64[12, 12]\n  local w1 f64[12, 12]"+c.body+"\n} : (f64[%0.cols, 2])", loop.Standard{})
		if err != nil {
			t.Fatalf("%d: %v", k, err)
		}
		x := value.New(types.F64, 10, 3)
		for i := range x.F64 {
			x.F64[i] = float64(i*7%11) - 5
		}
		m := loop.Through(n)
		sameResults(t, n, m, []value.Value{x})
		if loops := strings.Count(m.String(), " = for "); loops+strings.Count(m.String(), "\n  for ") != c.loops || len(m.Locals) > 0 != c.local {
			t.Errorf("%d: want %d loops, a local %v\n%s", k, c.loops, c.local, m)
		}
	}
}

// TestForward: a load of a local gets what the body has stored at its place, unless a statement between
// may have stored there too.
func TestForward(t *testing.T) {
	const store = `
  v0 = load %0[0, i]
  store w0[0, 2] v0`
	for k, c := range []struct {
		between string
		local   bool
	}{
		{"", false},
		{"\n  v1 = load %0[1, i]\n  store w0[0, 3] v1", false},
		{"\n  v1 = load %0[1, i]\n  store w0[0, 2] v1", false},
		{"\n  for k: 0..10 {\n    v1 = load %0[k, i]\n    store w0[0, k] v1\n  }", true},
		{"\n  for k: 0..2 {\n    v1 = load %0[k, i]\n    store w0[0, 2] v1\n  }", true},
	} {
		read := fmt.Sprintf("\n  v%[1]d = load w0[0, 2]\n  store out0[i, 0] v%[1]d", 1+strings.Count(c.between, " = "))
		n, err := loop.Parse("nest(%0: f64[]) (i: 0..%0.cols) {\n  local w0 f64[12, 12]"+store+c.between+read+"\n} : (f64[%0.cols, 1])", loop.Standard{})
		if err != nil {
			t.Fatalf("%d: %v", k, err)
		}
		x := value.New(types.F64, 10, 3)
		for i := range x.F64 {
			x.F64[i] = float64(i*7%11) - 5
		}
		m := loop.Forward(n)
		sameResults(t, n, m, []value.Value{x})
		if loads := strings.Contains(m.String(), "load w0"); loads != c.local || len(m.Locals) > 0 != c.local {
			t.Errorf("%d: want a local %v\n%s", k, c.local, m)
		}
	}
}

// roundsNest draws a nest whose rounds make a local in one loop and read it in a second one.
func roundsNest(d *rand.Rand) string {
	pick := func(of ...string) string { return of[d.IntN(len(of))] }
	from := pick("w2[r, 0]", "w2[r+1, 0]", "w2[4, 0]", "w0[r, 0]", "w1[0, r]")
	between := pick("", "", "", "v8 = load w0[3, 0]\nstore w2[1, 0] v8\n", "v8 = load w0[9, 0]\nstore w1[0, 9] v8\n", "store w2[2, 0] v3\n", "store w0[2, 0] v3\n",
		"v8 = index round\nv9 = i64 2\nv10 = eq v8, v9\nbreak v10\n", "v8 = index round\nv9 = i64 3\nv10 = eq v8, v9\nif v10 {\nstore w2[5, 0] v3\n} else {\n}\n")
	at := pick("w0[q, 0]", "w0[q, 0]", "w0[q+1, 0]", "w0[10-q, 0]", "w0[0, q]", "w0[q, 0]")
	rest := pick("", "", fmt.Sprintf("v30 = load w0[%d, 0]\nstore out0[i, 1] v30\n", d.IntN(9)), "v30 = load w2[4, 0]\nstore out0[i, 1] v30\n")
	lo := d.IntN(2)
	return numbered(fmt.Sprintf(`nest(%%0: f64[]) (i: 0..%%0.rows) {
local w0 f64[12, 12]
local w1 f64[12, 12]
local w2 f64[12, 1]
v0 = load %%0[i, 0]
for p: 0..12 {
v1 = index p
v2 = to_f64 v1
v31 = mul v2, v0
store w2[p, 0] v31
}
for round: 0..%d {
v3 = load w2[3, 0]
for r: 0..%d {
v4 = index r
v32 = index round
v33 = add v4, v32
v5 = load %s
v6 = to_f64 v33
v7 = sub v5, v6
store w0[r, 0] v7
}
%sfor q: %d..%d {
v20 = load %s
v21 = load %s
v22 = sub v21, v20
store %s v22
}
}
v23 = load w1[0, %d]
store out0[i, 0] v23
%s} : (f64[%%0.rows, 2])`, 1+d.IntN(4), 8+d.IntN(2), from, between, lo, 8+d.IntN(2)+lo, at, pick(at, "w2[2, 0]"), pick("w1[0, q]", "w1[0, q]", "w2[q, 0]"), d.IntN(10), rest))
}

// numbered is a text whose values have the numbers in which they are made.
func numbered(text string) string {
	now := map[string]string{}
	value := regexp.MustCompile(`\bv\d+`)
	lines := strings.Split(text, "\n")
	for k, s := range lines {
		if to, _, ok := strings.Cut(s, " = "); ok && now[to] == "" {
			now[to] = fmt.Sprintf("v%d", len(now))
		}
		lines[k] = value.ReplaceAllStringFunc(s, func(v string) string { return now[v] })
	}
	return strings.Join(lines, "\n")
}

// TestThroughRounds: loops in rounds are joined, too, and no loop moves behind the end of the rounds.
func TestThroughRounds(t *testing.T) {
	in := value.New(types.F64, 3, 1)
	copy(in.F64, []float64{0.5, -3, 7})
	joined := 0
	for seed := range 1500 {
		text := roundsNest(rand.New(rand.NewPCG(uint64(seed), 8)))
		n, err := loop.Parse(text, nil)
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, text)
		}
		m := loop.Through(n)
		if strings.Count(m.String(), "for ") < strings.Count(n.String(), "for ") {
			joined++
		}
		sameResults(t, n, m, []value.Value{in})
	}
	if joined < 20 || joined > 1200 {
		t.Errorf("loops of %d nests of 1500 are joined", joined)
	}
}

// TestThroughAllocatesLinearly: four times as many loops to join take four times the work. They are
// pairs, a chain of them, or one loop whose elements all others read. Allocations count the work.
func TestThroughAllocatesLinearly(t *testing.T) {
	shapes := map[string]func(k int) int{"pairs": func(k int) int { return k }, "a chain": func(k int) int { return max(0, k-1) }, "one": func(int) int { return 0 }}
	for name, reads := range shapes {
		work := func(loops int) float64 {
			var b strings.Builder
			for k := range loops {
				fmt.Fprintf(&b, "  local w%d f64[12, 1]\n", k)
			}
			v := 0
			for k := range loops {
				fmt.Fprintf(&b, "  for a%[1]d: 0..12 {\n    v%[2]d = load %%0[a%[1]d, i]\n    store w%[1]d[a%[1]d, 0] v%[2]d\n  }\n", k, v)
				fmt.Fprintf(&b, "  v%[2]d = f64 0\n  v%[3]d = for b%[1]d: 0..12 (v%[4]d = v%[2]d) {\n    v%[5]d = load w%[7]d[b%[1]d, 0]\n    v%[6]d = max v%[4]d, v%[5]d\n    next v%[6]d\n  }\n",
					k, v+1, v+2, v+3, v+4, v+5, reads(k))
				v += 6
			}
			for k := range loops { // at the end: no loop moves behind what needs its result
				fmt.Fprintf(&b, "  store out0[i, %d] v%d\n", k, 6*k+2)
			}
			n, err := loop.Parse(fmt.Sprintf("nest(%%0: f64[]) (i: 0..%%0.cols) {\n%s} : (f64[%%0.cols, %d])", b.String(), loops), loop.Standard{})
			if err != nil {
				t.Fatal(err)
			}
			if m := loop.Through(n); strings.Count(m.String(), "for ") > strings.Count(n.String(), "for ")*3/4 {
				t.Errorf("%s: too few loops are joined\n%s", name, m)
			}
			return testing.AllocsPerRun(1, func() { loop.Through(n) })
		}
		if few, many := work(50), work(200); many > 5*few {
			t.Errorf("%s: %g allocations for 50 loops, %g for 200", name, few, many)
		}
	}
}

// TestNames: an index gets the least number that is free, also after statements have been dropped.
func TestNames(t *testing.T) {
	b := loop.New()
	for _, name := range []string{"k", "k", "k1", "k", "i"} {
		b.Name(name)
	}
	m := b.Mark()
	for range 12 {
		b.Name("k")
	}
	b.Drop(m)
	b.Name("k")
	b.Name("k1")
	b.Name("i")
	if got, want := strings.Join(b.Nest.Names, " "), "k k1 k11 k2 i k3 k12 i1"; got != want {
		t.Errorf("%s, not %s", got, want)
	}
}
