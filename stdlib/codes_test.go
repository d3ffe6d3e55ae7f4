package stdlib_test

import (
	"strings"
	"testing"
)

const codesText = `
a = [0, 1, 0, 3, -1, 0]
b = [1, 0, 1, 0, 1, 0]
w = [0.5, 2, 1, 9, 9, 0.25]
emit ctable(a, b, weights = w, n = 2, m = 2, crop = true) as "weights, cropped"
emit ctable(a, b, n = 2, m = 2, crop = true) as "cropped"
emit ctable(a, b, n = 2, crop = true) as "rows cropped"
emit ctable(a[0..3, :], b[0..3, :], weights = w[0..3, :]) as "weights"
emit ctable([0, 1, 0], [1, 1, 1], weights = [true, true, false]) as "truth"
emit ctable([1, 1], [0, 0], weights = f32([1e8, 1])) as "f32"
emit ctable([0, 0, 2, 0], [3, 1, 0, 1], weights = [1, 2, 0, 5], n = 3, m = 4, sparse = true) as "sparse"
emit ctable(zeros(0, 1), zeros(0, 1), weights = zeros(0, 1), n = 1, m = 2) as "none"
emit parfor i in 0..2 { t(ctable([0, 1], [1, 1], weights = [1.5, 2] * i, n = 2, m = 2)[:, 1]) } as "bodies"
emit ctable(a[0..3, :], b[0..3, :]) as "as ever"
emit t(bin([0, 1, 1.5, 2, nan], [1, 2])) as "left"
emit t(bin([0, 1, 1.5, 2, nan], [1, 2], closed = "right")) as "right"
emit t(bin([0, 1, 1.5, 4, 9, -1], 0, 4, 4)) as "even, left"
emit t(bin([0, 1, 1.5, 4, 9, -1], 0, 4, 4, closed = "right")) as "even, right"
emit t(bin(f32([0, 1, 1.5, nan]), 0, 4, 4, closed = "right")) as "even, right, f32"
emit bin(2, [1, 2], closed = "right") as "scalar"
`

const codesWants = `weights, cropped:
0.25 1.5
2 0
cropped:
1 2
1 0
rows cropped:
1 2
1 0
weights:
0 1.5
2 0
truth:
0 1
0 1
f32:
0
1e+08
sparse:
sparse i64[3,4], 2 stored
0 1 7
0 3 1
none:
0 0
bodies:
0 0
1.5 2
as ever:
0 2
1 0
left:
0 1 1 2 -1
right:
0 0 1 1 -1
even, left:
0 1 1 3 3 0
even, right:
0 0 1 3 3 0
even, right, f32:
0 0 1 -1
scalar: 1
`

func TestCodes(t *testing.T) {
	for _, w := range []way{{}, {eval: true}, {threads: 1}, {threads: 2, disable: []string{"fuse"}}, {ranks: 3, threads: 1}} {
		got, err := run(codesText, "", w)
		if err != nil {
			t.Fatalf("%+v: %v", w, err)
		}
		g, o := spaced(got), spaced(codesWants)
		for k := range max(len(g), len(o)) {
			if k >= len(g) || k >= len(o) || g[k] != o[k] {
				t.Fatalf("%+v: line %d: %q, want %q", w, k+1, g[min(k, len(g)-1)], o[min(k, len(o)-1)])
			}
		}
	}
	for text, want := range map[string]string{
		`emit bin([1], [1], closed = "both")`:                        `closed of ` + "`bin`" + ` is "left" or "right", not "both"`,
		"emit ctable([1.5], [1], n = 2, crop = true)":                "1.5 is no code",
		"emit ctable([nan], [1], n = 2, crop = true)":                "nan is no code",
		"emit ctable([5], [1], weights = [3], n = 2)":                "code 5, and there are only 2",
		"emit ctable([5], [1], weights = [3, 4])":                    "columns of 1 codes and 2 weights",
		"emit ctable([5], [1], 2, 2, crop = true)":                   "n and m are named",
		"emit ctable([5], [1], crop = true, weigths = [1])":          "ctable has no argument `weigths`",
		"emit ctable([5], [1], weights = [1], sparse = true, n = 9)": "needs n and m",
	} {
		for _, w := range []way{{}, {eval: true}} {
			if out, err := run(text, "", w); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %s%v, want %q", text, out, err, want)
			}
		}
	}
}
