package spectrum

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"flow/kernels/blas"
)

// general is kinds of matrices.
var general = []struct {
	name string
	at   func(r *rand.Rand, n, i, j int) float64
}{
	{"random", func(r *rand.Rand, _, _, _ int) float64 { return r.Float64() - 0.5 }},
	{"zero", func(*rand.Rand, int, int, int) float64 { return 0 }},
	{"identity", func(_ *rand.Rand, _, i, j int) float64 {
		if i == j {
			return 1
		}
		return 0
	}},
	{"ones", func(*rand.Rand, int, int, int) float64 { return 1 }},
	{"rank 2", func(_ *rand.Rand, _, i, j int) float64 { return float64(i) + float64(i*i)*float64(j) }},
	{"hilbert", func(_ *rand.Rand, _, i, j int) float64 { return 1 / float64(i+j+1) }},
	{"graded", func(r *rand.Rand, n, i, j int) float64 {
		return (r.Float64() - 0.5) * math.Pow(10, -40*float64(i+j)/float64(n))
	}},
	{"jordan", func(_ *rand.Rand, _, i, j int) float64 {
		if j == i+1 {
			return 1
		}
		return 0
	}},
	{"bidiagonal of ones", func(_ *rand.Rand, _, i, j int) float64 {
		if j == i || j == i+1 {
			return 1
		}
		return 0
	}},
	{"blocks", func(_ *rand.Rand, _, i, j int) float64 {
		if i/7 == j/7 {
			return 1
		}
		return 0
	}},
	{"huge", func(r *rand.Rand, _, _, _ int) float64 { return (r.Float64() - 0.5) * 1e300 }},
	{"tiny", func(r *rand.Rand, _, _, _ int) float64 { return (r.Float64() - 0.5) * 1e-300 }},
	{"subnormal", func(r *rand.Rand, _, _, _ int) float64 { return (r.Float64() - 0.5) * 1e-315 }},
}

func generalMatrix(kind, m, n int) []float64 {
	r := rand.New(rand.NewPCG(uint64(kind), uint64(m)))
	a := make([]float64, m*n)
	for i := range m {
		for j := range n {
			a[i*n+j] = general[kind].at(r, n, i, j)
		}
	}
	return a
}

var shapes = [][2]int{{1, 1}, {2, 2}, {1, 5}, {5, 1}, {26, 26}, {60, 60}, {131, 100}, {100, 131}, {150, 150}, {1500, 7}, {9, 1500}}

func TestSingular(t *testing.T) {
	set := setNamed(t, "auto")
	for kind := range general {
		for _, shape := range shapes {
			m, n := shape[0], shape[1]
			k := min(m, n)
			a := generalMatrix(kind, m, n)
			p := NewSingular(set, 1, m, n, slices.Clone(a), true)
			finish(t, p.Machine, 1)
			q := NewSingular(set, 1, m, n, slices.Clone(a), false)
			finish(t, q.Machine, 1)
			b, size := scaledCopy(a)
			norm := math.Sqrt(dot(b, b))
			where := fmt.Sprintf("%s, %d x %d", general[kind].name, m, n)
			unit := norm*float64(max(m, n))*0x1p-52 + 5e-324/size
			if x := orthogonality(p.Left, k, m); !(x < 8) {
				t.Errorf("%s: left vectors are %.2g eps of the size from orthogonal", where, x)
			}
			if x := orthogonality(p.Right, k, n); !(x < 8) {
				t.Errorf("%s: right vectors are %.2g eps of the size from orthogonal", where, x)
			}
			for i, s := range p.Values {
				if s < 0 || i > 0 && s > p.Values[i-1] {
					t.Errorf("%s: values %d and %d do not descend", where, i-1, i)
				}
				if x := math.Abs(s-q.Values[i]) / size; !(x <= 8*unit) {
					t.Errorf("%s: value %d is %v with vectors, %v without", where, i, s, q.Values[i])
				}
			}
			worst := 0.0
			for i := range m {
				for j := range n {
					x := 0.0
					for l, s := range p.Values {
						x += p.Left[l*m+i] * (s / size) * p.Right[l*n+j]
					}
					worst = math.Max(worst, math.Abs(x-b[i*n+j]))
				}
			}
			if !(worst <= 4*unit) {
				t.Errorf("%s: u diag(s) t(v) is %.2g from a, %.2g units", where, worst, worst/unit)
			}
		}
	}
}

func TestSingularBits(t *testing.T) {
	for _, shape := range [][2]int{{70, 70}, {230, 210}, {1100, 20}} {
		a := generalMatrix(0, shape[0], shape[1])
		var want *Singular
		for _, name := range blas.Names() {
			set := setNamed(t, name)
			if !set.Chain {
				continue
			}
			for workers := 1; workers <= 3; workers += 2 {
				p := NewSingular(set, workers, shape[0], shape[1], slices.Clone(a), true)
				finish(t, p.Machine, workers)
				if want == nil {
					want = p
				}
				if !slices.Equal(p.Values, want.Values) || !slices.Equal(p.Left, want.Left) || !slices.Equal(p.Right, want.Right) {
					t.Errorf("%v: %s on %d workers has other bits", shape, name, workers)
				}
			}
		}
	}
}

// The values of a tall matrix follow from the states of its blocks, and of blocks of states, bit for
// bit.
func TestFoldedBits(t *testing.T) {
	set := setNamed(t, "auto")
	for kind := range general {
		for _, shape := range [][2]int{{520, 1}, {1100, 3}, {9000, 4}, {1500, 70}} {
			m, n := shape[0], shape[1]
			a := generalMatrix(kind, m, n)
			for i := range 1 + m/3 { // some blocks are zeros, and others have another size
				for j := range n {
					a[(m/4+i)*n+j] = 0
				}
			}
			for i := range m / 5 {
				for j := range n {
					a[i*n+j] *= 1e-200
				}
			}
			want := NewSingular(set, 1, m, n, slices.Clone(a), false)
			finish(t, want.Machine, 1)
			if b, size := scaledCopy(a); size > 0 {
				values := slices.Clone(want.Values)
				for i := range values {
					values[i] /= size
				}
				if norm := math.Sqrt(dot(b, b)); math.Abs(math.Sqrt(dot(values, values))-norm) > 1e-12*norm+0x1p-1074/size*float64(n) {
					t.Errorf("%s, %v: the norm of the values is not %v", general[kind].name, shape, norm)
				}
			}
			var w Folder
			f := FoldOf(m, n)
			states := make([][]float64, f.Count)
			for i := range states {
				from, to := f.Of(i, m)
				states[i] = make([]float64, StateLen(n))
				w.Rows(set, states[i], to-from, n, slices.Clone(a[from*n:to*n]))
			}
			for level := 0; ; level++ {
				got := NewFolded(set, 1, len(states), n, false, func(i int) []float64 { return states[i] })
				finish(t, got.Machine, 1)
				if !slices.Equal(got.Values, want.Values) {
					t.Errorf("%s, %v, level %d: %v, not %v", general[kind].name, shape, level, got.Values, want.Values)
				}
				f = FoldOf(len(states)*n, n)
				next := make([][]float64, f.Count)
				for i := range next {
					from, to := f.Of(i, len(states)*n)
					next[i] = make([]float64, StateLen(n))
					w.States(set, next[i], (to-from)/n, n, func(k int) []float64 { return states[from/n+k] })
				}
				if states = next; f.Count == 0 {
					break
				}
			}
		}
	}
	for n := 1; n < 3000; n++ {
		if Columns(StateLen(n)) != n {
			t.Fatalf("a state of %d columns seems to have %d", n, Columns(StateLen(n)))
		}
	}
}

// The vectors of a tall matrix follow from what the folds have kept, bit for bit.
func TestUnfoldedBits(t *testing.T) {
	set := setNamed(t, "auto")
	for kind := range general {
		for _, shape := range [][2]int{{520, 1}, {1100, 3}, {1026, 4}, {9000, 4}, {1500, 70}, {1151, 64}} {
			m, n := shape[0], shape[1]
			a := generalMatrix(kind, m, n)
			want := NewSingular(set, 1, m, n, slices.Clone(a), true)
			finish(t, want.Machine, 1)
			f := FoldOf(m, n)
			var w Folder
			states := make([][]float64, f.Count)
			for i := range states {
				from, to := f.Of(i, m)
				states[i] = slices.Repeat([]float64{77}, f.Len(n))
				w.Rows(set, states[i], to-from, n, slices.Clone(a[from*n:to*n]))
			}
			got := NewFolded(set, 1, f.Count, n, true, func(i int) []float64 { return states[i] })
			finish(t, got.Machine, 1)
			if !slices.Equal(got.Values, want.Values) || !slices.Equal(got.Right, want.Right) {
				t.Errorf("%s, %v: other values, or other vectors on the right", general[kind].name, shape)
			}
			for i, s := range states {
				from, to := f.Of(i, m)
				z := make([]float64, n*(to-from))
				for k := range n {
					copy(z[k*(to-from):], got.Left[k*f.Count*n+i*n:][:n])
				}
				if Unfold(set, to-from, n, s[StateLen(n):], n, z); slices.Contains(s, 77) {
					t.Fatalf("%v: block %d is not complete", shape, i)
				}
				for k := range n {
					if !slices.Equal(z[k*(to-from):(k+1)*(to-from)], want.Left[k*m+from:k*m+to]) {
						t.Fatalf("%s, %v: other vectors on the left, block %d", general[kind].name, shape, i)
					}
				}
			}
		}
	}
}

func BenchmarkSingular(b *testing.B) {
	for _, vectors := range []bool{false, true} {
		b.Run(fmt.Sprintf("vectors=%v", vectors), func(b *testing.B) {
			const n = 600
			a := generalMatrix(0, n, n)
			c := make([]float64, n*n)
			set := setNamed(b, "auto")
			for b.Loop() {
				copy(c, a)
				if err := NewSingular(set, 1, n, n, c, vectors).Run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkTall(b *testing.B) {
	const m, n = 100000, 40
	a := generalMatrix(0, m, n)
	c := make([]float64, m*n)
	set := setNamed(b, "auto")
	for b.Loop() {
		copy(c, a)
		if err := NewSingular(set, 1, m, n, c, false).Run(); err != nil {
			b.Fatal(err)
		}
	}
}
