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
