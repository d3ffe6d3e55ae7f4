package kernels

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/order"
	"flow/kernels/rowtest"
)

// A part of a sort has the rows of the definition where they are read, on one worker and on several:
// with ties, nan, one end and the middle, wherever the sample of the keys misleads.
func TestPartsOfSorts(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 42))
	misled := 0
	for turn := range 120 {
		n := []int{0, 1, 5, order.FewKeys + 1, 300, 3000, order.SortLeast - 1, order.SortLeast, 50000, 90001}[turn%10]
		x := value.New([]types.Elem{types.F64, types.I64, types.F32, types.Bool}[r.IntN(4)], n, 1+r.IntN(2))
		kind := r.IntN(4)
		for i := range n {
			f := r.NormFloat64()
			switch kind {
			case 0: // ties, and both zeros
				f = math.Copysign(float64(r.IntN(5)), f)
			case 1:
				if f > 1 {
					f = math.NaN()
				}
			case 2: // in order but for a few
				f = float64(i * (1 - 2*r.IntN(100)/99))
			case 3: // most are equal
				f = float64(max(0, r.IntN(n)-n+20))
			}
			if !x.Elem.IsFloat() && f != f {
				f = 1
			}
			x.Set(i, 0, value.F64(f).Convert(x.Elem))
			x.Set(i, x.Cols-1, x.At(i, 0))
			if x.Cols > 1 {
				x.Set(i, 0, value.F64(float64(i&63)).Convert(x.Elem))
			}
		}
		if turn/10%2 == 1 && n > order.SortLeast { // the sample reads none of the least, or of the greatest
			kind = 4
			far := value.F64(1e6 * float64(2*r.IntN(2)-1)).Convert(x.Elem)
			read := map[int]bool{}
			for i := range 1 << 12 {
				at, _ := bits.Mul64(uint64(i+1)*0x9E3779B97F4A7C15, uint64(n))
				read[int(at)] = true
			}
			for i := range n {
				if !read[i] && i%3 == 0 {
					x.Set(i, x.Cols-1, far)
				}
			}
			misled++
		}
		in, spans, rows := []value.Value{x}, []int{}, []int{}
		for range 1 + r.IntN(4) {
			from := r.IntN(n + 1)
			long := []int{1, 3, 200, n}[r.IntN(4)]
			switch at := r.IntN(3); {
			case kind == 4 && n > 3:
				from, long = n/4+r.IntN(n/2), 1+r.IntN(9)
			case at == 0:
				from = 0
			case at == 1:
				from = max(0, n-5)
			}
			to := min(n, from+long)
			for i := from; i < to; i++ {
				rows = append(rows, i)
			}
			switch r.IntN(3) {
			case 0:
				spans = append(spans, from, 0, to-from, 0)
			case 1: // from the end
				in = append(in, value.I64(int64(from-n)))
				spans = append(spans, 0, len(in)-1, to-from, 0)
			default:
				in = append(in, value.I64(int64(from)), value.I64(int64(to-1)))
				spans = append(spans, 0, len(in)-2, 1, len(in)-1)
			}
		}
		if n == 0 || slices.ContainsFunc(spans, func(i int) bool { return i < 0 }) {
			in, spans, rows = in[:1], []int{0, 0, n, 0}, nil
		}
		for _, name := range []string{"sort", "argsort"} {
			whole, part := row(t, name), row(t, name+".part")
			attrs := op.MakeAttrs(rowtest.Attr("by", op.Int(-1)), rowtest.Attr("desc", op.Bool(r.IntN(2) == 0)))
			want := &op.Call{Def: whole, Attrs: attrs, In: in[:1]}
			typ, err := whole.Type(&op.Sig{Def: whole, Attrs: attrs, In: []types.Type{x.Type()}})
			if err != nil {
				t.Fatal(err)
			}
			want.Type = typ
			rowtest.Lend(want)
			if err := whole.Kernel(want); err != nil {
				t.Fatal(err)
			}
			for workers := range 3 {
				c := &op.Call{Def: part, Attrs: attrs.With("spans", op.Ints(spans...)), In: in, Type: typ}
				rowtest.Lend(c)
				if units, leaf := part.Loop.Space(c); workers == 0 || units == 0 {
					err = part.Kernel(c)
				} else {
					_, err = rowtest.Chunked(r, c, units, leaf, workers)
				}
				if err != nil {
					t.Fatal(err)
				}
				for _, i := range rows {
					if msg := rowtest.Differ(c.Result().View(i, 0, 1, typ.Cols), want.Result().View(i, 0, 1, typ.Cols)); msg != "" {
						t.Fatalf("%s of %v, kind %d, %d workers, spans %v: row %d: %s", part.Name, x.Type(), kind, workers, spans, i, msg)
					}
				}
			}
		}
	}
	if misled == 0 {
		t.Error("the sample has misled no search")
	}
}
