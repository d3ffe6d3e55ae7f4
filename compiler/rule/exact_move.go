package rule

// This file defines the exact rules of operators that move elements. Moving later or not at all
// costs nothing, and what is cut away first is not computed.

func moves() []Rule {
	turned := []string{"t(rbind(t(a), t(b))) -> cbind(a, b)", "t(cbind(t(a), t(b))) -> rbind(a, b)",
		"t(slice(rbind(t(a), t(b))){at=p}) -> slice(cbind(a, b)){at=turned(p)}", "t(slice(cbind(t(a), t(b))){at=p}) -> slice(rbind(a, b)){at=turned(p)}"}
	for _, w := range []string{"sum", "prod", "max", "min"} {
		turned = append(turned, "t(cum"+w+"(t(x))) -> rowcum"+w+"(x)", "t(rowcum"+w+"(t(x))) -> cum"+w+"(x)")
	}
	var drawn, row []string
	for _, w := range []string{"rand", "randn", "randexp"} {
		drawn = append(drawn, w+"(){n=r, m=s, seed=v} -> t("+w+"(){n=s, m=r, seed=v})")
		row = append(row, "slice("+w+"(){n=r, m=s, seed=v}){at=p} -> t("+w+"(){n=s, m=1, seed=onward(v, p)})")
	}
	var ordered []string
	for _, w := range []string{"take", "pick.rows"} {
		from, to := w+"(x, argsort(s){A})", w+"(slice(x){at=down(p, x)}, slice(argsort(s){A}){at=beside(p)})"
		ordered = append(ordered, "slice("+from+"){at=p} -> "+to, "item("+from+"){at=p} -> item("+to+"){at=first(p)}")
	}
	return []Rule{
		{
			Name:     "drop-move",
			Doc:      "A window of the whole matrix, a reshape to the same shape, a conversion to dense, and one matrix bound alone are that matrix.",
			Rewrites: []string{"slice(x){at=p} -> x", "reshape(x){n=p, m=q} -> x", "dense(x) -> x", "cbind(x) -> x", "rbind(x) -> x"},
			Wrong:    []Wrong{{Rewrite: "reverse(x){by=p} -> x", Why: "the same shape, not the same places"}},
		},
		{
			Name:     "move-once",
			Doc:      "A window of a window is a window, a reshape of a reshape is a reshape.",
			Rewrites: []string{"slice(slice(x){at=p}){at=q} -> slice(x){at=within(p, q)}", "item(slice(x){at=p}){at=q} -> item(x){at=spot(p, q)}", "reshape(reshape(x){n=p, m=q}){n=r, m=s} -> reshape(x){n=r, m=s}"},
			Wrong:    []Wrong{{Rewrite: "reshape(t(x)){n=p, m=q} -> reshape(x){n=p, m=q}", Why: "t changes the order of elements"}},
		},
		{
			Name:     "slice-below-transpose",
			Doc:      "A window of a transpose is the transpose of a window: less is turned.",
			Rewrites: []string{"slice(t(x)){at=p} -> t(slice(x){at=turned(p)})", "item(t(x)){at=p} -> item(x){at=turned(p)}"},
			Wrong:    []Wrong{{Rewrite: "item(t(x)){at=p} -> item(x){at=p}", Why: "rows are columns there"}},
		},
		{
			Name: "slice-below-elementwise",
			Doc: "A window of an elementwise result is computed from windows, an element from elements, if nothing else reads the rest and the " +
				"operator cannot fail on what is left out. Inputs that are stretched are cut along their long axis alone.",
			Rewrites: []string{"slice(Elementwise(..)!){at=p} -> Elementwise(slice(..){at=cut(p, ..)})", "item(Elementwise(..)!){at=p} -> Elementwise(item(..){at=cut(p, ..)})"},
			Where:    []string{"total(Elementwise)"},
			Wrong:    []Wrong{{Rewrite: "item(cumsum(x)){at=p} -> item(x){at=p}", Why: "a running sum is not elementwise"}},
		},
		{
			Name: "slice-below-product",
			Doc: "A window of a product needs those rows of the left factor and those columns of the right one. Each element is a chain of its own, " +
				"so it has the same bits.",
			Rewrites: []string{
				"slice(matmul(a, b)!{ta=s, tb=u}){at=p} -> matmul(slice(a){at=rows(p, a, s)}, slice(b){at=cols(p, b, u)}){ta=s, tb=u}",
				"slice(gemm(c, a, b)!{ta=s, tb=u, sub=v}){at=p} -> gemm(slice(c){at=p}, slice(a){at=rows(p, a, s)}, slice(b){at=cols(p, b, u)}){ta=s, tb=u, sub=v}"},
			Wrong: []Wrong{{Rewrite: "item(matmul(a, b)){at=p} -> sum(mul(t(slice(a){at=lines(p, a)}), slice(b){at=columns(p, b)}))",
				Why: "a chain of fused multiply-adds rounds once a step, an exact sum of products once a product"}},
		},
		{
			Name: "slice-below-lines",
			Doc: "A window of row sums, row minima and so on needs those rows alone, if nothing else reads the rest and the reduction cannot fail. " +
				"Sums of a matrix of codes need no matrix, so they stay as they are.",
			Rewrites: []string{"slice(Rowwise(x)!{A}){at=p} -> Rowwise(slice(x){at=lines(p, x)}){A}",
				"slice(Colwise(x)!{A}){at=p} -> Colwise(slice(x){at=columns(p, x)}){A}"},
			Where: []string{"total(Rowwise)", "uncoded(x)"},
			Wrong: []Wrong{{Rewrite: "slice(cumsum(x)){at=p} -> cumsum(slice(x){at=p})", Why: "rows above count too"}},
		},
		{
			Name: "slice-below-order",
			Doc: "A window of a matrix whose rows are put in an order needs those rows of the order alone. They are at most half of all rows, so " +
				"it hardly matters what else reads the matrix. The order is of as many rows, so none of its numbers is outside.",
			Rewrites: ordered,
			Where:    []string{"ofmore(p, x, s)"},
			Wrong: []Wrong{{Rewrite: "slice(take(x, argsort(s){A})){at=p} -> take(slice(x){at=down(p, x)}, argsort(slice(s){at=lines(p, s)}){A})",
				Why: "some rows in order are not the rows of the order"}},
		},
		{
			Name: "slice-below-bind",
			Doc: "A window of matrices below or beside each other is made of windows of the matrices that it meets. The whole is not made then. " +
				"If other windows are cut from the whole, too, this one lies in one of the matrices or is at most half as long as the whole.",
			Rewrites: []string{"slice(Bind(..)){at=p} -> Bind(slice(..){at=piece(p, ..)})", "item(Bind(..)){at=p} -> item(Bind(slice(..){at=piece(p, ..)})){at=first(p)}"},
			Where:    []string{"spares(p)"},
			Wrong:    []Wrong{{Rewrite: "slice(rbind(a, b)){at=p} -> slice(b){at=p}", Why: "the rows of b are further up in b"}},
		},
		{
			Name:     "undo-order",
			Doc:      "An order of the numbers of another order undoes that one. It takes one store for each number, and no sort.",
			Rewrites: []string{"argsort(argsort(x){A}){by=p, desc=false} -> order.inverse(argsort(x){A})"},
			Wrong: []Wrong{{Rewrite: "argsort(argsort(x){A}){by=p, desc=true} -> order.inverse(argsort(x){A})",
				Why: "the greatest number first is the reverse"}},
		},
		{
			Name: "make-window",
			Doc:  "A window or the transpose of a matrix of one number is made as such.",
			Rewrites: []string{"slice(zeros(){n=r, m=s}){at=p} -> zeros(){n=height(p), m=width(p)}", "slice(ones(){n=r, m=s}){at=p} -> ones(){n=height(p), m=width(p)}",
				"slice(fill(){x=v, n=r, m=s}){at=p} -> fill(){x=v, n=height(p), m=width(p)}",
				"t(zeros(){n=r, m=s}) -> zeros(){n=s, m=r}", "t(ones(){n=r, m=s}) -> ones(){n=s, m=r}", "t(fill(){x=v, n=r, m=s}) -> fill(){x=v, n=s, m=r}",
				"t(eye(){n=r}) -> eye(){n=r}"},
			Wrong: []Wrong{{Rewrite: "t(rand(){n=r, m=s, seed=v}) -> rand(){n=s, m=r, seed=v}", Why: "the numbers are drawn row by row"}},
		},
		{
			Name: "sink-transpose",
			Doc: "A transpose of an elementwise result is a result of transposes, where that leaves fewer of them: t(f(t(a), t(b))) is f(a, b). " +
				"Nothing else may read the result.",
			Rewrites: []string{"t(Elementwise(..)!) -> Elementwise(t(..))"},
			Where:    []string{"cancels(Elementwise)", "stays(root)"},
			Wrong:    []Wrong{{Rewrite: "t(cumsum(t(x))) -> cumsum(x)", Why: "cumsum goes down the rows"}},
		},
		{
			Name:     standRows,
			Upright:  true,
			Doc:      "A row that is made of transposes of columns is the transpose of a column.",
			Rewrites: []string{"Elementwise(..) -> t(Elementwise(t(..)))"},
			Where:    []string{"stands(Elementwise)"},
			Wrong:    []Wrong{{Rewrite: "cumsum(t(x)) -> t(cumsum(x))", Why: "of one row, cumsum is the row itself"}},
		},
		{
			Name:     "stand-draws",
			Upright:  true,
			Doc:      "A row of random numbers is a column of them, turned, since they are numbered row by row.",
			Rewrites: drawn,
			Where:    []string{"lies(root)"},
			Wrong:    []Wrong{{Rewrite: "t(rand(){n=r, m=s, seed=v}) -> rand(){n=s, m=r, seed=v}", Why: "of several rows, whose numbers are drawn row by row"}},
		},
		{
			Name:    "stand-drawn-row",
			Upright: true,
			Doc: "One of a few rows of random numbers is a column of them, turned: number k of a seed is the first number of a later seed. " +
				"Ranks share the column. Of the matrix, one of them would have the whole row.",
			Rewrites: row,
			Where:    []string{"line(p)"},
			Wrong: []Wrong{{Rewrite: "slice(rand(){n=r, m=s, seed=v}){at=p} -> t(rand(){n=s, m=1, seed=v})", Where: []string{"line(p)"},
				Why: "rows below the first have later numbers"}},
		},
		{
			Name:    "stand-cut-row",
			Upright: true,
			Doc: "One of a few rows of an elementwise result is computed from rows, also if other rows are read, so that each can be the " +
				"transpose of a column.",
			Rewrites: []string{"slice(Elementwise(..)){at=p} -> Elementwise(slice(..){at=cut(p, ..)})"},
			Where:    []string{"line(p)", "total(Elementwise)"},
			Wrong:    []Wrong{{Rewrite: "slice(cumsum(x)){at=p} -> slice(x){at=p}", Where: []string{"line(p)"}, Why: "rows above count too"}},
		},
		{
			Name: "unturn-lines",
			Doc: "What is done with the rows of a transpose and turned back is done with columns: matrices below each other are beside each other, " +
				"and running values go along rows.",
			Rewrites: turned,
			Wrong:    []Wrong{{Rewrite: "t(rbind(t(a), b)) -> cbind(a, b)", Why: "b is turned"}},
		},
		{
			Name: "take-columns",
			Doc: "Rows of a transpose at listed positions, turned back, are columns. A row of the result depends on one row of the matrix, so ranks that " +
				"share these rows send nothing.",
			Rewrites: []string{"t(take(t(x), s)) -> take.turned(x, s)", "t(pick.rows(t(x), s)) -> pick.turned(x, s)"},
			Wrong: []Wrong{{Rewrite: "t(take(t(x), s)) -> take(x, s)", Why: "the numbers are those of columns"},
				{Rewrite: "take(t(x), s) -> take.turned(x, s)", Why: "the result is turned"}},
		},
		{
			Name:     "drop-transpose",
			Doc:      "The diagonal and the trace of a transpose are those of the matrix; the triangle of a transpose, turned back, is the other triangle.",
			Rewrites: []string{"trace(t(x)) -> trace(x)", "t(upper(t(x))) -> lower(x)", "t(lower(t(x))) -> upper(x)"},
			Wrong:    []Wrong{{Rewrite: "lower(t(x)) -> lower(x)", Why: "the lower triangle of t(x) is the upper one of x"}},
		},
	}
}
