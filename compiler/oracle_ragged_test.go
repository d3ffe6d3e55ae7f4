package compiler_test

// This file draws bodies of parfor with slices whose length only the run knows, beside matrices of
// known sizes.

// ragged has columns v of a length that the run tells, u of H numbers, rows r of M, rows w of a length
// that the run tells.
var ragged = &dialect{
	body:  true,
	kinds: "vvvvuuuwrqXssskk",
	outer: "yyuurqXsk",
	sizes: []int{4, 5, 8, 12, 40},
	first: vocabulary{
		'X': {"materialize(rand(N, M, seed = ~))"},
		'q': {"materialize(rand(N, N, seed = ~))"},
		'y': {"materialize(rand(N, 1, seed = ~))"},
		'v': {"$y[i % 2..i % 2 + H + i // 20]", "$y[0..H + i % 2 * (i // 30)]", "$y[i % 3..(i + 1) % 3 + H - 1]", "$q[0..$k % N, $k % N]"},
		'u': {"materialize(rand(H, 1, seed = ~))"},
		'r': {"materialize(rand(1, M, seed = ~))"},
		'w': {"$q[$k % N, i % 2..i % 2 + H + i // 20]"},
		's': {"0.5", "sum(materialize(rand(2, 2, seed = ~)))"},
		'k': {"2", "count(materialize(rand(3, 3, seed = ~)) < 0.5)"},
	},
	next: vocabulary{
		'v': {"$q[0..$k, 0]", "$v[0..H]", "$v[$k % 3..H + $k % 3]", "$v[$k % 3..$k % 3 + H]", "$v[i % 3..]", "$q[i % 2..i % 2 + H, $k % N]", "$v + $v", "$v + $u", "$u - $v", "$v * $s", "ifelse($v > $s, $v, $u)", "ifelse($u > $s, $v, $v)", "max($v, $u)",
			"rbind($v, $u)", "rbind($u[1..], $v)", "rbind($v[1..], $v[0..1])", "t($w)", "$q[i % 2..H + $k % 2, :] @ t($w)", "$X[0..$k % N, :] @ t($r)", "rowsum($X[$k % 2..H + 1, :])", "reverse($v)", "$v[0..-1]", "exp(-abs($v))", "if $s > 0.5 { $v } else { $v * 2 }",
			"parfor #j in 0..$k % N { $v[#j] * $s }", "parfor #j in 0..H { $v[#j] + $u[#j] }", "parfor #j in 0..N - $k % N { $q[#j, 0] }", "cumsum($v)", "$u[0..$k % H]", "$v[-H..]", "sort($v)", "$v + $v[0..1]", "$v - $u[0..1]", "$v * $q[0, 0..1]"},
		'u': {"$u + $v", "$u * 0.5 + $v", "$v[$k % 3..$k % 3 + H]", "$u * $v[0..1]", "max($u, $v)", "$u - $v * $s", "ifelse($u > $v, $u, $s)", "parfor #j in 0..H { $v[#j] }", "rbind($u[1..], $v[0..1])", "cumsum($u)", "$u * sum($v)", "if $s > 0.4 { $u } else { $u + $v }",
			"$q[0..H, 0..$k % N] @ $v", "$q[$k % 2..$k % 2 + H, $k % N]", "rowsum($X[i % 2..i % 2 + H, :])", "$v[0.. by 2][0..H]", "ifelse($v > $s, $u, $v)"},
		'w': {"t($v)", "$w[0, 0..$k % N]", "$w + $w", "$w * $s", "colsum($q[0..$k % N, :])", "$q[$k % N, 0..H]", "$q[$k % N, i % 2..]", "cbind($w, t($v))", "t($u) + $w"},
		'r': {"$r + colsum($X[0..$k % N, :])", "$r * $s", "colmax($X[i % 3..i % 3 + 1, :])", "t($y) @ $X", "t($v) @ $X[0..H, :]", "t($u) @ $X[i % 2..i % 2 + H, :]", "$X[$k % N, :] - $r"},
		'X': {"$X + $y", "$X[$k % 2..$k % 2 + N, :]", "$y * $r", "rbind($X[1.., :], $r)"},
		'q': {"$y * t($y)", "$q[0..N, :]", "$q[$k % 2..$k % 2 + N, :]"},
		's': {"sum($v)", "max($v)", "mean($v)", "norm($v - $u)", "sum($v * $u)", "sum(t($v) @ $u)", "sum(t($v) @ $v)", "$v[$k % N]", "$v[0]", "$v[-1]", "$u[$k % H]", "sum($w)", "sum($w @ $v)", "f64(argmax($v))", "sum($q[0..$k % N, i % N])", "min($u)", "$s * 0.5", "sum($r)",
			"sum($X[$k % N.., :])", "f64(nrow($v))", "sum(parfor #j in 0..$k { $s * f64(#j) })", "(if $k > 3 { sum($v) } else { $s })", "sum($u + $v)", "median($v)", "sum(for #j in 0..2 => sum($v[#j..H - 1 + #j]))"},
		'k': {"$k + 1", "$k % 4", "count($v > $s)", "argmin($v)", "nrow($v)", "i // 2", "(i * 3 + 1) % N", "N - i % 4", "i64(10 * $u[0])", "H", "H + i % 2 * 0", "H + i // 7"},
	},
}
