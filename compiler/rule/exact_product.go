package rule

// This file defines the exact rules of products. Every element is one chain of fused multiply-adds
// in ascending k, and fma(a, b, c) is fma(b, a, c), so a transposed product is the product of the
// transposes, bit for bit. (The kernel sets gonum and openblas add in orders of their own and do
// not keep these bits.)

// ofCodes is a matrix of codes a.
const ofCodes = "onehot.of(a){k=p}"

func products() []Rule {
	var onto []string
	for _, w := range [][2]string{{"add", ""}, {"sub", ", sub=true"}} {
		each := func(x string) string { return "onehot.take(onehot.each(" + x + "){start=\"" + w[0] + "\"}, a)" }
		if w[1] == "" {
			onto = append(onto, "gemm(c, "+ofCodes+", w) -> add(c, "+each("w")+")")
		} else {
			onto = append(onto, "gemm(c, "+ofCodes+", w){sub=true} -> sub(c, "+each("w")+")")
		}
		onto = append(onto, "gemm(c, "+ofCodes+", w){tb=true"+w[1]+"} -> "+w[0]+"(c, "+each("t(w)")+")",
			"gemm(c, w, "+ofCodes+"){tb=true"+w[1]+"} -> "+w[0]+"(c, t("+each("t(w)")+"))")
	}
	return []Rule{
		{
			Name: "absorb-transpose",
			Doc:  "A product reads its factors either way round: nothing is turned.",
			Rewrites: []string{
				"matmul(t(a), b){ta=p, tb=q} -> matmul(a, b){ta=not(p), tb=q}",
				"matmul(a, t(b)){ta=p, tb=q} -> matmul(a, b){ta=p, tb=not(q)}",
				"matmul.panels(t(a), b){ta=p, tb=q, panel=n} -> matmul.panels(a, b){ta=not(p), tb=q, panel=n}",
				"matmul.panels(a, t(b)){ta=p, tb=q, panel=n} -> matmul.panels(a, b){ta=p, tb=not(q), panel=n}",
				"gemm(c, t(a), b){ta=p, tb=q, sub=s} -> gemm(c, a, b){ta=not(p), tb=q, sub=s}",
				"gemm(c, a, t(b)){ta=p, tb=q, sub=s} -> gemm(c, a, b){ta=p, tb=not(q), sub=s}"},
			Wrong: []Wrong{{Rewrite: "matmul(t(a), t(b)) -> matmul(b, a)", Why: "that is its transpose"}},
		},
		{
			Name:   "absorb-sparse-transpose",
			Sparse: true,
			Alone:  true,
			Doc: "A product with the transpose of a sparse matrix goes over the matrix as it lies: its rows in order are the steps of each chain in order. " +
				"That takes about as long as a product with the transpose, which is not made. Ranks make the transpose, because they can share its rows.",
			Rewrites: []string{"sp.matmul(sp.t(a), b) -> sp.tmatmul(a, b)", "sp.tmatmul(sp.t(a), b) -> sp.matmul(a, b)"},
			Where:    []string{"sparse(a)"},
			Wrong:    []Wrong{{Rewrite: "sp.matmul(sp.t(a), b) -> sp.matmul(a, b)", Why: "rows are columns there"}},
		},
		{
			Name:   "multiply-at-entries",
			Sparse: true,
			Doc: "A product of which a sparse matrix takes a few elements is made there alone: each has the chain that it has in the whole. " +
				"Triangles of a graph need no paths of two edges, the errors of a factorisation no product of its factors.",
			Rewrites: []string{
				"sp.mul(s, matmul(a, b)!{ta=p, tb=q}) -> sp.times(s, a, b){ta=p, tb=q}",
				"sp.mul(matmul(a, b)!{ta=p, tb=q}, s) -> sp.times(s, a, b){ta=p, tb=q}",
				"sp.mul(s, sp.matmul(a, b)!) -> sp.times(s, a, b)",
				"sp.mul(sp.matmul(a, b)!, s) -> sp.times(s, a, b)"},
			Where: []string{"few(s, a)"},
			Wrong: []Wrong{{Rewrite: "sp.mul(s, matmul(a, b)) -> sp.times(s, b, a)", Why: "the factors change places"}},
		},
		{
			Name:   "turn-row-product",
			Sparse: true,
			Shared: true,
			Doc: "A product of a dense row, or of two, and a sparse matrix is the transpose of a product by the rows of " +
				"the transposed matrix: the chains have the same steps. Ranks share these rows, and the transpose is " +
				"made once if the matrix is the same in all rounds of a loop.",
			Rewrites: []string{"sp.matmul(x, a) -> t(sp.matmul(sp.t(a), t(x)))"},
			Where:    []string{"low(x)", "sparse(a)"},
			Wrong: []Wrong{{Rewrite: "sp.matmul(x, a) -> t(sp.matmul(a, t(x)))", Where: []string{"low(x)", "sparse(a)"},
				Why: "rows are columns there"}},
		},
		{
			Name:   "turn-flat-product",
			Sparse: true,
			Doc: "A product of a dense matrix of a few long rows and a sparse matrix is made as the transpose of the product by columns: each entry of the sparse " +
				"matrix is read once for all rows, the chains have the same steps, and ranks share the product.",
			Rewrites: []string{"sp.matmul(x, sp.t(a)) -> t(sp.matmul(a, t(x)))", "sp.matmul(x, a) -> t(sp.matmul(sp.t(a), t(x)))"},
			Where:    []string{"flat(x)", "sparse(a)"},
			Wrong: []Wrong{{Rewrite: "sp.matmul(x, a) -> t(sp.matmul(a, t(x)))", Where: []string{"sparse(a)"},
				Why: "rows are columns there"}},
		},
		{
			Name:    "stand-row-product",
			Upright: true,
			Doc: "A product that is one row is the transpose of one that is a column, with the same chains. Ranks share the elements of a column, " +
				"and those of a row lie on one rank. The loops of such products take columns.",
			Rewrites: []string{"matmul(x, a){ta=p, tb=q} -> t(matmul(a, x){ta=not(q), tb=not(p)})",
				"matmul.panels(x, a){ta=p, tb=q, panel=n} -> t(matmul.panels(a, x){ta=not(q), tb=not(p), panel=n})"},
			Where: []string{"lies(root)"},
			Wrong: []Wrong{{Rewrite: "matmul(x, a){ta=p, tb=q} -> t(matmul(a, x){ta=q, tb=not(p)})", Where: []string{"lies(root)"},
				Why: "the factors change places, so each is turned"}},
		},
		{
			Name: "turn-product",
			Doc: "t(t(a) @ b) is t(b) @ a: the product is made the way round in which it is wanted. Of a @ b both factors would be turned " +
				"instead of the result, which wins nothing, so one must be read transposed already.",
			Rewrites: []string{"t(matmul(a, b)!{ta=p, tb=q}) -> matmul(b, a){ta=not(q), tb=not(p)}"},
			Where:    []string{"either(p, q)", "stays(root)"},
			Wrong:    []Wrong{{Rewrite: "t(matmul(a, b)) -> matmul(t(a), t(b))", Why: "the factors change places"}},
		},
		{
			Name: "absorb-factor-sign",
			Doc: "c + -a @ b is c - a @ b, because fma(-a, b, c) is how a product is subtracted; two signs in a product cancel. " +
				"Only where no conversion comes between the sign and the product.",
			Rewrites: []string{
				"gemm(c, neg(a), b){ta=p, tb=q, sub=s} -> gemm(c, a, b){ta=p, tb=q, sub=not(s)}",
				"gemm(c, b, neg(a)){ta=p, tb=q, sub=s} -> gemm(c, b, a){ta=p, tb=q, sub=not(s)}",
				"matmul(neg(a), neg(b)){ta=p, tb=q} -> matmul(a, b){ta=p, tb=q}"},
			Where: []string{"alike(a, b, root)"},
			Wrong: []Wrong{{Rewrite: "matmul(neg(a), b) -> neg(matmul(a, b))", Why: "0 where the terms cancel becomes -0"}},
		},
		{
			Name:     "start-from-zero",
			Doc:      "A chain that starts from a matrix of zeros is the plain product, which starts from +0.",
			Rewrites: []string{"gemm(zeros(){n=r, m=s}, a, b){ta=p, tb=q} -> matmul(a, b){ta=p, tb=q}"},
			Wrong: []Wrong{{Rewrite: "add(zeros(){n=r, m=s}, x) -> x", Why: "0 + -0 is 0"},
				{Rewrite: "matmul(eye(){n=r}, x) -> x", Why: "0 * inf is nan, and 0 + -0 is 0"},
				{Rewrite: "mul(zeros(){n=r, m=s}, x) -> zeros(){n=r, m=s}", Why: "0 * -1 is -0, 0 * inf is nan"}},
		},
		{
			Name: "take-by-code",
			Doc: "A row of a matrix of codes has one 1, so a product with it takes a row for each code, and neither the matrix is stored nor its zeros multiplied. " +
				"What the zeros do, to a number that is not finite and to -0, is done to the rows once.",
			Rewrites: []string{
				"matmul(" + ofCodes + ", w) -> onehot.take(onehot.each(w), a)",
				"matmul(" + ofCodes + ", w){tb=true} -> onehot.take(onehot.each(t(w)), a)",
				"matmul(w, " + ofCodes + "){tb=true} -> t(onehot.take(onehot.each(t(w)), a))",
				"matmul(w, " + ofCodes + "){ta=true, tb=true} -> t(onehot.take(onehot.each(w), a))"},
			Where: []string{"doubles(w)"},
			Wrong: []Wrong{{Rewrite: "matmul(" + ofCodes + ", w) -> onehot.take(rbind(w, w), a)", Where: []string{"doubles(w)"}, Why: "0 * inf is nan, and 0 + -0 is 0"}},
		},
		{
			Name:     "add-by-code",
			Doc:      "Such a product that a matrix is the beginning of adds a row for each code.",
			Rewrites: onto,
			Where:    []string{"doubles(w)", "doubles(c)"},
			Wrong: []Wrong{{Rewrite: "gemm(c, " + ofCodes + ", w){sub=true} -> sub(c, onehot.take(onehot.each(w), a))", Where: []string{"doubles(w)", "doubles(c)"},
				Why: "-0 - 0 is -0, and becomes 0 by another row below zero"}},
		},
		{
			Name: "add-outer-product",
			Doc: "Each chain that adds a product of a column and a row has one step, so it is an elementwise operator, which loops fuse with others: a " +
				"step of rank one is one pass over a matrix.",
			Rewrites: []string{
				"gemm(c, a, b) -> madd(c, a, b)",
				"gemm(c, a, b){tb=true} -> madd(c, a, t(b))",
				"gemm(c, a, b){sub=true} -> madd(c, neg(a), b)",
				"gemm(c, a, b){tb=true, sub=true} -> madd(c, neg(a), t(b))"},
			Where: []string{"single(a, b)", "doubles(root)", "alike(a, b, root)"},
			Wrong: []Wrong{{Rewrite: "gemm(c, a, b) -> add(c, mul(a, b))", Why: "that is rounded twice"}},
		},
	}
}
