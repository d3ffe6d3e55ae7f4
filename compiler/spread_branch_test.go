package compiler_test

// These tests run branches on values of the run that read and make matrices whose rows ranks share.

import (
	"strings"
	"testing"

	"flow/ir/plan"
)

var branchPrograms = []spreadProgram{
	{"one of two matrices, and a new one", `X = parfor i in 0..24 { t([i, i * i, 7 - i]) * 0.5 }
s = sum(X)
A = if s > 10 { X } else { X * 2 }
B = if s > 1e9 { A } else { exp(-X / 8) + rowsum(A) }
emit B
emit colsum(A * B)`, 4, 0},
	{"one branch makes all rows, and one reads them", `X = parfor i in 0..24 { t([i, 3 - i, 9]) * 0.25 }
p = seq(23, -1, -1)
s = sum(X)
A = if s > 1e9 { X } else { take(X, p) }
B = if s < 1e9 { X + colsum(X) } else { X }
C = if mean(A) > 0 { cumsum(X) } else { sort(X, by = 1) }
D = if s > 0 { t(X) @ X } else { zeros(3, 3) }
E = if s > 2 { X[3..20, :] } else { X[5..22, :] }
emit rbind(A, B, C, D, E)`, 3, 0},
	{"branches in rounds, and in branches", `X = parfor i in 0..18 { t([i, 5 - i]) * 0.25 }
S = sparse(parfor i in 0..18, j in 0..18 { if abs(i - j) < 3 { 0.5 } else { 0.0 } })
iterate w = X, k = 0 times 6 {
  c = colmean(w)
  Y = if c[0, 0] > 0.5 { w - c } else { w + roll(X, 1) }
  Z = if k % 2 == 0 { Y * X } else { S @ Y }
  next w = if sum(Z) > 100 { Z / 2 } else { if k > 3 { Z * 3 } else { w } }
  next k = k + 1
}
emit w`, 2, 0},
	{"points, and effects", `X = parfor i in 0..24 { t([i, 2 - i]) * 0.5 }
s = sum(X)
u = if s > 3 { argmax(X[:, 0]) } else { 0 }
G = if s > 4 { parfor i in 0..24 { X[u, 0] * i + X[i, 1] } } else { X[:, 1] }
emit sum(G)
if s > 5 { emit sum(G * 2) } else { emit colsum(X) }
K = if s > 6 { if s > 1e6 { X * 3 } else { X + s } } else { X }
assert max(K) < 1e9
emit colsum(K * G)`, 3, 0},
	{"columns of a shared matrix", `X = parfor i in 0..24 { t([i, 2 - i, i * i, 7]) * 0.5 }
v = X[:, 1]
s = sum(X)
A = if s > 3 { roll(v, 5) * (X[:, 0] > 0) } else { v }
B = if s > 1e9 { v * 2 } else { take(v, seq(23, -1, -1)) }
emit X[3, :]
emit rbind(A, B)`, 2, 0},
	{"rows of other ranks", `X = parfor i in 0..24 { t([i, 2 - i]) * 0.5 }
iterate w = X, k = 0 times 5 {
  Y = tanh(w * 0.5)
  Z = if k % 2 == 0 { Y[23..=0 by -1, :] } else { rbind(Y[1.., :], Y[0, :]) }
  next w = Z + (if k > 2 { roll(Z, 5) * 0.5 } else { Y[k, 0] + Y })
  next k = k + 1
}
emit w`, 2, 0},
}

func TestBranchesOnRanks(t *testing.T) { spreadAlike(t, branchPrograms) }

func TestBranchesSendAsPredicted(t *testing.T) { sendsAsPredicted(t, branchPrograms[:1]) }

// A branch reads and makes each rank's rows: no matrix is brought together for it.
func TestBranchesGatherNothing(t *testing.T) {
	const text = `X = randn(1000000, 6, seed = 1)
p = if mean(abs(X[:, 0])) > 0.5 {
  exp(-0.5 * rowsum(X ^ 2))
} else {
  1 / (1 + rowsum(abs(X)))
}
emit sum(p)`
	r := compiledFor(t, text, 3)
	if n := wholeGathers(r.Plan.Graph, 1, true); n > 0 {
		t.Errorf("%d matrices are brought together in\n%s", n, r.Plan.Graph)
	}
	for _, x := range plan.Layouts(r.Plan) {
		if strings.HasPrefix(x.Type, "f64[1000000,") && x.Where != "rows" {
			t.Errorf("%s of %s lies on %s", x.Op, x.Type, x.Where)
		}
	}
	if bytes := plan.Summarise(r.Plan, nil, 1).Bytes; bytes > 1<<16 {
		t.Errorf("ranks send %d bytes", bytes)
	}
}

// A branch that shifts a matrix gets the rows at the edges. For one that needs all rows of a matrix, no
// rank brings that together in every round.
func TestBranchesGetFewRows(t *testing.T) {
	for _, p := range []struct {
		text string
		most int64 // bytes
	}{
		{"iterate w = randn(300000, 4, seed = 1), k = 0 times 20 {\n Y = tanh(w * 0.5)\n" +
			" next w = (if k % 2 == 0 { Y } else { rbind(Y[1.., :], Y[0, :]) }) * 0.5\n next k = k + 1 }\nemit colsum(w)", 1 << 16},
		{"iterate w = randn(300000, 4, seed = 1) times 20 { next w = if sum(w) > 0 { rbind(w, w)[299999..599999, :] } else { rbind(w, w)[2..300002, :] } }\nemit colsum(w)", 1 << 17},
		{"A = randn(1000, 1000, seed = 1)\nB = if sum(A) > 0 { A @ A } else { A @ t(A) }\nemit colsum(B)", 8 << 20},
	} {
		if bytes := int64(plan.Summarise(compiledFor(t, p.text, 3).Plan, nil, 1).Bytes); bytes > p.most {
			t.Errorf("ranks send %d bytes, and %d are enough for\n%s", bytes, p.most, p.text)
		}
	}
}
