package vec

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"flow/kernels/vec/machine"
)

// Folds and sums over the entries of sparse rows equal their definition for all types, steps, numbers
// and ranges of columns, with and without room to read ahead.
func TestSparseLines(t *testing.T) {
	testSparseLines(t, func(r *rand.Rand) float64 { return oddNumber(r) })
	testSparseLines(t, func(r *rand.Rand) float32 { return float32(oddNumber(r)) })
	testSparseLines(t, func(r *rand.Rand) int64 { return r.Int64() >> r.IntN(64) })
}

// oddNumber returns a random number, often one that instructions may treat differently from the
// language.
func oddNumber(r *rand.Rand) float64 {
	if r.IntN(4) > 0 {
		return r.NormFloat64()
	}
	return []float64{math.Exp(20 * r.NormFloat64()), 0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.Float64frombits(0xfff8000000000000 | uint64(r.IntN(9)))}[r.IntN(5+r.IntN(20)/19)]
}

func testSparseLines[T Number](t *testing.T, number func(r *rand.Rand) T) {
	r := rand.New(rand.NewPCG(71, 72))
	for trial := range 300 {
		rows, n, width := r.IntN(60), 1+r.IntN(120), []int{1, 1, 2, 7, 8, 9, 16, 17, 24, 31, 32, 33, 64, 70, 0}[r.IntN(15)]
		e := Entries[T]{Ptr: []int64{int64(r.IntN(5))}}
		for range e.Ptr[0] {
			e.Col = append(e.Col, int32(n-1))
		}
		for range rows {
			share := []float64{0, 0.02, 0.2, 0.6, 1}[r.IntN(5)]
			for j := range n {
				if r.Float64() < share {
					e.Col = append(e.Col, int32(j))
				}
			}
			e.Ptr = append(e.Ptr, int64(len(e.Col)))
		}
		if trial%4 != 0 {
			for range r.IntN(160) {
				e.Col = append(e.Col, int32(n-1))
			}
		}
		if trial%3 != 0 {
			e.Val = make([]T, len(e.Col))
			for k := range e.Val {
				e.Val[k] = number(r)
			}
		}
		matrix := func(rows int) Lines[T] {
			l := Lines[T]{Cols: width, Stride: width + r.IntN(3)}
			l.X = make([]T, rows*l.Stride)
			for k := range l.X {
				l.X[k] = number(r)
			}
			return l
		}
		same := func(what string, got, want Lines[T]) {
			t.Helper()
			for k, x := range want.X {
				if y := got.X[k]; (x == x || y == y) && (x != y || 1/float64(x) != 1/float64(y)) {
					t.Fatalf("%s of %d rows, %d columns, %d wide: element %d is %v, not %v", what, rows, n, width, k, y, x)
				}
			}
		}
		b, got := matrix(n), matrix(rows)
		want := Lines[T]{slices.Clone(got.X), got.Cols, got.Stride}
		step := Step(trial % 5)
		e.Fold(step, got, b)
		for i := range rows {
			for k := e.Ptr[i]; k < e.Ptr[i+1]; k++ {
				e.step(step, want.row(i), b.row(int(e.Col[k])), k)
			}
		}
		same(fmt.Sprint("fold ", step), got, want)
		lo := int32(r.IntN(n + 1))
		hi := lo + int32(r.IntN(n-int(lo)+1))
		if trial%2 == 0 {
			lo, hi = 0, math.MaxInt32
		}
		b, got = matrix(rows), matrix(n)
		want = Lines[T]{slices.Clone(got.X), got.Cols, got.Stride}
		e.Add(got, b, lo, hi)
		for i := range rows {
			for k := e.Ptr[i]; k < e.Ptr[i+1]; k++ {
				if j := e.Col[k]; lo <= j && j < hi {
					e.step(Chain, want.row(int(j)), b.row(i), k)
				}
			}
		}
		same("sum", got, want)
	}
}

// The steps in plain Go are those of the language.
func TestSteps(t *testing.T) {
	nan := math.NaN()
	e := Entries[float64]{Val: []float64{3}}
	for step, want := range [][]float64{{1 + 3*2, nan, 3}, {1, nan, 0}, {6, nan, 3}, {1, nan, 3}, {5, nan, 3}} {
		v := []float64{1, nan, 3}
		e.step(Step(step), v, []float64{2, 1, 0}, 0)
		for k := range v {
			if v[k] != want[k] && v[k] == v[k] {
				t.Errorf("step %d: %v, not %v", step, v, want)
			}
		}
	}
	got := []float32{-1}
	if chain(1+0x1p-12, []float32{1 + 0x1p-12}, got); got[0] != float32(math.FMA(1+0x1p-12, 1+0x1p-12, -1)) {
		t.Error("f32 products are rounded")
	}
}

// The strips of AVX2 and the plain loops give what those of AVX-512 give.
func TestSparseLinesOfSets(t *testing.T) {
	defer func(gather, have bool) { haveGather, haveAVX2 = gather, have }(haveGather, haveAVX2)
	haveGather = false
	t.Run("avx2", TestSparseLines)
	haveAVX2 = false
	t.Run("plain", TestSparseLines)
}

// On AVX2 the products of sparse rows and lines of any width run by a kernel: plain Go takes five to
// ten times as long.
func TestStripsOfAVX2(t *testing.T) {
	if !haveAVX2 {
		t.Skip("no AVX2")
	}
	defer func(have bool) { haveGather = have }(haveGather)
	haveGather = false
	e := Entries[float64]{Ptr: []int64{0, 2}, Col: make([]int32, 2+machine.Ahead), Val: make([]float64, 2+machine.Ahead)}
	e.Col[1], e.Val[0], e.Val[1] = 1, 2, 3
	for _, cols := range []int{1, 3, 4, 17} {
		b, out := Lines[float64]{make([]float64, 2*cols), cols, cols}, Lines[float64]{make([]float64, cols), cols, cols}
		for k := range b.X {
			b.X[k] = float64(k)
		}
		if !e.run(false, Chain, out, b, 1, 0, 0) {
			t.Errorf("%d columns: no kernel", cols)
		}
		sum := Lines[float64]{make([]float64, 2*cols), cols, cols}
		if !e.run(true, Chain, sum, b, 1, 0, 2) || sum.X[2*cols-1] != 3*float64(cols-1) {
			t.Errorf("%d columns: no kernel adds %v", cols, sum.X)
		}
		for k, x := range out.X {
			if want := float64(2*k + 3*(cols+k)); x != want {
				t.Errorf("%d columns: element %d is %v, not %v", cols, k, x, want)
			}
		}
	}
}
