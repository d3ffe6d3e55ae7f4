package loop_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
)

// carriedNest draws a nest whose rounds carry a matrix of rows x cols: an element of the next one
// is made of three old ones at drawn distances. What is allowed to run in place, and which rows it
// needs, depends on where it reads.
func carriedNest(d *rand.Rand) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	next, last := 0, -1
	fresh := func() int { next++; return next - 1 }
	rows, cols, rounds := 2+d.IntN(6), 1+d.IntN(3), 1+d.IntN(6)
	inner := d.IntN(2) == 0 // a loop over columns, or columns written out
	room := rows + 3
	line("nest(%%0: f64[]) (i: 0..%%0.rows) {")
	line("local w0 f64[%d, %d]", room, cols+2)
	line("local w1 f64[%d, %d]", room, cols+2)
	line("for r: 0..%d {", room)
	line("for c: 0..%d {", cols+2)
	x, r, c, f, g := fresh(), fresh(), fresh(), fresh(), fresh()
	line("v%d = load %%0[i, 0]\nv%d = index r\nv%d = index c\nv%d = to_f64 v%d\nv%d = to_f64 v%d", x, r, c, f, r, g, c)
	y, z := fresh(), fresh()
	line("v%d = mul v%d, v%d\nv%d = add v%d, v%d", y, x, f, z, y, g)
	line("store w0[r, c] v%d\n}\n}", z)
	line("for round: 0..%d {", rounds)
	down := func() string {
		return []string{"p", "p", "p+1", "p+1", "p+2", "p-1", "1", fmt.Sprintf("-1*p+%d", rows)}[d.IntN(8)]
	}
	from := d.IntN(2)
	line("for p: %d..%d {", from, rows)
	element := func(col string, right func() string) {
		v := -1
		for range 3 {
			at := down()
			if at == "p-1" && from == 0 {
				at = "p"
			}
			k := fresh()
			of := "w0"
			if d.IntN(60) == 0 { // the new matrix of the round before
				of = "w1"
			}
			line("v%d = load %s[%s, %s]", k, of, at, right())
			if v >= 0 {
				w := fresh()
				line("v%d = sub v%d, v%d", w, k, v)
				k = w
			}
			v = k
		}
		line("store w1[p, %s] v%d", col, v)
	}
	left := d.IntN(2)
	if inner {
		line("for q: %d..%d {", left, cols)
		element("q", func() string { return []string{fmt.Sprintf("q-%d", left), "q", "q+1", "q+2", "0"}[d.IntN(5)] })
		line("}")
	} else {
		for k := range cols {
			element(fmt.Sprint(k), func() string { return fmt.Sprint(d.IntN(cols)) })
		}
	}
	line("}")
	if d.IntN(8) == 0 { // who reads the old matrix behind the loop that makes the new one
		k := fresh()
		line("v%d = load w0[1, 0]\nstore w0[%d, 0] v%d", k, room-1, k)
		last = room - 1
	}
	copied := from
	if d.IntN(16) == 0 { // not all rows that were made
		copied++
	}
	line("for t: %d..%d {", copied, rows)
	if inner {
		k := fresh()
		line("for u: %d..%d {\nv%d = load w1[t, u]\nstore w0[t, u] v%d\n}", left, cols, k, k)
	} else {
		for k := range cols {
			v := fresh()
			line("v%d = load w1[t, %d]\nstore w0[t, %d] v%d", v, k, k, v)
		}
	}
	line("}\n}")
	if last < 0 {
		last = d.IntN(rows + 1)
	}
	for k := range cols {
		v := fresh()
		line("v%d = load w0[%d, %d]\nstore out0[i, %d] v%d", v, last, k, k, v)
	}
	line("} : (f64[%%0.rows, %d])", cols)
	return b.String()
}

// turned is a text with all locals transposed.
func turned(text string) string {
	return regexp.MustCompile(`(w[01](?: f64)?)\[([^,]*), ([^\]]*)\]`).ReplaceAllString(text, "$1[$3, $2]")
}

// TestInPlace: matrices that are made in place, and with fewer rows, have the same values.
func TestInPlace(t *testing.T) {
	in := value.New(types.F64, 3, 1)
	copy(in.F64, []float64{0.5, -3, 7})
	placed, narrowed := 0, 0
	for seed := range 4000 {
		text := carriedNest(rand.New(rand.NewPCG(uint64(seed), 5)))
		if seed%4 == 0 {
			text = turned(text)
		}
		n, err := loop.Parse(text, nil)
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, text)
		}
		m := loop.InPlace(n)
		if len(m.Locals) < 2 {
			placed++
		}
		if strings.Count(m.String(), "round") > 1 {
			narrowed++
		}
		sameResults(t, n, m, []value.Value{in})
		sameResults(t, n, loop.Split(m), []value.Value{in})
	}
	if placed < 300 || placed > 3000 || narrowed < 50 {
		t.Errorf("%d of 4000 are made in place, %d with fewer rows", placed, narrowed)
	}
}

// TestInPlaceTree: a tree of prices has one matrix, each round makes one row less, and no condition
// on the border is left.
func TestInPlaceTree(t *testing.T) {
	n, err := loop.Parse(`
nest(%0: f64[]) (i: 0..%0.rows) {
  local w0 f64[9, 1]
  local w1 f64[9, 1]
  v0 = i64 8
  for r: 0..9 {
    v1 = load %0[i, r]
    store w0[r, 0] v1
  }
  for round: 0..8 {
    for r1: 0..9 {
      v2 = index r1
      v3 = lt v2, v0
      v4 = if v3 {
        v5 = load w0[r1+1, 0]
        yield v5
      } else {
        v6 = load w0[r1, 0]
        yield v6
      }
      v7 = load w0[r1, 0]
      v8 = add v4, v7
      store w1[r1, 0] v8
    }
    for r2: 0..9 {
      v9 = load w1[r2, 0]
      store w0[r2, 0] v9
    }
  }
  v10 = load w0[0, 0]
  store out0[i, 0] v10
} : (f64[%0.rows, 1])`, nil)
	if err != nil {
		t.Fatal(err)
	}
	m := loop.Split(loop.InPlace(n))
	text := m.String()
	if len(m.Locals) != 1 || strings.Contains(text, "if ") || !strings.Contains(text, "0..-round+8") {
		t.Errorf("the tree is\n%s", text)
	}
	in := value.New(types.F64, 2, 9)
	for k := range in.F64 {
		in.F64[k] = float64(k * k)
	}
	sameResults(t, n, m, []value.Value{in})
}

// atPlacesNest draws a nest whose rounds change one element of a local, at a place that is drawn: an
// index, in or out of the range, or a number that differs from lane to lane.
func atPlacesNest(d *rand.Rand) string {
	pick := func(of ...string) string { return of[d.IntN(len(of))] }
	from, to := d.IntN(2), 5+d.IntN(3)
	at := pick("v4 = add v3, v2", "v4 = sub v3, v2", "v4 = add v3, v0", "v4 = add v1, v2", "v4 = mul v3, v1")
	cond := pick("v9 = eq v6, v4", "v9 = eq v4, v6", "v20 = eq v6, v4\nv21 = le v6, v3\nv9 = and v20, v21", "v20 = eq v6, v4\nv21 = le v6, v3\nv9 = or v20, v21", "v9 = ne v6, v4")
	old := pick("r", "r", "r", "2")
	choose := pick("v10 = select v9, v8, v7", "v10 = select v9, v8, v7", "v10 = select v9, v7, v8")
	text := fmt.Sprintf(`nest(%%0: f64[]) (i: 0..%%0.rows) {
local w0 f64[8, 1]
v0 = i64 0
v1 = index i
v2 = i64 %d
for p: 0..8 {
v11 = index p
v12 = to_f64 v11
store w0[p, 0] v12
}
for round: 0..%d {
v3 = index round
%s
v5 = load %%0[i, 0]
for r: %d..%d {
v6 = index r
v7 = load w0[%s, 0]
v13 = to_f64 v6
v8 = add v5, v13
%s
%s
store w0[r, 0] v10
}
}
for q: 0..8 {
v14 = load w0[q, 0]
store out0[i, q] v14
}
} : (f64[%%0.rows, 8])`, d.IntN(4), 3+d.IntN(6), at, from, to, old, cond, choose)
	names := map[string]string{} // values are numbered in order
	return regexp.MustCompile(`v[0-9]+`).ReplaceAllStringFunc(text, func(v string) string {
		if names[v] == "" {
			names[v] = fmt.Sprintf("v%d", len(names))
		}
		return names[v]
	})
}

// drawnSweep draws a nest whose rounds change a local of 6 x 2 elements at a few places, as a sum, a
// choice or a truth, in its own place or by a copy. Elements and changes are -0.0 now and then.
func drawnSweep(d *rand.Rand) string {
	pick := func(of ...string) string { return of[d.IntN(len(of))] }
	copied := d.IntN(2) == 0
	cond := func(at string) string {
		return pick("@c = eq @i, "+at, "@c = eq "+at+", @i", "@s = add @i, @two\n@c = eq @s, "+at, "@e = eq @i, "+at+"\n@f = eq @j, @b\n@c = and @e, @f",
			"@c = eq @j, @b", "@e = eq @i, "+at+"\n@f = eq @i, @two\n@c = or @e, @f", "@e = ne @i, "+at+"\n@c = not @e")
	}
	change := func(from, to, at string) string {
		from = pick(from, from, from, "@other")
		return cond(at) + "\n" + pick(
			"@z = select @c, @d, @zero\n"+to+" = add "+from+", @z", "@z = select @c, @d, @minus\n"+to+" = add "+from+", @z",
			"@z = select @c, @d, @zero\n"+to+" = sub "+from+", @z", "@z = to_f64 @c\n"+to+" = add "+from+", @z",
			"@z = to_f64 @c\n@y = mul @d, @z\n"+to+" = add "+from+", @y", "@z = to_f64 @c\n@y = mul "+pick("@z", "@d")+", @d\n@v = mul @y, @z\n"+to+" = sub "+from+", @v",
			"@z = select @c, @d, @one\n"+to+" = mul "+from+", @z", to+" = select @c, @d, "+from, "@z = add "+from+", @d\n"+to+" = select @c, @z, "+from,
			to+" = if @c {\n@s = add @i, @b\n@k = le @s, @most\ncheck 0 @k, @s\nyield @d\n} else {\nyield "+from+"\n}")
	}
	store, end := "store w0[r, q] @new", ""
	other := "load w0[r, q]"
	if copied {
		store = "store w1[r, q] @new"
		end = "for s: 0..6 {\nfor u: 0..2 {\n@m = load w1[s, u]\nstore w0[s, u] @m\n}\n}"
		other = pick(other, "load w0[3, 1]", "load w0[r, 0]")
	}
	text := fmt.Sprintf(`nest(%%0: f64[]) (i: 0..%%0.rows) {
local w0 f64[6, 2]
%s
@z0 = i64 0
@one = f64 1
@zero = f64 0
@minus = f64 -0
@two = i64 2
@most = i64 5
@p = index i
for again: 0..2 {
for k: 0..6 {
for l: 0..2 {
store w0[k, l] %s
}
}
for round: 0..%d {
@n = index round
@b = mod @n, @two
%s
%s
@d = load %%0[%s, 0]
for r: %d..6 {
@i = index r
@h = add @i, @two
for q: 0..2 {
@j = index q
@old = load w0[r, q]
@other = %s
%s
%s
%s
}
}
%s
}
}
for v: 0..6 {
for w: 0..2 {
@x = load w0[v, w]
store out0[i, 2*v+w] @x
}
}
} : (f64[%%0.rows, 12])`, map[bool]string{true: "local w1 f64[6, 2]"}[copied], pick("@minus", "@minus", "@zero", "@one"), 3+d.IntN(5),
		pick("@a = sub @n, @two", "@a = add @p, @n", "@a = mul @n, @n"), pick("@g = mul @p, @n", "@g = mod @n, @two"), pick("i", "0", "round"), d.IntN(2), other,
		change("@old", "@mid", "@a"), pick(change("@mid", "@new", "@g"), change("@mid", "@new", "@a"), "@new = add @mid, @minus"), store, end)
	number, values := map[string]int{}, 0
	return regexp.MustCompile(`@[a-z0-9]+( =)?`).ReplaceAllStringFunc(text, func(v string) string {
		name, defines := strings.CutSuffix(v, " =")
		if defines {
			number[name] = values
			values++
		}
		return fmt.Sprintf("v%d%s", number[name], v[len(name):])
	})
}

// TestAtPlaces: sweeps that change one element only are made at that place, and leave the same
// values.
func TestAtPlaces(t *testing.T) {
	in := value.New(types.F64, 9, 1)
	for k := range in.F64 {
		in.F64[k] = float64(k) - 0.25
	}
	lone, tested := 0, 0
	for seed := range 400 {
		text := atPlacesNest(rand.New(rand.NewPCG(uint64(seed), 9)))
		n, err := loop.Parse(text, nil)
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, text)
		}
		m := loop.AtPlaces(n)
		switch after := m.String(); {
		case strings.Contains(after, "if "):
			tested++
		case after != n.String():
			lone++
		}
		sameResults(t, n, m, []value.Value{in})
	}
	if lone < 10 || tested < 50 || lone+tested > 300 {
		t.Errorf("of 400 sweeps %d are one step, %d tested steps", lone, tested)
	}
}

// TestAtFewPlaces: sweeps over rows and columns that change a few places are made there, also where
// they add 0.0 to all other elements, and leave the same bytes.
func TestAtFewPlaces(t *testing.T) {
	in := value.New(types.F64, 9, 1)
	for k := range in.F64 {
		in.F64[k] = []float64{1.5, math.Copysign(0, -1), -2, 0, math.NaN(), math.Inf(1), 1e200}[k%7]
	}
	narrowed, signed, finite, small, checked := 0, 0, 0, 0, 0
	for seed := range 1500 {
		text := drawnSweep(rand.New(rand.NewPCG(uint64(seed), 11)))
		n, err := loop.Parse(text, nil)
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, text)
		}
		m := loop.AtPlaces(n)
		if m != n {
			narrowed++
		}
		if len(m.Locals) > len(n.Locals) {
			signed++
		}
		if m != n && strings.Contains(text, "check") {
			checked++
		}
		if strings.Contains(text, " = mul v") && len(m.Locals) > len(n.Locals) {
			finite++
		}
		if m != n && len(n.Locals) == 2 && !(n.Locals[1].Rows.Equal(m.Locals[1].Rows) && n.Locals[1].Cols.Equal(m.Locals[1].Cols)) {
			small++
		}
		sameResults(t, n, m, []value.Value{in})
	}
	if narrowed < 300 || signed < 50 || finite < 50 || small < 50 || checked < 20 {
		t.Errorf("of 1500 sweeps %d are narrowed, %d with a test of -0.0, %d of them with products, %d by a local of a few places, %d with checks", narrowed, signed, finite, small, checked)
	}
}

// TestNotAtPlaces: sweeps whose elements differ from the old ones at more than their places, and those
// that read at one place what another has made, stay whole.
func TestNotAtPlaces(t *testing.T) {
	in := value.New(types.F64, 9, 1)
	for k := range in.F64 {
		in.F64[k] = []float64{1.5, -2, 1e200}[k%3] + float64(k)
	}
	const two = "v14 = load w0[0, 3]\nv15 = load w0[0, 5]\nv16 = eq v9, v5\nv17 = select v16, v15, v10\nv18 = select v11, v14, v17\nstore w0[0, r] v18\n"
	for _, c := range []struct{ name, sweep, copies string }{
		{"0 less the sum", "v14 = to_f64 v11\nv15 = add v10, v14\nv16 = sub v3, v15\nstore w0[0, r] v16\n", ""},
		{"1 by the chosen", "v14 = select v11, v2, v10\nv15 = div v1, v14\nstore w0[0, r] v15\n", ""},
		{"a number of the point", "v14 = mul v9, v9\nv15 = eq v9, v14\nv16 = select v15, v2, v10\nstore w0[0, r] v16\n", ""},
		{"places read each other", two, ""},
		{"places of one of two matrices read each other", two + "v19 = load w1[0, r]\nv20 = select v11, v2, v19\nstore w1[0, r] v20\n", ""},
		{"reads what lies between", "v14 = load w2[0, 3]\nv15 = select v11, v14, v10\nstore w2[0, r] v15\n", "for c: 0..24 {\nv21 = load w2[0, c]\nstore w0[0, c] v21\n}\n"},
		{"a truth times an infinity", "v14 = to_f64 v11\nv15 = mul v10, v10\nv16 = le v9, v9\nv17 = to_f64 v16\nv18 = mul v17, v15\nv19 = mul v14, v18\nv20 = add v10, v19\nstore w0[0, r] v20\n", ""},
		{"an infinity times a truth", "v14 = to_f64 v11\nv15 = mul v10, v10\nv16 = le v9, v9\nv17 = to_f64 v16\nv18 = mul v15, v17\nv19 = mul v14, v18\nv20 = add v10, v19\nstore w0[0, r] v20\n", ""},
	} {
		text := renumbered(`nest(%0: f64[]) (i: 0..%0.rows) {
local w0 f64[1, 24]
local w1 f64[1, 24]
local w2 f64[1, 24]
v0 = load %0[i, 0]
v1 = f64 1
v2 = f64 3
v3 = f64 0
for a: 0..24 {
v22 = index a
v23 = to_f64 v22
v24 = add v23, v0
store w0[0, a] v24
v25 = sub v0, v23
store w1[0, a] v25
}
for round: 2..7 {
v4 = index round
v8 = i64 8
v5 = sub v8, v4
for r: 0..24 {
v9 = index r
v10 = load w0[0, r]
v11 = eq v9, v4
` + c.sweep + "}\n" + c.copies + `}
for q: 0..24 {
v26 = load w0[0, q]
v27 = load w1[0, q]
v28 = sub v26, v27
store out0[i, q] v28
}
} : (f64[%0.rows, 24])`)
		n, err := loop.Parse(text, nil)
		if err != nil {
			t.Fatalf("%s: %v\n%s", c.name, err, text)
		}
		m := loop.AtPlaces(n)
		if m != n {
			t.Errorf("%s: narrowed to\n%s", c.name, m)
		}
		sameResults(t, n, m, []value.Value{in})
	}
}

// renumbered numbers the values of a nest in the order in which they are defined.
func renumbered(text string) string {
	number := map[string]string{}
	for _, x := range regexp.MustCompile(`(?m)^(v\d+) =`).FindAllStringSubmatch(text, -1) {
		number[x[1]] = fmt.Sprint("v", len(number))
	}
	return regexp.MustCompile(`\bv\d+`).ReplaceAllStringFunc(text, func(v string) string { return number[v] })
}

// TestInPlaceBefore: a sweep that reads elements at known places reads them before it, and is made
// in place, unless they are many.
func TestInPlaceBefore(t *testing.T) {
	in := value.New(types.F64, 3, 8)
	for k := range in.F64 {
		in.F64[k] = float64(k*k%7) - 2
	}
	for _, many := range []int{1, 5, 16, 17} {
		var b strings.Builder
		fmt.Fprint(&b, "nest(%0: f64[]) (i: 0..%0.rows) {\nlocal w0 f64[1, 24]\nlocal w1 f64[1, 24]\nfor c: 0..24 {\nv0 = load %0[i, 3]\nv1 = index c\nv2 = to_f64 v1\nv3 = mul v0, v2\nstore w0[0, c] v3\n}\n")
		fmt.Fprint(&b, "for round: 0..5 {\nfor r: 0..24 {\nv4 = load w0[0, r]\n")
		v := 4
		for k := range many {
			fmt.Fprintf(&b, "v%d = load w0[0, %d]\nv%d = sub v%d, v%d\n", v+1, (k*5+3)%24, v+2, v+1, v)
			v += 2
		}
		fmt.Fprintf(&b, "store w1[0, r] v%d\n}\nfor t: 0..24 {\nv%[2]d = load w1[0, t]\nstore w0[0, t] v%[2]d\n}\n}\nfor q: 0..24 {\nv%[3]d = load w0[0, q]\nstore out0[i, q] v%[3]d\n}\n} : (f64[%%0.rows, 24])", v, v+1, v+2)
		n, err := loop.Parse(b.String(), nil)
		if err != nil {
			t.Fatal(err)
		}
		m := loop.InPlace(n)
		sameResults(t, n, m, []value.Value{in})
		if one := len(m.Locals) == 1; one != (many <= 16) {
			t.Errorf("%d reads: %d locals\n%s", many, len(m.Locals), m)
		}
	}
}
