package stdlib_test

import (
	"strings"
	"testing"
)

// This file tests numeric.flow and constants.flow. What conv, cross, diff, interp, roll, lstsq and
// histogram_of are given first is what the manual of NumPy has as examples, with its values.

const numeric = `
emit pi as "pi"
emit e as "e"
P = [[1, 2, 5], [4, 3, 5], [6, -1, 5]]
emit cov(P) as "cov"
emit cov(f32(P), sample = true) as "cov of a sample"
emit cor(cbind(P, -P[:, 0])) as "cor"
emit cor(f32([[1, 2], [nan, 4], [5, 0]])) as "cor of nan"
emit cov(P == 5)[2, 2] as "cov of bools"
emit cov(zeros(0, 1)) as "cov of nothing"
emit cov(unique([4, 1, 4])) as "cov of as many as the run tells"
emit t(linspace(0, 1, 5)) as "linspace(0, 1, 5)"
emit t(linspace(3, -1, 3)) as "descending"
emit linspace(3, 4, 1) as "one"
emit f64(linspace(3, 4, 0).rows) as "none"
emit linspace(0.1, 0.7, 7)[-1] == 0.7 as "the end is exact"
emit t(linspace(sum([1, 1]), 4, 3)) as "of the run"
emit t(diff([1, 2, 4, 7, 0])) as "diff"
emit diff([[1, 3, 6, 10], [0, 5, 6, 8]]) as "diff of rows"
emit f64(diff(zeros(0, 2)).rows + diff(ones(1, 2)).rows) as "diff of none and one"
emit t(diff(unique([3, 1, 1, 7]))) as "diff of as many as the run tells"
emit t(diff([1, inf, inf, nan])) as "diff of inf"
emit t(roll(seq(0, 10), 2)) as "roll by 2"
emit t(roll(seq(0, 10), -2)) as "roll by -2"
emit t(roll(seq(0, 3), sum([3, 1]))) as "roll by more than there are"
emit roll([[0, 1], [2, 3], [4, 5]], 1) as "roll of rows"
emit f64(roll(zeros(0, 2), 1).cols + roll(zeros(2, 0), 1).rows) as "roll of nothing"
emit roll([[0, 1, 2], [3, 4, 5]], 1, by = "cols") as "roll of columns"
emit roll([[0, 1, 2], [3, 4, 5]], sum([-3, -1]), by = "cols") as "roll of columns back"
emit f64(roll(zeros(2, 0), 1, by = "cols").rows) as "roll of no columns"
emit t(roll(unique([3, 1, 1, 7]), 1)) as "roll of as many as the run tells"
emit t(cross([1, 2, 3], [4, 5, 6])) as "cross"
emit cross([[1, 2, 3], [4, 5, 6]], [[4, 5, 6], [1, 2, 3]]) as "cross of rows"
emit cross([[1, 2, 3], [4, 5, 6]], [[1, 0, 0]]) as "cross with one row"
emit t(conv([1, 2, 3], [0, 1, 0.5])) as "conv"
emit t(conv([1, 2, 3], [0, 1, 0.5], mode = "same")) as "conv same"
emit t(conv([1, 2, 3], [0, 1, 0.5], mode = "valid")) as "conv valid"
emit t(conv([1, 2], [1, 2, 3, 4], mode = "same")) as "conv same of even"
emit t(conv([1, 2], [1, 2, 3, 4], mode = "valid")) as "conv valid of longer"
emit t(conv([1, 2], [inf, 1])) as "conv of inf"
emit t(conv([7], [3])) as "conv of one"
emit t(interp([0, 1, 1.5, 2.72, 3.14], [1, 2, 3], [3, 2, 0])) as "interp"
emit interp([[0.5, nan], [-inf, inf]], [0, 1], [10, 30]) as "interp beyond"
emit t(interp([0, 1, 2], [1, 1, 1], [5, 6, 7])) as "interp of equal points"
emit t(interp([0, 9], [4], [5])) as "interp of one point"
emit t(interp([1, 1.5, 2], [0, 1, 2], [0, inf, 2])) as "interp of inf"
counts, edges = histogram([1, 2, 1], bins = 3, lo = 0, hi = 3)
emit t(counts) as "histogram"
emit t(edges) as "edges"
c1, e1 = histogram([1, 2, 5, nan, -3, 3, inf], bins = 2, lo = 1, hi = 3)
emit t(c1) as "histogram of what is outside"
c2, e2 = histogram([4, 4, 4], bins = 2)
emit cbind(t(c2), t(e2)) as "histogram of one value"
c3, e3 = histogram(zeros(0, 1), bins = 2)
emit cbind(t(c3), t(e3)) as "histogram of none"
c4, e4 = histogram(seq(0, 100) * 0.1)
emit cbind(t(c4), t(e4)) as "histogram of ten"
emit t(histogram_of([1, 2, 1, 4], [0, 1, 2, 3])) as "histogram of edges"
some = [1, 2, 1, 4, 7]
c5, e5 = histogram(some[some > 1], bins = 2)
emit cbind(t(c5), t(e5)) as "histogram of as many as the run tells"
emit round(1e6 * t(lstsq([[0, 1], [1, 1], [2, 1], [3, 1]], [-1, 0.2, 0.9, 2.1]))) as "lstsq"
emit round(1e6 * t(lstsq([[1, 2, 3], [4, 5, 7]], [6, 16]))) as "lstsq of few rows"
emit t(sort(permutation(7, seed = 3))) as "permutation"
emit identical(shuffle(eye(9), seed = 2), take(eye(9), permutation(9, seed = 2))) as "shuffle"
emit all(shuffle(seq(0, 50), seed = 1) == shuffle(seq(0, 50), seed = 2)) as "seeds"
emit f64(shuffle(zeros(0, 2)).cols) as "shuffle of none"
`

// numericWants is what the program above prints.
const numericWants = `pi: 3.141592653589793
e: 2.718281828459045
cov:
4.222222222222222 -2.222222222222222 0
-2.222222222222222 2.888888888888889 0
0 0 0
cov of a sample:
6.3333335 -3.3333335 0
-3.3333335 4.3333335 0
0 0 0
cor:
1 -0.6362847629757776 nan -0.9999999999999998
-0.6362847629757776 1 nan 0.6362847629757776
nan nan nan nan
-0.9999999999999998 0.6362847629757776 nan 1
cor of nan:
nan nan
nan 1
cov of bools: 0
cov of nothing:
nan
cov of as many as the run tells:
2.25
linspace(0, 1, 5):
0 0.25 0.5 0.75 1
descending:
3 1 -1
one:
3
none: 0
the end is exact: true
of the run:
2 3 4
diff:
1 2 3 -7
diff of rows:
-1 2 0 -2
diff of none and one: 0
diff of as many as the run tells:
2 4
diff of inf:
inf nan nan
roll by 2:
8 9 0 1 2 3 4 5 6 7
roll by -2:
2 3 4 5 6 7 8 9 0 1
roll by more than there are:
2 0 1
roll of rows:
4 5
0 1
2 3
roll of nothing: 4
roll of columns:
2 0 1
5 3 4
roll of columns back:
1 2 0
4 5 3
roll of no columns: 2
roll of as many as the run tells:
7 1 3
cross:
-3 6 -3
cross of rows:
-3 6 -3
3 -6 3
cross with one row:
0 3 -2
0 6 -5
conv:
0 1 2.5 4 1.5
conv same:
1 2.5 4
conv valid:
2.5
conv same of even:
1 4 7 10
conv valid of longer:
4 7 10
conv of inf:
inf inf 2
conv of one:
21
interp:
3 3 2.5 0.5599999999999996 0
interp beyond:
20 nan
10 30
interp of equal points:
5 7 7
interp of one point:
5 5
interp of inf:
inf nan 2
histogram:
0 2 1
edges:
0 1 2 3
histogram of what is outside:
1 2
histogram of one value:
0 3 3.5 4 4.5
histogram of none:
0 0 0 0.5 1
histogram of ten:
10 10 10 10 10 10 10 10 10 10 0 0.99 1.98 2.9699999999999998 3.96 4.95 5.9399999999999995 6.93 7.92 8.91 9.9
histogram of edges:
0 2 1
histogram of as many as the run tells:
2 1 2 4.5 7
lstsq:
1000000 -950000
lstsq of few rows:
1028571 857143 1085714
permutation:
0 1 2 3 4 5 6
shuffle: true
seeds: false
shuffle of none: 2
`

func TestNumeric(t *testing.T) {
	for _, w := range []way{{}, {eval: true}, {threads: 1}, {threads: 2, disable: []string{"fuse"}}, {ranks: 3, threads: 1}} {
		got, err := run(numeric, "", w)
		if err != nil {
			t.Fatalf("%+v: %v", w, err)
		}
		g, o := spaced(got), spaced(numericWants)
		for k := range max(len(g), len(o)) {
			if k >= len(g) || k >= len(o) || g[k] != o[k] {
				t.Errorf("%+v: line %d: %q, want %q", w, k+1, g[min(k, len(g)-1)], o[min(k, len(o)-1)])
			}
		}
	}
}

func TestNumericRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"emit conv(zeros(0, 1), [1])":                "conv: a column is empty",
		"emit conv([1], [1], mode = \"half\")":       `mode is "half"`,
		"emit cross([1, 2], [3, 4])":                 "cross: vectors have three numbers; these are 2 x 1 and 2 x 1",
		"emit interp([1], zeros(0, 1), zeros(0, 1))": "interp: there are no points",
		"emit interp([1], [2, 1], [1, 2])":           "the edges do not ascend",
		"emit interp([1], [1, 2], [1, 2, 3])":        "3 rows, but k is 2",
		"c, x = histogram([1, 2], bins = 0)\nemit c": "histogram: bins is at least 1",
		"c, x = histogram([1, inf])\nemit c":         "histogram: there is no interval from 1 to inf",
		"c, x = histogram([1, 2], lo = 3)\nemit c":   "histogram: there is no interval from 3 to 2",
		"emit linspace(0, 1, -1)":                    "negative",
		"emit lstsq(ones(3, 2), ones(3, 1))":         "linearly dependent",
	} {
		for _, w := range []way{{}, {eval: true}} {
			if out, err := run(text, "", w); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %s%v, want %q", text, out, err, want)
			}
		}
	}
}

// A program that binds pi or e itself means its own.
func TestConstantsGiveWay(t *testing.T) {
	for text, want := range map[string]string{
		"e = 2\nemit e * 3":                                      "6\n",
		"param pi = 3\nemit pi":                                  "3\n",
		"fn f(e) = e + 1\nemit f(1)":                             "2\n",
		"pi, e = (1, 2)\nemit pi + e":                            "3\n",
		"emit sum(parfor e in 0..4 { e })":                       "6\n",
		"iterate e = 1 times 3 { next e = 2 * e }\nemit e":       "8\n",
		"emit f32(ones(1, 1)) * pi":                              "3.1415927\n",
		"emit t(parfor i in 0..2 { f64(i) * pi })":               "0 3.141592653589793\n",
		"e = e + 1\nemit e":                                      "3.718281828459045\n",
		"for k in 0..2 { e = k\nemit e }\nemit e":                "0\n1\n2.718281828459045\n",
		"fn area(r) = pi * r ^ 2\nemit fmt(\"{:.4f}\", area(2))": "12.5664\n",
	} {
		for _, w := range []way{{}, {eval: true}} {
			if out, err := run(text, "", w); err != nil || out != want {
				t.Errorf("%s: %q %v, want %q", text, out, err, want)
			}
		}
	}
	_, err := run("x = 2 * e\ne = 3\nemit x", "", way{})
	if err == nil || !strings.Contains(err.Error(), "`e` is used above its binding") {
		t.Errorf("above its binding: %v", err)
	}
}
