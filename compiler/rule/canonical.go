package rule

// This file defines the canonical rules. They change rounding, so they are part of the meaning of
// the text: elaboration applies them in every run, to a product written as an operand and never to
// a named one (its other readers would see other numbers). A rule is here only if it saves an order
// of operations and its error bound is no larger. RATIONALE.md has those that were refused.

func canonical() []Rule {
	return []Rule{
		{
			Name: orderChain, Class: Canonical,
			Doc: "`A @ B @ C @ v`, written without parentheses, is computed in the order with the fewest multiplications; of equals the " +
				"one nearest to left to right. Parentheses and names keep what they say. Whatever the order, the error of each element is " +
				"bounded by the sum of the inner sizes times |A||B||C||v| to first order, so no order is the less accurate one.",
			Rewrites: []string{"matmul(matmul(a, b), c) -> matmul(a, matmul(b, c))"},
			Wrong: []Wrong{{Rewrite: "matmul(matmul(a, b), c) -> matmul(a, matmul(b, c))",
				Why: "the two are rounded differently, so no exact rule may do it"}},
		},
		{
			Name: "trace-of-product", Class: Canonical,
			Doc: "The trace of a product needs its diagonal alone: n k multiplications instead of n n k. Each product is rounded once and " +
				"the sum is exact, where a chain rounds k times, so the bound of the error falls.",
			Rewrites: []string{"trace(matmul(a, b)!) -> sum(mul(a, t(b)))"},
			Where:    []string{"cheaper(root)"},
			Wrong: []Wrong{{Rewrite: "trace(matmul(a, b)) -> sum(mul(a, b))",
				Why: "element (i, k) meets element (k, i)"}},
		},
		{
			Name: "sum-of-product", Class: Canonical,
			Doc: "The sum of all elements of a product is the column sums of the left factor times the row sums of the right one: " +
				"n k + k m operations instead of n k m. Both sums are exact and rounded once, so the bound of the error falls; it needs sums " +
				"of columns and rows that do not overflow.",
			Rewrites: []string{"sum(matmul(a, b)!) -> sum(mul(t(colsum(a)), rowsum(b)))"},
			Where:    []string{"cheaper(root)"},
			Wrong: []Wrong{{Rewrite: "sum(matmul(a, b)) -> mul(sum(a), sum(b))",
				Why: "each column of the left meets one row of the right"}},
		},
		{
			Name: "rowsum-of-product", Class: Canonical,
			Doc: "Row sums of a product are the left factor times the row sums of the right one, column sums alike: a product with a " +
				"vector. The sums are exact and rounded once, where each element of the product was a chain, so the bound of the error is no larger.",
			Rewrites: []string{"rowsum(matmul(a, b)!) -> matmul(a, rowsum(b))", "colsum(matmul(a, b)!) -> matmul(colsum(a), b)"},
			Where:    []string{"cheaper(root)"},
			Wrong: []Wrong{{Rewrite: "rowsum(matmul(a, b)) -> matmul(a, t(colsum(b)))",
				Why: "the sum goes along the rows of the right factor"}},
		},
	}
}
