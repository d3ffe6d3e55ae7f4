package compiler_test

import (
	"context"
	"strings"
	"testing"

	"flow/runtime/local"
)

// Groups that read one chain at their own place become one loop of several results, which gives the
// bytes of the operators one after the other.
func TestGroupsThatReadOneChain(t *testing.T) {
	const data = "U = materialize(rand(70, 60, seed = 1))\nV = materialize(rand(70, 60, seed = 2))\n" +
		"fn near(A: f64[70,60]) = rbind(A[1.., :], A[0, :]) + cbind(A[:, -1], A[:, 0..-1]) - 2 * A\n"
	for _, p := range []struct {
		text    string
		results string // the type of the loop; "": there is no loop of several results
	}{
		{"r = U * V ^ 2\nA = near(U) - r\nB = near(V) + r\nemit A\nemit B", "(f64[70,60], f64[70,60])"},
		{"iterate A = U, B = V times 5 { r = A * B ^ 2; next A = A + 0.1 * near(A) - r; next B = B + 0.05 * near(B) + r - 0.1 * B }\nemit A\nemit B",
			"(f64[70,60], f64[70,60])"},
		{"iterate A = U, B = V, C = U times 5 { r = A * B; next A = near(A) - r; next B = near(B) + r; next C = near(C) * r }\nemit A + B + C",
			"(f64[70,60], f64[70,60], f64[70,60])"},
		{"r = U * V\nA = near(U) > r\nB = f32(near(V) + r)\nemit A\nemit B", "(bool[70,60], f32[70,60])"},
		{"r = U * V\nA = near(U) - r\nB = near(V) + r\nemit A\nemit B\nemit r[3, :]", ""},                                  // a reader that is no group
		{"r = U * V\nA = near(U) - r\nB = near(A) + r\nemit A\nemit B", ""},                                                // one reads the other
		{"r = U * V\nA = near(U) - r\nB = near(V + sum(A)) + r\nemit A\nemit B", "(f64[70,60], f64[70,60], f64)"},          // B reads the sum of A
		{"r = U * V\nA = near(U) - r\nB = near(r)\nemit A\nemit B", ""},                                                    // one reads it elsewhere
		{"r = i64(9 * U) // i64(9 * V + 1)\nA = near(U) - r\nB = near(V) + r\nemit A\nemit B", "(f64[70,60], f64[70,60])"}, // it may fail
		{"r = U * V\nA = near(U) - r\nB = near(V) + r\nemit A\nemit B\nemit rowsum(r)", ""},                                // a reduction reads it

		// Reductions join the loop that makes what they reduce.
		{"A = near(U)\nemit max(abs(A - U))\nemit A", "(f64[70,60], f64)"},
		{"A = near(U)\nemit max(abs(A - U))\nemit sum(A)", "(f64, f64)"},                                               // nothing stores A
		{"A = U * 0.5 + V\nemit sum(A)\nemit max(abs(A - U))\nemit min(A * V)\nemit A", "(f64[70,60], f64, f64, f64)"}, // A is reduced, too
		{"A = U * 0.5 + V\nemit sum(A)\nemit max(A)\nemit A", ""},                                                      // one pass reduces A already
		{"A = U * 0.5 + V\nemit max(abs(A - U))\nemit A", "(f64[70,60], f64)"},                                         // a chain alone
		{"iterate A = U, d = 1.0, k = 0 until d < 0.01 or k > 9 { B = 0.5 * (A + V[0, 0] / A); next d = norm(A - B); next A = B; next k = k + 1 }\nemit A", "(f64[70,60], f64)"},
		{"A = U * 0.5\nemit max(A * 2 - V)\nemit A", ""}, // A may take the memory of U
		{"A = near(U)\nemit argmax(A)\nemit argmin(A)\nemit any(A > V)\nemit t(A)", "(f64[70,60], i64, i64, bool)"},
		{"A = near(U)\nB = near(V)\nemit norm(A - B)\nemit A\nemit B", "(f64[70,60], f64[70,60], f64)"},
		{"iterate A = U, d = 1.0, k = 0 until d < 0.3 or k > 4 { B = near(A); next d = stddev(B - A); next A = B; next k = k + 1 }\nemit A", "(f64[70,60], f64)"},
		{"A = near(U)\ns = A[3, 4] + V[1, 1]\nemit max(A)\nemit s", "(f64[70,60], f64)"},                                // a reader comes before the reduction
		{"A = near(U)\ns = A[3, 4] + V[1, 1]\nemit max(A * s)", ""},                                                     // which reads what that gives
		{"A = near(U)\ns = sum(A * U)\nB = A - s * U - U[0, 0] * V\nemit norm(B)\nemit B\nemit s", "(f64[70,60], f64)"}, // B reads the sum
		{"A = near(U)\nemit norm(A - sum(A * U) * U)\nemit A", "(f64[70,60], f64)"},
		{"A = materialize(near(U))\nemit max(A)\nemit sum(A * V)", ""},
		{"A = materialize(near(U))\nemit norm(A ^ 2)\nemit A", ""},
		{"r = materialize(U * V)\nA = near(U) - r\nB = near(V) + r\nemit A\nemit B", ""},
		{"A = roll(U[:, 3], 1) * V[:, 2]\nemit argmax(A - U[:, 3])\nemit argmin(A)\nemit sum(A)", "(i64, f64, i64)"},                                                            // a column
		{"A = parfor i in 0..69, j in 0..59 { U[i + 1, j + 1] }\nB = V[1.., 0..-1] - sqrt(abs(A))\nemit max(V[0..-1, 0..-1] + A, -abs(A))\nemit count(B > 0)\nemit sum(B)", ""}, // B is stored with its sum
		{"A = near(U)\nemit max(A[1.., :])\nemit A", ""},                                                                                                                        // of other elements
		{"A = near(U)\nemit sum(rowmax(A))\nemit A", ""},

		// Reductions of what is taken into a larger matrix are over that matrix.
		{"N = U[0..-2, :] * V[2.., :]\nA = rbind(U[0, :], N, U[-1, :])\nemit max(abs(N - U[1..-1, :]))\nemit A", "(f64[70,60], f64)"},
		{"N = U[:, 2..] * V[:, 0..-2]\nA = cbind(N, U[:, 0..2])\nemit A\nemit norm(N - V[:, 2..])", "(f64[70,60], f64)"},
		{"N = U[0..-2, 1..-1] + V[2.., 2..]\nA = rbind(U[0, :], cbind(U[1..-1, 0], N, U[1..-1, -1]), U[-1, :])\nemit all(abs(N - U[1..-1, 1..-1]) < 0.5)\nemit A", "(f64[70,60], bool)"},
		{"N = f32(U[0..-2, :]) * f32(V[2.., :])\nA = rbind(N, f32(U[0..2, :]))\nemit min(N - f32(U[1..-1, :]))\nemit A", "(f32[70,60], f32)"},
		{"N = f32(U[0..-2, :]) * f32(1e38)\nA = rbind(N, f32(U[0..2, :]))\nemit mean(abs(N - f32(U[1..-1, :])))\nemit A", ""}, // the sum is infinite, the mean is not
		{"W = materialize(i64(U > 0.5))\nN = W[0..-2, :] + 2 * W[2.., :]\nA = rbind(N, W[0..2, :])\nd = max(N - W[1..-1, :])\nc = count(N > W[1..-1, :])\nemit A\nemit d + c", "(i64[70,60], i64, i64)"},
		{"N = U[0..-2, :] * V[2.., :]\nA = rbind(U[0, :], N, U[-1, :])\nemit max(abs(N - U[1..-1, :]))\nemit sum(N * V[0..-2, :])\nemit A", "(f64[70,60], f64, f64)"},
		{"N = U[0..-2, :] * V[2.., :]\nemit rbind(U[0, :], N, U[-1, :])\nemit rbind(V[0, :], N, V[-1, :])", "(f64[70,60], f64[70,60])"},
		{"N = U[0..-2, :] * V[2.., :]\nemit rbind(U[0, :], N, U[-1, :])\nemit rbind(N, V[0..2, :])", ""}, // at two places
		{"N = U[0..-2, :] * V[2.., :]\nemit rbind(U[0..2, :], N)\nemit stddev(N - U[1..-1, :])", ""},     // it divides by the number of elements
		{"N = U[0..-2, :] * V[2.., :]\nemit rbind(U[0..2, :], N)\nemit mean(N - U[1..-1, :])", "(f64[70,60], f64)"},
		{"N = parfor i in 1..69, j in 0..60 { U[i-1,j] * V[i+1,j] }\nemit rbind(U[0..2, :], N)\nemit max(N - U[1..-1, :])", "(f64[70,60], f64)"},
		{"N = U[0..-2, :] * V[2.., :]\nemit rbind(N, U[0, :], N)\nemit max(N - U[1..-1, :])", "(f64[68,60], f64)"},
		{"N = U[0..-2, :] * V[2.., :]\nemit rbind(U[0, :], N, U[-1, :])\nemit N[1, :]\nemit max(N - U[1..-1, :])", ""},
		{"iterate A = U, d = 1.0, k = 0 until d < 0.001 or k > 4 { N = 0.5 * (A[0..-2, :] + A[2.., :]); next A = rbind(A[0, :], N, A[-1, :]); next d = max(abs(N - A[1..-1, :])); next k = k + 1 }\nemit A",
			"(f64[70,60], f64)"},

		// the last round is no group, and reads what the group of the round before stores
		{"iterate h = U[:, 1] times 3 { next h = rbind(h[1.., :], [[max(h)]]) }\nemit t(h)", "(f64[70,1], f64)(f64[70,1], f64)"},
		{"A = near(U) * exp(1400 * (V - 0.5))\nemit sum(A)\nemit sum(A - U)\nemit A[0, 0]", "(f64[70,60], f64, f64)"}, // numbers that are far apart
	} {
		c, err := compileTiny(tinyTable(t), data+p.text, 1, false, []string{"rounds"})
		if err != nil {
			t.Fatal(err)
		}
		results := ""
		for _, line := range strings.Split(c.Plan.Graph.String(), "\n") {
			if _, of, is := strings.Cut(line, "= nest("); is {
				if _, t, _ := strings.Cut(of, " : "); strings.HasPrefix(t, "(") {
					results += t[:strings.Index(t, ")")+1]
				}
			}
		}
		if results != p.results {
			t.Errorf("%s: a loop of %q, want %q", p.text, results, p.results)
		}
		var rs runs
		for _, technique := range []string{"", "SS", "STATIC"} {
			rs = append(rs, runs{{1, 1, nil, false, technique}, {1, 3, nil, false, technique}, {1, 2, []string{"group"}, false, technique}}...)
		}
		for ranks := 2; ranks <= 3; ranks++ {
			rs = append(rs, runs{{ranks, 2, nil, false, ""}}...)
		}
		if _, err := rs.differ(tinyTable(t), data+p.text); err != nil {
			t.Errorf("%s: %v", p.text, err)
		}
	}
}

// A loop with several results, a matrix and its largest change, counts the operations of both.
func TestOperationsOfSeveralResults(t *testing.T) {
	c, err := compileTiny(tinyTable(t), "U = materialize(rand(70, 60, seed = 1))\nA = U[0..-1, :] * U[1.., :]\nemit max(A - U[1.., :])\nemit rbind(U[0, :], A)", 1, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	rep, err := local.RunPlan(context.Background(), poolOf(0, 1), c.Plan, local.EngineOptions{Env: &printer{}, Stats: true})
	if err != nil {
		t.Fatal(err)
	}
	told := 0.0
	for _, k := range rep.Kernels {
		if k.Name == "nest" {
			told += k.Flops
		}
	}
	if told < 2*70*60 {
		t.Errorf("%v operations", told)
	}
}
