package sparsity

import (
	"math"
	"math/rand/v2"
	"testing"
)

// matrix is a pattern, element by element.
type matrix [][]bool

func random(r *rand.Rand, rows, cols int, density func(i, j int) float64) matrix {
	m := make(matrix, rows)
	for i := range m {
		m[i] = make([]bool, cols)
		for j := range m[i] {
			m[i][j] = r.Float64() < density(i, j)
		}
	}
	return m
}

// sketch counts m.
func (m matrix) sketch() Estimate {
	rows, cols := make([]float64, len(m)), make([]float64, len(m[0]))
	for i := range m {
		for j, x := range m[i] {
			if x {
				rows[i]++
				cols[j]++
			}
		}
	}
	return Counts(rows, cols)
}

func (m matrix) nnz() (n float64) {
	for i := range m {
		for _, x := range m[i] {
			if x {
				n++
			}
		}
	}
	return n
}

func combine(a, b matrix, f func(x, y bool) bool) matrix {
	return random(rand.New(rand.NewPCG(0, 0)), len(a), len(a[0]), func(i, j int) float64 {
		if f(a[i][j], b[i][j]) {
			return 2
		}
		return 0
	})
}

func (a matrix) times(b matrix) (out matrix, work float64) {
	out = random(rand.New(rand.NewPCG(0, 0)), len(a), len(b[0]), func(int, int) float64 { return 0 })
	for i := range a {
		for k, x := range a[i] {
			for j, y := range b[k] {
				if x && y {
					out[i][j] = true
					work++
				}
			}
		}
	}
	return out, work
}

// shapes of density: even, hubs, steps as in a power law.
var shapes = []func(i, j int) float64{
	func(int, int) float64 { return 0.03 },
	func(i, j int) float64 { return 0.5 / float64(1+i%50) },
	func(i, j int) float64 { return 3 / float64(3+j) },
	func(i, j int) float64 { return 20 / float64((1+i)*(1+j)) },
	func(int, int) float64 { return 0 },
}

// Multiplications are counted, and estimates of random matrices whose rows and columns differ in
// length are near what they estimate. Of products of such they are too large, since all elements
// are taken to be filled alike.
func TestEstimatesOfRandomMatrices(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	near := func(what string, a, b int, got Estimate, want float64) {
		t.Helper()
		above := 1.25
		if what == "product" {
			above = 2
		}
		if got.NNZ < want/1.25-20 || got.NNZ > want*above+20 {
			t.Errorf("%s of shapes %d and %d: %v elements, %v are estimated", what, a, b, want, got.NNZ)
		}
		if got.NNZ < 0 || got.NNZ > cells(got.Rows, got.Cols) {
			t.Errorf("%s of shapes %d and %d: %v elements in %d x %d", what, a, b, got.NNZ, got.Rows, got.Cols)
		}
	}
	for x, f := range shapes {
		for y, g := range shapes {
			a, b := random(r, 120, 150, f), random(r, 150, 90, g)
			product, work := a.times(b)
			ea, eb := a.sketch(), b.sketch()
			if got := Work(&ea, &eb); got != work {
				t.Errorf("shapes %d and %d: %v multiplications, not %v", x, y, work, got)
			}
			near("product", x, y, Product(ea, eb), product.nnz())
			c := random(r, 120, 150, g)
			ec := c.sketch()
			near("meet", x, y, Meet(ea, ec), combine(a, c, func(x, y bool) bool { return x && y }).nnz())
			near("join", x, y, Join(ea, ec), combine(a, c, func(x, y bool) bool { return x || y }).nnz())
			w := ea.Window(10, 0, 50, 150)
			if w.NNZ != a[10:60].nnz() || w.Basis != Counted {
				t.Errorf("rows 10..59 of shape %d: %v elements %v, not %v", x, w.NNZ, w.Basis, a[10:60].nnz())
			}
			near("window", x, y, ea.Window(5, 20, 100, 100), func() (n float64) {
				for _, row := range a[5:105] {
					n += matrix{row[20:120]}.nnz()
				}
				return n
			}())
		}
	}
}

// A product with a permutation or with rows of one element is counted, not estimated: MNC, theorem
// 3.1.
func TestProductsWithOneElementARow(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	at := make([]int, 80)
	for i := range at {
		at[i] = r.IntN(60)
	}
	h := random(r, 80, 60, func(i, j int) float64 {
		if at[i] == j {
			return 2
		}
		return 0
	})
	b := random(r, 60, 70, shapes[3])
	product, _ := h.times(b)
	if e := Product(h.sketch(), b.sketch()); e.NNZ != product.nnz() || e.Basis != Counted {
		t.Errorf("%v elements %v, not %v", e.NNZ, e.Basis, product.nnz())
	}
}

// Without counts elements lie anywhere, and what is guessed stays guessed.
func TestUniform(t *testing.T) {
	half := Uniform(1, 3, 1.5, Estimated)
	column := Uniform(3, 1, 3, Estimated)
	if e := Product(Uniform(3, 3, 4.5, Estimated), Uniform(3, 3, 9, Estimated)); math.Abs(e.NNZ-9*0.875) > 1e-12 {
		t.Errorf("3 products, each there half of the time, in 9 places: %v", e.NNZ)
	}
	if e := Product(half, column); e.NNZ > 1 || e.NNZ <= 0 {
		t.Errorf("one element: %v", e.NNZ)
	}
	if e := Meet(Unknown(10, 10), Uniform(10, 10, 50, Counted)); e.Basis != Guessed || e.NNZ != 0.5 {
		t.Errorf("meets: %v %v", e.NNZ, e.Basis)
	}
	if e := Product(Dense(4, 5), Unknown(5, 6)); !e.Full || e.NNZ != 24 {
		t.Errorf("a product with a dense factor: %+v", e)
	}
	for _, e := range []Estimate{Uniform(0, 5, 3, Counted), Unknown(5, 0), Product(Unknown(0, 4), Unknown(4, 3)), Join(Unknown(0, 3), Unknown(0, 3)), Unknown(3, 0).Window(1, 0, 2, 0)} {
		if e.NNZ != 0 {
			t.Errorf("%d x %d: %v elements", e.Rows, e.Cols, e.NNZ)
		}
	}
	a := Uniform(1000, 500, 700, Estimated)
	if a.Bytes(8, 8) != 8*1001+700*12 {
		t.Errorf("%v bytes", a.Bytes(8, 8))
	}
	if a.Full = true; a.Bytes(8, 8) != 4e6 {
		t.Errorf("%v bytes dense", a.Bytes(8, 8))
	}
}

// The rows of a triangle of an even matrix grow one by one, and so do the multiplications of a product
// of triangles with the square of the row.
func TestTriangle(t *testing.T) {
	const n, nnz = 1000, 20000
	even := Uniform(n, n, nnz, Estimated)
	low, up := even.Triangle(Below), even.Triangle(Above)
	for _, i := range []int{0, 10, 499, 999} {
		want := float64(i+1) / n * nnz / n
		if got := low.InRow(i); math.Abs(got-want) > 1e-9 {
			t.Errorf("row %d below: %v elements, not %v", i, got, want)
		}
		across := up.T()
		if got := across.InRow(i); math.Abs(got-want) > 1e-9 {
			t.Errorf("column %d above: %v elements, not %v", i, got, want)
		}
	}
	if low.Side != Below || low.T().Side != Above || Meet(low, even).Side != Below || Join(low, up).Side != Anywhere || Product(low, low).Side != Below {
		t.Error("sides")
	}
	work, sum := RowsWork(&low, &low)
	if want := 2.0 / 3 * low.NNZ * low.NNZ / n; math.Abs(sum-want) > want/100 {
		t.Errorf("%v multiplications, not %v", sum, want)
	}
	if got := work[999] / work[499]; math.Abs(got-4) > 0.05 {
		t.Errorf("the last row has %v times the work of the middle one", got)
	}
	if got := Product(low, low).NNZ; math.Abs(got-sum) > sum/4 {
		t.Errorf("the square has %v elements of %v multiplications", got, sum)
	}
}

// Join finds the union of two estimates once, and tells unions apart by both of them.
func TestJoinIsFoundOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	part := func(density float64) Estimate {
		return random(r, 40, 50, func(int, int) float64 { return density }).sketch()
	}
	a, b, c := part(.1), part(.2), part(.4)
	for _, x := range [][2]Estimate{{a, b}, {a, c}, {b, a}, {a, Uniform(40, 50, 100, Counted)}, {Uniform(40, 50, 100, Counted), a}, {a.T().T(), b}} {
		want, got := join(&x[0], &x[1]), Join(x[0], x[1])
		if got.NNZ != want.NNZ || got.Basis != want.Basis || got.row.sum != want.row.sum || got.col.sum != want.col.sum {
			t.Errorf("the union has %v, want %v", got, want)
		}
		if again := Join(x[0], x[1]); again != got {
			t.Errorf("the second time the union is %v, the first time %v", again, got)
		}
	}
	fewer := a
	fewer.NNZ /= 2
	if Join(fewer, b).NNZ == Join(a, b).NNZ {
		t.Error("half of the nonzeros give the same union")
	}
}

// The union of a counted matrix and its own transpose has fewer nonzeros than that of two others
// with the same counts. A row has at least as many as in either matrix.
func TestMutualLinks(t *testing.T) {
	out, in := make([]float64, 42), make([]float64, 42)
	for i := range out {
		out[i], in[i] = float64(i%7), float64((i+3)%7)
	}
	a := Counts(out, in)
	b, other := a.T(), Counts(in, out)
	u, v := Join(a, b), Join(a, other)
	fewer := 0
	for i := range out {
		x, y := a.InRow(i), b.InRow(i)
		switch {
		case u.InRow(i) < max(x, y)-1e-9 || u.InRow(i) > v.InRow(i)+1e-9:
			t.Errorf("row %d has %v of %v and %v; of other matrices %v", i, u.InRow(i), x, y, v.InRow(i))
		case u.InRow(i) < v.InRow(i)-1e-9:
			fewer++
		}
	}
	if u.NNZ >= v.NNZ || fewer < 30 {
		t.Errorf("%v nonzeros, of other matrices %v; %d rows have fewer", u.NNZ, v.NNZ, fewer)
	}
	a.Side, other.Side = Below, Above
	if u, v := Join(a, a.T()), Join(a, other); u.NNZ != v.NNZ {
		t.Errorf("a triangle and its transpose have %v nonzeros, as if they met; %v", u.NNZ, v.NNZ)
	}
}

// Counts finds the most nonzeros of a row and a column, and how many rows and columns have any.
func TestCounts(t *testing.T) {
	e := Counts([]float64{0, 3, 1, 0, 2}, []float64{6, 0})
	if e.NNZ != 6 || e.MostRow != 3 || e.MostCol != 6 || e.row.some != 3 || e.col.some != 1 {
		t.Errorf("%v of %v rows and %v columns", e, e.row.some, e.col.some)
	}
}
