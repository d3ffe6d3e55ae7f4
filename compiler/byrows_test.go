package compiler_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"flow/compiler"
	"flow/compiler/nodes"
	"flow/ir"
	"flow/ir/op"
	"flow/kernels"
)

// byRowsBodies are functions of the rows of X, of one column y, of a row w and of a wider matrix Z:
// each is a group of row-blocks.
var byRowsBodies = []string{
	"E = exp(X - rowmax(X))\nemit E / rowsum(E)",
	"E = exp(X)\nP = E / rowsum(E)\nemit P\nemit sum(P * log(P + 1e-9))\nemit max(P)",
	"emit X / rownorm(X)",
	"C = X - rowmean(X)\nemit C / sqrt(rowmean(C ^ 2) + 1e-9)",
	"emit (X - rowmean(X)) / rowstddev(X) + w",
	"s = rowsum(X * w)\nemit X * s - y\nemit sqrt(s)\nemit rowmin(X) + s",
	"E = exp(-abs(X - rowmin(X)))\nemit E\nemit E * rowsum(E) + y\nemit rowmean(E * 2)",
	"emit X / rowsum(abs(X) ^ 150)",
	"V = materialize(10.0 ^ (400 * (w - 0.5)))\nA = X * V\nemit X / rowsum(A)\nemit X * rownorm(A)",
	"V = materialize(10.0 ^ (400 * (w - 0.5)))\nA = X * V\nB = X / rowsum(A)\nemit B\nemit sum(B * V - A)",
	"emit rowsum((X - rowsum(X * 1e300)) * 1e-250)\nemit rowsum(X * 1e300) * X",
	"F = f32(X)\nE = exp(F - rowmax(F))\nemit E / rowsum(E)",
	"B = X > rowmean(X)\nemit rowcount(B)\nemit f64(B) - f64(rowcount(B))",
	"K = materialize(i64(9 * X))\nemit K - rowmax(K)\nemit sum(K - rowmin(K))",
	"r = rowmax(X)\nemit Z - r\nemit (X - r) / rowsum(Z - r)",
	"V = X - w\nj = rowargmax(V)\nemit j\nemit rowmax(ifelse(t(seq(0, X.cols)) == j, -inf, V)) + y",
	"K = materialize(i64(9 * X))\nj = rowargmin(K)\nW = ifelse(t(seq(0, X.cols)) < j, K, 9 - K)\nemit rowargmax(W)\nemit rowsum(W)",
	"F = materialize(replace(replace(floor(4 * X), 3, nan), 0, -0.0))\nj = rowargmin(F)\nemit rowargmax(F * (j + 1))\nemit rowmin(ifelse(t(seq(0, X.cols)) == j, F + 1, F))",
}

// TestByRows: reductions of rows and what is made of their results give what the definition gives,
// as loops over rows. Wide rows run by phases.
func TestByRows(t *testing.T) {
	table := tinyTable(t)
	for _, cols := range []int{3, 16, 131} {
		for _, body := range byRowsBodies {
			text := fmt.Sprintf("X = materialize(rand(61, %[1]d, seed = 1))\nZ = materialize(rand(61, %[2]d, seed = 4))\ny = materialize(rand(61, 1, seed = 2))\nw = materialize(rand(1, %[1]d, seed = 3))\n%[3]s\n",
				cols, cols+2, body)
			before, rows := kernels.LoopsBegun(), kernels.RowsBegun()
			if _, err := (runs{{1, 1, nil, false, ""}, {1, 3, nil, true, "FAC2"}, {2, 2, []string{"row-blocks"}, false, "SS"}}).differ(table, text); err != nil {
				t.Errorf("%v\nin\n%s", err, text)
			}
			if strings.Contains(body, "Z") && cols == 16 { // 18 columns
				continue
			}
			if kernels.LoopsBegun() == before || cols > 100 && kernels.RowsBegun() == rows {
				t.Errorf("no loop over rows runs\n%s", text)
			}
		}
	}
}

// TestColumnsByRows: reductions of the columns of narrow rows beside a column are lanes of rows,
// alone and with what makes the rows. What reads such a sum comes after the group. Without a
// column, and on several ranks, pipes reduce columns.
func TestColumnsByRows(t *testing.T) {
	table := tinyTable(t)
	for _, p := range []struct {
		body          string
		ranks, groups int
	}{
		{"emit colsum(X * y)", 1, 1},
		{"emit colsum(X + 1)", 1, 0},
		{"emit colsum(X * y)", 2, 0},
		{"P = X / rowsum(X)\nemit colsum(P)\nemit colmean(P * y)", 1, 1},
		{"P = X / rowsum(X)\nemit colsum(P * colsum(P))\nemit colvar(P * y)", 1, 1},
		{"emit colvar(X * y)\nemit colargmin(X - y)", 1, 1},
		{"E = exp(X)\nP = E / rowsum(E)\nn = colsum(P)\nemit colsum(P * y) / n\nemit P + y", 1, 1},
		{"P = X / rowsum(X)\nemit colmean(P)\nemit colvar(P * y)\nemit colmax(P)\nemit colmin(P - y)\nemit colcount(P > y)\nemit colnorm(P)\nemit sum(P)", 1, 1},
		{"E = exp(900 * (X - y))\nP = E / rowsum(E)\nemit colsum(P)\nemit colstddev(E)", 1, 1},
		{"L = materialize(i64(9 * X))\nK = L - rowmax(L)\nemit colsum(K)\nemit colmean(K)\nemit colany(K > 0)", 1, 1},
		{"F = f32(X)\nP = F / rowsum(F)\nemit colsum(P)\nemit colmean(P * f32(y))", 1, 1},
	} {
		for _, cols := range []int{2, 16, 17} {
			text := fmt.Sprintf("X = materialize(rand(61, %d, seed = 1))\ny = materialize(rand(61, 1, seed = 2))\n%s\n", cols, p.body)
			c, err := compileTiny(table, text, p.ranks, p.ranks > 1, nil)
			if err != nil {
				t.Fatal(err)
			}
			want := p.groups
			if cols > 16 {
				want = 0
			}
			if n := strings.Count(c.Plan.Graph.String(), "= byrows("); n != want {
				t.Errorf("%d groups of rows on %d ranks, not %d, of\n%s%s", n, p.ranks, want, text, c.Plan.Graph)
			}
			if _, err := (runs{{1, 1, nil, false, ""}, {1, 3, nil, true, "FAC2"}, {2, 2, []string{"row-blocks"}, false, "SS"}}).differ(table, text); err != nil {
				t.Errorf("%v\nin\n%s", err, text)
			}
		}
	}
}

// TestOrderedByRows: statistics of narrow rows that no chain ends with run in the lanes of a loop over
// rows, beside others and alone. Rows of 65 columns have operators, and products of 17.
func TestOrderedByRows(t *testing.T) {
	table := tinyTable(t)
	products := map[string]bool{"emit rowprod(X)": true, "emit rowprod(1 + f64(X) * w)\nemit rowargmin(X)": true}
	for _, body := range []string{
		"emit rowmedian(X)", "emit rowquantile(X, 0.3)", "emit rownunique(X)", "emit rowprod(X)",
		"m = rowmedian(X)\nemit rowmedian(abs(X - m))\nemit m", "emit rowprod(1 + f64(X) * w)\nemit rowargmin(X)",
		"emit f64(X) * f64(rowquantile(X, 0.9)) - rowprod(X > 0.4)",
	} {
		for _, x := range []string{"rand(%d, %d, seed = 1)", "i64(5 * rand(%d, %d, seed = 1))", "f32(rand(%d, %d, seed = 1))", "rand(%d, %d, seed = 1) < 0.5",
			"replace(replace(f64(i64(5 * randn(%d, %d, seed = 1))), 2, nan), 0, -0.0)"} {
			for _, cols := range []int{2, 5, 17, 64, 65} {
				text := fmt.Sprintf("X = materialize("+x+")\nw = materialize(rand(1, %d, seed = 3))\n%s\n", 61, cols, cols, body)
				if _, err := (runs{{1, 1, nil, false, ""}, {1, 3, nil, true, "FAC2"}, {2, 2, []string{"row-blocks"}, false, "SS"}}).differ(table, text); err != nil {
					t.Errorf("%v\nin\n%s", err, text)
				}
				c, err := compileTiny(table, text, 1, false, nil)
				if err != nil {
					t.Fatal(err)
				}
				if byRows := strings.Contains(c.Plan.Graph.String(), "= byrows("); byRows != (cols <= 64 && (cols <= 16 || !products[body])) {
					t.Errorf("a loop over rows %v in\n%s", byRows, text)
				}
			}
		}
	}
}

// TestColumnsBesideWideRows: in loops over wide rows no column is made anew for each vector of a row.
// Columns that follow from no row are made before; what a row gives is made with it.
func TestColumnsBesideWideRows(t *testing.T) {
	table := tinyTable(t)
	for _, p := range []struct {
		body         string
		loop, within bool // whether there is a loop over rows, and whether it makes the cosine
	}{
		{"emit cos(y) * cos(w) * sin((w - y) / 2)", false, false},
		{"emit X * cos(y) + rowmax(X)", true, false},
		{"emit X * cos(y) - cos(rowmax(X * sin(y)))", true, true},
		{"emit X - cos(rowmax(X))", true, true},
	} {
		text := "X = materialize(rand(61, 131, seed = 1))\ny = materialize(rand(61, 1, seed = 2))\nw = materialize(rand(1, 131, seed = 3))\n" + p.body + "\n"
		c, err := compileTiny(table, text, 1, false, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, of, loop := strings.Cut(c.Plan.Graph.String(), "= byrows(")
		of, _, _ = strings.Cut(of, "\n  }")
		if within := strings.Contains(of, "cos("); loop != p.loop || within != p.within {
			t.Errorf("%s: a loop over rows %v, a cosine in it %v:\n%s", p.body, loop, within, c.Plan.Graph)
		}
		if _, err := (runs{{1, 1, nil, false, ""}, {1, 3, nil, true, "FAC2"}, {2, 2, []string{"row-blocks"}, false, "SS"}}).differ(table, text); err != nil {
			t.Errorf("%v\nin\n%s", err, text)
		}
	}
}

// TestDrawnByRows: rows that are drawn, and what is made of their reductions.
func TestDrawnByRows(t *testing.T) {
	table := tinyTable(t)
	bodies := append([]string{"emit max(rowsum(X ^ 2) * 2 - 1)", "emit count(rowmax(X * w) > y)\nemit 1.0", "s = rowstddev(X + y)\nemit sum(s ^ 2)\nemit s",
		"emit mean(exp(-rowsum(abs(X - 0.5))))", "V = materialize(10.0 ^ (400 * (w - 0.5)))\nemit max(log(rowsum(X * V)))"}, byRowsBodies[:6]...)
	for _, made := range []string{"rand", "randn", "0.5 * rand", "randint"} {
		for _, cols := range []int{2, 7, 131} {
			for _, body := range bodies {
				bounds := ""
				if made == "randint" {
					bounds = ", -3, 900"
				}
				text := fmt.Sprintf("X = %[2]s(61, %[1]d%[3]s, seed = 1)\ny = materialize(rand(61, 1, seed = 2))\nw = materialize(rand(1, %[1]d, seed = 3))\n%[4]s\n", cols, made, bounds, body)
				if _, err := (runs{{1, 1, nil, false, ""}, {1, 3, nil, true, "FAC2"}, {2, 2, nil, false, "SS"}}).some(uint64(len(text))).differ(table, text); err != nil {
					t.Errorf("%v\nin\n%s", err, text)
				}
			}
		}
	}
}

// TestReductionsOfOneColumn: the result of the rows of one column may lie in the memory of that column.
// Another reduction of the column reads its elements nevertheless.
func TestReductionsOfOneColumn(t *testing.T) {
	table := tinyTable(t)
	names := strings.Fields("rowsum rowmean rowmin rowmax rowvar rowstddev rownorm")
	for i, a := range names {
		for _, b := range names[i+1:] {
			text := fmt.Sprintf("x = materialize(rand(61, 1, seed = 1) - 1)\nemit %s(x)\nemit %s(x)\n", a, b)
			if _, err := (runs{{1, 1, nil, false, ""}, {1, 3, nil, true, "FAC2"}}).differ(table, text); err != nil {
				t.Errorf("%v\nin\n%s", err, text)
			}
		}
	}
}

// outerBodies are functions of columns x and z of n elements, of a column y and of a row w of m
// elements, whose matrices no loop has to store.
var outerBodies = []string{
	"K = exp(-(x - w) ^ 2)\nemit K @ y\nemit rowsum(K)",
	"emit (1 / (1 + abs(x - w))) @ y",
	"K = exp(-(x - t(x)) ^ 2 - (z - t(z)) ^ 2)\nemit K @ x / rowsum(K)",
	"K = (x - w) * t(y)\nemit z - K @ y\nemit rowmin(K)\nemit rowmax(K ^ 2)",
	"K = x - w\nemit rowmean(K)\nemit rownorm(K)\nemit rowvar(K * z)\nemit rowstddev(K + 1)",
	"K = 10.0 ^ (300 * (x - w)) * t(y)\nemit rowsum(K)\nemit K @ y\nemit rownorm(K)",
	"K = 1 / (i64(9 * x) - i64(9 * w))\nemit rowsum(K)\nemit K @ y\nemit rowmax(K)\nemit rowmin(K * t(y))",
	"K = f32(x) - f32(w)\nemit abs(K) @ f32(y)\nemit rowsum(K ^ 2)\nemit rowmean(K)",
	"K = i64(9 * x) * i64(9 * w)\nemit rowsum(K)\nemit rowmax(K - 1)\nemit rowcount(K > 20)\nemit rowargmax(K)",
	"K = x - w\nE = exp(K - rowmax(K))\nemit rowsum(E)\nemit E @ y",
	"K = exp(-9 * (x - w) ^ 2)\nemit (K / rowsum(K)) @ cbind(y, t(w), y * y)\nemit rowmax(K)",
	"U = cbind(x, z, x * z)\nD = rowsum(U ^ 2) + rowmean(x - w) - 2 * U @ rbind(w, w ^ 2, 1 - w)\nP = exp(rowmin(D) - D)\nemit z * cbind(x, z) - (P / rowsum(P)) @ cbind(y, y ^ 2)",
	"K = parfor i in 0..x.rows, j in 0..w.cols { exp(-(x[i] - w[0, j]) ^ 2) * f64(i + 2 * j) }\nemit K @ y\nemit rowsum(K) / rowmax(K)",
	"U = cbind(z, t(w)[0..1, :] * z)\nK = parfor i in 0..x.rows, j in 0..w.cols { abs(U[i, 1] - y[j]) }\nL = parfor i in 0..x.rows, j in 0..w.cols { K[i, j] * z[i] - w[0, j] }\nemit y.rows * rowsum(L)\nemit L @ y\nemit rownorm(K)",
	"emit rowsum(10.0 ^ (300 * (x - w)))",
	"emit rowargmin(abs(x - w))",
	"D = (i64(4 * x) - i64(4 * w)) % 2\nemit rowargmin(D)\nemit rowargmax(f32(D))\nemit rowargmax(D / D)\nemit rowargmin(D > 0)\nemit rowargmin(D * t(y) * 0)",
	"U = cbind(x, z, x * z)\nD = rowsum(U ^ 2) - 2 * U @ rbind(w, w ^ 2, 1 - w)\nemit rowargmin(D)\nemit rowargmax(D)\nemit rowmin(D)",
	longProduct,
	longPlaces,
	longTwice,
}

// These read a product of narrow rows; longTwice reads it several times. A row may be longer than
// the memory of the lanes.
const (
	longProduct = "U = cbind(x, z, x * z)\nemit rowmean(exp(U @ rbind(w, w ^ 2, 1 - w) - z))"
	longTwice   = "K = exp(cbind(x, z) @ rbind(w, 1 - w))\nemit (K / rowsum(K)) @ y\nemit rowargmin(K)\nemit rowmax(K)"
	longPlaces  = "U = cbind(x, z, x * z)\nemit rowargmin(z - 2 * U @ rbind(w, w ^ 2, 1 - w))"
)

// isLoop reports whether one compiled loop computes all byrows of a graph.
func isLoop(t *testing.T, g *ir.Graph) bool {
	for i := range g.Nodes {
		if n := &g.Nodes[i]; n.Op.Name == "byrows" {
			c := &op.Call{Def: n.Op, Attrs: n.Attrs, Type: g.Type(ir.ID(i))}
			if err := n.Enter(c); err != nil {
				t.Fatal(err)
			}
			if loops, _ := n.Op.Nests(c, nil); len(loops) == 0 {
				return false
			}
		}
	}
	return true
}

// TestOuterByRows: sums and products of rows that are made of rows and columns run in lanes of rows,
// and no matrix is stored.
func TestOuterByRows(t *testing.T) {
	table := tinyTable(t)
	text := func(n, m int, body string) string {
		return fmt.Sprintf("x = materialize(rand(%[1]d, 1, seed = 1))\nz = materialize(rand(%[1]d, 1, seed = 4))\nw = materialize(rand(1, %[2]d, seed = 2))\n"+
			"y = materialize(randn(%[2]d, 1, seed = 3))\n%[3]s\n", n, m, body)
	}
	compile := func(text string, ranks int, disable ...string) *compiler.Result {
		c, ds := compiler.Compile(t.Context(), "x.flow", []byte(text), compiler.Options{Table: table, Ranks: ranks, Disable: disable, Verify: true, Sizes: nodes.Sizes{Block: 16, Spread: 1}})
		if ds.HasErrors() {
			t.Fatalf("%v\nin\n%s", ds, text)
		}
		return c
	}
	for _, size := range [][2]int{{64, 130}, {131, 131}, {64, 4200}} {
		for _, body := range outerBodies {
			if size[0] < 128 && strings.Contains(body, "t(x)") || size[1] > 1000 && !slices.Contains([]string{longProduct, longPlaces, longTwice}, body) {
				continue
			}
			text := text(size[0], size[1], body)
			want := evaluated("the meaning", compile(text, 1).Program)
			for _, ranks := range []int{1, 3} {
				c := compile(text, ranks)
				if n := strings.Count(c.Plan.Graph.String(), "lanes=true"); n != 1 {
					t.Errorf("%d loops whose lanes are rows of\n%s\n%s", n, text, c.Plan.Graph)
				}
				if !isLoop(t, c.Plan.Graph) {
					t.Errorf("no loop computes\n%s", text)
				}
				for _, o := range []outcome{evaluated("the plan", c.Plan.Graph), scheduled(c, 2, "FAC2")} {
					if o.failed || o.out != want.out {
						t.Errorf("%d ranks: %s gives %v\n%s\nin\n%s", ranks, o.how, o.err, difference(want.out, o.out), text)
					}
				}
			}
			if o := scheduled(compile(text, 1, "outer-rows"), 2, "SS"); o.out != want.out {
				t.Errorf("without outer-rows\n%s\nin\n%s", difference(want.out, o.out), text)
			}
		}
	}
	for _, body := range []string{
		"K = x - w\nemit K @ y\nemit K", // K is a result
		"K = parfor i in 0..70, j in 0..300 { x[i] - w[0, j] }\nemit rowsum(K)\nemit K @ y\nemit K[0, 0]", // a place of it
		"X = materialize(rand(70, 300, seed = 5))\nK = X - x\nemit K @ y",                                 // a matrix in memory
		"emit (x - w)[0..20, :] @ y",                                          // few rows
		"K = x - w\nemit rowsum(abs(K))\nemit rowmax(K)",                      // cheap elements, none stored
		"emit t(rand(300, 70, seed = 6) - t(x)) @ y\nemit rowsum(x - w)",      // nothing but a pipe
		"K = x - w\nemit K @ y\nemit colsum(K)\nemit rowmedian(K)\nemit t(K)", // columns
	} {
		if g := compile(text(70, 300, body), 1).Plan.Graph.String(); strings.Contains(g, "lanes=true") {
			t.Errorf("a loop whose lanes are rows of\n%s\n%s", body, g)
		}
	}
}

// loopless returns an error for a task over rows that has no loop. Such tasks contain nothing that no
// loop makes, such as the state that a block of rows adds to a sum.
func loopless(table *op.Table, g *ir.Graph) error {
	for i := range g.Nodes {
		n := &g.Nodes[i]
		if n.Op != table.Must("byrows") {
			continue
		}
		call := &op.Call{Def: n.Op, Attrs: n.Attrs, Type: g.Type(ir.ID(i))}
		if err := n.Enter(call); err != nil {
			return err
		}
		if list, why := n.Op.Nests(call, nil); len(list) == 0 || why != "" {
			return fmt.Errorf("a task over rows has no loop, because of %s: node %d", why, i)
		}
	}
	return nil
}

// TestLongRows: rows beyond 2^15 columns run by rows where there are 64 of them, and rows beyond 2^18
// never.
func TestLongRows(t *testing.T) {
	table := tinyTable(t)
	for _, p := range []struct {
		rows, cols int
		want       bool
	}{{64, 1<<15 + 1, true}, {63, 1<<15 + 1, false}, {63, 1 << 15, true}, {64, 1 << 18, true}, {64, 1<<18 + 1, false}} {
		for _, body := range []string{"E = exp(900 * (X - rowmax(X)))\nemit max(E / rowsum(E))", "emit max(rowsum(exp(-900 * (y - w) ^ 2)))"} {
			made := !strings.Contains(body, "X")
			text := fmt.Sprintf("X = materialize(rand(%[1]d, %[2]d, seed = 1))\ny = materialize(rand(%[1]d, 1, seed = 2))\nw = materialize(rand(1, %[2]d, seed = 3))\n%[3]s\n", p.rows, p.cols, body)
			c, ds := compiler.Compile(t.Context(), "x.flow", []byte(text), compiler.Options{Table: table, Verify: true})
			if ds.HasErrors() {
				t.Fatalf("%v\nin\n%s", ds, text)
			}
			if got, want := strings.Contains(c.Plan.Graph.String(), "= byrows("), p.want && (p.rows >= 64 || !made); got != want {
				t.Errorf("a loop over rows %v in\n%s\n%s", got, text, c.Plan.Graph)
			}
		}
	}
}
