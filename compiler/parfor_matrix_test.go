package compiler_test

import (
	"errors"
	"testing"

	"flow/ir/op"
)

// matrixBodies are bodies of matrices whose loops carry values that lie in each other's memory, or
// in what they began with.
var matrixBodies = []struct{ name, text string }{
	{"swapped", "iterate X = A + i, Y = B - i, k = 0 until k >= i + 3 { next X = Y; next Y = X * 0.5 + Y; next k = k + 1 }; M = X - 2 * Y"},
	{"in a ring", "iterate X = A + i, Y = B, Z = A * 2, k = 0 until k >= i + 5 { next X = Y; next Y = Z; next Z = X; next k = k + 1 }; M = X + 3 * Y + 7 * Z"},
	{"kept for rounds", "iterate X = A + i, Y = B, k = 0 until k >= i + 6 { next X = X + 1; next Y = if k % 3 == 1 { X } else { Y }; next k = k + 1 }; M = X * Y"},
	{"the same twice", "iterate X = A + i, Y = A, k = 0 until k >= i + 2 { Z = X * Y; next X = Z; next Y = Z; next k = k + 1 }; M = X + Y"},
	{"turned", "iterate X = A + i, k = 0 until k >= i + 3 { next X = t(X) + t(t(X) * 2); next k = k + 1 }; M = t(X)"},
	{"windows", "iterate X = A + i, Y = B, k = 0 until k >= i + 3 { next X = rbind(Y[2..5, :], X[0..2, :]); next Y = X[:, :]; next k = k + 1 }; M = X - Y"},
	{"a loop in a loop", "iterate X = A + i, k = 0 until k >= i + 3 { iterate Y = X, j = 0 until j >= k { next Y = Y * 0.5 + B; next j = j + 1 }; next X = Y; next k = k + 1 }; M = X"},
	{"a loop in a loop, whose result is kept", "iterate X = A, W = B, k = 0 until k >= i + 4 { iterate Y = X + i, j = 0 until j >= 2 { next Y = Y @ B; next j = j + 1 }; next W = X; next X = Y * 1e-2; next k = k + 1 }; M = X - W"},
	{"a result read late", "C = A * i; D = C + 1; E = D @ C; F = E + D; iterate X = C, k = 0 until k >= 2 { next X = X + D; next k = k + 1 }; M = X + F - C"},
	{"branches", "X = A + i; Y = if i % 2 == 0 { X } else { X * 2 }; Z = if i % 3 == 0 { Y } else { B }; M = X + 2 * Y + 3 * Z"},
	{"a branch that gives what nothing else reads", "X = A + i; Y = if i % 2 == 0 { X } else { B }; W = A * i; M = (Y + W) * 2 - Y @ W"},
	{"places that the run tells", "Y = ifelse(A > 0, A + i, 2 * A); p = (i * 7 + 3) % 5; iterate X = Y, k = 0 until k >= i + 2 { next X = X + X[(p + k) % 5, p] * Y[k % 5, (p * 2 + k) % 5]; next k = k + 1 }; M = X"},
	{"no round", "X = A + i; iterate Y = X, k = 0 until k >= i - 2 { next Y = Y + X; next k = k + 1 }; M = Y * X"},
	{"sparse", "S = sparse(A * f64(A > i)); iterate X = S, k = 0 until k >= 3 { next X = X + t(X); next k = k + 1 }; M = dense(X) + i"},
	{"a failure late", "iterate X = A, k = 0 until k >= i + 2 { next X = X + A[k % (5 - i), 0] + k // (5 - i); next k = k + 1 }; M = X"},
}

// The memory that iterations and rounds use again is never that of a value which somebody still
// reads: bodies of matrices give by kernels what they are by definition.
func TestParforMatrices(t *testing.T) {
	table := tinyTable(t)
	for _, c := range matrixBodies {
		for _, give := range []string{"colsum(M)", "sum(M * M)", "M[1, :]"} {
			text := "A = randn(5, 5, seed = 1)\nB = randn(5, 5, seed = 2)\nemit parfor i in 0..7 { " + c.text + "; " + give + " }\n"
			o, err := runs{{1, 1, nil, false, ""}, {1, 3, nil, true, ""}, {2, 1, nil, false, ""}}.differ(table, text)
			if err != nil {
				t.Fatalf("%s: %v\nin\n%s", c.name, err, text)
			}
			var f *op.Failure
			if late := c.name == "a failure late"; o.failed != late || late && !errors.As(o.err, &f) {
				t.Errorf("%s: %v\nin\n%s", c.name, o.err, text)
			}
		}
	}
}
