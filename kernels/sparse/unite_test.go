package sparse

import (
	"math/rand/v2"
	"slices"
	"testing"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
)

// TestUnite: one worker makes the union of two patterns in one pass over chunks in order. Over chunks
// in another order it only counts, and the next pass makes the same union.
func TestUnite(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for trial := range 80 {
		rows := 1 + rng.IntN(150)
		of := make([]*value.CSR, 2)
		for k := range of {
			rowOf := make([][]int32, rows)
			lengths := make([]int32, rows)
			for i := range rows {
				for j := range int32(12) {
					if rng.IntN(4) == 0 && (trial%3 > 0 || i > rows/3) {
						rowOf[i] = append(rowOf[i], j)
					}
				}
				lengths[i] = int32(len(rowOf[i]))
			}
			of[k] = value.NewCSR(types.Bool, rows, 12, value.Entries(lengths))
			of[k].SetLengths(lengths)
			copy(of[k].Col, slices.Concat(rowOf...))
		}
		run := func(order func(cuts [][2]int)) (once bool, out *value.CSR) {
			l := &mapLoop[uint8]{c: &op.Call{Type: types.SparseOf(types.Bool, rows, 12)}, p: patternJoin, sure: true, of: of, by: make([]mapWorker, 1),
				out: &value.CSR{Elem: types.Bool, Rows: rows, Cols: 12, Ptr: make([]int64, rows+1)}}
			if !l.unites(of[0].NNZ() + of[1].NNZ()) {
				t.Fatal("one worker does not unite")
			}
			c := cutFilled(9, of...)
			l.upTo, l.rows = c.first, c.Rows
			var cuts [][2]int
			for u := range c.Units {
				if lo, hi := c.begin(u), c.begin(u+1); lo < hi {
					cuts = append(cuts, [2]int{lo, hi})
				}
			}
			order(cuts)
			for _, x := range cuts {
				if err := l.unite(0, x[0], x[1]); err != nil {
					t.Fatal(err)
				}
			}
			once, err := l.endUnite()
			if err == nil && !once {
				if err = l.fill(0, 0, rows); err == nil {
					_, err = l.filled()
				}
			}
			if err != nil {
				t.Fatal(err)
			}
			return once, l.c.Out.(*value.CSR)
		}
		for name, order := range map[string]func([][2]int){"ascending": func([][2]int) {}, "reversed": func(cuts [][2]int) { slices.Reverse(cuts) },
			"exchanged": func(cuts [][2]int) {
				if len(cuts) > 1 {
					cuts[0], cuts[1] = cuts[1], cuts[0]
				}
			}} {
			chunks := 0
			once, out := run(func(cuts [][2]int) { order(cuts); chunks = len(cuts) })
			if want := name == "ascending" || chunks < 2; once != want {
				t.Fatalf("trial %d, %s: one pass: %v", trial, name, once)
			}
			for i := range rows {
				a, _ := of[0].Row(i)
				b, _ := of[1].Row(i)
				want := slices.Concat(a, b)
				slices.Sort(want)
				want = slices.Compact(want)
				if got, _ := out.Row(i); !slices.Equal(got, want) {
					t.Fatalf("trial %d, %s, row %d: %v, not %v", trial, name, i, got, want)
				}
			}
		}
	}
	if l := (&mapLoop[uint8]{p: patternJoin, sure: true, of: make([]*value.CSR, 2), by: make([]mapWorker, 2)}); l.unites(1) {
		t.Error("two workers unite: neither knows where its columns begin")
	}
}
