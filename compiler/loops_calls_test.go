package compiler_test

import (
	"fmt"
	"strings"
	"testing"

	"flow/explain"
	"flow/ir"
	"flow/ir/op"
	"flow/kernels"
	"flow/runtime/schedule"
)

// callPrograms are programs of which the bodies have operators without a form in loops, between
// others. The first ten are everyday ones, those at the end fail.
var callPrograms = []string{
	`emit parfor b in 0..n { s = sort(take(y, i64(9 * rand(12, 1, seed = b)))); mean(s[2..10, :]) * y[b] }`,
	`emit parfor i in 0..n { f = fft(t(x[i, :]) - mean(x[i, :])); t(f[:, 0] ^ 2 + f[:, 1] ^ 2) / y[i] }`,
	`emit parfor i in 0..n { w = rand(20, 1, seed = i) + y[i]; q = quantile(w, 0.25); (quantile(w, 0.75) - q) / (median(abs(w - q)) + 1) }`,
	`emit parfor i in 1..n-1, j in 1..4 {
	   gx = (U[i-1..i+2, j+1] - U[i-1..i+2, j-1]) / 2
	   gy = (t(U[i+1, j-1..j+2]) - t(U[i-1, j-1..j+2])) / 2
	   e = eigvals([[sum(gx * gx), sum(gx * gy), 0.1], [sum(gx * gy), sum(gy * gy), 0.2], [0.1, 0.2, 1.0]])
	   e[2, 0] / (e[0, 0] + 1e-3)
	 }`,
	`emit parfor i in 0..n { v = unique(k % (i + 1)); f64(v.rows) + y[i] * f64(sum(v)) }`,
	`emit parfor i in 0..n { w = interp(t(x[i, :]) ^ 2, cumsum(rand(9, 1, seed = 5)), rand(9, 1, seed = 6)); sum(w * exp(-w)) }`,
	`emit parfor i in 20..n { w = rand(21, 1, seed = 7) * y[i]; m = median(w); abs(y[i] - m) / (1 + median(abs(w - m))) }`,
	`emit parfor i in 0..n { r = argsort(t(x[i, :])); f64(r[0, 0]) + x[i, r[2, 0]] }`,
	`emit parfor i in 0..n { w = rand(9, 4, seed = 9) * y[i]; e = eigvals(cov(w)); e[3, 0] / sum(e) }`,
	`emit parfor i in 2..n-2 { w = sort(x[i-2..i+3, 0]); mean(w[1..4, :]) * y[i] }`,

	`emit parfor i in 0..n {
	   iterate a = y[i], r = 0 until a > 2 or r > 9 { next a = a * 1.3; next r = r + 1 }
	   w = sort(t(x[i, :]) * a)
	   d = w - mean(w)
	   sum(exp(-d * d)) + w[1, 0] + f64(k[i])
	 }`,
	`emit parfor i in 0..n {
	   u = t(x[i, :])
	   M = u @ t(u) + y[i] * eye(3)
	   e = eigvals(M)
	   V = eigvecs(M + 0.5)
	   f32(e[2, 0] - e[0, 0]) + f32(V[1, 1] * det(M)) + f32(sum(svdvals(M @ V)))
	 }`,
	`emit parfor i in 1..n-1, j in 1..4 { w = U[i-1..i+2, j-1..j+2]; s = sort(reshape(w, 9, 1), desc = true); s[2, 0] - U[i, j] * f64(j) }`,
	`emit parfor i in 0..n {
	   s = if y[i] > 0.5 { sort(t(x[i, :]))[1, 0] } else { iterate a = y[i] times 5 { next a = sqrt(a) }
	   a }
	   q = quantile(y * s, 0.3)
	   argsort(t(x[i, :]) - q)[0, 0] > 0 and q > 0.1
	 }`,
	`emit parfor i in 0..n-1 by 2 { a = sort(y[i..i+2, :]); b = sort(a * 3 + sort(t(x[i, :]))[0..2, 0]); sum(a) + b[1, 0] + sum([1e16, b[0, 0], -1e16]) }`,
	`emit parfor i in 0..n { L = cholesky(x[0..9, :] @ t(x[0..9, :]) + (y[i] + 1) * eye(9)); sum(log(diag(L))) }`,
	`emit parfor i in 0..n { w = sort(t(x[i, :]) > y[i], desc = true); v = sort(i64(9 * t(x[i, :]))); (w[0, 0] or w[2, 0]) and v[1, 0] > 3 }`,
	`emit parfor i in 0..n { s = sort(t(f32(x[i, :]))); if y[i] > 0.9 { f64(rowargmax(U)[i, 0]) + f64(s[1, 0]) } else { f64(sum(s)) } }`,
	`emit parfor i in 0..n { w = rand(26, 26, seed = 1) * y[i]; e = eigvals(t(w) @ w + eye(26)); log(e[25, 0]) - trace(w) }`,
	`emit parfor i in 0..n, j in 0..i { s = sort(rbind(t(x[i, :]), t(x[j, :]))); s[i % 6, 0] - y[j] }`,
	`emit parfor i in 0..n {
	   iterate w = t(x[i, :]), s = 0.0, r = 0 until r > i % 5 { next w = sort(w * (1 - w) * 3.7); next s = s + w[2, 0] - w[0, 0]; next r = r + 1 }
	   s * y[i] + max(w)
	 }`,
	`emit parfor i in 0..n { t(sort(t(U[i, 0..5] * y[i]))) }`,
	`emit parfor i in 0..n by 13 {
	   s = sort(y[i] * rand(5000, 1, seed = 5))
	   iterate most = 0.0, r = 0 until r == 40 { next most = max(most, s[r * r, 0] * f64(r % 7) - y[r % n]); next r = r + 1 }
	   iterate w = s[10..13, :], q = 0 times 30 { next w = if q % 2 == 0 { w * s[q % 3, 0] + y[i] } else { w - mean(w) * sum(U[q % n, :]) }; next q = q + 1 }
	   most + sum(w) * s[4999, 0]
	 }`,

	`emit parfor i in 0..n { z = k[i] - 3; w = eigvals(diag(t(x[i, :]))); w[0, 0] + f64(10 // z) }`,
	`emit parfor i in 0..n { w = eigvals(diag(t(x[i, :]))); w[k[i], 0] }`,
	`emit parfor i in 0..n by 13 { w = sort(y[i] * rand(5000, 1, seed = 5)); iterate a = w[0, 0], r = 0 times 50 { next a = a + w[4980 + k[i] // 2 * r, 0] / f64(r); next r = r + 1 }
	   a }`,
	`emit parfor i in 0..n by 13 { w = sort(y[i] * rand(5000, 1, seed = 5)); iterate a = w[9, 0], b = k[i], r = 0 times 50 { next a = a + w[r, 0]; next b = b + 100 // (b - r - 25); next r = r + 1 }
	   a + f64(b) }`,
	`emit parfor i in 0..n { e = eigvals(diag(t(x[i, :]) / (f64(k[i]) - 2))); e[0, 0] }`,
	`emit parfor i in 0..n { L = cholesky(diag(sort(t(x[i, :]) - 0.001 * f64(i)))); L[0, 0] + f64(10 // (k[i] - 8)) }`,
	`fn guard(x) { assert x > 0.05, fmt("{} is too small", x); x }
	 emit parfor i in 0..n { w = eigvals(diag(t(x[i, :]))); guard(w[0, 0]) + guard(y[i]) }`,
	`fn guard(x) { assert x > 0.02, fmt("{} is too small", x); x }
	 emit parfor i in 0..n { w = eigvals(diag(t(x[i, :]))); if guard(w[0, 0]) > 0.5 { guard(y[i]) } else { s = sort(t(x[i, :]) * w[2, 0]); guard(s[1, 0]) } }`,
	`emit parfor i in 0..n {
	   w = eigvals(diag(t(x[i, :])))
	   assert y[i] < 0.8 or w[0, 0] < 0, "the loop that follows has no end"
	   iterate a = y[i], v = w until a < 0.8 { next a = a * 1.0; next v = sort(v * 2) }
	   a + v[0, 0]
	 }`,
}

// callData is the text before each program.
func callData(n string) string {
	return "n = " + n + "\nx = materialize(rand(n, 3, seed = 1))\ny = materialize(rand(n, 1, seed = 2))\n" +
		"k = materialize(i64(9 * rand(n, 1, seed = 3)))\nU = materialize(rand(n, 5, seed = 4))\n"
}

// TestCallBodies: operators without a form in loops are called between compiled nests, and everything
// is as the definition gives it, on threads and ranks.
func TestCallBodies(t *testing.T) {
	table := tinyTable(t)
	for _, n := range []string{"23", "270"} {
		for k, program := range callPrograms {
			if n != "23" && (k%3 > 0 || strings.Contains(program, "j in 0..i")) {
				continue // the definition takes long
			}
			text := callData(n) + program + "\n"
			before := kernels.LoopsBegun()
			if _, err := (runs{{1, 1, nil, false, ""}, {1, 3, nil, true, "FAC2"}, {2, 2, []string{"hoist", "keep"}, false, "SS"}}).differ(table, text); err != nil {
				t.Errorf("%v\nin\n%s", err, text)
			}
			if kernels.LoopsBegun() == before {
				t.Errorf("no compiled loop runs\n%s", text)
			}
		}
	}
}

// TestLoopsBesideCalls: a loop that reads all of what a call has made is compiled, one launch a point,
// where it has many rounds.
func TestLoopsBesideCalls(t *testing.T) {
	c, err := compileTiny(tinyTable(t), callData("7")+`emit parfor i in 0..n {
		w = sort(y[i] * rand(5000, 1, seed = 5))
		iterate a = w[0, 0], r = 0 times 60000 {
			next a = a * 0.5 + w[r % 5000, 0] + (if a > 1e9 { sum(w * a) } else { 0.0 })
			next r = r + 1
		}
		a
	}`+"\n", 1, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	before := kernels.LoopsBegun()
	if o := scheduled(c, 2, "SS"); o.failed || kernels.LoopsBegun()-before < 7 {
		t.Errorf("%v, and %d loops begin", o.err, kernels.LoopsBegun()-before)
	}
}

// TestLoopsReadLargeMatrices: a loop that reads a few elements a round of a large matrix of its point
// is compiled: numbers drawn before it, scaled ones, a window, in a branch and in a loop within, and
// where a point fails. Points are lanes of whole vectors.
func TestLoopsReadLargeMatrices(t *testing.T) {
	table := tinyTable(t)
	kernels.LoopsFrom(0)
	for k, body := range []string{
		`u = rand(1370, 3, seed = i)
		 iterate p = seq(0, 20), c = 0, r = 0 times 40 {
		   q = ifelse(seq(0, 20) == i64(u[r, 0] * 20), p[i64(u[r, 1] * 20)], p)
		   ok = u[7 * r, 2] > 0.4
		   next p = if ok { q } else { p + 1 }
		   next c = c + (if ok { p[3] } else { q[4] % (1 + r) })
		   next r = r + 1
		 }
		 f64(sum(p) + c)`,
		`w = y[i] * rand(4100, 1, seed = i)
		 iterate a = w[0..5], r = 0 until r > 30 + i % 7 {
		   next a = if r % 3 == 0 { w[7 * r..7 * r + 5] - a } else { iterate b = a, s = 0 times r % 4 { next b = b * 0.5 + w[4099 - s - r, 0]; next s = s + 1 }
		     b }
		   next r = r + 1
		 }
		 sum(a) - w[-1, 0]`,
		`u = randint(4100, 1, 0, 4096, seed = i)
		 iterate a = zeros(3, 1), r = 0 times 30 { next a = a + f64(u[u[r] + i % 2 * k[i]]) * x[i, 0]; next r = r + 1 }
		 sum(a)`,
	} {
		text := callData("9") + "emit parfor i in 0..n {\n" + body + "\n}\n"
		if _, err := (runs{{1, 3, nil, true, "FAC2"}, {2, 2, []string{"hoist", "keep"}, false, "SS"}}).differ(table, text); err != nil {
			t.Errorf("%v\nin\n%s", err, text)
		}
		c, err := compileTiny(table, text, 1, false, nil)
		if err != nil {
			t.Fatal(err)
		}
		if work, err := explain.InterpretedWork(c.Plan.Graph, c.Files); err != nil || len(work) > 0 {
			t.Errorf("body %d is interpreted: %+v %v", k, work, err)
		}
		// where the values tell when rounds end, a point is alone
		vector := strings.Contains(body, " times ") && !strings.Contains(body, " until ")
		g := c.Plan.Graph
		for id := range g.Nodes {
			if n := &g.Nodes[id]; n.Op.Role == op.Points {
				call := &op.Call{Def: n.Op, Attrs: n.Attrs, Type: g.Type(ir.ID(id))}
				if err := n.Enter(call); err != nil {
					t.Fatal(err)
				}
				if points, least := n.Op.Loop.Group(call); points != least || (points > 1) != vector {
					t.Errorf("%d points of body %d are computed together, at least %d; a vector is %v", points, k, least, vector)
				}
			}
		}
	}
}

// TestCallTechniques: every technique hands out bodies with calls, to 1 to 4 threads, also where a
// point in the middle fails.
func TestCallTechniques(t *testing.T) {
	table := tinyTable(t)
	for _, program := range []string{
		`emit parfor i in 0..n { w = eigvals(diag(t(x[i, :]) * y[i])); e = eigvals(w @ t(w) + eye(3)); sum(w) / e[2, 0] }`,
		`emit parfor i in 1..n-1, j in 1..4 { sort(reshape(U[i-1..i+2, j-1..j+2], 9, 1))[4, 0] - U[i, j] }`,
		`emit parfor i in 0..n { w = eigvals(diag(t(x[i, :]))); w[0, 0] + f64(10 // (i - 41)) + f64(10 // (i - 90)) }`,
	} {
		var r runs
		for _, technique := range schedule.Techniques() {
			for workers := 1; workers <= 4; workers++ {
				r = append(r, runs{{1, workers, nil, false, technique.Name}}...)
			}
		}
		if _, err := r.differ(table, callData("101")+program+"\n"); err != nil {
			t.Errorf("%v\nin\n%s", err, program)
		}
	}
}

// TestCallsOfLateFailure: a point that fails after the calls of its block leaves the others as they
// are, and the first failure is told, wherever blocks begin and end.
func TestCallsOfLateFailure(t *testing.T) {
	table := tinyTable(t)
	for _, at := range []int{0, 255, 256, 700} {
		program := fmt.Sprintf("x = materialize(rand(701, 3, seed = 1))\nemit parfor i in 0..701 { w = eigvals(diag(t(x[i, :]))); assert i != %d or w[0, 0] > 2, fmt(\"point {}\", i); w[1, 0] }\n", at)
		if _, err := (runs{{1, 1, nil, false, ""}, {1, 4, nil, false, "GSS"}}).differ(table, program); err != nil {
			t.Errorf("%v\nin\n%s", err, program)
		}
	}
}
