package stdlib_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"flow"
)

// This file tests linalg.flow: against gonum, for its bits, and for what it refuses.

// everything calls each function on random matrices of order n: S is symmetric positive definite, M
// is any matrix, D is one that needs no row exchanges, T is tall.
const everything = `
param n: i64
param tile: i64 = 0
param single: bool = false
fn typed(X) = if single { f32(X) } else { X }

M = typed(randn(n, n, seed = 1))
D = typed(randn(n, n, seed = 1) + 2 * n * eye(n))
S = typed(rand_spd(n, seed = 2))
T = typed(randn(2 * n + 1, n, seed = 3))
B = typed(randn(n, 3, seed = 4))
C = typed(randn(2 * n + 1, 2, seed = 5))
emit M as "M"
emit D as "D"
emit S as "S"
emit T as "T"
emit B as "B"
emit C as "C"

emit cholesky(S, tile) as "cholesky"
L, U = lu(D, tile)
emit L as "L"
emit U as "U"
Q, R = qr(T, tile)
emit Q as "Q"
emit R as "R"
Qw, Rw = qr(t(T), tile)
emit Qw as "Qw"
emit Rw as "Rw"
emit solve(M, B, tile = tile) as "solve"
emit solve_spd(S, B, tile) as "solve_spd"
emit lm(T, C, tile) as "lm"
emit inv(M, tile) as "inv"
emit det(M, tile) as "det"
emit logdet(S, tile) as "logdet"
`

// precision is the spacing of the type that a test computes in.
func precision(single bool) float64 {
	if single {
		return 0x1p-23
	}
	return 0x1p-52
}

func TestAgainstGonum(t *testing.T) {
	for _, n := range []int{1, 2, 3, 10, 33} {
		for _, single := range []bool{false, true} {
			t.Run(fmt.Sprintf("n=%d single=%v", n, single), func(t *testing.T) {
				p := values(t, everything, fmt.Sprintf("n=%d tile=8 single=%v", n, single))
				unit := 20 * float64(n) * precision(single) // what a stable algorithm may be off by where the condition is 1
				near := func(what string, got, want mat.Matrix, tol float64) {
					t.Helper()
					if d := apart(got, want); !(d <= tol) {
						t.Errorf("%s is off by %.3g, want at most %.3g", what, d, tol)
					}
				}
				product := func(a, b mat.Matrix) mat.Matrix {
					var c mat.Dense
					c.Mul(a, b)
					return &c
				}
				M, S, T, B := p.get(t, "M"), p.get(t, "S"), p.get(t, "T"), p.get(t, "B")
				condM, condS, condT := mat.Cond(M, 2), mat.Cond(S, 2), mat.Cond(T, 2)

				var spd mat.Cholesky
				lower := mat.NewSymDense(n, nil)
				for i := range n {
					for j := range i + 1 {
						lower.SetSym(i, j, S.At(i, j))
					}
				}
				if !spd.Factorize(lower) {
					t.Fatal("gonum finds that S is not positive definite")
				}
				var l mat.TriDense
				spd.LTo(&l)
				near("cholesky", p.get(t, "cholesky"), &l, unit*condS)
				near("L @ U", product(p.get(t, "L"), p.get(t, "U")), p.get(t, "D"), unit)
				for i := range n {
					for j := range n {
						if l, u := p["L"].At(i, j), p["U"].At(i, j); j > i && l != 0 || j == i && l != 1 || j < i && u != 0 {
							t.Fatalf("L[%d,%d] = %v and U[%d,%d] = %v are no triangles", i, j, l, i, j, u)
						}
					}
				}

				for _, f := range []struct{ q, r, of string }{{"Q", "R", "T"}, {"Qw", "Rw", "T'"}} {
					q, r := p.get(t, f.q), p.get(t, f.r)
					a := mat.Matrix(T)
					if f.of != "T" {
						a = T.T()
					}
					near(f.q+" @ "+f.r, product(q, r), a, unit)
					_, k := q.Dims()
					one := mat.NewDiagDense(k, nil)
					for i := range k {
						one.SetDiag(i, 1)
						if !(r.At(i, i) > 0) {
							t.Errorf("%s[%d,%d] = %v, want a positive diagonal", f.r, i, i, r.At(i, i))
						}
						for j := range i {
							if r.At(i, j) != 0 {
								t.Errorf("%s[%d,%d] = %v below the diagonal", f.r, i, j, r.At(i, j))
							}
						}
					}
					near("t("+f.q+") @ "+f.q, product(q.T(), q), one, unit)
				}

				var x mat.Dense
				if err := x.Solve(M, B); err != nil {
					t.Fatal(err)
				}
				near("solve", p.get(t, "solve"), &x, unit*condM)
				residual := product(M, p.get(t, "solve"))
				if r := apart(residual, B) * largest(B) / (largest(M)*float64(n)*largest(&x) + largest(B)); !(r <= 8*precision(single)) {
					t.Errorf("solve leaves a residual of %.3g of |A| |X|, want a few units in the last place", r)
				}
				if err := spd.SolveTo(&x, B); err != nil {
					t.Fatal(err)
				}
				near("solve_spd", p.get(t, "solve_spd"), &x, unit*condS)
				var w mat.Dense
				if err := w.Solve(T, p.get(t, "C")); err != nil {
					t.Fatal(err)
				}
				near("lm", p.get(t, "lm"), &w, unit*condT*condT)
				var inverse mat.Dense
				if err := inverse.Inverse(M); err != nil {
					t.Fatal(err)
				}
				near("inv", p.get(t, "inv"), &inverse, unit*condM)
				det := mat.Det(M)
				if d := p.get(t, "det").At(0, 0); !(math.Abs(d-det) <= 10*unit*condM*math.Abs(det)) {
					t.Errorf("det is %v, want %v", d, det)
				}
				if d := p.get(t, "logdet").At(0, 0); !(math.Abs(d-spd.LogDet()) <= unit*condS*float64(n)) {
					t.Errorf("logdet is %v, want %v", d, spd.LogDet())
				}
			})
		}
	}
}

// The tile edge, the threads and the passes of the compiler change no bit.
func TestBits(t *testing.T) {
	for _, single := range []bool{false, true} {
		set := fmt.Sprintf("n=13 single=%v", single)
		want, err := run(everything, set, way{eval: true})
		if err != nil {
			t.Fatal(err)
		}
		same := func(more string, w way) {
			t.Helper()
			got, err := run(everything, set+more, w)
			if err != nil {
				t.Errorf("%s%s %+v: %v", set, more, w, err)
			} else if got != want {
				t.Errorf("%s%s %+v prints other bytes than the evaluator with one tile", set, more, w)
			}
		}
		for _, tile := range []int{0, 1, 3, 8, 12, 13, 64} {
			same(fmt.Sprintf(" tile=%d", tile), way{threads: 2})
		}
		same(" tile=5", way{threads: 1})
		same(" tile=5", way{threads: 3})
		same(" tile=5", way{eval: true})
		same(" tile=5", way{threads: 2, disable: []string{"fuse"}})
		same(" tile=5", way{threads: 2, disable: []string{"partition", "narrow"}})
		same(" tile=5", way{threads: 2, disable: []string{"merge-equal", "order"}})
	}
}

// Matrices that have tiles by default, where blocks of the compiler and tiles of the library differ.
func TestBitsOfLargeMatrices(t *testing.T) {
	if testing.Short() {
		t.Skip("factorisations of order 700")
	}
	const program = `
param tile: i64 = 0
A = randn(700, 700, seed = 1)
emit sum(solve(A, A[:, 0..2], tile = tile)) as "solve"
emit det(A / 27, tile) as "det"
Q, R = qr(A[:, 0..560], tile)
emit norm(Q) as "Q"
emit norm(t(Q) @ Q - eye(560)) as "orthogonality"
emit sum(R) as "R"
`
	want, err := run(program, "", way{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tile := range []string{"tile=96", "tile=300", "tile=700"} {
		got, err := run(program, tile, way{threads: 3})
		if err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("%s:\n%swant, as with the default tile:\n%s", tile, got, want)
		}
	}
}

// Elimination without pivoting would fail on all of these.
func TestSolveNeedsNoPivoting(t *testing.T) {
	for name, a := range map[string]string{
		"antidiagonal":  "reverse(eye(40))",
		"zero diagonal": "ones(40, 40) - eye(40)",
		"tiny pivot":    "reverse(eye(40)) + 1e-18 * eye(40)",
		"shift":         "rbind(eye(40)[1..40, :], eye(40)[0..1, :])",
	} {
		p := values(t, "A = "+a+`
x = randn(40, 1, seed = 8)
emit max(abs(solve(A, A @ x) - x)) as "error"
emit abs(det(A)) as "det"
emit max(abs(inv(A) @ A - eye(40))) as "inverse"`, "")
		if e := p.get(t, "error").At(0, 0); !(e < 1e-13) {
			t.Errorf("%s: solve is off by %g", name, e)
		}
		if e := p.get(t, "inverse").At(0, 0); !(e < 1e-13) {
			t.Errorf("%s: inv is off by %g", name, e)
		}
		want := 1.0
		if name == "zero diagonal" {
			want = 39
		}
		if d := p.get(t, "det").At(0, 0); !(math.Abs(d-want) < 1e-10*want) {
			t.Errorf("%s: |det| = %v, want %v", name, d, want)
		}
	}
}

const hilbert = `
param n: i64
H = 1 / (f64(seq(1, n + 1)) @ ones(1, n) + ones(n, 1) @ t(f64(seq(0, n))))
`

// The condition grows from 1e13 to 1e16: an answer with digits, then a refusal.
func TestIllConditioned(t *testing.T) {
	const program = hilbert + `
b = H @ ones(n, 1)
x = solve(H, b)
emit norm(x - 1) / norm(x) as "error"
emit norm(b - H @ x) / (norm(H) * norm(x)) as "residual"`
	for n, tol := range map[int]float64{4: 1e-11, 8: 1e-4, 10: 1e-1} {
		p := values(t, program, fmt.Sprint("n=", n))
		if e := p.get(t, "error").At(0, 0); !(e < tol) {
			t.Errorf("order %d: solve is off by %g", n, e)
		}
		if r := p.get(t, "residual").At(0, 0); !(r < 4e-16) {
			t.Errorf("order %d: the residual of solve is %g", n, r)
		}
	}

	const dependent = `
param gap: f64
M = randn(60, 20, seed = 1)
Q, R = qr(cbind(M, M @ ones(20, 1) + gap * randn(60, 1, seed = 2)))
emit norm(t(Q) @ Q - eye(21)) as "orthogonality"`
	for _, gap := range []string{"1", "1e-6", "1e-9", "1e-12"} {
		p := values(t, dependent, "gap="+gap)
		if o := p.get(t, "orthogonality").At(0, 0); !(o < 1e-14) {
			t.Errorf("gap %s: the columns of Q are orthonormal to %g", gap, o)
		}
	}

	for _, c := range []struct{ name, program, set, code, text string }{
		{"Hilbert", program, "n=13", "E603", "solve: A is singular to working precision"},
		{"nan", "emit solve(eye(3) * nan, ones(3, 1))", "", "E603", "or not finite"},
		{"ones", "emit solve(ones(3, 3), ones(3, 1))", "", "E603", "solve: A is singular to working precision"},
		{"zeros", "emit inv(zeros(3, 3))", "", "E603", "in this call of inv"},
		{"zero row", "emit solve(eye(9) * (seq(0, 9) - 4), ones(9, 1), tile = 4)", "", "E603", "solve: A is singular to working precision"},
		{"dependent columns", dependent, "gap=0", "E603", "qr: columns of A are linearly dependent"},
		{"dependent columns, f32", "Q, R = qr(f32(ones(40, 2) @ randn(2, 9, seed = 1)))\nemit R", "", "E603", "qr: columns of A are linearly dependent"},
		{"zero column", "Q, R = qr(cbind(ones(5, 1), zeros(5, 1)))\nemit R", "", "E603", "qr: a column of A is zero"},
		{"infinite column", "Q, R = qr(cbind(ones(5, 1), fill(inf, 5)))\nemit R", "", "E603", "qr: a column of A is zero, infinite or nan"},
		{"indefinite", "emit cholesky(eye(9) - ones(9, 9), tile = 4)", "", "E601", "leading minor 1 is not positive definite"},
		{"indefinite below", "emit logdet(ones(9, 9) + eye(9) - 3 * reverse(eye(9)), tile = 4)", "", "E601", "in this call of logdet"},
		{"zero pivot", "L, U = lu(reverse(eye(9)), tile = 4)\nemit U", "", "E602", "pivot 1 of LU without pivoting is zero"},
		{"not square", "emit solve(ones(3, 2), ones(3, 1))", "", "E213", "3 rows and 2 columns"},
		{"right side", "emit solve(ones(3, 3), ones(2, 1))", "", "E213", "but n is 3"},
		{"integers", "emit eigvals(i64(eye(3)))", "", "E202", "f64(x) converts"},
	} {
		for _, w := range []way{{threads: 1}, {threads: 3}, {eval: true}} {
			_, err := run(c.program, c.set, w)
			var refusal *flow.Refusal
			if !errors.As(err, &refusal) {
				t.Errorf("%s: %v, want a diagnostic", c.name, err)
				continue
			}
			if text := err.Error(); !strings.Contains(text, c.code) || !strings.Contains(text, c.text) {
				t.Errorf("%s: want %s and %q in\n%s", c.name, c.code, c.text, text)
			}
		}
	}
}

// A determinant is zero where elimination meets an exact zero, whatever the tiles and the engine,
// and nan where the matrix has one.
func TestSingularDeterminants(t *testing.T) {
	for _, tile := range []string{"0", "1", "2", "4"} {
		p := values(t, `
param tile: i64
emit det(zeros(5, 5), tile) as "zeros"
emit det(zeros(1, 1), tile) as "one"
emit det(ones(5, 5), tile) as "ones"
emit det(f32(ones(5, 5)), tile) as "f32"
emit det(1e200 * ones(5, 5), tile) as "large"
emit det([[1, 2], [2, 4]], tile) as "integers"
emit det(eye(9) * (seq(0, 9) - 4), tile) as "zero row"
emit det(t(eye(9) * (seq(0, 9) - 4)), tile) as "zero column"
emit det(eye(0), tile) as "empty"
emit det(reverse(eye(4)), tile) as "exchange"
emit det(eye(3) * nan, tile) as "nan"`, "tile="+tile)
		for name, want := range map[string]float64{"zeros": 0, "one": 0, "ones": 0, "f32": 0, "large": 0, "integers": 0, "zero row": 0, "zero column": 0,
			"empty": 1, "exchange": 1, "nan": math.NaN()} {
			got := p.get(t, name).At(0, 0)
			if near := math.Abs(got-want) < 1e-12; !near && !(math.IsNaN(got) && math.IsNaN(want)) || want == 0 && got != 0 {
				t.Errorf("tile %s, %s: %g, want %g", tile, name, got, want)
			}
		}
	}
}

// Columns of very different sizes are no bad condition, and squares do not overflow.
func TestColumnScales(t *testing.T) {
	p := values(t, `
A = randn(30, 4, seed = 1) * t(rbind(1e200 * ones(1, 1), 1e-200 * ones(1, 1), ones(1, 1), 1e9 * ones(1, 1)))
Q, R = qr(A)
emit norm(t(Q) @ Q - eye(4)) as "orthogonality"
emit max(abs((Q @ R - A) / A)) as "relative"`, "")
	if o := p.get(t, "orthogonality").At(0, 0); !(o < 1e-14) {
		t.Errorf("the columns of Q are orthonormal to %g", o)
	}
	if r := p.get(t, "relative").At(0, 0); !(r < 1e-11) {
		t.Errorf("an element of Q @ R is off by %g of itself", r)
	}
}

func TestEmpty(t *testing.T) {
	const program = `
param single: bool
fn typed(X) = if single { f32(X) } else { X }
O = typed(zeros(0, 0))
L, U = lu(O)
Q, R = qr(typed(zeros(3, 0)))
V, W = qr(typed(zeros(0, 3)))
emit cholesky(O).rows + L.rows + U.cols + solve(O, typed(zeros(0, 2))).rows + inv(O).rows + lm(typed(zeros(3, 0)), typed(ones(3, 1))).rows as "rows"
emit Q.rows + 10 * Q.cols + 100 * R.rows + 1000 * R.cols as "3 x 0"
emit V.rows + 10 * V.cols + 100 * W.rows + 1000 * W.cols as "0 x 3"
emit sum(cholesky(O)) + sum(L) + sum(U) + sum(inv(O)) as "sum"
emit logdet(O) as "logdet"
emit det(O) as "det"`
	const want = "rows: 0\n3 x 0: 3\n0 x 3: 3000\nsum: 0\nlogdet: 0\ndet: 1\n"
	for _, set := range []string{"single=false", "single=true"} {
		for _, w := range []way{{}, {eval: true}} {
			if got, err := run(program, set, w); err != nil || got != want {
				t.Errorf("%s: %v\n%swant\n%s", set, err, got, want)
			}
		}
	}
}

// TestLinalgIntegers gives every function matrices of i64: the bits are those of the same in f64.
func TestLinalgIntegers(t *testing.T) {
	for _, call := range []string{"cholesky(A)", "lu_packed(A)", "solve_lower(A, B)", "solve_upper(A, B)", "solve(A, B)", "lm(A, B)", "solve_spd(A, B)",
		"solve_cholesky(A, B)", "inv(A)", "det(A)", "logdet(A)", "times_lower(A, A)"} {
		program := "fn f(A: _[n,n], B: _[n,m]) = " + call + `
M = [[9, 1, 2], [1, 8, 3], [2, 3, 7]]
B = [1, 0, 2]
assert identical(f64(f(M, B)), f(f64(M), f64(B)))
assert identical(f64(f(M, B == 1)), f(f64(M), f64(B == 1)))
`
		if _, err := run(program, "", way{threads: 2}); err != nil {
			t.Errorf("%s: %v", call, err)
		}
	}
}

// TestWideBesideSmall meets a triangle of few rows with a matrix of many columns or rows: there are
// some tens of tasks, and the bits are those of tiles as small as the triangle.
func TestWideBesideSmall(t *testing.T) {
	for _, call := range []string{"solve_lower(L, t(X)", "solve_upper(t(L), t(X)", "times_lower(X, L"} {
		program := "L = cholesky(eye(4) + 0.1)\nX = rand(6000, 4, seed = 1)\nY = " + call + ")\nemit sum(Y ^ 2) as \"s\"\n"
		o := flow.CompileOptions{Verify: true, MaxTasks: 300}
		if _, err := flow.Compile(t.Context(), "test.flow", []byte(program), o); err != nil {
			t.Errorf("%s: %v", call, err)
		}
		same := program + "assert identical(Y, " + call + ", tile = 4))\n"
		if _, err := run(same, "", way{threads: 2}); err != nil {
			t.Errorf("%s: %v", call, err)
		}
	}
}

// eigen and svd are tested by what they are.
func TestEigenAndSVD(t *testing.T) {
	text := `
A = rand_spd(9, seed = 4)
l, V = eigen(A)
emit norm(A @ V - V * t(l)) < 1e-12 and norm(t(V) @ V - eye(9)) < 1e-13 as "eigen"
X = rand(7, 4, seed = 5)
U, s, W = svd(X)
emit norm((U * t(s)) @ t(W) - X) < 1e-13 and identical(s, svdvals(X)) as "svd"
k, K = eigen([[2, 1], [1, 2]])
emit identical(round(k), f64([1, 3])) as "integers"
`
	out, err := run(text, "", way{})
	if want := "eigen: true\nsvd: true\nintegers: true\n"; err != nil || out != want {
		t.Errorf("%v %s", err, out)
	}
}
