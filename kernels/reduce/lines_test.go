package reduce

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/vec"
)

// Rows of every kind of float, against a search as it is defined.
func TestArgOf(t *testing.T) {
	r := rand.New(rand.NewPCG(81, 82))
	kinds := []float64{0, math.Copysign(0, -1), 1, -1, 1.5, -1.5, math.Inf(1), math.Inf(-1), math.SmallestNonzeroFloat64, -math.MaxFloat64}
	for range 20000 {
		row := make([]float64, 1+r.IntN(12))
		for j := range row {
			row[j] = kinds[r.IntN(len(kinds))]
			switch r.IntN(30) {
			case 0:
				row[j] = math.NaN()
			case 1:
				row[j] = math.Copysign(math.NaN(), -1)
			case 2:
				row[j] = math.Float64frombits(0xfff0000000000001)
			}
		}
		for _, least := range []bool{true, false} {
			want := 0
			for j, v := range row {
				if Beats(v, row[want], least) && j > 0 {
					want = j
				}
			}
			if got := firstAt(row, vec.Extreme(row, least)); got != want {
				t.Fatalf("%v, least %t: %d, want %d", row, least, got, want)
			}
		}
	}
}

// The result of a matrix of one column may lie in the memory of that column.
func TestLinesInPlace(t *testing.T) {
	for _, w := range Wholes() {
		if w.Elem(types.I64) != types.I64 {
			continue
		}
		var room Accumulators
		f := &Fold{Axis: OverRows, Whole: w}
		column := func() *value.Dense {
			d := value.New(types.I64, 300, 1)
			for i := range d.I64 {
				d.I64[i] = int64(i%7) - 3
			}
			return d
		}
		want, same := value.New(types.I64, 300, 1), column()
		f.ByRow(want, column(), &room)
		f.ByRow(same, same, &room)
		if !slices.Equal(same.I64, want.I64) {
			t.Errorf("row%s in place: %v.., want %v..", w.Name, same.I64[:8], want.I64[:8])
		}
	}
}

// TestKeysAreKept: the quantiles of short lists, one after the other, take their keys from the same
// memory.
func TestKeysAreKept(t *testing.T) {
	list := Statistics()
	median := list[slices.IndexFunc(list, func(d *op.Def) bool { return d.Name == "median" })]
	x := value.New(types.F64, 2000, 1)
	for k := range x.F64 {
		x.F64[k] = float64(k * 7 % 2000)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 100 {
		c := &op.Call{Def: median, In: []value.Value{x}, Type: types.ScalarOf(types.F64)}
		if err := median.Kernel(c); err != nil {
			t.Fatal(err)
		}
		if got := c.Out.(value.Scalar).F; got != 999.5 {
			t.Fatalf("the median is %v", got)
		}
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / 100; each > 2*8*2000 { // under the race detector the memory is sometimes not kept
		t.Errorf("a median of 2000 numbers takes %d bytes of new memory", each)
	}
}
