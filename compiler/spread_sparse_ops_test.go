package compiler_test

// This test draws programs of the operators of sparse matrices, and runs them on ranks.

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/plan"
	"flow/runtime/dist/transport/mem"
)

var sparseDraws = flag.Uint64("sparse.draws", 40, "programs that TestSparseOperatorsOnRanks draws")

// The forms of a drawn program, by what they make of n x n sparse matrices A and B, a column x and a
// scalar k.
var (
	sparseSources = []string{
		"rand_sparse(n, n, density = 0.3, seed = %d)", "rand_graph(n, 3 * n, seed = %d)", "sparse(i64(9 * rand(n, n, seed = %d)) - 4)",
		"f32(rand_sparse(n, n, density = 0.2, seed = %d))", "eye_sparse(n) * %d", "onehot(randint(n, 1, 0, n, seed = %d), n, sparse = true)",
		"ctable(randint(n, 1, 0, n, seed = %d), seq(0, n), n = n, m = n, sparse = true)", "rand_graph(n, 0, seed = %d)",
	}
	sparseMade = []string{
		"t(A)", "A * B", "A + B", "A - t(B)", "max(A, B)", "min(A, t(B))", "A @ B", "t(A) @ B", "A @ t(B)", "A * t(x)", "A * x", "x * B",
		"A or B", "A and t(B)", "abs(A)", "-A", "A * 2", "A / 4", "sqrt(abs(A))", "A != 0", "A > 0", "f64(A)", "f32(A)", "i64(round(A))", "bool(A)",
		"sparse(dense(A))", "ifelse(A > 0, B, 0)", "sparse(A * dense(B))", "sparse(diag(x))", "relu(A)", "clamp(A, 0, 1)", "A * (x > 0)",
		"upper(A)", "lower(A)", "t(A)[:, :] * B", "A[1..n, :]",
		"A[argsort(x), :]", "A[i64(floor(abs(x) * 3)) % n, :]", "A[:, i64(floor(abs(x) * 5)) % n]", "A[:, argsort(x)]", "A[-1.. by -1, :]", "A[:, -1.. by -1]", "take(A, argsort(x, desc = true))", "A[[0, 0], :]",
		"rbind(A, B)[0.. by 2, :]", "rbind(A * x, t(B), A)[n..2 * n, :] * 2", "rbind(A, sparse(dense(B)))[argsort(x), :]", "cbind(A, B)[:, 0.. by 2]",
	}
	columnsMade = []string{
		"f64(A @ x)", "f64(t(A) @ x)", "rowsum(A) * 1.0", "rowmax(A) * 1.0", "rowmin(A * t(x)) * 1.0", "rowmax(A * t(seq(0, n))) * 1.0", "rowmean(A) * 1.0", "rowcount(A) * 0.5",
		"rowany(A) * 1.0", "rowall(A) * 1.0", "rownorm(A) * 1.0", "rowvar(A) * 1.0", "rowstddev(A) * 1.0", "rowprod(A) * 1.0", "t(colsum(A)) * 1.0", "t(colmax(A)) * 1.0", "t(colcount(A)) * 1.0", "t(colmean(A)) * 1.0",
		`min(semiring(A * 1.0, x, "min +"), 9)`, `min(9, max(-9, semiring(A * 1.0, x, "max *")))`, `semiring(A != 0, x > 0.4, "or and") * 0.5`, `max(semiring(A != 0, seq(3, n + 3), "max *"), 0) * 1.0`,
		`max(-5, semiring(f64(A), x, "max +"))`, `min(5, semiring(f64(A), x, "min *"))`,
		"diag(A) * 1.0", "dense(A)[:, 0..1] * 1.0", "dense(A[:, 0..1]) * 1.0", "A @ (B @ x) * 1.0", "x + sum(A) * 0.25", "x * A[0, n - 1]", "x + nnz(A)", "t(t(x) @ A) * 1.0", "rowargmax(A) * 0.5", "rowargmin(A) * 0.5",
		"rowsum(exp(A * 0.1)) * 0.01", "rowmax(ifelse(A > 0, x, t(x)))", "rowsum(A ^ 2 == x) * 1.0", "rowmean(A * 1.5 + dense(B) * x - t(x)) * 0.1", "rowsum(t(A) @ dense(B)) * 0.1",
		"t(colsum(A * (B @ cbind(x, x / 2))[:, 0])) * 0.1", "rowmax(A * (t(B) @ cbind(x, x))[:, 1]) * 1.0", "rowmax(A @ dense(B)) * 1.0", "rowsum(dense(A) @ B) * 1.0", "parfor i in 0..n { f64(sum(A[i, :])) }", "parfor i in 0..n { x[n - 1 - i, 0] / 2 }",
		"t(colsum(A[x > 0, :])) * 1.0", "rowsum(A[:, x > 0.2]) * 1.0", "rowsum(A[:, 1.. by 2]) * 1.0", "t(colsum(A[0.. by 2, :] * 2)) * 1.0", "t(f64(A[argmax(x), :]) * t(x)) @ [[1.0]]",
		"parfor i in 0..n { f64(A[i, (i * 3) % n]) }", "parfor i in 0..n { f64(sum(A[n - 1 - i, :] * B[i, :])) }", "parfor i in 0..n { f64(max(A[:, i])) }",
	}
	scalarsMade = []string{
		"sum(A)", "max(A)", "min(A)", "mean(A)", "count(A)", "any(A)", "all(A)", "norm(A)", "var(A)", "stddev(A)", "nnz(A)", "A[n // 2, n - 1]", "A[argmax(x), argmin(x)]", "sum(A[0..argmax(x), :])", "sum(A[argmax(x).., 0..argmin(x)] * 2)", "nnz(A[x > 0, :])", "sum(rbind(A, B))", "nnz(rbind(A[1.., :], B))", "sum(x)", "prod(A)", "nunique(A)", "argmax(A)",
	}
)

// sparseOperatorsProgram draws a program. Lines that do not compile are left out.
func sparseOperatorsProgram(table *op.Table, rng *rand.Rand) string {
	sparse, columns := []string{"S0", "S1"}, []string{"x0"}
	one := func(list []string) string { return list[rng.IntN(len(list))] }
	fill := func(form string) string {
		return strings.NewReplacer("max", "max", "A", one(sparse), "B", one(sparse), "x", one(columns)).Replace(form)
	}
	text := fmt.Sprintf("n = %d\nx0 = rand(n, 1, seed = 5) - 0.3\n", 2+rng.IntN(24))
	for k := range 2 {
		text += fmt.Sprintf("S%d = "+one(sparseSources)+"\n", k, 1+rng.IntN(99))
	}
	add := func(format string, args ...any) bool {
		more := text + fmt.Sprintf(format, args...)
		_, err := compileTiny(table, more, 1, false, nil)
		if err == nil {
			text = more
		}
		return err == nil
	}
	for k := range 3 + rng.IntN(4) {
		if rng.IntN(2) == 0 {
			if name := fmt.Sprint("S", k+2); add("%s = %s\n", name, fill(one(sparseMade))) {
				sparse = append(sparse, name)
			}
		} else if name := fmt.Sprint("x", k+2); add("%s = %s\n", name, fill(one(columnsMade))) {
			columns = append(columns, name)
		}
	}
	if rng.IntN(4) > 0 {
		first := one(columns)
		columns = append(columns, "v", "v")
		head := one([]string{"times 2 {", "until k == 2 {", "times 3 with (unroll = 0) {"})
		for range 9 {
			if add("iterate v = %s, k = 0 %s\n  w = %s\n  next v = v / 4 + clamp(f64(w), -8, 8) + f64(f64(%s) @ v)\n  next k = k + 1\n}\nemit v\n", first, head, fill(one(columnsMade)), one(sparse)) {
				break
			}
		}
	}
	for range 3 {
		add("emit %s\n", fill(one(scalarsMade)))
	}
	add("emit %s\n", fill(one(columnsMade)))
	add("emit %s\n", one(sparse))
	return text
}

// sharedOperators adds the sparse operators whose rows ranks share.
func sharedOperators(g *ir.Graph, met map[string]bool) {
	for i := range g.Nodes {
		n := &g.Nodes[i]
		if strings.HasPrefix(n.Op.Name, "sp.") && n.Attrs.Int(plan.Shared) > 0 {
			met[n.Op.Name] = true
		}
		for r := n.Region; r != nil; r = r.Next {
			sharedOperators(r.Graph, met)
		}
	}
}

func TestSparseOperatorsOnRanks(t *testing.T) {
	table, met := tinyTable(t), map[string]bool{}
	for seed := range *sparseDraws {
		text := sparseOperatorsProgram(table, rand.New(rand.NewPCG(seed, 81)))
		c, err := compiledOnce(table, text, 3, false, apart)
		if err != nil {
			t.Fatalf("seed %d: %v\nin\n%s", seed, err, text)
		}
		sharedOperators(c.Plan.Graph, met)
		if _, err := (runs{{1, 1, nil, false, ""}, {3, 1, apart, false, ""}, {2, 2, nil, true, "FAC2"}, {5, 1, nil, false, "SS"}, {16, 1, apart, false, ""}}).some(uint64(seed)).differ(table, text); err != nil {
			t.Errorf("seed %d: %v\nin\n%s", seed, err, text)
		}
	}
	if len(met) < 12 {
		t.Errorf("ranks share %d operators: %v", len(met), slices.Sorted(maps.Keys(met)))
	}
}

// Chains at the entries of a sparse matrix are shared by rows, with operands of each shape.
func TestChainsAtEntriesOnRanks(t *testing.T) {
	table := tinyTable(t)
	for _, chain := range []string{"rowsum(S * exp(S + c + w) / (D + 1))", "t(S * abs(S - D)) @ c", "rowsum(S ^ 3)", "count(S > 0.1)", "rowsum(S * (S > 0.5))",
		"rowmin(0.5 - S)", "rowsum(S - c[0, 0])", "S * (D - W @ H)", "rowmax(S / (D + W @ H))", "S * (W @ H)",
		"S * (S @ R)", "sum((S @ t(S)) * (S @ sparse(t(D))))"} {
		text := "S = rand_sparse(60, 40, 0.05, seed = 1)\nD = rand(60, 40, seed = 3)\nc = rand(60, 1, seed = 4)\nw = rand(1, 40, seed = 5) - 0.5\nW = rand(60, 3, seed = 6)\nH = rand(3, 40, seed = 7)\n" +
			"R = rand_sparse(40, 40, 0.1, seed = 8)\n" +
			"emit " + chain + "\n"
		c, err := compiledOnce(table, text, 3, false, apart)
		if err != nil {
			t.Fatal(err)
		}
		met := map[string]bool{}
		if sharedOperators(c.Plan.Graph, met); !met["sp.map"] && !met["sp.times"] || strings.Contains(chain, " @ ") && !strings.HasSuffix(chain, "@ c") && !met["sp.times"] || strings.HasPrefix(chain, "rowmin") && !met["sp.rowmin.beside"] {
			t.Errorf("%s: ranks share %v", chain, slices.Sorted(maps.Keys(met)))
		}
		if _, err := (runs{{1, 1, nil, false, ""}, {3, 1, apart, false, ""}, {2, 2, nil, true, "FAC2"}, {5, 1, apart, false, ""}}).differ(table, text); err != nil {
			t.Errorf("%v\nin\n%s", err, text)
		}
	}
}

// Ranks share the rows of a product of a dense matrix and a sparse one, and the columns if there are
// few rows. They do not bring the dense matrix together.
func TestDenseTimesSparseOnRanks(t *testing.T) {
	table := tinyTable(t)
	for _, text := range []string{
		"X = rand(60, 8, seed = 1) * 2\nS = rand_sparse(8, 5, 0.4, seed = 2)\nY = X @ S\nemit colsum(Y)\nemit max(Y - X[:, 0])\n",
		"X = rand(60, 8, seed = 1)\nS = rand_sparse(8, 5, 0.4, seed = 2)\niterate Z = zeros(60, 5), r = 0 times 4 {\n  next Z = Z * 0.5 + (X + r) @ S\n  next r = r + 1\n}\nemit Z\n",
		"W = rand(60, 3, seed = 1)\nS = rand_sparse(60, 40, 0.1, seed = 2)\niterate V = W times 3 {\n  H = t(V) @ S\n  next V = S @ t(H) / 9 + V\n}\nemit V\n",
	} {
		c, err := compiledOnce(table, text, 3, false, apart)
		if err != nil {
			t.Fatal(err)
		}
		met := map[string]bool{}
		if sharedOperators(c.Plan.Graph, met); !met["sp.matmul"] || fetchesIn(c.Plan.Graph) > 0 && !strings.Contains(text, "t(V)") {
			t.Errorf("ranks share %v and bring rows together in\n%s", slices.Sorted(maps.Keys(met)), text)
		}
		if _, err := (runs{{1, 1, nil, false, ""}, {3, 1, apart, false, ""}, {2, 2, nil, true, "FAC2"}, {5, 1, apart, false, ""}}).differ(table, text); err != nil {
			t.Errorf("%v\nin\n%s", err, text)
		}
	}
}

// Each rank reads its own rows of a sparse matrix for the diagonal, so no entries are sent for it.
func TestDiagonalsOnRanks(t *testing.T) {
	table := tinyTable(t)
	for _, text := range []string{
		"S = rand_sparse(60, 60, 0.3, seed = 1)\nemit sum(diag(S) * 2)\nemit diag(max(S, 0.5 * S))\n",
		"S = f64(rand_graph(50, 900, seed = 1))\nemit norm(diag(S))\nemit rowsum(S * diag(S))\n",
	} {
		c, err := compiledOnce(table, text, 3, false, apart)
		if err != nil {
			t.Fatal(err)
		}
		met, whole := map[string]bool{}, 0
		sharedOperators(c.Plan.Graph, met)
		for i := range c.Plan.Graph.Nodes {
			if n := &c.Plan.Graph.Nodes[i]; n.Op.Name == "sp.collect" {
				whole++
			}
		}
		if !met["sp.diag"] || whole > 0 {
			t.Errorf("ranks share %v and join %d sparse matrices in\n%s", slices.Sorted(maps.Keys(met)), whole, text)
		}
		if _, err := (runs{{1, 1, nil, false, ""}, {3, 1, apart, false, ""}, {2, 2, nil, true, "FAC2"}, {5, 1, apart, false, ""}}).differ(table, text); err != nil {
			t.Errorf("%v\nin\n%s", err, text)
		}
	}
}

// Ranks merge states of the columns of a tall sparse matrix. If states take more bytes than entries, or
// zeros count, they transpose it.
func TestSumsOfSparseColumns(t *testing.T) {
	const tall = "S = rand_sparse(60000, 40, 0.2, seed = 1)\n"
	for text, transposes := range map[string]bool{
		tall + "emit colsum(S)\nemit colmean(S * 1e200 - S)\nemit colcount(sparse(S * 2))\nemit colsum(bool(S))\nemit colsum(f32(S))": false,
		tall + "emit colmax(S)": true,
		"S = rand_sparse(60000, 60000, 0.00005, seed = 1)\nemit colsum(S)[0, 7..9]": true,
	} {
		var outs []string
		for _, ranks := range []int{1, 3} {
			r := compiledFor(t, text, ranks)
			out, err := runOver(mem.New(ranks, mem.Options{}), r, 1)
			if err != nil {
				t.Fatal(err)
			}
			outs = append(outs, out)
			met := map[string]bool{}
			if sharedOperators(r.Plan.Graph, met); ranks > 1 && (met["sp.t"] != transposes || met["sp.colsum.part"] == transposes) {
				t.Errorf("ranks share %v in\n%s", slices.Sorted(maps.Keys(met)), text)
			}
		}
		if outs[0] != outs[1] {
			t.Errorf("%s in\n%s", difference(outs[0], outs[1]), text)
		}
	}
}

// Ranks share the rows of what a round makes of sparse matrices alone: it is made before the loop.
func TestSparseInvariantsOnRanks(t *testing.T) {
	for _, made := range []string{"rbind(S, S * 2)[0.. by 2, :] @ z", "rbind(S[0.. by 2, :] @ z, x[0..50000, :])", "cbind(S, S) @ rbind(z, z)", "rbind(S[50000.., :] @ z, x[0..50000, :])", "S @ (z / (1 + rowsum(S)))", "upper(S) @ z + lower(S) @ x", "S @ z + t(S) @ x"} {
		text := "S = rand_sparse(100000, 100000, 0.0002, seed = 5)\nx = rand(100000, 1, seed = 6)\niterate z = x times 20 { next z = (" + made + ") / 100 }\nemit sum(z)"
		for _, x := range plan.Layouts(compiledFor(t, text, 3).Plan) {
			if x.Where == "rank 0" {
				t.Errorf("%s: rank 0 alone has %s", made, x.Op)
			}
		}
	}
}
