package compiler_test

// This file draws programs of values of all types: dense and sparse, numbers of three types and truth
// values.

// mixed draws matrices X of N x M, columns c of N, rows r of M, numbers s, matrices q of M x M, C of K
// x M and P of N x K, codes I of N numbers below K, integers J and truth values B of N x M, truth
// values b of N, f32 F of N x M, sparse S of N x N, graphs G, sparse Z of N x M, integers k, and pairs
// d of N x 2.
var mixed = &dialect{
	kinds: "XXXXXXcccccrrrssssqqCCPPIIJBbFSGZkd",
	sizes: []int{1, 2, 3, 4, 5, 7, 8, 9, 12, 13, 16, 17, 18, 25, 33, 37, 40},
	head:  mixedHead,
	first: mixedFirst,
	next:  mixedNext,
}

// mixedFailing is mixed with templates that fail with most values of $k, $J and $I.
var mixedFailing = &dialect{kinds: mixed.kinds, sizes: mixed.sizes, head: mixedHead, first: mixedFirst, next: mixedNext, fails: mixedFails}

// smallBodies has the same statements in the body of a parfor.
var smallBodies = &dialect{body: true, kinds: "XXcccrrrssssqqCCPPIIJBbFkd", sizes: []int{1, 2, 3, 4, 5, 7, 9, 16}, head: mixedHead, first: mixedFirst, next: mixedNext, fails: mixedFails}

var mixedHead = []string{
	"fn twist(X) = if X.rows > 1 { rbind(X[1.., :], X[0..1, :]) - X } else { X + X }",
	"fn mix(X, r) { y = X * 0.5 - r\n  z = colsum(y)\n  y + z }",
	"fn both(X) -> (a: _[_,_], b: _[_,_]) = (X - rowmax(X), cumsum(X) * 0.5)",
	"fn ctab(a) = f64(rowsum(ctable(a, a, K, K)))[a]",
	"fn grd(x) { assert x < 0.9, \"too large\"\n  x }",
	"fn grdm(X) { assert max(X) < 1.6, \"large\"\n  X * 1 }",
}

var mixedFirst = vocabulary{
	'X': {
		"rand(N, M, seed = ~)", "rand(N, M, seed = ~) - 0.5", "randn(N, M, seed = ~)", "floor(rand(N, M, seed = ~) * 4)", "materialize(rand(N, M, seed = ~))",
		"ones(N, M) * 0.5",
	},
	'c': {
		"rand(N, 1, seed = ~)", "randn(N, 1, seed = ~)", "floor(rand(N, 1, seed = ~) * 3)", "seq(0, N) * 0.25", "materialize(rand(N, 1, seed = ~) - 0.5)",
	},
	'r': {
		"rand(1, M, seed = ~)", "materialize(randn(1, M, seed = ~))",
	},
	's': {
		"0.5", "0.25", "sum(rand(2, 2, seed = ~))", "1.5",
	},
	'q': {
		"rand(M, M, seed = ~)", "eye(M)", "rand(M, M, seed = ~) - 0.5",
	},
	'C': {
		"rand(K, M, seed = ~)", "randn(K, M, seed = ~)",
	},
	'P': {
		"rand(N, K, seed = ~)",
	},
	'I': {
		"randint(N, 1, 0, K, seed = ~)", "seq(0, N) % K", "materialize(randint(N, 1, 0, K, seed = ~))",
	},
	'J': {
		"randint(N, M, -3, 4, seed = ~)", "randint(N, M, 0, 100, seed = ~)",
	},
	'B': {
		"rand(N, M, seed = ~) < 0.5",
	},
	'b': {
		"rand(N, 1, seed = ~) < 0.3",
	},
	'F': {
		"f32(randn(N, M, seed = ~))", "f32(rand(N, M, seed = ~))",
	},
	'S': {
		"rand_sparse(N, N, density = 0.3, seed = ~)",
	},
	'G': {
		"rand_graph(N, N * 2, seed = ~)",
	},
	'Z': {
		"rand_sparse(N, M, density = 0.3, seed = ~)",
	},
	'k': {
		"2", "count(rand(3, 3, seed = ~) < 0.5)",
	},
	'd': {
		"randn(N, 2, seed = ~)",
	},
}

var mixedFails = vocabulary{
	'X': {
		"$X[$k..$k + N, :]", "$C[$I + $k, :]", "parfor #i in 0..N { $X[#i - $k, :] }", "parfor #i in 0..N { $X[#i, :] * grd($c[#i]) }", "grdm($X)",
		"f64(6 // $J)", "f64($J % ($J - 1))", "f64(i64($X * 1e18))", "$X[:, $k..$k + M]", "parfor #i in 0..N, #j in 0..M { $X[#i, #j + $k] }",
		"parfor #i in 0..N, #j in 0..M { $X[#i + #j, #j] }", "if $s > 0.3 { grdm($X) } else { $X[$k..$k + N, :] }", "onehot($I + $k, K) @ $C", "$X[$I + $k, :]",
	},
	'c': {
		"parfor #i in 0..N { $c[#i + $k] }", "parfor #i in 0..N { f64(100 // ($I[#i] - 1)) }",
		"parfor #i in 0..N { iterate #a = 0.0, #k = 0 until #k >= #i % 4 { next #a = #a + $X[#i + #k, 0]; next #k = #k + 1 }; #a }", "grdm($c)",
		"parfor #i in 0..N { grd($c[#i]) }", "$c[$I + $k]", "$X[:, $k]", "parfor #i in 0..N { if $c[#i] > $s { $c[#i - $k] } else { $c[#i] } }",
		"f64(i64($c * 1e18))", "f64(bool($I)) / f64(7 // $I)",
		"parfor #i in 0..N { iterate #n = $I[#i], #k = 0 until #k == 3 { next #n = 12 // #n; next #k = #k + 1 }; f64(#n) }", "ctab($I + $k)",
		"f64(onehot($I + $k, K)[:, 0])", "parfor #i in 0..N { sum(solve($q * $c[#i], t($X[#i, :]))) }", "f64($I % $I)",
	},
	'r': {
		"$X[$k, :]", "$C[$k, :]", "grdm($r)", "colsum($X[$k.., :])", "t(parfor #j in 0..M { $r[0, #j + $k] })",
	},
	's': {
		"$c[$k]", "$X[$k, 0]", "f64(i64($s))", "$X[0, $k]", "sum($X[$k.., :])", "sum($c[0..$k])", "sort($c)[$k]", "sum($q[$k, :])", "grd($s)",
		"f64(7 // ($k - 1))",
	},
	'q': {
		"cholesky($q)", "grdm($q)", "cholesky(t($X) @ $X)", "$X[$k..$k + M, :]",
	},
	'C': {
		"t(onehot($I + $k, K)) @ $X", "$X[$k..$k + K, :]", "grdm($C)",
	},
	'J': {
		"$J // ($J - 1)", "$J % $J", "i64($X / 0.0)", "i64($X * 1e17)",
	},
	'k': {
		"100 // ($k - 2)", "$k % ($k - 3)", "i64($s)", "i64($s / ($s - $s))", "$I[$k]", "i64($c[0] * 1e300)",
	},
}

var mixedNext = vocabulary{
	'X': {
		"$X + $X", "$X * $X", "$X - $r", "$X * $c", "$X / ($c * $c + 1)", "exp(-abs($X))", "sqrt(abs($X)) * $s", "$c * $r", "$c - $r",
		"ifelse($X > $s, $X, $r)", "ifelse($B, $X, -0.0)", "max($X, $s)", "min($X, $c)", "rbind($X[1.., :], $X[0..1, :])", "rbind($X[-1.., :], $X[0..-1, :])",
		"$X - rbind($X[1.., :], $X[0..1, :])", "rbind($r, $X[0..-1, :])", "rbind($X[1.., :], $r)", "roll($X, 1) + $X", "roll($X, -2)",
		"cbind($X[:, 1..], $X[:, 0..1])", "cbind($X[:, -1..], $X[:, 0..-1]) * 0.5 + $X", "cbind($c, $X[:, 0..-1])", "rbind($X[1.., :], $X[-1.., :])",
		"rbind($X[0..1, :], $X[0..-1, :]) - $X", "cumsum($X)", "cummax($X)", "cumsum($X * 0.5)", "rowcumsum($X)", "rowcumsum($X) - $c", "cummin($X + $r)",
		"cumprod($X)", "rowcummax($X * $r)", "$X @ $q", "max($X @ $q + $r, 0.0)", "$X - $X @ $q", "$P @ $C", "$P @ $C - $X", "onehot($I, K) @ $C", "$C[$I, :]",
		"$X - $C[$I, :]", "$X * f64($J)", "f64($J)", "f64($J % 3)", "f64($F)", "f64($F * $F)", "softmax($X)", "$X - rowmax($X)",
		"exp($X - rowmax($X)) / rowsum(exp($X - rowmax($X)))", "($X - colmean($X)) / (colstddev($X) + 1)", "$X / (rownorm($X) + 1)", "$X - rowmean($X)",
		"$X[argsort($c), :]", "sort($X, by = 0)", "$X[argsort($c, desc = true), :]", "reverse($X)", "$X[-1.. by -1, :]", "reverse($X, by = \"cols\")",
		"$X[:, -1.. by -1]", "parfor #i in 0..N { $X[#i, :] * f64(#i) }", "parfor #i in 0..N { $X[(#i + 1) % N, :] - $X[(#i * 7 + 3) % N, :] }",
		"parfor #i in 0..N, #j in 0..M { $X[#i, #j] + $X[(#i + N - 1) % N, #j] }",
		"parfor #i in 0..N, #j in 0..M { if #i > #j { $X[#i, #j] } else { $X[#j % N, (#j + 1) % M] } }",
		"parfor #i in 0..N, #j in 0..M { if #i == 0 or #i == N - 1 { 0.0 } else { $X[#i - 1, #j] + $X[#i + 1, #j] - 2 * $X[#i, #j] } }",
		"parfor #i in 0..N { if $c[#i] > $s { $X[#i, :] } else { $r * $c[#i] } }",
		"parfor #i in 0..N, #j in 0..M { $X[max(#i - 1, 0), #j] + $X[#i, min(#j + 1, M - 1)] }", "parfor #i in N - 1..=0 by -1 { $X[#i, :] }",
		"parfor #i in N - 1..=0 by -1, #j in M - 1..=0 by -1 { $X[#i, #j] + $X[N - 1 - #i, #j] }",
		"parfor #i in 0..N { iterate #v = $X[#i, :], #k = 0 until #k >= #i % 4 or sum(#v) > 3 { next #v = #v * 0.5 + $r; next #k = #k + 1 }; #v }",
		"parfor #i in 0..N, #j in 0..M { iterate #z = $X[#i, #j], #n = 0 until #n >= 9 or abs(#z) > 2 { next #z = #z * #z + $c[#i]; next #n = #n + 1 }; #z + f64(#n) }",
		"parfor #i in 0..N { $X[#i, :] @ $q }", "parfor #i in 0..N { t(sort(t($X[#i, :]))) }", "parfor #i in 0..N { rowcumsum($X[#i, :]) + $r }",
		"parfor #i in 0..N { t($q @ t($X[#i, :])) - $X[#i, :] }", "parfor #i in 0..N { $C[$I[#i], :] - $X[#i, :] }",
		"parfor #i in 0..N { #w = $X[#i, :]; #a = #w - max(#w); exp(#a) / sum(exp(#a)) }", "dense($Z)", "dense($Z * $X)", "dense($Z + $Z)",
		"dense(sparse($X) * $Z)", "$S @ $X", "$G @ $X", "t($S) @ $X", "$S @ $X - $X", "dense($Z * ($P @ $C))", "dense(max($Z, sparse(floor($X))))",
		"dense($Z / ($X + 2))", "$Z @ $q", "if $s > 0.3 { $X * 2 } else { $X - $r }", "if $s > $s { cumsum($X) } else { $X }", "t(t($X) * t($c))",
		"t(cumsum(t($X)))", "t(rbind(t($X)[1.., :], t($X)[0..1, :]))", "materialize($X)", "$X + t($q @ t($X))", "lower($X @ t($r) * $r)",
		"reshape(t($X), N, M)", "twist($X)", "mix($X, $r)", "both($X).a", "both($X).b", "replace($X, 0.0, $s)", "clamp($X, -0.5, $s)", "round($X * 3)",
		"$X // 0.3", "$X % 0.7", "floor($X * 5)", "sign($X)", "$X ^ 3", "2.0 ^ $X", "ifelse(isnan($X), 0.0, $X)", "$X[$k % N, :] + $X",
		"$X[$k % N, $k % M] * $X", "$X + seq(0, N)", "$X * ($c > 0.2)", "ifelse(seq(0, N) == $k, $r, $X)",
		"ifelse(seq(0, N) % 2 == 0 and t(seq(0, M)) > 0, $X, 0.5)", "$X - colsum($X) / N", "outer($c, t($r), \"max\")", "outer($c, t($r), \"-\") * $X",
	},
	'c': {
		"$c + $c", "$c * $s", "rowsum($X)", "rowmax($X)", "rowmin($X * $r)", "rowmean($X)", "rownorm($X)", "rowsum($X * $X)", "rowsum($X @ $q * $X)",
		"$X @ t($r)", "$X[:, 0]", "$X[:, -1]", "$X[:, $k % M]", "cumsum($c)", "cummax($c)", "sort($c)", "sort($c, desc = true)", "$c[argsort($X[:, 0])]",
		"f64($I)", "f64(rowargmax($X))", "f64(rowargmin($X - $r))", "f64(rowargmin(t(rowsum($C ^ 2)) - 2 * $X @ t($C)))", "ifelse($b, $c, $s)", "exp($c)",
		"sqrt(abs($c))", "abs($c - t($c)[0, 0])", "rbind($c[1..], $c[0..1])", "rbind($c[-1..], $c[0..-1]) - $c", "roll($c, 3)", "reverse($c)", "$c[-1.. by -1]",
		"rowsum(exp(-($c - $r) ^ 2))", "rowmax($c * $r)", "rowmedian($X)", "rowprod($X)", "rowstddev($X)", "rowvar($X)", "f64(rowcount($B))", "f64(rowany($B))",
		"rowsum($Z)", "rowmax($Z)", "rowmax($Z * $r)", "$S @ $c", "t($S) @ $c", "f64($G @ $c)", "rowmax($S * t($c))", "rowmax(max($S, t($S)) * t($c))",
		"rowsum($S * abs($c - t($c)))", "f64(rowany($G and t($b)))", "semiring($S, $c, \"max *\")", "semiring($S, $c, \"min +\")",
		"rowsum(max($G, t($G)) * t($c))", "rowsum($S)", "t(colsum($S))", "t(colmax($S * $c))", "rownorm($Z)", "rowsum($X * $X) + $s",
		"parfor #i in 0..N { sum($X[#i, :]) + $c[#i] }", "parfor #i in 0..N { $c[#i] - $c[(#i + 1) % N] }", "parfor #i in 0..N { $c[N - 1 - #i] }",
		"parfor #i in 0..N { if #i % 2 == 0 { $c[#i] } else { $c[#i - 1] * 0.5 } }",
		"parfor #i in 0..N { iterate #x = $c[#i], #n = 0 until abs(#x) > 4 or #n == 20 { next #x = #x * #x + $s; next #n = #n + 1 }; f64(#n) }",
		"parfor #i in 0..N { iterate #a = $c[#i], #k = 0 times #i % 5 { next #a = #a * 0.5 + $X[#i, #k % M]; next #k = #k + 1 }; #a }",
		"parfor #i in 0..N { det($q * $c[#i] + eye(M)) }", "parfor #i in 0..N { sum(solve($q + (5.0 + abs($c[#i])) * eye(M), t($X[#i, :]))) }",
		"parfor #i in 0..N { sum(cumsum(t($X[#i, :]))) }", "parfor #i in 0..N { median(t($X[#i, :])) }", "parfor #i in 0..N { sort(t($X[#i, :]))[M - 1] }",
		"parfor #i in 0..N { sum(($C - $X[#i, :]) ^ 2) }", "parfor #i in 0..N { min(rowsum(($C - $X[#i, :]) ^ 2)) }",
		"parfor #i in 0..N { f64(argmin(rowsum(abs($C - $X[#i, :])))) }", "parfor #i in 0..N { prod($X[#i, :]) }", "parfor #i in 0..N { $C[$I[#i], 0] }",
		"parfor #i in 0..N { iterate #x = 1.0, #y = $c[#i], #n = 0 until #n == 6 { next #x = #y; next #y = #x * 0.5 + #y; next #n = #n + 1 }; #x - #y }",
		"parfor #i in 0..N { norm($X[#i, :] - $r) }", "parfor #i in 0..N { #w = $c[max(#i - 2, 0)..max(#i - 2, 0) + 1]; #w[0] + $s }",
		"parfor #i in 0..N { sum($q @ $q * $c[#i]) }", "parfor #i in 0..N { #m = $q * $c[#i]; trace(#m @ t(#m)) }",
		"parfor #i in N - 1..=0 by -1 { $c[#i] * f64(#i) }", "parfor #i in 0..N { sum($c[0..#i % 4]) }", "$c",
		"interp($c, linspace(0.0, 1.0, 5), seq(0, 5) * 1.0)", "ctab($I)", "f64(bin($c, [0.1, 0.4, 0.7]))", "$P[:, 0]", "rowmax($P)", "f64(rowargmax($P))",
		"t(colsum(t($X)))", "$d[:, 0]", "$d[:, -1] * 0.5", "f64(argsort($c))", "f64(argsort(argsort($c)))", "$c[$I]", "quantile($c, 0.3) + $c",
		"replace($c, $s, 0.0)",
	},
	'r': {
		"$r + $r", "$r * $s", "colsum($X)", "colmax($X)", "colmin($X * $c)", "colmean($X)", "colnorm($X)", "colsum($X * $X)", "colsum($X * $c)", "t($c) @ $X",
		"$X[0, :]", "$X[-1, :]", "$X[$k % N, :]", "$r @ $q", "$C[0, :]", "$C[$k % K, :]", "colmedian($X)", "colprod($X)", "colstddev($X)", "colvar($X)",
		"f64(colcount($B))", "f64(colargmax($X))", "f64(colargmin($X))", "colsum($Z)", "colmax($Z)", "colmean($C)", "colsum(exp(-($c - $r) ^ 2))",
		"rowcumsum($r)", "t(sort(t($r)))", "colmax(abs(cumsum($X)))", "colsum(cumsum($X))", "colmin(cummin($X) * $c)", "colmax(cumsum($X) - cummax($X))",
		"sum(for #k in 0..2 => $X[#k % N, :])", "ifelse($r > 0.3, $r, $s)", "t(parfor #j in 0..M { sum($X[:, #j]) })",
		"t(parfor #j in 0..M { $r[0, (#j + 1) % M] })", "t(parfor #j in 0..M { cumsum($X[:, #j])[N - 1] })", "t(parfor #j in 0..M { median($X[:, #j]) })",
		"colquantile($X, 0.5)", "t(t($X) @ $c)", "colsum(softmax($X))", "colmean($X[argsort($c)[0..min(N, 3)], :])", "colsum($X[$c > $s, :])",
		"colsum(sort($X, by = 0)[0..min(N, 2), :])",
	},
	's': {
		"$s + $s", "$s * 0.5", "sum($X)", "max($c)", "min($X)", "mean($c)", "norm($X)", "norm($c - t($c)[0, 0])", "sum($X * $X)", "sum($c * $c)",
		"sum($c * rowsum($X))", "$c[$k % N]", "$X[$k % N, $k % M]", "$c[0]", "$c[-1]", "$r[0, -1]", "sum($q)", "det($q)", "trace($q)", "median($c)",
		"quantile($c, 0.25)", "sort($c)[$k % N]", "sort($c)[0] + sort($c)[-1]", "sort($c)[N // 2]", "max(abs($X - $r))", "f64(argmax($c))", "f64(count($B))",
		"f64(sum($J))", "f64(max($J))", "f64(nunique($I))", "f64(nunique($c))", "sum($S)", "max($Z)", "f64(count($G))", "sum(t($c) @ $S)", "f64(any($b))",
		"f64(all($B))", "sum($P)", "stddev($c)", "var($c)", "prod($r)", "exp(-abs($s))", "sqrt(abs($s))", "f64($k)", "(if $s > 0.5 { $s } else { $c[0] })",
		"(if $k > 2 { sum($X) } else { $s })", "$s / 3", "sin($s)", "sum(parfor #i in 0..N { $c[#i] * f64(#i) })", "max(parfor #i in 0..N { sum($X[#i, :]) })",
		"sum($X[$c > $s, :])", "sum($X[0..$k % N, :])", "mean($c[$c > 0.1])", "f64(sum($c > $s))", "sum($C)", "sum(f64($F))", "trace($q @ $q)", "sum($X @ $q)",
		"sum($q @ t($r))", "sum(sort($c)[0..min(3, N)])", "sum($c[argsort($X[:, 0])[0..min(4, N)]])", "mean(sort($c)[N // 4..N - N // 4])", "sum(cumsum($c))",
		"max(cumsum($c))",
	},
	'q': {
		"$q + $q", "$q * $s", "$q @ $q", "t($q)", "t($X) @ $X", "t($X) @ $X / N", "t($X) @ ($X * $c)", "cov($X)", "$q - $r", "$q * t($r)", "lower($q)",
		"upper($q)", "eye(M) * $s + $q", "inv($q + 9 * eye(M))", "t($C) @ $C", "rbind($q[1.., :], $q[0..1, :])", "t($q) @ $q", "$q[-1.. by -1, :]",
		"sort($q, by = 0)", "cumsum($q)", "t($r) @ $r", "solve($q + 9 * eye(M), $q)", "parfor #i in 0..M, #j in 0..M { $q[#j, #i] }",
		"parfor #i in 0..M, #j in 0..M { sum($X[:, #i] * $X[:, #j]) }", "parfor #i in 0..M { $q[M - 1 - #i, :] }",
		"t($X[0..min(N, 5), :]) @ $X[0..min(N, 5), :]", "t($Z) @ $X", "eye(M)", "$q * 0.1",
	},
	'C': {
		"$C + $r", "$C * $s", "t(onehot($I, K)) @ $X", "(t(onehot($I, K)) @ $X) / max(t(colsum(onehot($I, K))), 1)", "t($P) @ $X",
		"t(onehot($I, K)) @ ($X * $c)", "t(onehot($I, K)) @ ($X - $r)", "$C * 0.5", "$C @ $q", "rbind($C[1.., :], $C[0..1, :])", "$C[argsort($C[:, 0]), :]",
		"sort($C, by = 0)", "parfor #k in 0..K { colsum($X * ($I == #k)) }", "parfor #k in 0..K { colsum($X[$I == #k, :]) }",
		"parfor #k in 0..K { colmax(ifelse($I == #k, $X, -inf)) }", "f64(ctable($I, $I, K, K)) @ $C", "cumsum($C)", "t(onehot($I, K)) @ sort($X, by = 0)",
		"ifelse(t(colsum(onehot($I, K))) > 0, (t(onehot($I, K)) @ $X) / max(t(colsum(onehot($I, K))), 1), $C)",
	},
	'P': {
		"$X @ t($C)", "onehot($I, K) * 1.0", "$P * $c", "softmax($P)", "softmax($X @ t($C))", "exp(-($c - t($C[:, 0])) ^ 2)",
		"t(rowsum($C ^ 2)) - 2 * $X @ t($C)", "$P / (rowsum($P) + 1)", "$P - onehot($I, K)", "max($P, 0.0)", "$P - rowmax($P)", "cumsum(f64(onehot($I, K)))",
		"parfor #i in 0..N, #k in 0..K { sum(($X[#i, :] - $C[#k, :]) ^ 2) }", "parfor #i in 0..N, #k in 0..K { sum(abs($X[#i, :] - $C[#k, :])) }", "$S @ $P",
	},
	'I': {
		"rowargmin(t(rowsum($C ^ 2)) - 2 * $X @ t($C))", "rowargmax($P)", "i64(clamp(floor(abs(replace($c, nan, 0.0)) * K), 0.0, K - 1.0))", "($I + 1) % K",
		"($I * 3 + i64($b)) % K", "$I[argsort($c)]", "reverse($I)", "argsort($c) % K", "(($J[:, 0] % K) + K) % K", "seq(0, N) % K",
		"(K - 1) - seq(0, N) * K // max(N, 1)", "parfor #i in 0..N { ($I[#i] + #i) % K }", "parfor #i in 0..N { argmin(rowsum(($C - $X[#i, :]) ^ 2)) }",
		"cumsum($I) % K", "rbind($I[1..], $I[0..1])", "ifelse($b, $I, 0)", "cummax($I)", "i64($b) % K", "rowcount($B) % K", "t(t($I))",
	},
	'J': {
		"$J + $J", "$J * 3 - 1", "$J // 3", "$J % 5", "$J * $I", "i64($B)", "i64(clamp(replace($X, nan, 0), -1e9, 1e9) * 10)", "cumsum($J)", "cummax($J)",
		"$J * 1_000_003 * 1_000_003 * 7", "max($J, $I)", "rbind($J[1.., :], $J[0..1, :])", "parfor #i in 0..N, #j in 0..M { $J[#i, #j] + #i * #j }",
		"parfor #i in 0..N, #j in 0..M { iterate #n = abs($J[#i, #j]) % 50 + 1, #k = 0 until #n == 1 or #k == 12 { next #n = if #n % 2 == 0 { #n // 2 } else { 3 * #n + 1 }; next #k = #k + 1 }; #n + #k }",
		"ifelse($B, $J, -1)", "sort($J, by = 0)", "$J[argsort($c), :]", "abs($J)", "-$J", "$J ^ 2", "rowcumsum($J)", "$J - colsum($J)", "$J + rowmax($J)", "$J",
		"ifelse(i64($B) == 1, $J // 2, $J % 7)",
	},
	'B': {
		"$X > $s", "$X < $r", "$J == 2", "$B and $b", "not $B", "$B or $X > 0.5", "$J % 2 == 0", "isnan($X)", "$X == $X", "$F > 0.2",
		"rbind($B[1.., :], $B[0..1, :])", "parfor #i in 0..N, #j in 0..M { $X[#i, #j] > $c[#i] }",
		"parfor #i in 0..N, #j in 0..M { $B[#i, (#j + 1) % M] and $B[(#i + 1) % N, #j] }", "$B[-1.. by -1, :]", "$X != $c", "$B", "isinf($X)",
	},
	'b': {
		"$c > $s", "rowany($B)", "rowall($B)", "$I == 0", "$B[:, 0]", "not $b", "$b and $c > 0.1", "$b or rowany($B)", "rowmax($X) > 0.9", "$c == $c",
		"rowany($G and t($b))", "parfor #i in 0..N { $c[#i] > $c[(#i + 1) % N] }", "rbind($b[1..], $b[0..1])",
	},
	'F': {
		"f32($X)", "$F + $F", "$F * $F", "$F * f32($s)", "sqrt(abs($F))", "$F - rowmax($F)", "cumsum($F)", "exp($F)", "f32($J)",
		"rbind($F[1.., :], $F[0..1, :])", "ifelse($B, $F, f32(0.5))", "$F @ f32($q)", "$F / (rowsum($F * $F) + 1)", "max($F, f32($c))", "softmax($F)",
		"parfor #i in 0..N, #j in 0..M { $F[#i, #j] * $F[(#i + 1) % N, #j] }", "$F + colsum($F)",
	},
	'S': {
		"$S * 2", "$S * $S", "t($S)", "max($S, t($S))", "$S + t($S)", "$S * $c", "$S * t($c)", "$S * abs($c - t($c))", "sparse(f64($G))", "$S * $G",
		"lower($S)", "upper($S)", "f64($G) - $S", "sqrt(abs($S))", "$S / ($c + 2)", "$S * ($X @ t($X))", "$S @ $S * 0.1", "-$S", "min($S, t($S))",
		"rbind($S[1.., :], $S[0..1, :])",
	},
	'G': {
		"$S > 0.3", "t($G)", "$G or t($G)", "$G and t($G)", "bool($S)", "$S != t($S)", "$G and $c > t($c)", "$G and $b", "lower($G)", "bool($S @ $S)",
	},
	'Z': {
		"$Z * 2", "$Z * $X", "$Z + $Z", "$Z * $c", "$Z * $r", "max($Z, $Z)", "sparse($X * $B)", "$S @ $Z", "$Z / ($c * $c + 1)", "$Z - sparse(floor($X))",
		"sparse($J * 1.0)", "$Z * $B", "rbind($Z[1.., :], $Z[0..1, :])", "sqrt(abs($Z))", "$Z * ($P @ $C)",
	},
	'k': {
		"count($b)", "i64($B[0, 0])", "$k + 1", "argmax($c)", "argmin($X)", "abs(sum($J)) % 97", "nunique($I)", "$I[0]", "($k * 7 + 3) % 50",
		"(if $s > 1 { 3 } else { $k })", "sum($I)", "max($I)", "rowargmax($X)[0]", "count($X > $s)", "argsort($c)[0]",
		"i64(clamp(replace($s, nan, 0.0), 0.0, 20.0))",
	},
	'd': {
		"fft($c)", "fft($d)", "ifft($d)", "complex_times($d, $d)", "$d * $s", "cbind($c, $c)", "$d * $c",
		"parfor #i in 0..N { #a = $d[#i, 0]; #b = $d[#i, 1]; [[#a * #a - #b * #b, 2 * #a * #b]] }", "$d / (rownorm($d) + 1)",
		"parfor #i in 0..N { iterate #x = $d[#i, 0], #y = $d[#i, 1], #n = 0 until #x * #x + #y * #y > 4 or #n == 15 { next #x = #x * #x - #y * #y + $c[#i]; next #y = 2 * #x * #y + $s; next #n = #n + 1 }; [[#x, #y]] }",
		"$d[:, -1.. by -1]", "cumsum($d)", "roll($d, 1)",
	},
}
