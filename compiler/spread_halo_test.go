package compiler_test

// These tests run what reads neighbours on ranks: slices, borders, stencils, windows of points.

import (
	"strings"
	"testing"

	"flow/ir"
	"flow/ir/plan"
)

// haloPrograms read rows beyond a rank's own, in rounds of a known number, and gather no matrix whole
// in them.
var haloPrograms = []spreadProgram{
	{"rows in reverse order", `X = randn(61, 3, seed = 1) * 2
emit reverse(X)
emit cumsum(reverse(X + 1)) - X
emit reverse(X, by = "both") * 2 + reverse(X, by = "cols")
emit reverse(reverse(exp(X)) + 1)
emit reverse(X[3..50, :]) * 3
emit reverse(X)[5..40, :] - X[5..40, :]
emit t(reverse(X) + 1) @ X
emit reverse(X[0..2, :]) + 1
emit X[-1.. by -1, :] - X
emit X[50..=3 by -1, 0..2] * 2
emit X[-1.. by -1, -1.. by -1] + 1
emit X[:, 2..=1 by -1] * 2
emit reverse(X[7..8, :])
iterate Y = X times 3 { next Y = reverse(Y * 0.5) + X }
emit Y`, 17, 0},
	{"rows at quotients and remainders", `x = randn(97, 1, seed = 1)
A = randn(97, 12, seed = 2)
emit parfor i in 0..194 { x[i // 2] + x[(i // 2 // 3 + 1) % 97] }
emit parfor i in 0..193 { x[(i + 1) // 2] * x[(i - 1) // 2] + x[(i - 5) // 4] }
emit parfor i in 0..96 { x[i // 3 * 3] + x[i // 8 * 8 + i % 8] - x[i - i // 2] }
emit parfor k in 0..1164 {
  i = k // 12
  j = k % 12
  A[(i + 1) % 97, j] + A[max(i - 1, 0), j] + A[min(i + 2, 96), (j + 5) % 12] - A[(i - 1 + 97) % 97, j]
}
emit parfor i in 0..96, j in 0..12 { A[i // 4 * 4 + j // 3, j] + A[i // 8 * 8 + j % 8, i % 8] }
emit parfor i in 0..50, j in 0..12 { A[2 * i // 3 - 40, j] + A[-(i // 2) - 1, j] + A[(0 - j) // 2, 0] }
emit parfor i in 5..90 by 3, j in 11..1 by -2 { A[i // 2 + j // 4, j] + A[(i * 5) % 97, j] }`, 7, 0},
	{"shifted rows, which nothing is fused with", `X = randn(61, 3, seed = 1) * 2
iterate Y = X times 12 { next Y = roll(Y, 25) }
emit Y
Z = rbind(X, Y, -X)
emit Z[30..130, :]
emit Z[70..80, 1..3]
emit Z[122, 2]
emit t(Z[61..122, :]) @ Z[61..122, :]
emit roll(X, 4, by = "cols")`, 5, 0},
	{"some rows in reverse order", `X = randn(61, 3, seed = 1) * 2
iterate Y = X times 12 { next Y = rbind(reverse(Y[0..30, :] + Y[1..31, :]) * 0.25, Y[0..31, :] + 1) }
emit Y`, 1, 0},
	{"every so many rows", `X = randn(61, 6, seed = 1) * 2
emit X[0.. by 2, :] + 1
emit X[1.. by 3, 0.. by 2] * 2
emit X[-2.. by -5, -1.. by -2] - 1
emit X[50..4 by -7, 1..5] * 3
emit (X + 1)[2..33 by 4, 5] + 2
emit X[0..-1 by 2, :] - X[1.. by 2, :]
emit colsum((X[0.. by 2, :] + 3)[1.. by 3, :])
emit X[60..=60 by 4, :]
iterate Y = X, d = 0.0 times 3 {
  half = Y[0.. by 2, :] * 0.5
  next d = sum(half)
  next Y = rbind(half, Y[1.. by 2, :]) + X
}
emit Y
emit d`, 12, 0},
	{"the same elements in other rows", `X = randn(60, 4, seed = 1) * 2
emit reshape(X, 120, 2) * 2
emit reshape(X, 240, 1) + 1
emit reshape(X + 1, 30, 8)
emit reshape(X + 2, 20, 12) * 2
emit reshape(X + 3, 48, 5) - 1
emit reshape(X + 4, 80, 3)
emit reshape(X + 5, 2, 120) + 1
emit reshape(X + 6, 1, 240)
emit reshape(X[:, 1..4], 45, 4) + 1
emit reshape(X[3..19, :], 32, 2) + 1
emit colsum(reshape(reshape(X + 7, 48, 5) * 2, 80, 3))
emit reverse(reshape(X + 8, 48, 5) * 2) + 1
emit reshape(reverse(X + 9), 240, 1)[7..200, :] * 2
emit cumsum(reshape(X, 240, 1) * 2)
iterate Y = X times 3 { next Y = reshape(reshape(Y, 80, 3) * 0.5 + 1, 60, 4) + X }
emit Y`, 18, 0},
	{"a stencil by slices, its border kept", `iterate U = rand(23, 7, seed = 1), d = inf times 12 {
  inner = U[1..-1, 1..-1]
  new = inner + 0.2 * (U[0..-2, 1..-1] + U[2.., 1..-1] + U[1..-1, 0..-2] + U[1..-1, 2..] - 4 * inner)
  next U = rbind(U[0, :], cbind(U[1..-1, 0], new, U[1..-1, -1]), U[-1, :])
  next d = max(abs(new - inner))
}
emit d
emit sum(U)`, 3, 0},
	{"periodic borders, two fields", `iterate U = rand(17, 4, seed = 1), V = rand(17, 4, seed = 2) times 12 {
  L = rbind(U[1.., :], U[0, :]) + rbind(U[-1, :], U[0..-1, :]) + cbind(U[:, 1..], U[:, 0]) + cbind(U[:, -1], U[:, 0..-1]) - 4 * U
  M = rbind(V[1.., :], V[0, :]) + rbind(V[-1, :], V[0..-1, :]) - 2 * V
  r = U * V ^ 2
  next U = U + 0.1 * L - r
  next V = V + 0.2 * M + r
}
emit sum(U) + sum(V)`, 2, 0},
	{"a reach of more rows than a rank has", `iterate U = rand(12, 2, seed = 1) times 12 {
  next U = rbind(U[5.., :], U[0..5, :]) * 0.5 + rbind(U[-4.., :], U[0..-4, :]) * 0.25
}
emit sum(U)`, 1, 0},
	{"one neighbour only", `iterate U = rand(15, 2, seed = 1) times 12 {
  next U = rbind(U[0, :], U[1.., :] - 0.5 * (U[1.., :] - U[0..-1, :]))
}
emit sum(U)`, 1, 0},
	{"a first and a last row that all read", `iterate U = rand(15, 3, seed = 1) times 12 {
  V = U - 0.1 * U[0, :] + 0.2 * U[-1, :]
  next U = V
}
emit sum(U)`, 1, 0},
	{"a cube by rows of planes", `iterate U = rand(36, 6, seed = 4) times 12 {
  inner = U[6..-6, 1..-1]
  new = inner + 0.1 * (U[0..-12, 1..-1] + U[12.., 1..-1] + U[5..-7, 1..-1] + U[7..31, 1..-1] + U[6..-6, 0..-2] + U[6..-6, 2..] - 6 * inner)
  next U = rbind(U[0..6, :], cbind(U[6..-6, 0], new, U[6..-6, -1]), U[-6.., :])
}
emit sum(U * U)`, 1, 0},
	{"points by remainder, bound and sign", `iterate U = rand(14, 3, seed = 1) times 12 {
  next U = parfor i in 0..14, j in 0..3 {
    U[(i + 1) % 14, j] * 0.3 + U[max(i - 2, 0), (j + 1) % 3] * 0.2 + U[i - 1, j] * 0.1 + U[min(2 + i, 13), j] * 0.2 + U[(i + 11) % 14, j] * 0.1 + U[3, j] * 0.1
  }
}
emit sum(U)`, 1, 0},
	{"windows of points, from an index that does not begin at 0", `iterate U = rand(19, 8, seed = 1) times 12 {
  B = parfor i in 2..17, j in 1..7 { W = U[i-2..i+3, j-1..j+2]; mean(W) + W[0, 0] }
  next U = rbind(U[0..2, :], cbind(U[2..-2, 0], B, U[2..-2, -1]), U[-2.., :])
}
emit sum(U)`, 2, 0},
	{"branches and loops in a point", `iterate U = rand(16, 2, seed = 1) times 12 {
  next U = parfor i in 0..16, j in 0..2 {
    a = if U[i, j] > 0.4 { U[(i + 1) % 16, j] } else { U[(i + 15) % 16, j] * 0.5 }
    iterate s = 0.0, k = 0 times 3 {
      next s = s + U[max(i - 1, 0), j] * k
      next k = k + 1
    }
    a + 0.01 * s
  }
}
emit sum(U)`, 1, 0},
	{"windows by counters", `iterate U = rand(40, 12, seed = 1) times 12 {
  V = parfor i in 2..38, j in 1..11 {
    iterate s = 0.0, k = 0 times 15 { next s = s + U[i + k // 3 - 2, j + k % 3 - 1]; next k = k + 1 }
    iterate z = s, d = 2 times 5 { next z = 0.5 * z + U[i - d, j]; next d = d - 1 }
    0.01 * z
  }
  next U = rbind(U[0..2, :], cbind(U[2..38, 0], V, U[2..38, 11]), U[38.., :])
}
emit sum(U)`, 1, 0},
	{"counters from the index on, in each other, and scaled", `iterate U = rand(40, 3, seed = 1) times 12 {
  V = parfor i in 0..36, j in 0..3 {
    iterate s = 0.0, k = i times 3 { next s = s / 2 + U[k, j]; next k = 1 + k }
    iterate z = s, a = 0 times 2 {
      iterate y = z, b = a times 2 { next y = y / 2 + U[i + 2 * b, j]; next b = b + 1 }
      next z = y
      next a = a + 1
    }
    0.3 * z
  }
  W = parfor i in 0..10, j in 0..3 { iterate s = 0.0, k = 0 times 4 { next s = s + U[4 * i + k, j]; next k = k + 1 }; s / 4 }
  next U = rbind(0.1 * W, V[6.., :])
}
emit sum(U)`, 2, 0},
	{"an image before and after a window", `X = parfor y in 0..21, x in 0..9 { y * 10.0 + x * x }
E = parfor i in 0..19, j in 0..7 { max(X[i..i+3, j..j+3]) - X[i + 1, j + 1] }
emit sum(E)`, 3, 0},
	{"an assert in a round", `iterate U = rand(15, 3, seed = 1) times 12 {
  V = rbind(U[0, :], U[1.., :] - 0.5 * (U[1.., :] - U[0..-1, :]))
  assert max(V) < 2.0, "large"
  next U = V
}
emit sum(U)`, 1, 0},
	{"few rounds, which are unrolled", `iterate U = rand(19, 8, seed = 1) times 2 {
  B = parfor i in 2..17, j in 1..7 { W = U[i-2..i+3, j-1..j+2]; mean(W) + W[0, 0] }
  next U = rbind(U[0..2, :], cbind(U[2..-2, 0], B, U[2..-2, -1]), U[-2.., :])
}
emit sum(U)`, 1, 0},
}

// wholeGathers counts the gathers in regions, of rows of at least so many columns, that bring all of
// them.
func wholeGathers(g *ir.Graph, cols int, inside bool) (n int) {
	for i := range g.Nodes {
		x := &g.Nodes[i]
		_, some := plan.Needs(x.Attrs)
		if inside && plan.IsGather(x) && x.Attrs.Int(plan.Stacked)+x.Attrs.Int(plan.Pick) == 0 && !some && g.Type(ir.ID(i)).Cols >= cols {
			n++
		}
		for r := x.Region; r != nil; r = r.Next {
			n += wholeGathers(r.Graph, cols, true)
		}
	}
	return n
}

func TestSpreadHalo(t *testing.T) {
	spreadAlike(t, haloPrograms)
	table := tinyTable(t)
	for _, p := range haloPrograms {
		c, err := compileTiny(table, p.text, 3, false, apart)
		if err != nil {
			t.Fatal(err)
		}
		if n := wholeGathers(c.Plan.Graph, 1, false); n > 0 {
			t.Errorf("%s: %d matrices are gathered whole", p.name, n)
		}
	}
}

func TestSpreadHaloMessages(t *testing.T) { sendsAsPredicted(t, haloPrograms) }

// haloFailures fail on a rank that is ahead: the rows of the first one take longer, and those of the
// last one reach no others that are late.
var haloFailures = []string{
	`emit 1
iterate x = seq(0, 16), k = 0 until k == 9 {
  y = parfor i in 0..16 {
    iterate w = 0.0 times (16 - i) * 60 { next w = w * 0.5 + 1 }
    at = if i < 6 { 5 } else { 7 - i // 7 }
    i64(w) * 0 + x[max(i - 1, 0), 0] + 1 // (at - k)
  }
  next x = y
  next k = k + 1
}
emit x`,
	`iterate x = seq(0, 12), k = 0 until k == 6 {
  y = parfor i in 0..12 { 12 // (i - 8 * k + 20) }
  next x = rbind(y[1.., :], x[0, :])
  next k = k + 1
}
emit x`,
}

func TestSpreadHaloFails(t *testing.T) {
	failsAsDefined(t, haloFailures, sharedIn, spreadPrograms[4].text)
}

// TestShiftsSendFewRows: a rank has most of the shifted rows and gets the few others. A matrix of
// twice as many rows would be cut at other rows, and most of it would be sent.
func TestShiftsSendFewRows(t *testing.T) {
	for _, text := range []string{
		"X = randn(300000, 4, seed = 1)\nY = rbind(X, X)[299999..599999, :]\nemit colsum(X * Y)\nemit colsum(Y)",
		"iterate w = randn(300000, 4, seed = 1) times 20 { next w = rbind(w, w)[3..300003, :] }\nemit colsum(w)",
		"X = randn(300000, 4, seed = 1)\nY = rbind(X[5.., :], X[0..5, :], X)[2..300002, :]\nemit colsum(abs(Y))",
	} {
		if bytes := plan.Summarise(compiledFor(t, text, 3).Plan, nil, 1).Bytes; bytes > 1<<16 {
			t.Errorf("ranks send %d bytes for\n%s", int64(bytes), text)
		}
	}
}

// TestCoarserRows: every other row of a matrix that ranks share is a view. Ranks send borders alone,
// also where a list from outside of the loop repeats these rows.
func TestCoarserRows(t *testing.T) {
	const text = `n = 60000
f = rand(n, 1, seed = 1)
double = seq(0, n) // 2
iterate u = f times 9 {
  r = f - 2 * u + rbind(u[1..n, :], u[n-1..n, :])
  c = 0.5 * (r[0.. by 2, :] + r[1.. by 2, :])
  next u = u + 0.2 * take(c, double) + 0.1 * r
}
emit sum(u)
`
	p := compiledFor(t, text, 3).Plan
	var look func(g *ir.Graph)
	look = func(g *ir.Graph) {
		for id, n := range g.All() {
			if n.Op.Name == "stride" && n.Attrs.Int(plan.Shared) > 0 {
				t.Errorf("ranks copy rows: %s", g.Line(id))
			}
			for r := n.Region; r != nil; r = r.Next {
				look(r.Graph)
			}
		}
	}
	look(p.Graph)
	if bytes := plan.Summarise(p, nil, 1).Bytes; bytes > 1<<14 {
		t.Errorf("ranks send %d bytes", int64(bytes))
	}
	spreadAlike(t, []spreadProgram{{"coarser rows", strings.Replace(text, "60000", "60", 1), 1, 0}})
}

// TestSpreadQuotients: ranks gather no matrix whole whose rows a loop reads at quotients of an index.
func TestSpreadQuotients(t *testing.T) {
	table := tinyTable(t)
	for _, body := range []string{
		"k in 0..1164 { A[(k // 12 + 1) % 97, k % 12] }", "k in 0..1164 { i = k // 12; A[max(i - 1, 0), 3] }",
		"i in 0..96, j in 0..12 { A[i // 8 * 8 + j % 8, j] }", "i in 0..193 { A[(i - 1) // 2, 0] + A[i - i // 2, 0] }",
	} {
		c, err := compileTiny(table, "A = randn(97, 12, seed = 2)\nemit sum(parfor "+body+")", 3, false, apart)
		if err != nil {
			t.Fatal(err)
		}
		if n := wholeGathers(c.Plan.Graph, 1, true); n > 0 {
			t.Errorf("%s: %d matrices are gathered whole", body, n)
		}
	}
}
