package kernels

import (
	"math"
	"math/rand/v2"
	"testing"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/linalg"
	"flow/kernels/rowtest"
)

// far is the greatest distance of an element of a @ b from c, given as functions of the place.
func far(a, b, c func(i, j int) float64, n, inner, m int) float64 {
	worst := 0.0
	for i := range n {
		for j := range m {
			x := 0.0
			for k := range inner {
				x += a(i, k) * b(k, j)
			}
			worst = math.Max(worst, math.Abs(x-c(i, j)))
		}
	}
	return worst
}

func at(d *value.Dense) func(i, j int) float64 { return func(i, j int) float64 { return d.At(i, j).F } }

func turnedAt(d *value.Dense) func(i, j int) float64 {
	return func(i, j int) float64 { return d.At(j, i).F }
}

func unit(i, j int) float64 {
	if i == j {
		return 1
	}
	return 0
}

// a @ v = v diag(w), t(v) @ v = I, values ascend, signs are as the manual says; twice the same bits.
func TestEigenProperties(t *testing.T) {
	rows := define.Resolved(linalg.Decompositions(chainSets(t)[0]))
	r := rand.New(rand.NewPCG(41, 42))
	for trial := range 24 {
		e, tol := types.F64, 1e-12
		if trial%4 == 3 {
			e, tol = types.F32, 1e-4
		}
		n := []int{1, 2, 3, 10, 33, 70}[trial%6]
		a := rowtest.RandomDense(r, e, n, n)
		for i := range n {
			for j := range i {
				a.Set(j, i, a.At(i, j))
			}
		}
		junk := a.Clone() // what stands above the diagonal must not matter
		for i := range n {
			for j := i + 1; j < n; j++ {
				junk.Set(i, j, value.F64(math.NaN()))
			}
		}
		w := rowtest.CheckRow(t, rowtest.RowNamed(t, rows, "eigvals"), nil, junk).(*value.Dense)
		v := rowtest.CheckRow(t, rowtest.RowNamed(t, rows, "eigvecs"), nil, junk).(*value.Dense)
		if w2 := rowtest.CheckRow(t, rowtest.RowNamed(t, rows, "eigvals"), nil, a); !value.Same(w, w2) {
			t.Fatal("eigvals reads above the diagonal")
		}
		scaled := func(i, j int) float64 { return v.At(i, j).F * w.At(j, 0).F }
		if d := far(at(a), at(v), scaled, n, n, n); d > tol*float64(n) {
			t.Errorf("n = %d: a @ v is %v from v diag(w)", n, d)
		}
		if d := far(turnedAt(v), at(v), unit, n, n, n); d > tol*float64(n) {
			t.Errorf("n = %d: t(v) @ v is %v from the identity", n, d)
		}
		for i := 1; i < n; i++ {
			if w.At(i, 0).F < w.At(i-1, 0).F {
				t.Errorf("eigenvalues do not ascend: %v", rowtest.ShowValue(w))
			}
		}
		positiveHeads(t, v)
	}
}

// positiveHeads demands that the element greatest in size of every column is positive.
func positiveHeads(t *testing.T, v *value.Dense) {
	t.Helper()
	for j := range v.Cols {
		best := 0.0
		for i := range v.Rows {
			if x := v.At(i, j).F; math.Abs(x) > math.Abs(best) {
				best = x
			}
		}
		if best < 0 {
			t.Errorf("column %d has %v at its head", j, best)
		}
	}
}

// u diag(s) t(v) = a, u and v orthonormal, s descending; the pseudo-inverse is the inverse on the
// range.
func TestSingularProperties(t *testing.T) {
	rows := define.Resolved(linalg.Decompositions(chainSets(t)[0]))
	r := rand.New(rand.NewPCG(43, 44))
	for _, size := range [][2]int{{1, 1}, {2, 5}, {5, 2}, {10, 10}, {40, 7}, {7, 40}, {33, 31}, {0, 3}, {3, 0}} {
		n, m := size[0], size[1]
		k := min(n, m)
		a := rowtest.RandomDense(r, types.F64, n, m)
		s := rowtest.CheckRow(t, rowtest.RowNamed(t, rows, "svdvals"), nil, a).(*value.Dense)
		u := rowtest.CheckRow(t, rowtest.RowNamed(t, rows, "svdu"), nil, a).(*value.Dense)
		v := rowtest.CheckRow(t, rowtest.RowNamed(t, rows, "svdv"), nil, a).(*value.Dense)
		p := rowtest.CheckRow(t, rowtest.RowNamed(t, rows, "pinv"), nil, a).(*value.Dense)
		us := func(i, j int) float64 { return u.At(i, j).F * s.At(j, 0).F }
		if d := far(us, turnedAt(v), at(a), n, k, m); d > 1e-12 {
			t.Errorf("%v: u diag(s) t(v) is %v from a", size, d)
		}
		if d := math.Max(far(turnedAt(u), at(u), unit, k, n, k), far(turnedAt(v), at(v), unit, k, m, k)); d > 1e-12 {
			t.Errorf("%v: singular vectors are %v from orthonormal", size, d)
		}
		ap := func(i, j int) float64 {
			x := 0.0
			for l := range m {
				x += a.At(i, l).F * p.At(l, j).F
			}
			return x
		}
		if d := far(ap, at(a), at(a), n, n, m); d > 1e-10 {
			t.Errorf("%v: a @ pinv(a) @ a is %v from a", size, d)
		}
		for i := 1; i < k; i++ {
			if s.At(i, 0).F > s.At(i-1, 0).F {
				t.Errorf("singular values do not descend: %v", rowtest.ShowValue(s))
			}
		}
		positiveHeads(t, u)
		if got := rowtest.CheckRow(t, rowtest.RowNamed(t, rows, "rank"), nil, a).(value.Scalar).I; got != int64(k) {
			t.Errorf("%v: rank of random numbers is %d", size, got)
		}
	}
	low := value.New(types.F64, 6, 4) // rank 2
	for i := range 6 {
		for j := range 4 {
			low.Set(i, j, value.F64(float64(i)+float64(i*i)*float64(j)))
		}
	}
	if got := rowtest.CheckRow(t, rowtest.RowNamed(t, rows, "rank"), nil, low).(value.Scalar).I; got != 2 {
		t.Errorf("rank %d, want 2", got)
	}
	if got := rowtest.CheckRow(t, rowtest.RowNamed(t, rows, "rank"), op.MakeAttrs(rowtest.Attr("tol", op.Float(1e9))), low).(value.Scalar).I; got != 0 {
		t.Errorf("rank above a great tol is %d, want 0", got)
	}
}
