package compiler_test

// These tests run programs on ranks that read rows which the run chooses.

import (
	"testing"

	"flow/runtime/dist/transport/mem"
)

var loosePrograms = []spreadProgram{
	{"reductions of chosen rows", `X = rand(61, 4, seed = 1)
m = X[:, 1] > 0.4 and X[:, 2] < 0.9
Y = X[m, :]
z = Y[:, 0] * 2 + rowsum(Y[:, 1..4])
emit colmean(Y)
emit colmax(Y - colmean(Y))
emit mean(z)
emit sum(exp(z) * z)
emit stddev(z)
emit nrow(Y) + ncell(Y)
emit colvar(Y)
emit colsum(cbind(z, Y, Y[:, 1] * 2))
emit count(z > 0.5)`, 14, 0},
	{"products of chosen rows", `X = rand(61, 4, seed = 1)
Y = X[X[:, 1] > 0.3, :]
w = X[X[:, 1] > 0.3, 2]
emit t(Y) @ Y
emit t(Y) @ (w * 2)
emit colsum(Y @ rand(4, 2, seed = 3))
H = onehot(i64(floor(w * 5)), 5)
emit colsum(H)
emit t(H) @ Y
u = X[X[:, 1] > 0.3 and X[:, 2] > 0.1, 2]
emit t(f32(u)) @ f32(u)`, 8, 0},
	{"what reads other rows of those chosen", `x = rand(61, 1, seed = 1) - 0.5
y = x[x > 0, :]
z = x[x < 0.1, :]
emit y
emit cumsum(y)
emit median(z)
emit sum(sort(z)[0..3, :])
emit sum(y + rbind(y[1.., :], y[0..1, :]))
emit y[0..3, :]
emit sum(y) + sum(z)
iterate q = 0.0, k = 0 until k == 2 {
  next q = q + sum(y) + mean(z)
  next k = k + 1
}
emit q`, 5, 0},
	{"rows chosen of those chosen", `A = rand(83, 3, seed = 5)
B = A[A[:, 0] > 0.2, :]
C = B[B[:, 1] > 0.2, :]
D = C[C[:, 0] < 0.9, :]
emit nrow(D)
emit D
emit colmean(D)
emit colmin(C)
emit t(D) @ C[C[:, 0] < 0.9, :]
p = B[B[:, 1] > 0.2, 2]
emit sum(p * C[:, 1])`, 8, 0},
	{"rows chosen in rounds", `X = rand(61, 4, seed = 1)
iterate c = 0.2, s = 0.3, k = 0 until k == 4 {
  Y = X[abs(X[:, 1] - c) < 2 * s, :]
  z = Y[:, 0] * 2 + rowsum(Y[:, 1..4])
  next c = 0.5 * c + 0.5 * colmean(Y)[0, 1]
  next s = stddev(Y[:, 1]) + max(z) / 100 + nrow(Y) / 1000
  next k = k + 1
}
emit c
emit s
if c > 0.3 {
  y = X[X[:, 2] < c, 3]
  emit mean(y)
}`, 6, 0},
	{"rows chosen in rounds that are read as a whole", `X = rand(61, 3, seed = 2)
iterate c = 0.3, x = X[:, 0], k = 0 until k == 3 {
  Y = X[X[:, 1] > c, :]
  y = Y[:, 2]
  m = if sum(y) > 0.1 { mean(x[x > c, :]) } else { 0.5 }
  next c = 0.5 * c + 0.3 * median(y) + 0.01 * sum(sort(y)[0..3, :]) + 0.001 * (t(Y) @ Y)[0, 1] + m / 100
  next x = x * 0.9 + y[2, 0] / 10
  next k = k + 1
}
emit c
emit x`, 3, 0},
	{"tables of a size that the run tells", `a = randint(60, 1, 0, 23, seed = 1)
b = randint(60, 1, 0, 19, seed = 2)
emit sum(ctable(a, b) * 2)
emit ctable(a // 8, b % 3)
emit ctable(f64(a // 8), b > 9)
emit ctable(a % 5, b % 4, weights = b - 9)
emit ctable(a % 5, b % 4, weights = b > 9)
emit ctable(a - 9, b % 4, crop = true)
emit nrow(ctable(a * 100, b % 2, crop = true, n = 700))
emit ctable(ifelse(seq(0, 60) > 50, 40, 1), ifelse(seq(0, 60) > 20, 1, 0))
x = rand(60, 1, seed = 3)
y = x[x > 0.3]
emit ctable(i64(floor(3 * y)), i64(floor(5 * y)))
emit ctable(i64(floor(3 * y)), i64(floor(50 * y)), weights = i64(9 * y))
emit ncell(ctable(i64(x[x > 2]), i64(x[x > 2])))
iterate c = a, s = 0 times 3 {
  z = ctable(c, b)
  next c = (c + 5) % 23
  next s = s + max(z) + nrow(z) + sum(rowmax(z))
}
emit s`, 24, 11},
	{"quantiles of chosen rows", `X = rand(61, 3, seed = 6) - 0.5
Y = X[X[:, 1] > -0.2, :]
emit median(Y)
emit quantile(Y[:, 2], 0.3)
emit colmedian(Y)
emit colquantile(f32(Y) * 3, 0.9)
emit median(i64(Y[:, 0] * 7))
emit median(X[X[:, 0] > 0.47, 2])
Z = Y[Y[:, 0] > 0, :]
emit colquantile(ifelse(Z > 0.4, nan, Z), 0.25)
emit median(ifelse(Z[:, 0] > 0.2, inf, Z[:, 1]))
iterate x = X[:, 0], s = 0.0 times 3 {
  next s = s / 2 + median(x[X[:, 1] > s, :]) + sum(colquantile(X[x > 0, :], 0.5))
  next x = x * 0.9 - 0.01
}
emit s`, 60, 0},
	{"what reads all of the rows that the run chooses", `k = i64(floor(5 * rand(60, 1, seed = 1)))
v = unique(k)
emit sum(recode(k, v, 10 - v) * seq(0, 60))
emit sum(bin(f64(k), v / 2) * seq(0, 60))
x = rand(60, 2, seed = 2)
y = x[x[:, 0] > 0.5, :]
emit parfor i in 0..30 { sum(y[:, 1] * i) + y[i % 5, 0] }
emit parfor i in 0..20, j in 0..3 { max(y) + i * j }`, 13, 0},
	{"rows that are on one rank, on the last or on none", `x = seq(0, 40) * 1.0
emit sum(x[x > 50, :])
emit nrow(x[x > 50, :])
emit mean(x[x > 50, :])
emit x[x == 7, :]
emit max(x[x == 7, :])
emit t(x[x > 36, :]) @ x[x > 36, :]
emit t(x[x > 50, :]) @ x[x > 50, :]
emit colmean(cbind(x, x * 2)[x > 38, :])
emit x[x > 38, :] * 2 + 1`, 8, 0},
	{"positions from the end", `A = rand(53, 3, seed = 5)
k = i64(floor(rand(41, 1, seed = 2) * 100)) - 50
emit sum(A[max(k, -53), :])
emit A[[-1, 3, 7, -53], :]`, 1, 0},
}

// TestCountsOfChosenRows: each rank counts codes of the rows that it has chosen, and no rank gets the
// rows of another one.
func TestCountsOfChosenRows(t *testing.T) {
	const text = `x = rand(600, 1, seed = 1)
y = x[x > 0.4]
c, edges = histogram(y, 5, 0.4, 1.0)
emit t(c)
emit ctable(bin(y, 0.4, 1.0, 4), bin(y * y, 0.1, 1, 3), 4, 3)
emit ctable(i64(floor(3 * y)), i64(floor(5 * y)), weights = i64(9 * y), n = 3, m = 5)`
	for _, ranks := range []int{2, 3, 5} {
		r, err := compileTiny(tinyTable(t), text, ranks, false, apart)
		if err != nil {
			t.Fatal(err)
		}
		joined := 0
		for _, n := range r.Plan.Graph.All() {
			switch n.Op.Name {
			case "counts.join":
				joined++
			case "rank.rows":
				t.Errorf("a rank sends its rows to another one:\n%s", r.Plan.Graph)
			}
		}
		if joined < 3 {
			t.Errorf("%d counts are joined, not 3", joined)
		}
		want := evaluated("the meaning", r.Program)
		if out, err := runOver(mem.New(ranks, slowTransports[0]), r, 1); err != nil || want.err != nil || out != want.out {
			t.Errorf("%d ranks: %v, by definition %v, %s", ranks, err, want.err, difference(want.out, out))
		}
	}
}

func TestChosenRows(t *testing.T) { spreadAlike(t, loosePrograms) }

// TestQuantilesSendNoRows: ranks find quantiles of chosen rows by counts, and send what is predicted.
func TestQuantilesSendNoRows(t *testing.T) {
	const text = `x = rand(600, 2, seed = 1)
g = randint(600, 1, 0, 4, seed = 2)
iterate y = x, s = 0.0 times 3 {
  next s = s / 2 + median(y[g == 1, 0]) + sum(colquantile(y[g == 3, :], 0.2))
  next y = y * 0.9
}
emit s + quantile(x[g == 2, 1], 0.9)`
	for _, ranks := range []int{2, 3, 5} {
		r, err := compileTiny(tinyTable(t), text, ranks, false, apart)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range r.Plan.Gathers() {
			if x.Type.Rows >= 600 {
				t.Errorf("%d ranks bring rows together:\n%s", ranks, r.Plan.Graph)
			}
		}
	}
	sendsAsPredicted(t, []spreadProgram{{name: "quantiles of chosen rows", text: text}})
}

func TestChosenRowsFail(t *testing.T) {
	const x = "x = seq(0, 40)\n"
	failsAsDefined(t, []string{
		x + "emit 1\nemit max(x[x > 50, :])",
		x + "emit colmin(cbind(x, x)[x > 50, :])",
		x + "emit 1\nemit median(x[x > 50, :])",
		x + "emit 1\nemit colquantile(cbind(x, x)[x > 50, :], 0.5)",
		x + "y = x[x > 20, :]\nemit sum(y)\nemit sum(7 // (y - 33)) + sum(7 // (y - 22))",
		x + "y = x[x > 20, :]\nemit sum(7 // (y - y[3, 0]))",
		x + "y = x[x > 3, :]\nemit 1\nemit ctable(y - 9, y, 32, 40)",
		x + "y = x[x > 3, :]\nemit 1\nemit ctable(abs(y - 20), y, 14, 40)",
		x + "y = x[x > 3, :]\nemit 1\nemit ctable(y, y - 9)",
		x + "emit 1\nemit ctable(x, x - 20)",
		x + "emit 1\nemit ctable(30 - x, 3 - x / 2.0)",
		x + "emit 1\nemit ctable(x, x * 2, n = 30)",
		x + "y = x[x == 5 or x == 35, :]\nemit sum(cbind(y, ones(1, 1)))", // two ranks have one row
	}, sharedIn, loosePrograms[0].text)
}
