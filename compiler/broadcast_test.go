package compiler_test

import (
	"fmt"
	"strings"
	"testing"
)

// A column and a row make the matrix of their pairs, of any element types, by any elementwise
// operator, on every engine; the sizes may be known in the run alone.
func TestColumnWithRow(t *testing.T) {
	columns := []string{"x", "f32(x)", "i64(9 * x)", "(x < 0.5)", "unique(x)", "x[0..n, :]"}
	rows := []string{"t(y)", "t(i64(9 * y))", "(t(y) < 0.3)", "t(unique(y))"}
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, "emit "+fmt.Sprintf(format, args...)) }
	for _, c := range columns {
		for _, r := range rows {
			if strings.Contains(c, "f32") {
				r = "f32(" + r + ")"
			}
			add("f64(%s) + f64(%s)", c, r)
			add("%s == %s", r, c)
			add("max(%s, %s)", r, c)
			add("ifelse(%s < %s, %[1]s, %[2]s)", c, r)
			add("sum(sqrt(abs(%s * %s)))", c, r)
			add("colsum(%s - %s)", r, c)
		}
	}
	add("parfor i in 0..3 { sum((x - i) * t(y)) + colmax(x - t(y))[0, i] }")
	add("parfor i in 0..9 { colsum(abs(D[:, i] - D[i, :])) }")
	add("(D @ x) - t(y)")
	add("t(x) - D @ x")
	add("sparse(x) * t(y)")
	add("sparse(x) - sparse(t(y))")
	add("identical(outer(x, t(y), \"-\"), parfor i in 0..9, j in 0..13 { x[i, 0] - y[j, 0] })")
	add("identical(D[:, 2] + D[3, :], D[:, 2] @ ones(1, 9) + ones(9, 1) @ D[3, :])")
	for len(lines) > 0 {
		k := min(len(lines), 12)
		text := "x = rand(9, 1, seed = 1)\ny = rand(13, 1, seed = 2)\nD = rand(9, 9, seed = 3)\nn = count(x == x)\n" + strings.Join(lines[:k], "\n") + "\n"
		o, err := (runs{{1, 1, nil, false, ""}, {1, 3, nil, true, ""}, {3, 1, nil, false, ""}, {1, 2, []string{"fuse", "simplify"}, false, ""}}).differ(tinyTable(t), text)
		if err != nil || o.failed {
			t.Fatalf("%v %v\nin\n%s", err, o.err, text)
		}
		if k < 12 && !strings.HasSuffix(o.out, "true\ntrue\n") {
			t.Errorf("not the pairs of outer:\n%s", o.out)
		}
		lines = lines[k:]
	}
}
