package flow

import (
	"strings"
	"testing"
)

// A failure in a loop tells the values of all indices around it, before the run and in it, on every
// engine.
func TestLoopValues(t *testing.T) {
	const given = "x = seq(0, 3)\nA = ones(2, 2)\n"
	for _, c := range []struct{ name, text, want string }{
		{"list", "for v in [5, 0, 3] { emit 1 // v }", "1 // 0 (at v = 0)"},
		{"list in the run", "for v in [2, 0, 1] { emit 5 // x[v, 0] }", "division by zero (at v = 0)"},
		{"range", "for v in 7..9 { emit 5 // x[v - 7, 0] }", "(at v = 7)"},
		{"large", "for v in 5000000000..5000000002 { emit 5 // x[v - 5000000000, 0] }", "(at v = 5000000000)"},
		{"negative", "for v in -1073741830..-1073741828 { emit 5 // x[v + 1073741830, 0] }", "(at v = -1073741830)"},
		{"floats", "for v in [2.5, 1e300] { assert x[0, 0] > v }", "(at v = 2.5)"},
		{"texts", "for v in [\"a b\", \"c\\\"\"] { assert x[0, 0] == 0 and v == \"a b\" }", `(at v = "c\"")`},
		{"bools", "for v in [true] { assert x[0, 0] != 0 and v }", "(at v = true)"},
		{"rows", "for v in [[1, 2], [0, 4]] { assert x[v[0], 0] < 0 }", "(at v = [1, 2])"},
		{"matrices", "for M in [A + 1, 2 * A] { assert sum(M) == 8 and min(x) > 0 }", "(at M = A + 1)"},
		{"matrices of a function", "fn two(A) = [A, A]\nfor M in two(A) { assert sum(M) < min(x) }", "(at M = element 0 of the list)"},
		{"nested", "for s in [\"a\"], v in [2, 0] { for k in 3..4 { emit 5 // x[v, 0] + k } }", `(at s = "a", v = 0, k = 3)`},
		{"before the run", "for s in [\"a\"] { for k in 3..4 { emit A[k, 0] } }", `(at s = "a", k = 3)`},
		{"sum", "emit sum(for k in [2, 0, 1] => 1 // x[k, 0])", "(at k = 0)"},
		{"sum in a loop", "for s in [\"a\"] { emit sum(for k in [2, 0, 1] => 1 // x[k, 0]) }", `(at s = "a", k = 0)`},
		{"list of a list", "emit [for k in [2, 0, 1] => 1 // x[k, 0]] @ [[1]]", "(at k = 0)"},
		{"equations", "for s in [\"a\"] { chan L[i in 0..3] = 1 // x[i, 0]\nemit L[2] + L[0] }", `in L[0] version 1 (s = "a", i = 0)`},
		{"sends", "chan L = tiles(A, 1)\nfor v in [\"a\", \"b\"], i in 0..2 { L[i,0] <- solve(L[i,0] * f64(x[i, 0]), L[i,0]) }\nemit untile(L)", `v = "a", i = 0`},
		{"parfor", "emit parfor i in 0..3 { 1 // x[2 - i, 0] }", "(at i = 2)"},
		{"parfor in a loop", "for v in [\"a\"] { emit parfor i in 0..3, j in 0..2 { j // x[2 - i, 0] } }", `(at v = "a", i = 2, j = 0)`},
		{"sum in a parfor", "emit parfor i in 1..3 { sum(for k in [4, 0] => 9 // (x[i, 0] * k)) }", "k = 0"},
		{"rounds", "for v in [\"a\"] { iterate s = 1 times 9 { next s = s + 1 // x[s - 1, 0] }\nemit s }", `(at v = "a"), round`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, e := range []engine{{ranks: 1, eval: true}, {ranks: 1, threads: 2}, {ranks: 1, threads: 1, disable: []string{"fuse"}}, {ranks: 2, threads: 1}} {
				out := e.output("t.flow", []byte(given+c.text+"\n"), nil)
				if _, err, ok := strings.Cut(out, "FAILED: "); !ok || !strings.Contains(firstLine(err), c.want) {
					t.Errorf("%+v says\n%s\nwant %s in its first line", e, out, c.want)
				}
			}
		})
	}
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// TestLoopsThatOnlyAssert: a loop whose values nobody reads still asserts in each round, with those
// of its carried values that it needs.
func TestLoopsThatOnlyAssert(t *testing.T) {
	const given = "x = seq(0, 3)\nA = ones(2, 2) * 3\nb = fill(28, 1, 12)\n"
	for _, c := range []struct{ name, text, want string }{
		{"one value becomes another of another type", "iterate u = b, v = A times 4 with (unroll = 0) { assert min(x) >= 0\nnext u = b + i64(v[0, 0])\nnext v = v + 1 }", "5"},
		{"values change places", "iterate u = b, v = 2 * b times 4 with (unroll = 0) { assert min(x) >= 0\nnext u = v\nnext v = u }", "5"},
		{"all become the last", "iterate u = b, v = b, w = b times 4 with (unroll = 0) { assert min(x) >= 0\nnext u = v\nnext v = w\nnext w = w }", "5"},
		{"an assertion reads one", "iterate u = 1, v = 7 times 4 with (unroll = 0) { assert v > 4\nnext u = v\nnext v = v - 1 }", "FAILED: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			text := []byte(given + "y = if sum(b) > 1 { " + c.text + "\n5 } else { 6 }\nemit y\n")
			for _, e := range []engine{{ranks: 1, eval: true}, {ranks: 1, threads: 2}, {ranks: 1, threads: 1, disable: []string{"fuse"}}, {ranks: 2, threads: 1}} {
				if out := e.output("t.flow", text, nil); !strings.HasPrefix(out, c.want) {
					t.Errorf("%+v says\n%s\nwant %s", e, out, c.want)
				}
			}
		})
	}
}
