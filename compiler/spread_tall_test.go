package compiler_test

import (
	"errors"
	"strings"
	"testing"

	"flow/ir/eval"
	"flow/ir/op"
	"flow/ir/plan"
	"flow/runtime/dist/transport/mem"
)

// tall is decompositions of matrices with many rows and few columns.
var tall = []spreadProgram{
	{"values", "X = rand(3000, 3, seed = 1) - 0.5\nemit t(svdvals(X))\nemit rank(X)\nemit rank(X, tol = 20)", 3, 0},
	{"several folds", "X = rand(9000, 2, seed = 1)\nemit t(svdvals(cbind(X, X @ [[1.0], [2.0]])))\nemit rank(cbind(X, X @ [[1.0], [2.0]]))", 4, 0},
	{"floats of 32 bits", "X = f32(rand(2900, 4, seed = 2))\nY = cbind(X, X @ f32([[1.0], [1.0], [0.0], [-1.0]]))\nemit t(svdvals(Y))\nemit rank(Y)", 3, 0},
	{"sizes", "X = rand(3000, 3, seed = 1) * ifelse(seq(0, 3000) < 1400, 0.0, 1e-300)\nemit t(svdvals(X))\nemit t(svdvals(X * 1e300 * 1e300))\nemit t(svdvals(0 * X))", 3, 0},
	{"in rounds", `X = rand(2700, 3, seed = 1)
iterate Y = X, s = 0.0 times 5 {
  v = svdvals(Y)
  next s = s + v[0, 0]
  next Y = Y * 1.5 - v[2, 0] / 1000
}
emit s
emit colsum(Y)`, 3, 0},
	{"vectors", "X = rand(3001, 3, seed = 1) - 0.5\nU = svdu(X)\nV = svdv(X)\nemit U[700..703, :]\nemit V\nemit sum(U)\nemit sum(abs(X - (U * t(svdvals(X))) @ t(V))) < 1e-9", 3, 0},
	{"the pseudo-inverse", "X = rand(3000, 4, seed = 1) - 0.5\nP = pinv(X)\nemit P[:, 1400..1403]\nemit P @ X\nemit sum(pinv(cbind(X, X @ [[1.0], [2.0], [0.0], [0.5]])))\nemit sum(pinv(X, tol = 17))", 3, 0},
	{"vectors of several folds", "X = f32(rand(9000, 2, seed = 1))\nemit sum(svdu(X))\nemit sum(pinv(X))\nemit svdv(0 * X)\nemit sum(svdu(0 * X))", 4, 0},
	{"vectors in rounds", `X = rand(2700, 3, seed = 1)
iterate Y = X, s = 0.0 times 3 {
  next s = s + svdv(Y)[0, 0] + sum(pinv(Y) @ Y)
  next Y = Y - 0.01 * svdu(Y)
}
emit s
emit colsum(Y)`, 4, 0},
}

// wide is decompositions of matrices with few rows and many columns, and of transposes.
var wide = []spreadProgram{
	{"wide values", "X = rand(5, 3000, seed = 1) - 0.5\nemit t(svdvals(X))\nemit rank(X)\nemit rank(X, tol = 26)", 3, 0},
	{"wide values of several folds", "X = rand(5, 9000, seed = 1)\nY = rbind(X, 2 * X)\nemit t(svdvals(Y))\nemit rank(f32(Y))", 4, 0},
	{"values of a transpose", "X = rand(3000, 5, seed = 1) - 0.5\nemit t(svdvals(t(X)))\nemit rank(t(X))\nemit sum(svdu(t(X)))", 3, 0},
	{"a transpose that others read", "X = rand(3000, 5, seed = 1) - 0.5\nY = t(X)\nemit t(svdvals(Y))\nemit sum(abs(Y)) + sum(rowmax(Y))", 3, 0},
	{"wide vectors", "X = rand(5, 3001, seed = 1) - 0.5\nU = svdu(X)\nV = svdv(X)\nemit U\nemit V[700..703, :]\nemit sum(V)\nemit sum(abs(t(X) - (V * t(svdvals(X))) @ t(U))) < 1e-9", 3, 0},
	{"wide right vectors first", "X = f32(rand(5, 3001, seed = 3)) - f32(0.5)\nemit sum(svdv(X))\nemit svdu(X)\nemit svdu(0 * X)\nemit sum(svdv(0 * X))", 3, 0},
	{"the pseudo-inverse of a wide matrix", "X = rand(5, 3000, seed = 1) - 0.5\nP = pinv(X)\nemit P[1400..1403, :]\nemit X @ P\nemit sum(pinv(rbind(X, 2 * X)))\nemit sum(pinv(X, tol = 15.6))\nemit sum(pinv(f32(X)))", 3, 0},
	{"wide in rounds", `X = rand(6, 2700, seed = 1)
iterate Y = X, s = 0.0 times 3 {
  next s = s + svdvals(Y)[0, 0] + svdu(Y)[0, 0] + svdvals(t(Y))[1, 0]
  next Y = Y - 0.01 * t(svdv(Y)) + 0.001 * t(pinv(Y))
}
emit s
emit rowsum(Y)`, 4, 0},
}

// Ranks share the decompositions of a wide matrix, with the bits of one rank. They fold its transpose,
// and the transpose of a tall matrix is that matrix.
func TestWideMatrices(t *testing.T) {
	spreadAlike(t, wide)
	sendsAsPredicted(t, wide)
	for _, x := range plan.Layouts(compiledFor(t, "X = rand(300000, 40, seed = 1)\nemit t(svdvals(t(X)))", 3).Plan) {
		if x.Op == "t.blocks" || x.Op == "rand" && x.Bytes > 2<<20 {
			t.Errorf("%s sends %v bytes", x.Op, x.Bytes)
		}
	}
	folds := 0
	for _, x := range plan.Layouts(compiledFor(t, "X = rand(40, 300000, seed = 1)\nemit sum(pinv(X))\nemit svdu(X)", 3).Plan) {
		if x.Op == "svd.fold" {
			folds++
		}
		if x.Op == "svd.heads" {
			t.Error("signs of a wide matrix follow from the vectors on the left")
		}
	}
	if folds != 1 {
		t.Errorf("%d folds, not 1", folds)
	}
}

// Ranks share the singular values of a tall matrix, with the bits of one rank.
func TestTallMatrices(t *testing.T) {
	spreadAlike(t, tall)
	sendsAsPredicted(t, tall)
	layouts := map[string]string{}
	for _, x := range plan.Layouts(compiledFor(t, "X = rand(300000, 40, seed = 1)\nemit t(svdvals(X))\nemit t(X) @ X", 3).Plan) {
		if layouts[x.Op] = x.Where; x.Op == "rand" && x.Bytes > 2<<20 {
			t.Errorf("%v bytes of the matrix are sent", x.Bytes)
		}
	}
	if layouts["svd.fold"] != "rows" || layouts["svd.refold"] != "rows" || layouts["rand"] != "rows" {
		t.Errorf("a tall matrix lies by %v", layouts)
	}
	for _, x := range plan.Layouts(compiledFor(t, "X = rand(300000, 40, seed = 1)\nU = svdu(X)\nemit t(svdv(X))\nemit sum(U)", 3).Plan) {
		if layouts[x.Op] = x.Where; x.Bytes > 6<<20 {
			t.Errorf("%v bytes of %s are sent", x.Bytes, x.Op)
		}
	}
	if layouts["svd.unfold"] != "rows" || layouts["svdu.folded"] != "rows" {
		t.Errorf("singular vectors lie by %v", layouts)
	}
}

// runsShared is reductions by runs of elements, which do not end with rows. The last run is short.
var runsShared = []spreadProgram{
	{"products", "X = 0.9994 + rand(3001, 53, seed = 1) / 1000\nemit prod(X)\nemit prod(f32(X))\nemit prod(i64(X * 3000) * 2 + 1)\nemit prod(X > 0.9)\nemit prod(ifelse(X > 1.000399, nan, X))", 6, 0},
	{"products in rounds", "X = 0.9994 + rand(3001, 53, seed = 1) / 1000\niterate p = 1.0 times 2 { next p = prod(X + p / 1000000) + p }\nemit p", 2, 0},
	{"equal matrices", `X = rand(3001, 53, seed = 1)
Y = ifelse(X > 0.99999, -X, X)
emit identical(X, Y)
emit identical(X + 1, 1 + X)
emit identical(X, i64(X))
iterate Z = X, n = 0 times 2 {
  W = i64(Z * 4) / 2
  next n = 2 * n + i64(identical(W, Z))
  next Z = W
}
emit n`, 5, 0},
}

// Ranks share prod and identical, with the bits of one rank.
func TestRunsOfElements(t *testing.T) {
	spreadAlike(t, runsShared)
	sendsAsPredicted(t, runsShared)
}

// The last block has the rows that are left over, also those of the rank before the last one.
func TestTallMatricesHaveRests(t *testing.T) {
	c := compiledFor(t, "X = rand(65546, 3, seed = 1)\nemit t(svdvals(X))\nemit t(X) @ X", 3)
	want := meanings{}.of("the meaning", c.Program)
	if out, err := runOver(mem.New(3, slowTransports[0]), c, 1); err != nil || out != want.out {
		t.Errorf("%v, %s", err, difference(want.out, out))
	}
}

// The first number that is none is reported, whichever ranks find others.
func TestTallMatricesFail(t *testing.T) {
	for k, word := range []string{"svdvals", "rank", "svdu", "svdv", "pinv", "svdvals", "rank", "svdu", "svdv", "pinv"} {
		text, first := "X = rand(3000, 3, seed = 1)\nk = seq(0, 3000)\nemit sum("+word+"(ifelse(k == 700 or k == 1900 or k == 2900, 0 / (k - k), X)))", "(700, 0)"
		if k >= 5 { // the first row of the transpose that has one is 1, and there column 2900 comes first
			text, first = "X = rand(3000, 5, seed = 1)\nk = seq(0, 3000)\nj = t(seq(0, 5))\n"+
				"B = ifelse(k == 700 and j == 3 or k == 2900 and j == 1 or k == 2950 and j == 1, 0 / (k - k), X)\nemit sum("+word+"(t(B)))", "(1, 2900)"
		}
		for _, ranks := range []int{2, 3, 5} {
			c, err := compileTiny(tinyTable(t), text, ranks, false, apart)
			if err != nil {
				t.Fatal(err)
			}
			_, want := eval.Run(c.Program, nil)
			var f *op.Failure
			if !errors.As(want, &f) || !strings.HasPrefix(f.Msg, word+": element "+first) {
				t.Fatal(want)
			}
			for k, o := range slowTransports {
				if _, err := runOver(mem.New(ranks, o), c, 1+k%2); err == nil || !strings.Contains(err.Error(), f.Msg) {
					t.Errorf("%d ranks, transport %d: %v, not %v", ranks, k, err, f.Msg)
				}
			}
		}
	}
}
