package compiler_test

// These tests run what reads rows of a matrix, columns and elements whose numbers the run computes, on
// ranks that have its rows.

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"flow/ir"
	"flow/ir/plan"
	"flow/kernels"
)

// pickPrograms have at least so many gathers of rows that the run chooses, and none of all rows in
// rounds.
var pickPrograms = []spreadProgram{
	{"shortest paths", `iterate D = rand(14, 14, seed = 1) ^ 2, k = 0 times 14 {
  next D = min(D, D[:, k] + D[k, :])
  next k = k + 1
}
emit sum(D)
emit D`, 1, 1},
	{"shortest paths, a row at a time", `iterate D = rand(14, 14, seed = 1) ^ 2, k = 0 times 14 {
  next D = parfor i in 0..14 { min(D[i, :], D[i, k] + D[k, :]) }
  next k = k + 1
}
emit sum(D)
emit D`, 1, 1},
	{"elimination", `n = 13
A0 = rand(n, n, seed = 1) + n * eye(n)
iterate A = A0, k = 0 times n {
  f = ifelse(seq(0, n) > k, A[:, k] / A[k, k], 0.0)
  next A = A - f * A[k, :]
  next k = k + 1
}
emit A`, 2, 1},
	{"elimination with pivots", `n = 12
iterate A = rand(n, n + 1, seed = 4), k = 0 times n {
  i = seq(0, n)
  p = argmax(ifelse(i >= k, abs(A[:, k]), -1.0))
  low = A[k, :]
  high = A[p, :]
  S = ifelse(i == k, high, ifelse(i == p, low, A))
  next A = S - ifelse(i != k, S[:, k] / high[:, k], 0.0) * high
  next k = k + 1
}
emit A[:, n] / rowsum(A[:, 0..n])`, 1, 2},
	{"elements and a row in points, from the front and the back", `iterate A = rand(15, 6, seed = 2), k = 0 until k == 14 {
  next A = parfor i in 0..15, j in 0..6 { A[i, j] * 0.5 + A[k + 1, j] * 0.25 + A[-k - 1, 0] * 0.125 + A[k + 1, -1] }
  next k = k + 1
}
emit A`, 1, 2},
	{"elements of a vector", `iterate x = seq(1, 18) * 1.0, k = 0 times 16 {
  next x = x * x[k] / (x[k + 1] + x[-1 - k])
  next k = k + 1
}
emit x`, 1, 3},
	{"several rows together, and one place often", `iterate A = rand(16, 5, seed = 3), k = 0 times 12 {
  p = (k * 7) % 13
  next A = A * 0.5 + colsum(A[k..k+3, :]) * 0.125 + A[p..p+3, :][1, :] * 0.25
  next k = k + 1
}
emit A`, 1, 2},
	{"a column, and its element", `iterate A = rand(13, 13, seed = 3), k = 0 times 12 {
  c = A[:, k]
  next A = (A + c) * 0.5 - c[k + 1] * A[k, k]
  next k = k + 1
}
emit A`, 1, 2},
	{"columns together", `iterate A = rand(13, 9, seed = 3), k = 0 times 7 {
  W = A[:, k..k+3]
  next A = A * 0.5 + rowsum(W) + W[:, 1] * A[k, :]
  next k = k + 1
}
emit A`, 1, 1},
	{"the diagonal and the triangles", `A = rand(12, 12, seed = 3) + 12 * eye(12)
b = rand(12, 1, seed = 2)
d = diag(A)
emit sum(lower(A) - upper(A) * b)
iterate x = zeros(12, 1), B = A, k = 0 times 6 {
  next x = (b - A @ x + d * x) / diag(B)
  next B = B + diag(B) * B[k, :] / 100
  next k = k + 1
}
emit x
emit diag(B) - lower(B)`, 4, 1},
	{"a row that a branch reads", `iterate A = rand(11, 3, seed = 3), k = 0 times 9 {
  r = A[k, :]
  d = if sum(r) > 1 { r / 2 } else { r * 2 }
  next A = A - 0.1 * d
  next k = k + 1
}
emit A`, 1, 1},
	{"before and after a loop", `A = materialize(rand(12, 4, seed = 1) * 2)
k = i64(sum(A)) % 12
B = A - A[k, :]
emit B
emit A[:, k % 4] * B[k, 0]`, 2, 0},
	{"a column and the diagonal of some rows, whole", `A = materialize(rand(12, 6, seed = 1) * 2)
k = i64(sum(A)) % 6
emit A[3..9, k]
emit diag(A[6..12, :])
emit A[0..8, k]
emit A[0..8, k] * 2`, 1, 0},
	{"a column kept in a loop, and its neighbours", `A = materialize(rand(9, 9, seed = 12))
k = count(A > 2)
iterate B = A, C = rand(9, 3, seed = 1) times 6 {
  W = A[:, k..k + 4][:, 1..]
  next B = B * 0.5
  next C = rbind(W[1.., :], W[0..1, :])
}
emit cumsum(C)
emit B`, 1, 0},
	{"a knapsack", `w = [3, 1, 7, 2, 20, 0, 5]
c = seq(0, 16)
iterate x = seq(0, 16) * 0.5, k = 0 times 7 {
  next x = ifelse(c >= w[k], max(x, take(x, max(c - w[k], 0)) + f64(w[k])), x)
  next k = k + 1
}
emit x`, 1, 1},
	{"a knapsack of points", `w = [3, 1, 7, 2, 20, 0, 5]
iterate x = seq(0, 16) * 0.5, k = 0 times 7 {
  v = w[k]
  next x = parfor c in 0..16 { if c >= v { max(x[c], x[c - v] + f64(v)) } else { x[c] } }
  next k = k + 1
}
emit x`, 1, 1},
	{"a turn by a number of the run", `n = 14
iterate A = rand(14, 3, seed = 4), k = 1 times 8 {
  next A = A * 0.5 + A[(seq(0, n) + k) % n, :] * 0.25
  next k = k * 3 - 40
}
emit A`, 1, 1},
	{"a shift that stops at both ends", `iterate A = rand(13, 3, seed = 4), k = -15 until k > 15 {
  next A = A * 0.5 + take(A, clamp(seq(0, 13) + k, 0, 12)) * 0.25
  next k = k + 4
}
emit A`, 1, 1},
	{"windows that a number of the run shifts", `A = materialize(rand(24, 2, seed = 4) * 2)
iterate x = rand(10, 1, seed = 1), k = 0 times 8 {
  next x = parfor i in 0..10 { sum(A[i + k..i + k + 3, :]) * 0.1 + x[i] * 0.5 }
  next k = k + 1
}
emit x`, 1, 0},
	{"the diagonal of fewer rows than ranks", "emit 2 - t(diag(rand(4, 2, seed = 26)[0..2, :]))", 0, 0},
}

// wholePicks read rows that the run chooses of a matrix that something else needs whole, or with
// neighbours.
var wholePicks = []spreadProgram{
	{"and a known element", `k = i64(sum(rand(3, 1, seed = 1)))
iterate A = rand(11, 3, seed = 3) times 9 {
  next A = A / (1 + A[7, 1]) + A[k, :] / 8
}
emit A`, 1, 0},
	{"and all of it", `iterate A = rand(10, 10, seed = 1), k = 0 times 10 {
  r = A[k, :]
  s = A[(k * 3) % 10, :]
  B = A + 0.25 * r - 0.125 * s
  next A = (B + A @ A) / max(B)
  next k = k + 1
}
emit A`, 1, 0},
	{"and rows together of other counts", `iterate A = rand(10, 4, seed = 1), k = 0 times 8 {
  next A = A * 0.5 + A[k, :] * 0.25 + colsum(A[k..k+2, :]) / 8
  next k = k + 1
}
emit A`, 1, 0},
	{"and neighbours", `iterate A = rand(12, 4, seed = 1), k = 0 times 8 {
  next A = rbind(A[1.., :], A[0, :]) * 0.5 + A[k, :] * 0.25
  next k = k + 1
}
emit A`, 1, 0},
	{"a turn within fewer rows", `iterate A = rand(14, 3, seed = 4), k = 1 times 8 {
  next A = A * 0.5 + A[(seq(0, 14) + k) % 5, :] * 0.25
  next k = k + 3
}
emit A`, 0, 0},
	{"of what is the same in all rounds", `F = rand(12, 4, seed = 2)
iterate A = rand(12, 4, seed = 1), k = 0 times 12 {
  next A = (A + F) * 0.5 + F[k, :] * A[k, :]
  next k = k + 1
}
emit A`, 1, 1},
}

// pickFailures have no such row in some round.
var pickFailures = []string{
	`emit 1
iterate A = rand(12, 4, seed = 1), k = 9 until k == 20 {
  next A = A * 0.5 + A[k, :] * 0.25
  next k = k + 1
}
emit A`,
	`iterate A = rand(12, 4, seed = 1), k = -9 until k == 20 {
  next A = parfor i in 0..12 { A[i, :] * 0.5 + A[k, :] * 0.25 }
  next k = k - 1
}
emit A`,
	`iterate A = seq(0, 12), k = 1 until k == 12 {
  B = parfor i in 0..12 { A[i, 0] // (40 - k * (i + 1)) + A[k, 0] }
  next A = B
  next k = k + 1
}
emit A`,
	`iterate A = rand(12, 4, seed = 1), k = 0 until k == 20 {
  next A = A * 0.5 + A[2, :] * A[:, k]
  next k = k + 1
}
emit A`,
	// A column fails before what follows it.
	`iterate A = rand(12, 6, seed = 1), k = 0 until k == 9 {
  c = A[:, k]
  m = 6 // (6 - k)
  next A = A * 0.5 + c * f64(m)
  next k = k + 1
}
emit A`,
	`X = materialize(rand(13, 2, seed = 1))
c = X[:, count(X) % 7]
emit X
emit c`,
	// A list has numbers beyond the matrix, or points have.
	`iterate A = rand(12, 2, seed = 1), k = 0 until k == 9 {
  next A = A * 0.5 + take(A, max(seq(0, 12) + k - 6, 0))
  next k = k + 1
}
emit A`,
	`iterate x = rand(12, 1, seed = 1), k = 0 until k == 20 {
  next x = parfor i in 0..12 { x[i] * 0.5 + x[i - k] }
  next k = k + 1
}
emit x`,
	// The first round has more rows than later ones.
	`emit 1
iterate a = rand(12, 1, seed = 58)[0..i64(sum(ones(9, 1))), :], b = zeros(6, 1) times 5 with (place = rows) {
  next a = rowsum(rand(6, 12, seed = 46) * sum(b))
  next b = b + rbind(a[1..6], a[0..1])
}
emit b`,
}

// picksIn counts the gathers of rows that the run chooses in g and its regions.
func picksIn(g *ir.Graph) (n int) {
	for i := range g.Nodes {
		if g.Nodes[i].Attrs.Int(plan.Pick) > 0 {
			n++
		}
		for r := g.Nodes[i].Region; r != nil; r = r.Next {
			n += picksIn(r.Graph)
		}
	}
	return n
}

func TestPick(t *testing.T) {
	for _, list := range [][]spreadProgram{pickPrograms, wholePicks} {
		spread := make([]spreadProgram, len(list))
		for k, p := range list {
			c, err := compileTiny(tinyTable(t), p.text, 3, false, apart)
			if err != nil {
				t.Fatal(err)
			}
			if n := picksIn(c.Plan.Graph); n < p.collects {
				t.Errorf("%s: %d gathers of chosen rows, not %d", p.name, n, p.collects)
			}
			if n := wholeGathers(c.Plan.Graph, 2, false); n > 0 && p.collects > 0 {
				t.Errorf("%s: %d matrices are gathered whole in rounds", p.name, n)
			}
			p.collects = 0
			spread[k] = p
		}
		spreadAlike(t, spread)
	}
}

func TestPickMessages(t *testing.T) { sendsAsPredicted(t, pickPrograms[:3]) }

func TestPickFails(t *testing.T) { failsAsDefined(t, pickFailures, sharedIn, pickPrograms[0].text) }

// Loops of little work run an operator after the other, on all rows. A rank has none of the lists of
// other ranks: in their place are any bits, and no row has such a number.
func TestPickInLittleWork(t *testing.T) {
	kernels.LoopsFrom(200_000)
	defer kernels.LoopsFrom(0)
	for _, moved := range []string{"B[(seq(0, 13) - p * q) % 13, :] - 0.5", "take(B, clamp(2 * seq(0, 13) + q - 9, 0, 12)) // 1"} {
		text := `iterate A = rand(13, 8, seed = 2), k = 0 until k == 5 {
  p = argmax(A + A[:, -k - 1]) % 7
  B = A * 0.5 + A[(k * 5) % 7, 2] * 0.25
  q = i64(64 * sum(abs(A[k, -k - 1]))) % 6
  D = ` + moved + `
  next A = B + D * 0.5
  next k = k + 1
}
emit A`
		if _, err := (runs{{5, 1, []string{"hoist", "keep", "rounds"}, false, "SS"}}).differ(tinyTable(t), text); err != nil {
			t.Errorf("%v\nin\n%s", err, text)
		}
	}
}

func TestPickDrawn(t *testing.T) {
	table := tinyTable(t)
	picks := 0
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 89))
		pick := func(forms ...string) string { return forms[rng.IntN(len(forms))] }
		n := 7 + rng.IntN(20)
		places := []string{"k", "k + 1", "-k - 1", "(k * 5) % 7", "3"}
		read := func() string {
			at := pick(places...)
			return pick("A["+at+", :]", "A[:, "+at+"]", "A["+at+", 2]", "A[2, "+at+"]", "colsum(A[k..k+2, :])", "rowsum(A[:, k..k+2])", "A[k, "+at+"]",
				"colmax(A["+at+", :] + A)", "colmax(A)", "rbind(A[1.., :], A[0, :])")
		}
		text := fmt.Sprintf("iterate A = rand(%d, 8, seed = %d), k = 0 until k == %d {\n", n, seed, 3+rng.IntN(4))
		text += "  p = argmax(A + " + read() + ") % 7\n"
		places = append(places, "p")
		text += "  B = A * 0.5 + " + read() + " * 0.25\n  q = i64(64 * sum(abs(" + read() + "))) % 6\n"
		places = append(places, "q")
		moved := []string{"(seq(0, %d) + q) %% %d", "max(seq(0, %d) - p, 0) %% %d", "clamp(seq(0, %d) - q * 2, 1, %d - 1)", "clamp(2 * seq(0, %d) + q - 9, 0, %d - 1)", "seq(0, %d) // 2 + %d // 3"}
		if rng.IntN(2) == 0 {
			text += fmt.Sprintf("  D = take(B, "+pick(moved...)+")\n", n, n)
		} else {
			text += fmt.Sprintf("  D = B[(seq(0, %d) - p * q) %% %d, :] - 0.5\n", n, n)
		}
		text += "  next A = " + pick("B + "+read()+" / 4", "D + "+read()+" / 4 - "+read(), "B + D * 0.5", fmt.Sprintf("parfor i in 0..%d { A[i, :] / 4 + B[i, :] + %s }", n,
			pick("A[k, :]", "A[p, :] * A[i, k]", "A[q, 3]", "A[-k - 1, :] + A[k, :]", "A[max(i - 1, 0), :] + A[k, :]", "A[p, q] - A[k..k+2, :][1, :]")))
		text += "\n  next k = k + 1\n}\nemit A\n"
		c, err := compiledOnce(table, text, 3, false, apart)
		if err != nil {
			t.Fatalf("seed %d: %v\nin\n%s", seed, err, text)
		}
		picks += picksIn(c.Plan.Graph)
		if _, err := (runs{{3, 1, apart, false, ""}, {2, 2, nil, true, "FAC2"}, {5, 1, []string{"hoist", "keep", "rounds"}, false, "SS"}}).some(uint64(seed)).differ(table, text); err != nil {
			t.Errorf("seed %d: %v\nin\n%s", seed, err, text)
		}
	}
	if picks < 30 {
		t.Errorf("only %d gathers of chosen rows", picks)
	}
}

// Each rank has its own positions of a list that ranks share. The other rows of the list hold no
// positions there. No way of running the operators may read them.
func TestPositionsOfOneRank(t *testing.T) {
	defer kernels.LoopsFrom(0)
	for _, from := range []int64{200_000, 0} {
		kernels.LoopsFrom(from)
		spreadAlike(t, []spreadProgram{{"positions of all ranks", `X = cumsum(rand(67, 2, seed = 3))
L = seq(3, 34)
emit sum(take(X, L))
emit sum(take(X, L - 3)) + 2 * colsum(take(X, 33 + L))
emit take(X, 2 * L - 6)
emit sum(L)`, 6, 0}})
		failsAsDefined(t, []string{`X = cumsum(rand(31, 2, seed = 3))
L = seq(3, 34)
emit colsum(take(X, L - 3)) + 1
emit sum(take(X, L - 2)) + sum(take(X, L))`}, sharedIn, "emit sum(rand(60, 1, seed = 1))")
	}
}
