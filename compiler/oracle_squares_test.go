package compiler_test

// This file draws square matrices and views of them, which are read whole, by rows, by columns, along
// the diagonal and at places that the run computes: of several ranks each has some rows.

// squares draws matrices q of N x N, h of H rows, W of H columns, columns v of N and u of H, rows r of
// N, numbers s and integers k.
var squares = &dialect{
	kinds: "qqqhhWvvvuurrssk",
	sizes: []int{4, 5, 6, 8, 9, 10, 12, 13, 16, 17, 24},
	first: vocabulary{
		'q': {
			"rand(N, N, seed = ~)", "materialize(rand(N, N, seed = ~))", "randn(N, N, seed = ~)", "materialize(randn(N, N, seed = ~))",
		},
		'h': {
			"rand(H, N, seed = ~)",
		},
		'W': {
			"rand(N, H, seed = ~)",
		},
		'v': {
			"rand(N, 1, seed = ~)", "materialize(randn(N, 1, seed = ~))",
		},
		'u': {
			"rand(H, 1, seed = ~)",
		},
		'r': {
			"rand(1, N, seed = ~)",
		},
		's': {
			"0.5", "sum(rand(2, 2, seed = ~))",
		},
		'k': {
			"2", "count(rand(3, 3, seed = ~) < 0.5)",
		},
	},
	next: vocabulary{
		'q': {
			"$q + $q", "$q * $s", "$q - $r", "$q + $v", "t($q)", "rbind($h, $q[H.., :])", "rbind($q[H.., :], $h)", "cbind($v, $q[:, 1..])", "lower($q)",
			"upper($q)", "reverse($q)", "$q[-1.. by -1, :]", "reverse($q, by = \"both\")", "$q + $q[$k % N, :]", "$q * $q[:, $k % N]", "cumsum($q)", "$v * $r",
			"roll($q, 1)", "roll($q, -2)", "rbind($q[1.., :], $r)", "rbind($r, $q[0..-1, :])", "$q[argsort($v), :]", "$q @ $q * 0.1",
			"parfor #i in 0..N { $q[#i, :] * $v[#i] }", "parfor #i in 0..N { $q[(#i + H) % N, :] - $r }", "parfor #i in 0..N, #j in 0..N { $q[#j, #i] + $v[#i] }",
			"parfor #i in 0..N, #j in 0..N { $q[#i, (#i + #j) % N] }", "t(t($q) * $v)", "t(cumsum(t($q)))", "diag($v)", "diag($v) + $q", "dense(sparse(lower($q)))",
			"$W @ $h", "$W @ t($W)", "if $s > 0.4 { $q } else { $q * 2 - $r }", "cbind($W, $q[:, H..])", "cbind($q[:, H..], $W)", "ifelse($q > $s, $q, $v)",
			"sort($q, by = 0)", "$q / (rownorm($q) + 1)", "$q - colmean($q)", "rbind($h[:, 0..], $q[0..N - H, :])", "reshape(t($q), N, N)", "materialize($q)",
		},
		'h': {
			"$q[0..H, :]", "$q[N - H.., :]", "$h * $s", "$h + $r", "$h - $u", "$q[0.. by 2, :][0..H, :]", "rbind($h[1.., :], $h[0..1, :])", "$h + $h", "t($W)",
			"t($q[:, N - H..])", "reverse($h)", "$h @ $q", "cumsum($h)", "$h[argsort($u), :]", "$q[$k % (N - H + 1)..$k % (N - H + 1) + H, :]",
			"parfor #i in 0..H { $q[#i + (N - H), :] + $h[#i, :] }", "parfor #i in 0..H { $q[2 * #i % N, :] }", "$q[i64(abs($u) * 7) % N, :]", "$u * $r",
			"t(t($h) * $v)", "$h * $h[$k % H, :]", "sort($h, by = 1 % N)",
		},
		'W': {
			"$q[:, 0..H]", "$q[:, N - H..]", "t($h)", "$W + $v", "$W * $s", "$q[:, $k % (N - H + 1)..$k % (N - H + 1) + H]", "$W - t($u)", "$q @ $W",
			"rbind($W[1.., :], $W[0..1, :])", "cumsum($W)", "reverse($W)", "cbind($W[:, 1..], $W[:, 0..1])", "$W @ $h[:, 0..H]", "$q[:, 0.. by 2][:, 0..H]",
			"$q[:, -1.. by -1][:, 0..H]", "$W + $W[$k % N, :]", "$v * t($u)",
		},
		'v': {
			"$v + $v", "$v * $s", "diag($q)", "diag($q) * $v", "rowsum($q)", "rowmax($q)", "$q[:, 0]", "$q[:, -1]", "$q[:, $k % N]", "t($r)", "t($q[0, :])",
			"t($q[$k % N, :])", "t(colsum($q))", "$q @ $v", "$W @ $u", "cumsum($v)", "sort($v)", "$v[argsort($q[:, 0])]", "rbind($u, $v[H..])",
			"rbind($v[H..], $u)", "rbind($v[1..], $v[0..1])", "reverse($v)", "rowsum($W)", "t($q) @ $v", "t(colmax($h))", "parfor #i in 0..N { $q[#i, #i] }",
			"parfor #i in 0..N { $q[#i, N - 1 - #i] + $v[#i] }", "parfor #i in 0..N { sum($q[:, #i]) }", "parfor #i in 0..N { $v[(#i * 3 + 1) % N] }",
			"t($q) @ ($q @ $v) * 0.1", "lower($q) @ $v", "$q[:, 1 % N] - $v", "diag($q + t($q))", "diag($q @ t($q))", "ifelse($v > $s, $v, diag($q))",
			"rowsum($q * $q)", "if $s > 0.7 { $v } else { diag($q) }",
		},
		'u': {
			"$u + $u", "$u * $s", "$v[0..H]", "$v[N - H..]", "$h[:, 0]", "$h[:, $k % N]", "rowsum($h)", "rowmax($h)", "diag($h[:, 0..H])",
			"diag($q[N - H.., 0..H])", "diag($W[0..H, :])", "$h @ $v", "t(colsum($W))", "cumsum($u)", "sort($u)", "$v[0.. by 2][0..H]", "$q[0..H, $k % N]",
			"$q[N - H.., $k % N]", "t($W[$k % N, :])", "$v[$k % (N - H + 1)..$k % (N - H + 1) + H]", "reverse($u)", "parfor #i in 0..H { $q[#i, #i + (N - H)] }",
			"rbind($u[1..], $u[0..1])", "diag($q)[0..H]", "diag($q)[N - H..]", "t(t($h)[$k % N, :])", "$q[:, $k % N][0..H]", "$u[argsort($u)]", "sort($v)[0..H]",
		},
		'r': {
			"$r + $r", "$r * $s", "t($v)", "t(diag($q))", "colsum($q)", "colmax($h)", "$q[0, :]", "$q[-1, :]", "$q[$k % N, :]", "$h[$k % H, :]", "$h[-1, :]",
			"t($v) @ $q", "t($u) @ $h", "colmean($h)", "cbind(t($u), $r[:, H..])", "colsum(cumsum($q))", "t($q[:, $k % N])", "rowcumsum($r)",
			"colsum($q[$v > $s, :])",
		},
		's': {
			"$s * 0.5", "sum($q)", "sum(diag($q))", "trace($q)", "max($v)", "norm($h)", "$q[$k % N, ($k + 1) % N]", "$v[$k % N]", "$u[$k % H]", "diag($q)[$k % N]",
			"$h[$k % H, 0]", "$W[0, $k % H]", "sum($u)", "mean($W)", "min($r)", "sum($q[0..H, :])", "sort($v)[H]", "median($u)", "sum($q[$k % N, :] * $r)",
			"(if $k > 3 { $s } else { sum($u) })", "exp(-abs($s))", "sum(diag($h[:, 0..H]) * $u)",
		},
		'k': {
			"$k + 1", "count($v > $s)", "argmax($v)", "argmin($u)", "count($q > 0.5)", "rowargmax($q)[0]", "($k * 5 + 2) % 60", "argmax($r)",
			"i64(clamp(replace($s, nan, 0.0), 0.0, 30.0))",
		},
	},
}

// squaresOnRanks are programs of a few of these templates whose loops ranks share: columns of matrices
// from outside of a loop are read whole, for one.
var squaresOnRanks = squares.onRanks()

func (of dialect) onRanks() *dialect {
	of.swarm, of.runs = 3, rankRuns
	return &of
}
