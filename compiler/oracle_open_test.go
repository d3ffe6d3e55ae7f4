package compiler_test

// This file draws programs of matrices with as many rows as the run tells, and of numbers that are not
// ordinary.

// open draws matrices O of k0 x M, columns o and codes y of k0, where w0 says which rows of N these
// are, beside matrices X, columns c, codes I, sparse matrices S and Z of N rows, matrices C of K x M
// and q of M x M, rows r of M, numbers s and integers k.
var open = &dialect{
	kinds: "OOOOOooooyyXcIrrqCsskSZ",
	sizes: []int{1, 2, 3, 5, 8, 12, 13, 17, 33, 40},
	swarm: 5,
	head:  []string{"w0 = rand(N, 1, seed = M) < K * 0.2", "k0 = count(w0)"},
	first: vocabulary{
		'O': {"rand(N, M, seed = ~)[w0, :]", "materialize(rand(N, M, seed = ~) - 0.5)[0..k0, :]", "randn(N, M, seed = ~)[N - k0.., :]", "parfor #i in 0..k0 { rand(1, M, seed = #i) }"},
		'o': {"rand(N, 1, seed = ~)[w0]", "(seq(0, N) * 0.25)[0..k0]", "materialize(randn(N, 1, seed = ~))[w0]", "parfor #i in 0..k0 { f64(#i) * 0.5 }"},
		'y': {"randint(N, 1, 0, K, seed = ~)[w0]", "(seq(0, N) % K)[0..k0]"},
		'X': mixedFirst['X'], 'c': mixedFirst['c'], 'I': mixedFirst['I'], 'r': mixedFirst['r'], 'q': mixedFirst['q'], 'C': mixedFirst['C'],
		's': mixedFirst['s'], 'k': mixedFirst['k'], 'S': mixedFirst['S'], 'Z': mixedFirst['Z'],
	},
	next: vocabulary{
		'O': {"$O + $O", "$O * $o", "$O - $r", "$O - colmean($O)", "cumsum($O)", "rbind($O[1.., :], $O[0..1, :])", "rbind($O[-1.., :], $O[0..-1, :])", "$O[argsort($o), :]",
			"sort($O, by = 0)", "$O @ $q", "exp(-abs($O))", "reverse($O)", "$O[-1.. by -1, :]", "$X[w0, :]", "$X[0..k0, :]", "$X[N - k0.., :]", "$O / (rowsum($O * $O) + 1)", "softmax($O)",
			"ifelse($O > $s, $O, $r)", "parfor #i in 0..k0 { $O[#i, :] * 2 }", "parfor #i in 0..k0, #j in 0..M { $O[#i, #j] + $o[#i] }", "$o * $r", "roll($O, 1)", "onehot($y, K) @ $C",
			"$C[$y, :]", "$C[$y, :] - $O", "if $s > 0.3 { $O } else { $O * 2 }", "rbind($O, $O)[0..k0, :]", "rbind($O, $O)[k0.., :]", "t(t($O) * t($o))", "materialize($O)", "cbind($o, $O[:, 1..])",
			"$O[:, -1.. by -1]", "max($O, $o)", "$X[argsort($c)[0..k0], :]", "$S[w0, :] @ $X", "dense($Z[w0, :])", "dense($Z[0..k0, :])", "$X[0..k0, :] * $c[0..k0]", "$X[w0, :] - $O",
			"($X * $c)[w0, :]", "($X @ $q)[w0, :]", "$O[$y, :]", "parfor #i in 0..k0 { $X[#i, :] - $O[#i, :] }", "parfor #i in 0..k0 { $O[(#i + 1) % k0, :] }", "parfor #i in k0 - 1..=0 by -1 { $O[#i, :] }",
			"parfor #i in 0..k0 { iterate #v = $O[#i, :], #n = 0 until #n >= #i % 4 or sum(#v) > 3 { next #v = #v * 0.5 + $r; next #n = #n + 1 }; #v }", "$O - rowmax($O)", "cummax($O)",
			"rbind($r, $O[0..-1, :])", "rbind($O[1.., :], $r)", "$O * ($o > 0.2)", "$O[0..k0, :]", "$O[0.. by 2, :][$y * 0, :]", "rowcumsum($O)", "$O + $O[$k % k0, :]", "($X + 1)[N - k0.., :] * 0.5", "t(cumsum(t($O)))"},
		'o': {"rowsum($O)", "$O[:, 0]", "$O[:, -1]", "$O[:, $k % M]", "$O @ t($r)", "$c[w0]", "$c[0..k0]", "cumsum($o)", "sort($o)", "reverse($o)", "f64($y)", "$o * $s", "$o + $o", "rowmax($O)", "f64(argsort($o))",
			"$o[argsort($o)]", "parfor #i in 0..k0 { $o[#i] + $c[#i] }", "t(colsum(t($O)))", "rbind($o[1..], $o[0..1])", "diag($O @ t($O))", "f64(rowargmax($O))", "rowmedian($O)", "ifelse($o > $s, $o, 0.0)",
			"$S[w0, :] @ $c", "rowsum($Z[w0, :])", "rowsum($X)[w0]", "rownorm($O - $r)", "parfor #i in 0..k0 { sum($O[#i, :] * $r) }", "parfor #i in 0..k0 { if $o[#i] > $s { $o[k0 - 1 - #i] } else { $c[#i] } }",
			"parfor #i in 0..k0 { sum($o[0..#i]) }", "parfor #i in 0..k0 { sum(($C - $O[#i, :]) ^ 2) }", "parfor #i in 0..k0 { f64(argmin(rowsum(abs($C - $O[#i, :])))) }", "cummax($o)", "$c[w0] * $c[0..k0]", "rowsum($O @ $q * $O)",
			"t(colsum(onehot($y, K)))[$y]", "rowsum(exp(-($o - $r) ^ 2))", "if $s > 1 { $o } else { $c[w0] }", "cumsum($c)[w0]", "$o[$y]"},
		'y': {"i64(abs(replace($o, nan, 0.0)) * 7) % K", "$I[w0]", "$I[0..k0]", "rowargmax($O) % K", "argsort($o) % K", "($y + 1) % K", "reverse($y)", "rowargmin(t(rowsum($C ^ 2)) - 2 * $O @ t($C))"},
		'X': {"$X - $r", "$X * $c", "$X + colsum($O)", "$X * $X", "rbind($O, $X)[0..N, :]", "rbind($O, $X[k0.., :])", "rbind($X[k0.., :], $O)", "cumsum($X)", "$X[argsort($c), :]", "ifelse(w0, $X, 0.5)", "if $s > 0.5 { $X } else { $X * $c }"},
		'c': {"$c * $s", "rowsum($X)", "rbind($o, $c[k0..])", "rbind($c[k0..], $o)", "$c + sum($o)", "ifelse(w0, $c, -1.0)", "cumsum($c)", "sort($c)", "$X @ t($r)"},
		'I': {"($I + 1) % K", "rbind($y, $I[k0..])", "argsort($c) % K", "$I"},
		'r': {"colsum($O)", "colmax($O)", "t($o) @ $O", "$O[$k % k0, :]", "colmean($O * $o)", "$X[0, :]", "colmedian($O)", "t(parfor #j in 0..M { sum($O[:, #j]) })", "$r * $s", "colsum($X[w0, :])", "colsum($O[$o > $s, :])",
			"colsum(cumsum($O))", "colsum($C)", "$O[-1, :]", "colmin($O) + $r", "f64(colargmax($O))", "colvar($O)", "colsum(sort($O, by = 0)[0..2, :])"},
		'q': {"t($O) @ $O", "t($O) @ ($O * $o)", "$q + $q", "$q * $s", "t($q)", "$q - $r", "t($X[w0, :]) @ $O", "cov($O)"},
		'C': {"t(onehot($y, K)) @ $O", "$C * $s", "$C + $r", "(t(onehot($y, K)) @ $O) / max(t(colsum(onehot($y, K))), 1)", "parfor #k in 0..K { colsum($O[$y == #k, :]) }", "parfor #k in 0..K { colsum($O * ($y == #k)) }", "t(onehot($y, K)) @ ($O * $o)"},
		's': {"sum($O)", "mean($o)", "max($O)", "f64(nrow($O))", "norm($O)", "median($o)", "quantile($o, 0.3)", "$o[$k % k0]", "$O[$k % k0, 0]", "$s * 0.5", "sum($o * $o)", "sum($c[w0])", "sum($O * $o)", "f64(k0)", "sum($o[0..$k])",
			"sum($X[w0, :] * $O)", "sort($o)[0]", "trace($q)", "sum(cumsum($o))", "mean($o[$o > $s])", "stddev($o)"},
		'k': {"count($o > $s)", "argmax($o)", "nunique($y)", "nrow($O)", "$k + 1", "($k * 7 + 3) % 50", "k0", "sum($y)"},
		'S': {"$S * 2", "t($S)", "max($S, t($S))", "$S * $c", "$S + $S"},
		'Z': {"$Z * 2", "$Z * $c", "$Z * $X", "$S @ $Z", "$Z * $r"},
	},
}

// nested has loops and choices in each other, and what they read.
var nested = &dialect{kinds: "XXXXcccrrrsssqqkkCI", sizes: []int{1, 2, 3, 5, 8, 17, 40}, swarm: 5, head: mixedHead, first: mixedFirst, next: nestedNext}

// nestedBodies has them in the body of a parfor.
var nestedBodies = &dialect{body: true, kinds: "XXXcccrrrsssqqkkC", sizes: []int{1, 2, 3, 5, 8}, swarm: 4, head: mixedHead, first: mixedFirst, next: nestedNext}

var nestedNext = vocabulary{
	'X': {"if $s > 0.3 { iterate #u = $X, #n = 0 times 3 with (unroll = 0) { next #u = #u * 0.5 + $r; next #n = #n + 1 }; #u } else { $X - $c }",
		"if M > 0 { iterate #u = $X, #v = $r, #n = 0 until #n >= $k % 5 { next #u = #u * 0.5 + #v; next #v = #u[#n % N, :] * $s; next #n = #n + 1 }; #u } else { $X }",
		"if M > 0 { iterate #u = $X, #v = $c, #n = 0 until #n >= $k % 4 { next #v = rowsum(#u) * 0.1; next #u = #u * 0.5 - #v; next #n = #n + 1 }; #u } else { $X }",
		"if M > 0 { iterate #u = $X, #m = $k until #m <= 0 { next #u = parfor #i in 0..N { if #i % 2 == #m % 2 { #u[#i, :] * 0.5 } else { $r + #u[(#i + 1) % N, :] } }; next #m = #m - 7 }; #u } else { $X }",
		"if M > 0 { iterate #u = $X, #n = 0 times $k % 4 { #w = rbind(#u[1.., :], #u[0..1, :]); next #u = #w * 0.5 + #u[:, #n % M]; next #n = #n + 1 }; #u } else { $X }",
		"if M > 0 { iterate #u = $X, #w = $X, #n = 0 times $k % 4 { next #w = #u; next #u = #w * 0.5 + $c; next #n = #n + 1 }; #u - #w } else { $X }",
		"parfor #i in 0..N { if $c[#i] > $s { iterate #v = $X[#i, :], #n = 0 until #n == 3 { next #v = #v * 0.5 + $r; next #n = #n + 1 }; #v } else { $r * f64(#i) } }",
		"parfor #i in 0..N { #w = $q * $c[#i]; #v = $X[#i, :] @ #w; #v - max(#v) }", "parfor #i in 0..N { #w = $q - $X[#i, :]; colsum(#w @ $q) + rowsum(#w)[#i % M] }",
		"parfor #i in 0..N { #w = $C - $X[#i, :]; #m = argmin(rowsum(#w * #w)); #w[#m, :] }", "parfor #i in 0..N { #w = $X[#i, :]; cbind(#w[:, 1..], #w[:, 0..1]) * $s }",
		"parfor #i in 0..N { #w = $X[0..#i + 1, :]; colsum(#w) }", "parfor #i in 0..N { #w = $X[#i.., :]; colmax(#w) - $r }", "parfor #i in 0..N { #a = $q[#i % M, :]; #b = $q[:, #i % M]; #a * #b[0] + t(#b) }",
		"parfor #i in 0..N, #j in 0..M { sum($q[#j, :] * $X[#i, :]) }", "parfor #i in 0..N, #j in 0..M { iterate #a = 0.0, #k = 0 until #k > #j { next #a = #a + $X[#i, #k]; next #k = #k + 1 }; #a }",
		"parfor #i in 0..N { iterate #a = $q, #n = 0 times 3 { next #a = #a * 0.5 + $X[#i, :]; next #n = #n + 1 }; #a[#i % M, :] }",
		"parfor #i in 0..N { iterate #a = $r, #b = 1.0, #n = 0 times #i % 4 { next #a = #a * #b - $X[(#i + #n) % N, :]; next #b = max(#a) * 0.5; next #n = #n + 1 }; #a + #b }",
		"parfor #i in 0..N { t(solve($q + 9 * eye(M), t($X[#i, :]))) }", "parfor #i in 0..N { t(sort(t($X[#i, :])))[:, -1.. by -1] }", "parfor #i in 0..N { if $c[#i] > 0.5 { $X[#i, :] } else { if $s > 0.5 { $r } else { $X[N - 1 - #i, :] } } }",
		"if $k > 2 { parfor #i in 0..N { $X[#i, :] * $c[#i] } } else { $X @ $q }", "if $s > 0.5 { if $k > 3 { $X } else { $X * 2 } } else { cumsum($X) }", "twist(twist($X))", "mix(twist($X), $r)", "both($X).a - both($X).b",
		"$X + $c", "$X * $r", "$X @ $q", "cumsum($X)", "$X[-1.. by -1, :]", "$X - colmean($X)", "rbind($X[1.., :], $X[0..1, :])", "$X[argsort($c), :]", "ifelse($X > $c, $X, $r)", "$C[$I, :]", "$X / (rownorm($X) + 1)"},
	'c': {"if M > 0 { iterate #u = $c, #n = 0 until #n >= $k % 5 or sum(#u) > 9 { next #u = #u * 0.5 + rowsum($X) * 0.1; next #n = #n + 1 }; #u } else { $c }", "if M > 0 { iterate #u = $c, #s = $s, #n = 0 times $k % 5 { next #u = #u - #s; next #s = max(#u) * 0.5; next #n = #n + 1 }; #u * #s } else { $c }",
		"if M > 0 { iterate #p = $c, #q = sort($c), #n = 0 times $k % 4 { next #p = #q; next #q = rbind(#p[1..], #q[0..1]); next #n = #n + 1 }; #p - #q } else { $c }", "if M > 0 { iterate #u = $c, #n = 0 until #n >= N { next #u = ifelse(seq(0, N) == #n, $s, #u * 0.9); next #n = #n + 1 }; #u } else { $c }",
		"parfor #i in 0..N { #w = $X[#i, :] * $q; det(#w + 9 * eye(M)) }", "parfor #i in 0..N { #w = $q @ t($X[#i, :]); sum(#w * #w) + #w[0] }", "parfor #i in 0..N { #w = $C * $c[#i]; #m = rowsum(#w); #m[argmax(#m)] }",
		"parfor #i in 0..N { iterate #x = $c[#i], #y = $s, #n = 0 until #n > #i % 5 or abs(#x) > 9 { next #x = #x * #y + 0.1; next #y = if #x > #y { #x - #y } else { #y * 0.5 }; next #n = #n + 1 }; #x + #y }",
		"parfor #i in 0..N { iterate #w = $q, #n = 0 times 2 { next #w = #w @ $q * 0.2; next #n = #n + 1 }; trace(#w) * $c[#i] }", "parfor #i in 0..N { sum(parfor #j in 0..N { abs($c[#i] - $c[#j]) }) }", "parfor #i in 0..N { max(parfor #j in 0..#i + 1 { $c[#j] * $X[#i, 0] }) }",
		"parfor #i in 0..N { sum(parfor #j in 0..N { if #j == #i { 0.0 } else { 1 / (abs($c[#i] - $c[#j]) + 0.1) } }) }", "parfor #i in 0..N { #v = $X[#i, :]; #w = cumsum(t(#v)); median(#w) + #w[-1] }", "parfor #i in 0..N { #w = sort(t($X[#i, :])); #w[0] - #w[-1] }",
		"parfor #i in 0..N { iterate #a = 0, #b = $I[#i] until #b <= 0 { next #a = #a * 2 + #b % 2; next #b = #b // 2 }; f64(#a) }", "parfor #i in 0..N { #k = $I[#i]; if #k == 0 { $c[#i] } else { sum($C[#k - 1, :]) } }",
		"parfor #i in 0..N { #w = $q[:, #i % M]; iterate #x = #w, #n = 0 times 3 { next #x = $q @ #x / (norm(#x) + 1); next #n = #n + 1 }; norm(#x) }", "rowsum($X)", "cumsum($c)", "$c * $s", "rowmax($X * $r)", "sort($c)", "$c[argsort($X[:, 0])]", "if $s > 0.4 { $c } else { rowsum($X) }", "$X[:, $k % M]"},
	'r': {"if M > 0 { iterate #v = $r, #n = 0 times $k % 5 { next #v = #v @ $q * 0.3; next #n = #n + 1 }; #v } else { $r }", "if M > 0 { iterate #v = $r, #w = $q, #n = 0 times $k % 4 { next #v = #w[#n % M, :] - #v; next #w = #w * 0.5 + #v; next #n = #n + 1 }; #v } else { $r }", "colsum(parfor #i in 0..N { $X[#i, :] * $c[#i] })",
		"if $k > 3 { colsum($X) } else { $r - $X[0, :] }", "$X[$k % N, :]", "colmean($X)", "t($c) @ $X", "$r * $s", "colsum($C)", "t(diag($q))", "t($q @ t($r))"},
	's': {"if M > 0 { iterate #s = $s, #n = 0 until #n >= $k % 6 { next #s = #s * 0.5 + $c[#n % N]; next #n = #n + 1 }; #s } else { $s }", "if M > 0 { iterate #s = $s, #t = 1.0, #n = 0 until #n >= 5 or #s > 4 { next #s = #s + #t; next #t = #s * 0.25; next #n = #n + 1 }; #s * #t } else { $s }", "if $s > 0.7 { iterate #z = $s times 3 { next #z = #z * #z }; #z } else { sum($c) }",
		"sum($X)", "max($c)", "$c[$k % N]", "$q[0, $k % M]", "norm($r)", "mean($X * $c)", "sum(for #k in 0..3 => $X[#k % N, 0])", "det($q)", "$s * 0.5", "f64($k)"},
	'q': {"if M > 0 { iterate #w = $q, #n = 0 times $k % 4 { next #w = #w @ $q * 0.3; next #n = #n + 1 }; #w } else { $q }", "if M > 0 { iterate #w = $q, #n = 0 until #n >= M { next #w = #w - #w[:, #n] * #w[#n, :] * 0.1; next #n = #n + 1 }; #w } else { $q }", "parfor #i in 0..M { iterate #w = $q[#i, :], #n = 0 times #i { next #w = #w * 0.5 + $q[#n, :]; next #n = #n + 1 }; #w }",
		"parfor #i in 0..M, #j in 0..M { if #i <= #j { $q[#i, #j] } else { $q[#j, #i] } }", "t($X) @ $X", "$q * $s", "$q + t($q)", "$q @ $q", "t($q)", "$q - $r", "if $s > 0.5 { $q } else { t($q) }"},
	'C': {"$C * $s", "$C + $r", "t(onehot($I, K)) @ $X", "$C @ $q", "parfor #k in 0..K { colsum($X[$I == #k, :]) }", "if M > 0 { iterate #c = $C, #n = 0 times $k % 3 { #y = rowargmin(t(rowsum(#c ^ 2)) - 2 * $X @ t(#c)); next #c = t(onehot(#y, K)) @ $X * 0.5; next #n = #n + 1 }; #c } else { $C }"},
	'I': {"($I + 1) % K", "rowargmin(t(rowsum($C ^ 2)) - 2 * $X @ t($C))", "argsort($c) % K", "parfor #i in 0..N { iterate #a = $I[#i], #n = 0 until #n == 4 { next #a = (#a * 5 + #n) % K; next #n = #n + 1 }; #a }", "reverse($I)"},
	'k': {"if M > 0 { iterate #a = $k, #n = 0 until #n >= 4 or #a > 40 { next #a = if #a % 2 == 0 { #a // 2 + 1 } else { 3 * #a + 1 }; next #n = #n + 1 }; #a % 50 } else { $k }", "count($c > $s)", "argmax($c)", "$k + 1", "sum($I)", "($k * 7 + 3) % 50"},
}

// strange has numbers that are nan, infinite, zeros of both signs, subnormal or large.
var strange = &dialect{kinds: mixed.kinds, sizes: []int{1, 2, 3, 5, 8, 17, 33}, cols: []int{1, 1, 2, 3, 8, 9}, swarm: 5, head: mixedHead, first: strangeFirst, next: mixedNext}

// strangeBodies has them in the body of a parfor.
var strangeBodies = &dialect{body: true, kinds: smallBodies.kinds, sizes: smallBodies.sizes, swarm: 5, head: mixedHead, first: strangeFirst, next: mixedNext}

var strangeFirst = vocabulary{
	'X': {"ifelse(rand(N, M, seed = ~) < 0.2, nan, randn(N, M, seed = ~))", "(floor(rand(N, M, seed = ~) * 5) - 2) / (floor(rand(N, M, seed = ~) * 3) - 1)", "rand(N, M, seed = ~) * 1e-310", "randn(N, M, seed = ~) * 1e308",
		"ifelse(rand(N, M, seed = ~) < 0.5, -0.0, 0.0)", "materialize(ifelse(rand(N, M, seed = ~) < 0.1, inf, randn(N, M, seed = ~) * 1e17))", "floor(randn(N, M, seed = ~)) * -0.0", "rand(N, M, seed = ~)", "2.0 ^ (floor(randn(N, M, seed = ~) * 400))"},
	'c': {"ifelse(rand(N, 1, seed = ~) < 0.2, nan, randn(N, 1, seed = ~))", "1 / (floor(rand(N, 1, seed = ~) * 3) - 1)", "-0.0 * rand(N, 1, seed = ~)", "randn(N, 1, seed = ~) * 1e300", "randn(N, 1, seed = ~) * 5e-324", "materialize(floor(rand(N, 1, seed = ~) * 3) - 1)", "rand(N, 1, seed = ~)"},
	'r': {"ifelse(rand(1, M, seed = ~) < 0.2, -inf, randn(1, M, seed = ~))", "materialize(-0.0 * rand(1, M, seed = ~))", "rand(1, M, seed = ~)"},
	's': {"0.5", "-0.0", "sum(rand(2, 2, seed = ~))", "nan", "inf", "1e-320", "(0.0 / sum(ones(2, 1)))", "max(log(rand(2, 1, seed = ~) - 0.5))"},
	'q': {"rand(M, M, seed = ~)", "eye(M) * -1", "rand(M, M, seed = ~) * 1e200", "ifelse(rand(M, M, seed = ~) < 0.1, nan, 1.0)"},
	'C': {"rand(K, M, seed = ~)", "-0.0 * rand(K, M, seed = ~)", "ifelse(rand(K, M, seed = ~) < 0.2, inf, -1.0)"},
	'P': {"rand(N, K, seed = ~)", "ifelse(rand(N, K, seed = ~) < 0.2, nan, 0.0)"},
	'I': mixedFirst['I'],
	'J': {"randint(N, M, -3, 4, seed = ~)", "randint(N, M, -3, 4, seed = ~) * 4_611_686_018_427_387_904", "randint(N, M, 0, 9, seed = ~) * 3_037_000_500 * 3_037_000_500", "randint(N, M, -2, 1, seed = ~) * 9_223_372_036_854_775_807"},
	'B': mixedFirst['B'], 'b': mixedFirst['b'],
	'F': {"f32(randn(N, M, seed = ~) * 1e38)", "f32(ifelse(rand(N, M, seed = ~) < 0.3, nan, -0.0))", "f32(rand(N, M, seed = ~) * 1e-45)", "f32(rand(N, M, seed = ~))"},
	'S': {"rand_sparse(N, N, density = 0.3, seed = ~)", "sparse(ifelse(rand(N, N, seed = ~) < 0.2, nan, 0.0))", "sparse(ifelse(rand(N, N, seed = ~) < 0.2, -1e-320, 0.0))"},
	'G': mixedFirst['G'],
	'Z': {"rand_sparse(N, M, density = 0.3, seed = ~)", "sparse(ifelse(rand(N, M, seed = ~) < 0.3, -inf, 0.0))"},
	'k': mixedFirst['k'],
	'd': mixedFirst['d'],
}
