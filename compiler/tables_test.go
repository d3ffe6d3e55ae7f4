package compiler_test

import (
	"strings"
	"testing"
)

// TestTabledValues: bodies read tables of values that many points compute alike. The tables have
// all element types and are indexed by rounds or columns. A value that each point would compute
// only under a condition is made before the first point, unless that fails.
func TestTabledValues(t *testing.T) {
	const head = `S = rand(100, 1, seed = 1)
x = rand(60, 1, seed = 3)
w = t(x[x > 0.5])
u = randint(1, 30, 0, 5, seed = 4)
z = sum(u)
`
	for _, text := range []string{
		`iterate s = 0.0, k = 0 times 40 { next s = s * 0.5 + S[i, 0] * exp(sin(0.01 * k)) ^ 1.5; next k = k + 1 }
s`,
		`iterate s = zeros(20, 1) + S[i, 0], k = 20 times 20 {
  next s = s * 0.9 + S[i, 0] * exp(0.01 * f64(seq(0, 20)) - 0.02 * k)
  next k = k - 1
}
sum(s)`,
		`iterate s = f32(0.0), k = 0 times 40 { next s = s * 0.5 + f32(S[i, 0]) * exp(sin(f32(0.01) * f32(k))); next k = k + 1 }
s`,
		`iterate s = 0, k = 5 times 30 { next s = s + i // (1 + k * k + max(k, 7) * min(k * 3, 11) + (k + 1) * (k + 2) * (k + 3) * (k + 4)); next k = k + 2 }
s`,
		`iterate s = 0.0, k = 0 times w.cols { next s = s * 0.5 + S[i, 0] * exp(sin(w[0, k]) + cos(w[0, k])); next k = k + 1 }
s`,
		`y = if S[i, 0] > 0.5 { exp(sin(f64(u)) * 0.1) } else { f64(u) }
iterate s = 0.0, k = 0 times 30 { next s = s * 0.5 + S[i, 0] * exp(sin(y[0, k]) + cos(0.1 * k)); next k = k + 1 }
s`,
		`if S[i, 0] > 0.5 {
  y = exp(sin(f64(u)) * 0.1)
  v = exp(sin(f64(z)) * 0.1)
  iterate s = 0.0, k = 0 times 30 { next s = s * 0.5 + S[i, 0] * exp(sin(y[0, k]) + cos(v * k)); next k = k + 1 }
  s
} else { 1.0 }`,
		`if S[i, 0] > 5 {
  y = 100 // u
  iterate s = 0.0, k = 0 times 30 { next s = s * 0.5 + S[i, 0] * exp(sin(f64(y[0, k])) + cos(0.1 * k)); next k = k + 1 }
  s
} else { 1.0 }`,
	} {
		program := head + "emit parfor i in 0..100 {\n" + text + "\n}\n"
		if _, err := (runs{{1, 1, nil, false, ""}, {1, 3, nil, false, "FAC2"}, {2, 1, nil, false, ""}}).differ(tinyTable(t), program); err != nil {
			t.Errorf("%v\nin\n%s", err, program)
		}
	}
	const square = "emit parfor i in 0..80, j in 0..70 { %s(i) * exp(sin(%s(0.2 * j))) + log(%s(1.0) + sqrt(%s(i))) }\n"
	for _, e := range []string{"f64", "f32"} {
		program := strings.ReplaceAll(square, "%s", e)
		if _, err := (runs{{1, 1, nil, false, ""}, {1, 3, nil, false, "SS"}, {3, 1, nil, false, ""}}).differ(tinyTable(t), program); err != nil {
			t.Errorf("%v\nin\n%s", err, program)
		}
	}
}
