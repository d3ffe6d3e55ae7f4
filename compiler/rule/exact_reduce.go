package rule

// This file defines the exact rules of reductions. Float sums are exact sums rounded once, so the
// order of elements never matters. But a sum of rounded sums is rounded twice, and an exact sum of
// only -0 is 0.

// linewise lists the words with a form by rows and one by columns.
var linewise = []string{"sum", "mean", "norm", "count", "any", "all", "min", "max", "argmin", "argmax", "var", "stddev", "nunique", "median", "prod"}

// foldedRows lists the reductions of rows that sp.rowfold makes, and the product of its factors.
var foldedRows = [][2]string{{"max", "mul"}, {"min", "mul"}, {"sum", "mul"}, {"any", "and"}}

func reductions() []Rule {
	var folded []string
	for _, w := range foldedRows {
		to := ")!) -> sp.rowfold(a, x){of=\"" + w[0] + "\"}"
		folded = append(folded, "sp.row"+w[0]+"(sp."+w[1]+"(a, x"+to, "sp.row"+w[0]+"(sp."+w[1]+"(x, a"+to)
	}
	var mirrored []string
	for _, w := range linewise {
		mirrored = append(mirrored, "row"+w+"(t(x)) -> t(col"+w+"(x))", "col"+w+"(t(x)) -> t(row"+w+"(x))")
	}
	var stored []string
	for _, w := range []string{"sum", "mean", "norm", "count", "any", "all", "min", "max"} {
		for _, by := range []string{"", "row", "col"} {
			stored = append(stored, by+w+"(sp.dense(x)) -> sp."+by+w+"(x)")
		}
	}
	const chosen = "pick.rows(x, places(c, n){axis=0})"
	var masked []string
	for _, by := range []string{"", "col"} {
		masked = append(masked, by+"sum("+chosen+") -> "+by+"sum(ifelse(c, x, 0))", by+"norm("+chosen+") -> "+by+"norm(ifelse(c, x, 0))",
			by+"count("+chosen+") -> "+by+"count(and(c, bool(x)))", by+"any("+chosen+") -> "+by+"any(and(c, bool(x)))",
			by+"all("+chosen+") -> "+by+"all(or(not(c), bool(x)))")
	}
	masked = append(masked, "nrow("+chosen+"!) -> count(c)")
	return []Rule{
		{
			Name: "reduce-chosen",
			Doc: "A reduction of the rows that a mask chooses in a matrix of few columns reads all rows, with what changes nothing in place of the others: the chosen rows are " +
				"not stored. An exact sum does not see zeros. The least of no rows is a failure, so min and max stay.",
			Rewrites: masked,
			Where:    []string{"mask(c, n, x)"},
			Wrong: []Wrong{{Rewrite: "sum(" + chosen + ") -> sum(mul(c, x))", Why: "0 times inf is nan"},
				{Rewrite: "mean(" + chosen + ") -> mean(ifelse(c, x, 0))", Why: "the zeros count"},
				{Rewrite: "prod(" + chosen + ") -> prod(ifelse(c, x, 0))", Why: "of one 0 the product is 0"},
				{Rewrite: "all(" + chosen + ") -> all(and(c, bool(x)))", Why: "what is left out need not hold"}},
		},
		{
			Name: "average-chosen",
			Doc:  "So does a mean: it is the rounded sum, divided by how many rows there are.",
			Rewrites: []string{"mean(" + chosen + ") -> div(sum(ifelse(c, x, 0)), f64(mul(count(c), ncol(x))))",
				"colmean(" + chosen + ") -> div(colsum(ifelse(c, x, 0)), f64(count(c)))"},
			Where: []string{"mask(c, n, x)", "doubles(x)"},
			Wrong: []Wrong{{Rewrite: "mean(" + chosen + ") -> div(sum(ifelse(c, x, 0)), f64(n))", Why: "n is the number of all rows"}},
		},
		{
			Name: "reduce-stored", Sparse: true,
			Doc:      "Reductions of sparse matrices count their zeros, so no dense matrix has to be made for them.",
			Rewrites: stored,
			Wrong:    []Wrong{{Rewrite: "sum(sp.dense(x)) -> sp.count(x)", Why: "an element may be 2"}},
		},
		{
			Name:   "reduce-unmoved",
			Sparse: true,
			Doc:    "A reduction that may be joined from blocks in any order does not see where elements lie: sum(t(x)) is sum(x).",
			Rewrites: []string{"Reduction(t(x)) -> Reduction(x)", "Reduction(reverse(x){by=p}) -> Reduction(x)",
				"Reduction(reshape(x){n=p, m=q}) -> Reduction(x)"},
			Wrong: []Wrong{{Rewrite: "prod(t(x)) -> prod(x)", Why: "a product rounds at each step, in row-major order"},
				{Rewrite: "argmax(t(x)) -> argmax(x)", Why: "it is a place"}},
		},
		{
			Name:     "reduce-unturned",
			Doc:      "Such a reduction of an elementwise result turns the result if that leaves fewer transposes: sum(t(a) * t(b)) is sum(a * b). Nothing else may read the result.",
			Rewrites: []string{"Reduction(Elementwise(..)!) -> Reduction(Elementwise(t(..)))"},
			Where:    []string{"unturns(Elementwise)"},
			Wrong:    []Wrong{{Rewrite: "prod(add(t(x), 1)) -> prod(add(x, 1))", Why: "a product rounds at each step, in row-major order"}},
		},
		{
			Name:     "reduce-other-lines",
			Sparse:   true,
			Doc:      "Row sums of a transpose are the column sums, turned: the vector is turned and not the matrix.",
			Rewrites: mirrored,
			Wrong:    []Wrong{{Rewrite: "colsum(x) -> t(rowsum(x))", Why: "of a square matrix: its columns are not its rows"}},
		},
		{
			Name: "fold-rows", Sparse: true,
			Doc: "A row reduction of the product of a sparse matrix and a row of numbers is one operator: the product, as large as the " +
				"matrix, is not built.",
			Rewrites: folded,
			Where:    []string{"row(x)"},
			Wrong:    []Wrong{{Rewrite: folded[0], Why: "of a column the factor is that of the row"}},
		},
		{
			Name: "count-rows-met", Sparse: true,
			Doc: "How many entries of each row stand where a row of truths is true is such a sum.",
			Rewrites: []string{"sp.rowsum(sp.and(a, x)!) -> sp.rowfold(a, x){of=\"sum\"}", "sp.rowsum(sp.and(x, a)!) -> sp.rowfold(a, x){of=\"sum\"}",
				"sp.rowcount(sp.and(a, x)!) -> sp.rowfold(a, x){of=\"sum\"}", "sp.rowcount(sp.and(x, a)!) -> sp.rowfold(a, x){of=\"sum\"}"},
			Where: []string{"row(x)", "bools(x)", "bools(a)"},
			Wrong: []Wrong{{Rewrite: "sp.rowcount(sp.and(a, x)) -> sp.rowfold(a, x){of=\"max\"}", Why: "a row may have two"}},
		},
		{
			Name: "fold-rows-onto", Sparse: true,
			Doc: "Such an operator reads a column as a row, and starts from a column of results.",
			Rewrites: []string{"sp.rowfold(a, t(x)){of=p} -> sp.rowfold(a, x){of=p}",
				"ew.max(y, sp.rowfold(a, x){of=\"max\"}!) -> sp.rowfold(a, x, y){of=\"max\"}", "ew.min(y, sp.rowfold(a, x){of=\"min\"}!) -> sp.rowfold(a, x, y){of=\"min\"}"},
			Wrong: []Wrong{{Rewrite: "ew.max(y, sp.rowfold(a, x){of=\"max\"}) -> sp.rowfold(a, x){of=\"max\"}", Why: "y may be greater"}},
		},
		{
			Name:     "count-dense",
			Doc:      "What is not zero in a dense matrix is counted like truths: in the loop that makes the elements, and on all ranks.",
			Rewrites: []string{"nnz(x) -> count(x)"},
			Wrong:    []Wrong{{Rewrite: "nnz(x) -> sum(x)", Why: "an element may be 2"}},
		},
		{
			Name:     "sum-diagonal",
			Doc:      "A trace is the sum of the diagonal, which is a view: ranks add their own rows of it.",
			Rewrites: []string{"trace(x) -> sum(diag(x))"},
			Where:    []string{"known(x)"}, // the run finds a matrix that is not square
			Wrong:    []Wrong{{Rewrite: "trace(x) -> sum(x)", Why: "the other elements count"}},
		},
		{
			Name: "reduce-once",
			Doc:  "The least of the least is the least, and so on: what rounds nothing may be reduced in one go.",
			Rewrites: []string{"min(rowmin(x)) -> min(x)", "min(colmin(x)) -> min(x)", "max(rowmax(x)) -> max(x)", "max(colmax(x)) -> max(x)",
				"any(rowany(x)) -> any(x)", "any(colany(x)) -> any(x)", "all(rowall(x)) -> all(x)", "all(colall(x)) -> all(x)",
				"sum(rowcount(x)) -> count(x)", "sum(colcount(x)) -> count(x)"},
			Wrong: []Wrong{{Rewrite: "sum(rowsum(x)) -> sum(x)", Why: "each row sum is rounded: 1e16 + 1, and -1e16, is 0"},
				{Rewrite: "mean(rowmean(x)) -> mean(x)", Why: "rounded twice"},
				{Rewrite: "rowsum(x) -> x", Why: "of one column: the sum of -0 is 0"}},
		},
		{
			Name:     "sum-once",
			Doc:      "Sums of integers wrap and round nothing: the sum of row sums is the sum.",
			Rewrites: []string{"sum(rowsum(x)) -> sum(x)", "sum(colsum(x)) -> sum(x)"},
			Where:    []string{"integers(x)"},
			Wrong:    []Wrong{{Rewrite: "sum(rowsum(x)) -> sum(x)", Why: "of floats each row sum is rounded"}},
		},
		{
			Name:     "drop-sign",
			Doc:      "Norms, and counts of what is not zero, do not see signs.",
			Rewrites: []string{"norm(neg(x)) -> norm(x)", "norm(abs(x)) -> norm(x)", "rownorm(neg(x)) -> rownorm(x)", "colnorm(neg(x)) -> colnorm(x)"},
			Wrong:    []Wrong{{Rewrite: "sum(neg(x)) -> neg(sum(x))", Why: "the sum of zeros is 0, whatever their signs: -(0) is -0"}},
		},
		{
			Name:     "count-unsigned",
			Doc:      "Zeros stay zeros under a change of sign, and nothing else becomes one.",
			Rewrites: []string{"count(neg(x)) -> count(x)", "count(abs(x)) -> count(x)", "any(neg(x)) -> any(x)", "any(abs(x)) -> any(x)", "all(neg(x)) -> all(x)", "all(abs(x)) -> all(x)"},
			Wrong:    []Wrong{{Rewrite: "count(floor(x)) -> count(x)", Why: "0.5 becomes 0"}},
		},
		{
			Name:     "swap-extreme",
			Doc:      "The greatest of -x is the least of x, negated: one element is negated and not all. -0 is less than 0, and a nan wins in both.",
			Rewrites: []string{"max(neg(x)) -> neg(min(x))", "min(neg(x)) -> neg(max(x))"},
			Where:    []string{"floats(x)"},
			Wrong:    []Wrong{{Rewrite: "max(neg(x)) -> neg(min(x))", Why: "of i64, where -2^63 is its own negative"}},
		},
		{
			Name:     "swap-quantifier",
			Doc:      "Some element is not true if not all are: one bool is negated and not all.",
			Rewrites: []string{"any(not(x)) -> not(all(x))", "all(not(x)) -> not(any(x))"},
			Wrong:    []Wrong{{Rewrite: "any(not(x)) -> not(any(x))", Why: "true and false"}},
		},
		{
			Name: "count-codes",
			Doc:  "A row of a matrix of codes adds up to 1, so its sum is its product with ones.",
			Rewrites: []string{"rowsum(" + ofCodes + ") -> onehot.take(onehot.each(ones(){n=p, m=1}), a)",
				"sum(" + ofCodes + ") -> sum(onehot.take(onehot.each(ones(){n=p, m=1}), a))"},
			Wrong: []Wrong{{Rewrite: "sum(" + ofCodes + ") -> f64(count(ge(a, 0)))", Why: "a may be k or more"}},
		},
		{
			Name:     "count-bools",
			Doc:      "The sum of bools as f64 is their count: below 2^53 it is exact.",
			Rewrites: []string{"sum(f64(x)) -> f64(sum(x))"},
			Where:    []string{"bools(x)"},
			Wrong:    []Wrong{{Rewrite: "sum(f64(x)) -> f64(sum(x))", Why: "of i64, whose sum wraps"}},
		},
	}
}
