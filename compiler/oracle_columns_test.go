package compiler_test

// This file draws programs whose loops write a matrix in place. They read single columns and rows of
// it, too. It also draws loops that carry rows.

// inColumns has the matrix X, expressions E that broadcast to it, its columns c and rows r.
var inColumns = &dialect{
	kinds: "XXXXXXYcrksF",
	sizes: []int{2, 3, 5, 8, 20, 40},
	cols:  []int{2, 3, 5, 8, 9, 17},
	first: vocabulary{
		'X': {"materialize(rand(N, M, seed = ~))", "rand(N, M, seed = ~) - 0.5"},
		'Y': {"materialize(rand(N, M, seed = ~))"},
		'E': {"0.5", "1.25"},
		'F': {"f32(rand(N, M, seed = ~))"},
		'c': {"rand(N, 1, seed = ~)"},
		'r': {"rand(1, M, seed = ~)"},
		's': {"0.5", "sum(rand(2, 2, seed = ~))"},
		'k': {"3", "count(rand(3, 3, seed = ~) < 0.5)"},
	},
	next: vocabulary{
		'E': {"$X", "$Y", "$X[:, $k % M]", "$X[:, 0]", "$X[:, -1]", "$X[:, M - 1..]", "$Y[:, $k % M]", "$X[$k % N, :]", "$Y[-1, :]", "$X[0, :]", "$c", "$r", "f64($k)", "$s",
			"$E + $E", "$E - $E", "min($E, $E)", "max($E, $E)", "0.5 * $E - 0.25 * $E", "ifelse($E > 0.3, $E, 0.1)", "$E * $E", "$E * $X", "abs($E) + $X[:, 0]", "f64($F[:, 0])",
			"$X[$k % N, $k % M]", "$X[:, ($k + 1) % M] - $X[:, 0]", "rowsum($X)", "colmax($Y)", "f64(seq(0, N)) * 0.1"},
		'X': {"max(min($E + 0 * $X, 3), -3)", "materialize(max(min($E + 0 * $X, 3), -3))", "($E + 0 * $X) / 7", "max(min($E + 0 * $Y, 3), -3)", "clamp($X - $X[:, $k % M], -1.0, $s)",
			"ifelse($X[:, 0] > $s, $X, $X[:, $k % M])", "ifelse(t(seq(0, M)) == $k % M, $E, $X)", "cbind($X[:, 1..], $X[:, 0])", "cbind($c, $X[:, 0..-1])", "f64($F) * 0.5 + $c",
			"if $s > 0.6 { $X - $X[:, 0] } else { $X * $c }", "max(min($X + $E, 2), -2)", "max(min($X * $c + $r, 2), -2)"},
		'Y': {"max(min($E + 0 * $Y, 3), -3)", "$X * 1", "max(min($Y - $E, 2), -2)"},
		'F': {"$F * 0.5 + f32($X)", "$F - $F[:, $k % M]", "ifelse($F[:, 0] > f32(0.3), $F, f32($c))"},
		'c': {"$X[:, $k % M]", "rowsum($X)", "$X[:, 0] * 0.5", "$c * 0.5 + $Y[:, -1]", "rowmax($X - $X[:, 0])", "cumsum($X[:, $k % M] * 0.1)", "ifelse($c > $s, $c, $X[:, 0])"},
		'r': {"$X[$k % N, :]", "colsum($X) / N", "$r * 0.5 + $Y[0, :]", "colmax($X * $c)", "t(parfor #j in 0..M { $X[$k % N, #j] + $r[0, #j] })"},
		's': {"sum($X) / (N * M)", "$X[$k % N, $k % M]", "$s * 0.5", "max($c)", "mean($r)", "(if $k > 3 { $s } else { $X[0, 0] })"},
		'k': {"$k + 1", "count($X > $s)", "argmax($c)", "argmin($r)", "($k * 5 + 2) % 60"},
	},
}

// inRows has rows a of M elements, columns c of as many, a square matrix P and a matrix X of some rows.
var inRows = &dialect{
	kinds: "aaaaaacsskXP",
	sizes: []int{3, 8, 17},
	cols:  []int{2, 3, 4, 5, 8, 9, 13},
	first: vocabulary{
		'a': {"rand(1, M, seed = ~)", "t(randn(M, 1, seed = ~))", "zeros(1, M)", "materialize(rand(1, M, seed = ~))"},
		'c': {"rand(M, 1, seed = ~)", "materialize(randn(M, 1, seed = ~))"},
		'P': {"rand(M, M, seed = ~) / M", "materialize(rand(M, M, seed = ~) / M)"},
		'X': {"rand(N, M, seed = ~) / M", "materialize(rand(N, M, seed = ~))"},
		's': {"0.5", "sum(rand(2, 2, seed = ~))"},
		'k': {"3", "count(rand(3, 3, seed = ~) < 0.5)"},
	},
	next: vocabulary{
		'a': {"max(min($a + $a, 3), -3)", "$a - 0.5 * $a", "max($a, t($c))", "ifelse($a > 0.2, $a, 0.1)", "tanh($a) * $a", "$a @ $P", "$a @ t($P)", "0.3 * $a @ $P + $a", "t($c)", "t($P @ t($a))",
			"t(t($X) @ ($X @ t($a) - 1)) / (N * M)", "t(t($X) @ ($X @ $c)) / (N * M) + $a", "$a * $s", "$P[$k % M, :]", "$X[$k % N, :] - $a", "colsum($X) / N", "colmax($X * $a)", "rowcumsum($a) / M", "cbind($a[:, 1..], $a[:, 0])",
			"cbind($a[:, 1..], t([$s]))", "reverse($a, by = \"cols\")", "t(sort(t($a)))", "$a[:, argsort(t($a))]", "t(parfor #i in 0..M { $a[0, (#i + 1) % M] * $s })", "t(parfor #i in 0..M { sum($P[#i, :] * $a) })",
			"if $s > 0.6 { $a } else { t($c) - $a }", "softmax($a)", "t($a[0, $k % M] * $c)", "ifelse(t(seq(0, M)) == $k % M, $s, $a)", "t(cumsum(t($a)) * 0.1)", "$a / (norm($a) + 1)", "t(diag($P)) * $a", "colsum(t(onehot(rowargmax($X), M)) @ $X) / M"},
		'c': {"t($a)", "$c * 0.5 + t($a)", "$P @ $c", "$P @ t($a)", "t($a @ $P)", "$P[:, $k % M]", "rowsum($P * $a)", "cumsum($c) / M", "sort($c)", "t($X[$k % N, :])", "t($X) @ ($X @ $c) / (N * M)"},
		'P': {"t($a) @ $a / M", "$P * 0.5", "$P + $c * $a / M", "t($P)", "$P - $a", "t($X) @ $X / (N * M)", "$P @ $P", "rbind($P[1.., :], $a)"},
		'X': {"$X + $a", "$X @ $P", "$X * 0.5", "$X - colmean($X)", "rbind($X[1.., :], $a)"},
		's': {"sum($a * $a) / M", "$a[0, $k % M]", "sum($a @ $c)", "max($a)", "$s * 0.5", "norm($c)", "($a @ $P @ t($a))[0, 0]", "mean($X @ t($a))"},
		'k': {"$k + 1", "argmax($a)", "argmin($c)", "count($a > $s)", "($k * 5 + 2) % 60"},
	},
}
