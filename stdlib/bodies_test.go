package stdlib_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"flow"
)

// This file tests the library in the bodies of parfor: every function gives there what it gives in
// a for, or says in the user's own text what is wrong.

// inBodies are blocks with the index i and x = f64(i), each with a row or scalar as its value.
// Every function of the library has one at least, which begins with its name.
var inBodies = []struct{ name, block string }{
	{"cholesky", "row(cholesky(S + x * eye(5)))"},
	{"cholesky tiled", "row(cholesky(S + x * eye(5), tile = 2))"},
	{"lu", "L, U = lu(D + x); row(L + U)"},
	{"lu_packed", "row(lu_packed(D + x, tile = 2))"},
	{"edge_beside", "x + edge_beside(M, B)"},
	{"solve_lower", "row(solve_lower(lower(D) + x * eye(5), B, tile = 2))"},
	{"solve_upper", "row(solve_upper(upper(D) + x * eye(5), B, tile = 2))"},
	{"like", "row(like(M / 3 + x, f32(M)))"},
	{"floats", "row(floats(M > x))"},
	{"mixer", "row(mixer(M + x))"},
	{"solve", "row(solve(M + x * eye(5), B))"},
	{"solve tiled", "row(solve(M + x * eye(5), B, tile = 2))"},
	{"solve f32", "row(solve(f32(M + x * eye(5)), f32(B)))"},
	{"mixed_solve", "row(mixed_solve(mixer(M), lu_packed(M @ mixer(M)), B + x, 0))"},
	{"qr", "Q, R = qr(T + x); cbind(row(Q), row(R))"},
	{"qr wide", "Q, R = qr(t(T) + x); cbind(row(Q), row(R))"},
	{"qr_tall", "Q, R = qr_tall(T + x, 2); cbind(row(Q), row(R))"},
	{"qr_pass", "Q, R = qr_pass(T + x, 0.0, 1e-20, true, 2); cbind(row(Q), row(R))"},
	{"lower_product", "row(lower_product(lower(M + x), lower(M), tile = 2))"},
	{"times_lower", "row(times_lower(M + x, lower(M), tile = 2))"},
	{"lm", "row(lm(T + x * T[:, 0], C))"},
	{"solve_spd", "row(solve_spd(S + x * eye(5), B))"},
	{"solve_cholesky", "row(solve_cholesky(cholesky(S + x * eye(5)), B))"},
	{"inv", "row(inv(M + x * eye(5)))"},
	{"det", "det(M + x * eye(5))"},
	{"logdet", "logdet(S + x * eye(5))"},
	{"eigen", "v, V = eigen(S + x * eye(5)); cbind(t(v), row(V))"},
	{"svd", "U, s, V = svd(T + x); cbind(row(U), t(s), row(V))"},
	{"isfinite", "row(f64(isfinite((M + x) / (M > 0))))"},
	{"sparsity", "sparsity(floor(M + x))"},
	{"encode", "codes, values = encode(floor(2 * M[:, 0] + x)); sum(codes * seq(0, 5)) + 1000 * sum(values)"},
	{"encode in order", "codes, values = encode(floor(2 * M[:, 0] + x), ascending = false); sum(codes * seq(0, 5)) + 1000 * sum(values)"},
	{"onehot_columns", "row(onehot_columns(cbind(seq(0, 5) * i % 3, seq(0, 5)), [3, -1]))"},
	{"cov", "row(cov(M + x, sample = true))"},
	{"cor", "row(cor(M * x))"},
	{"linspace", "t(linspace(x, 2, 5))"},
	{"diff", "row(diff(M * x))"},
	{"open_zeros", "sum(open_zeros(i, 2) + 1) + x"},
	{"open_ones", "sum(open_ones(i + 2)) + x"},
	{"open_fill", "sum(open_fill(x, i, 3)) + sum(open_fill(true, i))"},
	{"open_seq", "sum(open_seq(i, 4) ^ 2) + sum(open_seq(3, i, -1)) + x"},
	{"roll", "row(roll(M, i - 1))"},
	{"cross", "row(cross(B + x, B[1, :]))"},
	{"cross_rows", "row(cross_rows(B + x, B[1, :]))"},
	{"conv", "t(conv(B[:, 0] + x, C[:, 1], mode = \"same\"))"},
	{"interp", "row(interp(M + x, seq(-1, 4), C[0..5, 0]))"},
	{"histogram", "counts, edges = histogram(M * x + 1, bins = 4); cbind(t(counts), t(edges))"},
	{"histogram_of", "t(histogram_of(M + x, [-1, 0, 1, 2]))"},
	{"lstsq", "row(lstsq(T + x * T[:, 0], C))"},
	{"lstsq wide", "row(lstsq(t(T) + x, B))"},
	{"permutation", "t(permutation(9, seed = i))"},
	{"shuffle", "row(shuffle(M + x, seed = 2 * i + 1))"},
	{"complex_times", "row(complex_times(B[:, 0..2] + x, B[1, 0..2]))"},
	{"fftconv", "t(fftconv(B[:, 0] + x, C[:, 1]))"},
	{"fftconv complex", "row(fftconv(B[:, 0..2] + x, C))"},
	{"softmax", "row(softmax(M + x * B[:, 0]))"},
	{"affine", "row(affine(M + x, B, B[0, :]))"},
	{"bias_add", "row(bias_add(M + x, [1, 2, 3, 4, 5]))"},
	{"batch_norm2d", "row(batch_norm2d(M + x, ones(5, 1), ones(5, 1), seq(0, 5), ones(5, 1)))"},
	{"conv2d", "row(conv2d(I + x, F, c = 2, h = 4, w = 4, kh = 2, kw = 2, ph = 1))"},
	{"max_pool2d", "row(max_pool2d(I + x, c = 2, h = 4, w = 4, kh = 2, kw = 2))"},
	{"avg_pool2d", "row(avg_pool2d(I + x, c = 2, h = 4, w = 4, kh = 2, kw = 2))"},
	{"each_channel", "row(each_channel(B[:, 0] + x, 10))"},
	{"windows", "row(windows(I[0, :] + x, window_places(32, 2, 4, 4, 2, 2, 1, 1, 0, 0), 0))"},
	{"window_places", "row(window_places(32, 2, 4, 4, 2, 2, 1, 1, 0, 0) + i)"},
}

const inBodiesGiven = `fn row(X: _[n,m]) = reshape(X, 1, n * m)
M = randn(5, 5, seed = 1)
D = randn(5, 5, seed = 1) + 10 * eye(5)
S = rand_spd(5, seed = 2)
T = randn(11, 5, seed = 3)
B = randn(5, 3, seed = 4)
C = randn(11, 2, seed = 5)
I = randn(3, 32, seed = 6)
F = randn(2, 8, seed = 7)
`

func TestBodies(t *testing.T) {
	covered := map[string]bool{}
	inside, outside := inBodiesGiven, inBodiesGiven
	for k, c := range inBodies {
		name, _, _ := strings.Cut(c.name, " ")
		covered[name] = true
		if !strings.Contains(c.block, name+"(") {
			t.Errorf("the block %q does not call %s", c.block, name)
		}
		before, value := "", c.block
		if at := strings.LastIndex(c.block, "; "); at >= 0 {
			before, value = c.block[:at+2], c.block[at+2:]
		}
		inside += fmt.Sprintf("R%d = parfor i in 0..3 { x = f64(i); %s }\nemit %q\nemit R%d\n", k, c.block, c.name, k)
		outside += fmt.Sprintf("emit %q\nfor i in 0..3 { x = f64(i); %semit %s }\n", c.name, before, value)
	}
	for _, f := range functions(t) {
		if !covered[f.name] && !f.number {
			t.Errorf("%s is not tried in the body of a parfor", f.name)
		}
	}
	want, err := run(outside, "", way{eval: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []way{{eval: true}, {threads: 1}, {threads: 3}, {threads: 2, disable: []string{"fuse"}}, {ranks: 2, threads: 1}, {ranks: 3, threads: 2}} {
		got, err := run(inside, "", w)
		if err != nil {
			t.Errorf("%+v: %v", w, err)
			continue
		}
		where := ""
		g, o := spaced(got), spaced(want)
		for k := range max(len(g), len(o)) {
			if k >= len(g) || k >= len(o) || g[k] != o[k] {
				t.Errorf("%+v: after %q a body gives other bytes than a for:\n%s\n%s", w, where, strings.Join(g[min(k, len(g)):min(k+1, len(g))], ""), strings.Join(o[min(k, len(o)):min(k+1, len(o))], ""))
				break
			}
			if len(g[k]) > 0 && (g[k][0] < '0' || g[k][0] > '9') && g[k][0] != '-' {
				where = g[k]
			}
		}
	}
}

// A failure in the library points at the user's call, and at the library's line in a note.
func TestFailuresInBodies(t *testing.T) {
	for _, c := range []struct{ name, block, want string }{
		{"singular", "sum(solve(x * ones(3, 3) + eye(3) * f64(i != 1), ones(3, 1)))", "solve: A is singular"},
		{"inverse", "sum(inv(x * ones(3, 3) + eye(3) * f64(i != 1)))", "solve: A is singular"},
		{"indefinite", "sum(solve_spd(eye(3) * (0.5 - f64(i == 1)), ones(3, 1)))", "not positive definite"},
		{"pivot", "L, U = lu(eye(2) * f64(i != 1)); sum(L) + sum(U)", "pivot 1 "},
		{"dependent", "Q, R = qr(cbind(ones(4, 1), ones(4, 1) + f64(i != 1) * f64(seq(0, 4)))); sum(R)", "linearly dependent"},
		{"in a loop", "iterate s = 0.0 times 9 { next s = s + sum(solve(eye(2) * f64(i != 1), ones(2, 1))) }; s", "solve: A is singular"},
		{"in a branch", "if i > 0 { sum(solve(eye(2) * f64(i != 1), ones(2, 1))) } else { 0.0 }", "solve: A is singular"},
		{"unused", "s = solve(eye(2) * f64(i != 1), ones(2, 1)); x", "solve: A is singular"},
	} {
		text := "first = 1\nv = parfor i in 0..4 { x = f64(i); " + c.block + " }\nemit v\n"
		for _, w := range []way{{eval: true}, {threads: 3}, {threads: 1, disable: []string{"fuse"}}, {ranks: 2, threads: 1}} {
			_, err := run(text, "", w)
			var r *flow.Refusal
			if !errors.As(err, &r) || len(r.Diagnostics) != 1 {
				t.Errorf("%s, %+v: %v", c.name, w, err)
				continue
			}
			d := r.Diagnostics[0]
			file, line, _ := r.Files.Position(d.Span.From)
			if file != "test.flow" || line != 2 || !strings.Contains(d.Message, c.want) || !strings.Contains(d.Message, "i = 1") {
				t.Errorf("%s, %+v: %s:%d: %s, want test.flow:2: ..%s..i = 1", c.name, w, file, line, d.Message, c.want)
			}
			library := false
			for _, n := range d.Notes {
				name, _, _ := r.Files.Position(n.Span.From)
				library = library || strings.HasPrefix(name, "std/")
			}
			if !library {
				t.Errorf("%s, %+v: no note shows the line of the library: %v", c.name, w, err)
			}
		}
	}
}
