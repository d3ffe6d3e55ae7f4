//go:build linux && amd64

package amd64

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
)

// shortest is a round of shortest paths on elements that replace f64.
const shortest = `nest(%0: f64[], %1: f64[], %2: f64[]) (i: 0..%0.rows, j: 0..%0.cols) {
  v0 = load %0[i, j]
  v1 = load %1[i, 0]
  v2 = load %2[0, j]
  v3 = add v1, v2
  v4 = min v0, v3
  store out0[i, j] v4
} : (f64[%0.rows, %0.cols])`

// TestRestInPlace: a result in the memory of an operand has the right elements at the end of a row, and
// at its beginning up to a line of a cache. Elements behind a row stay.
func TestRestInPlace(t *testing.T) {
	for _, target := range those(avx512, avx2, starved(avx512), starved(avx2)) {
		m := need(t, target)
		for _, e := range []types.Elem{types.F64, types.F32, types.I64} {
			text := strings.Replace(shortest, "min v0", "add v0", 1) // a lane that is made twice differs
			n, err := loop.Parse(strings.ReplaceAll(text, "f64", e.String()), loop.Standard{})
			if err != nil {
				t.Fatal(err)
			}
			rnd := rand.New(rand.NewPCG(1, uint64(e)))
			drawn := func(rows, cols, stride int) *value.Dense {
				d := value.New(e, rows, stride).View(0, 0, rows, cols)
				for i := range rows {
					for j := range cols {
						d.Set(i, j, value.I64(int64(rnd.IntN(100))).Convert(e))
					}
				}
				return d
			}
			for _, cols := range []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 14, 15, 16, 17, 23, 31, 32, 33, 39, 47, 130, 143, 269, 285} {
				const rows = 7
				whole := value.New(e, rows, cols+5)
				for i := range rows {
					for j := range cols + 5 {
						whole.Set(i, j, value.I64(77).Convert(e))
					}
				}
				first := drawn(rows, cols, cols)
				in := []value.Value{first, drawn(rows, 1, 1), drawn(1, cols, cols)}
				over := whole.View(0, 0, rows, cols)
				want, err := n.Eval(in, loop.Env{})
				if err != nil {
					t.Fatal(err)
				}
				in[0] = over
				for _, part := range []int{0, 3} { // all columns, or parts
					over.CopyFrom(first)
					f, err := compile(m, target, n, in, []*value.Dense{over})
					if err != nil {
						t.Fatal(err)
					}
					f.fuel = uint64(part)
					f.run(0, rows, 0, min(part, cols))
					f.run(0, rows, min(part, cols), cols)
					if err := same(over, want[0].(*value.Dense)); err != nil {
						t.Fatalf("%s, %v, %d columns: %v", target.name, e, cols, err)
					}
				}
				for i := range rows {
					for j := cols; j < cols+5; j++ {
						if x := whole.At(i, j); !x.Same(value.I64(77).Convert(e)) {
							t.Fatalf("%s, %v, %d columns: element (%d, %d) behind a row is %v", target.name, e, cols, i, j, x)
						}
					}
				}
			}
		}
	}
}

// TestRestOfARow: whole vectors that are fewer than are lowered together have no mask if the nest is
// short. The rest is stored word by word if the result may lie in the memory of an operand.
func TestRestOfARow(t *testing.T) {
	count := func(text, pattern string) int { return len(regexp.MustCompile(pattern).FindAllString(text, -1)) }
	elsewhere := strings.Replace(shortest, "store out0[i, j]", "store out0[i, j+1]", 1)
	long := strings.Replace(shortest, "  v4 = min v0, v3\n  store out0[i, j] v4\n", `  v4 = min v0, v3
  v5 = max v4, v1
  v6 = min v5, v2
  v7 = max v6, v0
  v8 = min v7, v1
  v9 = max v8, v2
  v10 = min v9, v0
  v11 = max v10, v1
  v12 = min v11, v2
  store out0[i, j] v12
`, 1)
	for _, x := range []struct {
		text   string
		single bool
		words  int
	}{{shortest, true, 1}, {elsewhere, true, 0}, {long, false, 1}} {
		n, err := loop.Parse(x.text, loop.Standard{})
		if err != nil {
			t.Fatal(err)
		}
		l, err := List(AVX512, n, make([]Layout, 3), make([]Layout, 1), Schedule{})
		if err != nil {
			t.Fatal(err)
		}
		want := l.Together + x.words // one more where the rest may be a whole vector
		if x.single {
			want++
		}
		if got := count(l.Text, `VMOVUPD Z\d+, \d+\(R\w+\)`); got != want {
			t.Errorf("%d stores of whole vectors, want %d:\n%s", got, want, l.Text)
		}
		if got := count(l.Text, `VMOVSD X\d+, `); got != x.words {
			t.Errorf("%d stores of a word, want %d:\n%s", got, x.words, l.Text)
		}
	}
}
