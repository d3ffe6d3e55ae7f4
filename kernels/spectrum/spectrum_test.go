package spectrum

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"flow/kernels/blas"
)

func setNamed(t testing.TB, name string) *blas.Set {
	t.Helper()
	s, err := blas.Select(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// finish runs a machine on so many goroutines, slots in random order.
func finish(t testing.TB, m *Machine, workers int) {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(workers), 3))
	for {
		slots := r.Perm(Slots)
		var all sync.WaitGroup
		for w := range workers {
			all.Go(func() {
				for k := w; k < Slots; k += workers {
					m.Chunk(w, slots[k], slots[k]+1)
				}
			})
		}
		all.Wait()
		again, err := m.Next()
		if err != nil {
			t.Fatal(err)
		}
		if !again {
			return
		}
	}
}

// symmetric is kinds of symmetric matrices that divide and conquer finds hard in different ways.
var symmetric = []struct {
	name string
	at   func(r *rand.Rand, n, i, j int) float64 // j <= i
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
	{"wilkinson", func(_ *rand.Rand, n, i, j int) float64 { // pairs of eigenvalues that agree to the last digit
		switch i - j {
		case 0:
			return math.Abs(float64(i) - float64(n-1)/2)
		case 1:
			return 1
		}
		return 0
	}},
	{"laplace", func(_ *rand.Rand, _, i, j int) float64 {
		switch i - j {
		case 0:
			return 2
		case 1:
			return -1
		}
		return 0
	}},
	{"graded", func(r *rand.Rand, n, i, j int) float64 {
		return (r.Float64() - 0.5) * math.Pow(10, -30*float64(i+j)/float64(n))
	}},
	{"integers", func(r *rand.Rand, _, _, _ int) float64 { return float64(r.IntN(3) - 1) }},
	{"blocks", func(r *rand.Rand, _, i, j int) float64 {
		if i/7 == j/7 {
			return 1
		}
		return 0
	}},
	{"huge", func(r *rand.Rand, _, _, _ int) float64 { return (r.Float64() - 0.5) * 1e300 }},
	{"tiny", func(r *rand.Rand, _, _, _ int) float64 { return (r.Float64() - 0.5) * 1e-300 }},
	{"subnormal", func(r *rand.Rand, _, _, _ int) float64 { return (r.Float64() - 0.5) * 1e-315 }},
}

func symmetricMatrix(kind, n int) []float64 {
	r := rand.New(rand.NewPCG(uint64(kind), uint64(n)))
	a := make([]float64, n*n)
	for i := range n {
		for j := range i + 1 {
			a[i*n+j] = symmetric[kind].at(r, n, i, j)
			a[j*n+i] = a[i*n+j]
		}
	}
	return a
}

// scaledCopy is a over the size of its greatest element.
func scaledCopy(a []float64) ([]float64, float64) {
	size := greatest(a)
	if size == 0 {
		return slices.Clone(a), 1
	}
	c := make([]float64, len(a))
	for i, x := range a {
		c[i] = x / size
	}
	return c, size
}

// orthogonality is how far v t(v) is from the identity, in units of n eps; v is n x m, by rows.
func orthogonality(v []float64, n, m int) float64 {
	worst := 0.0
	for i := range n {
		for j := range i + 1 {
			want := 0.0
			if i == j {
				want = 1
			}
			worst = math.Max(worst, math.Abs(dot(v[i*m:(i+1)*m], v[j*m:(j+1)*m])-want))
		}
	}
	return worst / (float64(m) * 0x1p-52)
}

func TestEigen(t *testing.T) {
	set := setNamed(t, "auto")
	for kind := range symmetric {
		for _, n := range []int{1, 2, 3, 25, 50, 131, 200} {
			a := symmetricMatrix(kind, n)
			p := NewEigen(set, 1, n, slices.Clone(a), true)
			finish(t, p.Machine, 1)
			q := NewEigen(set, 1, n, slices.Clone(a), false)
			finish(t, q.Machine, 1)
			b, size := scaledCopy(a)
			norm := math.Sqrt(dot(b, b))
			where := fmt.Sprintf("%s, n = %d", symmetric[kind].name, n)
			if x := orthogonality(p.Vectors, n, n); !(x < 4) {
				t.Errorf("%s: vectors are %.2g n eps from orthogonal", where, x)
			}
			for i, w := range p.Values {
				if i > 0 && w < p.Values[i-1] {
					t.Errorf("%s: values %d and %d do not ascend", where, i-1, i)
				}
				if x := math.Abs(w-q.Values[i]) / size; !(x <= 8*norm*float64(n)*0x1p-52+5e-324/size) {
					t.Errorf("%s: value %d is %v with vectors, %v without", where, i, w, q.Values[i])
				}
				v, worst := p.Vectors[i*n:(i+1)*n], 0.0
				for r := range n {
					worst = math.Max(worst, math.Abs(dot(b[r*n:(r+1)*n], v)-w/size*v[r]))
				}
				if !(worst <= 4*norm*float64(n)*0x1p-52+5e-324/size) {
					t.Errorf("%s: a v is %.2g n eps from value %d times v", where, worst/(max(norm, 1e-300)*float64(n)*0x1p-52), i)
				}
			}
		}
	}
}

// The same bits on any workers and with every set that follows the chain.
func TestEigenBits(t *testing.T) {
	for _, n := range []int{70, 300} {
		a := symmetricMatrix(0, n)
		var want *Eigen
		for _, name := range blas.Names() {
			set := setNamed(t, name)
			if !set.Chain {
				continue
			}
			for workers := 1; workers <= 3; workers += 2 {
				p := NewEigen(set, workers, n, slices.Clone(a), true)
				finish(t, p.Machine, workers)
				if want == nil {
					want = p
				}
				if !slices.Equal(p.Values, want.Values) || !slices.Equal(p.Vectors, want.Vectors) {
					t.Errorf("n = %d: %s on %d workers has other bits", n, name, workers)
				}
			}
		}
	}
}

func BenchmarkEigen(b *testing.B) {
	for _, vectors := range []bool{false, true} {
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("vectors=%v/workers=%d", vectors, workers), func(b *testing.B) {
				const n = 600
				a := symmetricMatrix(0, n)
				c := make([]float64, n*n)
				set := setNamed(b, "auto")
				for b.Loop() {
					copy(c, a)
					finish(b, NewEigen(set, workers, n, c, vectors).Machine, workers)
				}
			})
		}
	}
}

// TestMemoryOfEarlierMachines: what earlier machines have left in the memory of a machine does not
// count, and small matrices make no memory for what earlier ones had.
func TestMemoryOfEarlierMachines(t *testing.T) {
	set := setNamed(t, "")
	left := func() {
		m := newMachine(set, 1)
		for range 2 {
			for _, x := range [][]float64{m.floats(5000), m.workers[0].scratch(5000)} {
				for i := range x {
					x[i] = math.NaN()
				}
			}
		}
		m.Free()
	}
	for _, vectors := range []bool{false, true} {
		for _, shape := range [][2]int{{1, 1}, {2, 2}, {3, 3}, {8, 3}, {3, 8}, {40, 40}} {
			high, wide := shape[0], shape[1]
			a := generalMatrix(0, high, wide)
			want := NewSingular(set, 2, high, wide, slices.Clone(a), vectors)
			finish(t, want.Machine, 2)
			left()
			p := NewSingular(set, 1, high, wide, slices.Clone(a), vectors)
			finish(t, p.Machine, 1)
			if !slices.Equal(p.Values, want.Values) || !slices.Equal(p.Left, want.Left) || !slices.Equal(p.Right, want.Right) {
				t.Errorf("%v, vectors %v: other singular values or vectors", shape, vectors)
			}
			p.Free()
			if high != wide {
				continue
			}
			a = symmetricMatrix(0, wide)
			values := NewEigen(set, 2, wide, slices.Clone(a), vectors)
			finish(t, values.Machine, 2)
			left()
			q := NewEigen(set, 1, wide, slices.Clone(a), vectors)
			finish(t, q.Machine, 1)
			if !slices.Equal(q.Values, values.Values) || !slices.Equal(q.Vectors, values.Vectors) {
				t.Errorf("%v, vectors %v: other eigenvalues or eigenvectors", shape, vectors)
			}
			q.Free()
		}
	}
}

// TestSmallMemory: a decomposition of a small matrix takes its memory from the one before.
func TestSmallMemory(t *testing.T) {
	set, a := setNamed(t, ""), generalMatrix(0, 4, 3)
	room := make([]float64, len(a))
	one := func() {
		copy(room, a)
		p := NewSingular(set, 1, 4, 3, room, false)
		if err := p.Run(); err != nil {
			t.Fatal(err)
		}
		p.Free()
	}
	var before, after runtime.MemStats
	one()
	runtime.ReadMemStats(&before)
	const times = 200
	for range times {
		one()
	}
	runtime.ReadMemStats(&after)
	if n := (after.TotalAlloc - before.TotalAlloc) / times; n > 12<<10 { // closures, and not panels of some kilobytes
		t.Errorf("a decomposition takes %d bytes of new memory", n)
	}
}
