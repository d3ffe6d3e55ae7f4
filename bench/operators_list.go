package main

import "slices"

// This file lists the operators that are measured beside NumPy, by groups with the same operands.

// plusG makes a copy of a matrix of numbers that waits for the number G, timesG of a sparse one.
const (
	plusG  = "X + G"
	timesG = "X * (1.0 + G)"
)

func numbers(name, flow, numpy string) operand { return operand{name, flow, numpy, plusG} }

// uncut is a matrix of numbers that is whole before it is read, so operators on tiles do not make
// it tile by tile.
func uncut(name, flow, numpy string) operand {
	return operand{name, asWhole(flow), numpy, asWhole("X + G")}
}

func asWhole(flow string) string { return "reverse(" + flow + `, by = "both")` }

func integers(name, flow, numpy string) operand { return operand{name, flow, numpy, "X + i64(G)"} }

func truths(name, flow, numpy string) operand { return operand{name, flow, numpy, "X or G > 0.5"} }

func singles(name, flow, numpy string) operand { return operand{name, flow, numpy, "X + f32(G)"} }

func sparses(name, flow, numpy string) operand { return operand{name, flow, numpy, timesG} }

// floatFunctions are functions of x in 0 to 1 and z in -10 to 10.
var floatFunctions = []operator{
	{flow: "abs(z)", numpy: "np.abs(z)"},
	{flow: "-z", numpy: "-z"},
	{flow: "sign(z)", numpy: "np.sign(z)"},
	{flow: "sqrt(x)", numpy: "np.sqrt(x)"},
	{flow: "cbrt(z)", numpy: "np.cbrt(z)"},
	{flow: "rsqrt(x)", numpy: "1 / np.sqrt(x)"},
	{flow: "exp(z)", numpy: "np.exp(z)"},
	{flow: "expm1(z)", numpy: "np.expm1(z)"},
	{flow: "log(x)", numpy: "np.log(x)"},
	{flow: "log2(x)", numpy: "np.log2(x)"},
	{flow: "log10(x)", numpy: "np.log10(x)"},
	{flow: "log1p(x)", numpy: "np.log1p(x)"},
	{flow: "sin(z)", numpy: "np.sin(z)"},
	{flow: "cos(z)", numpy: "np.cos(z)"},
	{flow: "tan(z)", numpy: "np.tan(z)"},
	{flow: "asin(x)", numpy: "np.arcsin(x)"},
	{flow: "acos(x)", numpy: "np.arccos(x)"},
	{flow: "atan(z)", numpy: "np.arctan(z)"},
	{flow: "sinh(z)", numpy: "np.sinh(z)"},
	{flow: "cosh(z)", numpy: "np.cosh(z)"},
	{flow: "tanh(z)", numpy: "np.tanh(z)"},
	{flow: "sigmoid(z)", numpy: "special.expit(z)"},
	{flow: "relu(z)", numpy: "np.maximum(z, 0)"},
	{flow: "round(z)", numpy: "np.rint(z)"},
	{flow: "floor(z)", numpy: "np.floor(z)"},
	{flow: "ceil(z)", numpy: "np.ceil(z)"},
	{flow: "isnan(z)", numpy: "np.isnan(z)"},
	{flow: "isinf(z)", numpy: "np.isinf(z)"},
	{flow: "x + z", numpy: "x + z"},
	{flow: "x - z", numpy: "x - z"},
	{flow: "x * z", numpy: "x * z"},
	{flow: "x / z", numpy: "x / z"},
	{flow: "z // x", numpy: "z // x"},
	{flow: "z % x", numpy: "z % x"},
	{flow: "x ^ z", numpy: "x ** z"},
	{flow: "x ^ 2", numpy: "x ** 2"},
	{flow: "x ^ 3", numpy: "x ** 3"},
	{flow: "x ^ 0.5", numpy: "x ** 0.5"},
	{flow: "x ^ 2.5", numpy: "x ** 2.5"},
	{flow: "atan2(z, x)", numpy: "np.arctan2(z, x)"},
	{flow: "min(x, z)", numpy: "np.minimum(x, z)"},
	{flow: "max(x, z)", numpy: "np.maximum(x, z)"},
	{flow: "clamp(z, -1, 2)", numpy: "np.clip(z, -1, 2)"},
	{flow: "x < z", numpy: "x < z"},
	{flow: "x <= z", numpy: "x <= z"},
	{flow: "x == z", numpy: "x == z"},
	{flow: "x != z", numpy: "x != z"},
	{flow: "2 * z", numpy: "2 * z"},
	{flow: "z + z[0,:]", numpy: "z + z[0,:]"},
	{flow: "z * z[:,0]", numpy: "z * z[:,:1]"},
	{flow: "ifelse(z > 0, x, z)", numpy: "np.where(z > 0, x, z)"},
	{flow: "replace(z, 0, 1)", numpy: "np.where(z == 0, 1, z)"},
	{flow: "i64(z)", numpy: "z.astype(np.int64)"},
	{flow: "bool(z)", numpy: "z.astype(bool)"},
}

var integerFunctions = []operator{
	{flow: "abs(i)", numpy: "np.abs(i)"},
	{flow: "-i", numpy: "-i"},
	{flow: "sign(i)", numpy: "np.sign(i)"},
	{flow: "i + j", numpy: "i + j"},
	{flow: "i - j", numpy: "i - j"},
	{flow: "i * j", numpy: "i * j"},
	{flow: "i / j", numpy: "i / j"},
	{flow: "i // j", numpy: "i // j"},
	{flow: "i % j", numpy: "i % j"},
	{flow: "i // 7", numpy: "i // 7"},
	{flow: "i % 7", numpy: "i % 7"},
	{flow: "ceildiv(i, j)", numpy: "-(-i // j)"},
	{flow: "i ^ 2", numpy: "i ** 2"},
	{flow: "i ^ 5", numpy: "i ** 5"},
	{flow: "min(i, j)", numpy: "np.minimum(i, j)"},
	{flow: "max(i, j)", numpy: "np.maximum(i, j)"},
	{flow: "clamp(i, -3, 50)", numpy: "np.clip(i, -3, 50)"},
	{flow: "i < j", numpy: "i < j"},
	{flow: "i == j", numpy: "i == j"},
	{flow: "ifelse(i > 0, i, j)", numpy: "np.where(i > 0, i, j)"},
	{flow: "replace(i, 0, 1)", numpy: "np.where(i == 0, 1, i)"},
	{flow: "f64(i)", numpy: "i.astype(np.float64)"},
	{flow: "f32(i)", numpy: "i.astype(np.float32)"},
	{flow: "bool(i)", numpy: "i.astype(bool)"},
	{flow: "sqrt(j)", numpy: "np.sqrt(j)"},
	{flow: "exp(i)", numpy: "np.exp(i)"},
}

var truthFunctions = []operator{
	{flow: "p and q", numpy: "p & q"},
	{flow: "p or q", numpy: "p | q"},
	{flow: "not p", numpy: "~p"},
	{flow: "p == q", numpy: "p == q"},
	{flow: "p != q", numpy: "p != q"},
	{flow: "p < q", numpy: "p < q"},
	{flow: "ifelse(p, q, not q)", numpy: "np.where(p, q, ~q)"},
	{flow: "p + q", numpy: "p + q.astype(np.int64)"},
	{flow: "f64(p)", numpy: "p.astype(np.float64)"},
	{flow: "f32(p)", numpy: "p.astype(np.float32)"},
	{flow: "i64(p)", numpy: "p.astype(np.int64)"},
}

// whole are the reductions of a whole matrix v.
var whole = []operator{
	{"sum(v)", "v.sum()", seenScalar},
	{"mean(v)", "v.mean()", seenScalar},
	{"var(v)", "v.var()", seenScalar},
	{"stddev(v)", "v.std()", seenScalar},
	{"min(v)", "v.min()", seenScalar},
	{"max(v)", "v.max()", seenScalar},
	{"argmin(v)", "v.argmin()", seenScalar},
	{"argmax(v)", "v.argmax()", seenScalar},
	{"count(v)", "np.count_nonzero(v)", seenScalar},
	{"any(v)", "v.any()", seenScalar},
	{"all(v)", "v.all()", seenScalar},
	{"norm(v)", "np.linalg.norm(v)", seenScalar},
	{"prod(v)", "v.prod()", seenScalar},
}

var selections = []operator{
	{"nunique(v)", "np.unique(v).size", seenScalar},
	{"quantile(v, 0.3)", "np.quantile(v, 0.3)", seenScalar},
	{"median(v)", "np.median(v)", seenScalar},
}

// lines are the reductions of the rows and the columns of v.
var lines = []operator{
	{flow: "rowsum(v)", numpy: "v.sum(1)"},
	{flow: "colsum(v)", numpy: "v.sum(0)"},
	{flow: "rowmean(v)", numpy: "v.mean(1)"},
	{flow: "colmean(v)", numpy: "v.mean(0)"},
	{flow: "rowvar(v)", numpy: "v.var(1)"},
	{flow: "colvar(v)", numpy: "v.var(0)"},
	{flow: "rowstddev(v)", numpy: "v.std(1)"},
	{flow: "colstddev(v)", numpy: "v.std(0)"},
	{flow: "rowmin(v)", numpy: "v.min(1)"},
	{flow: "colmin(v)", numpy: "v.min(0)"},
	{flow: "rowmax(v)", numpy: "v.max(1)"},
	{flow: "colmax(v)", numpy: "v.max(0)"},
	{flow: "rowargmin(v)", numpy: "v.argmin(1)"},
	{flow: "colargmin(v)", numpy: "v.argmin(0)"},
	{flow: "rowargmax(v)", numpy: "v.argmax(1)"},
	{flow: "colargmax(v)", numpy: "v.argmax(0)"},
	{flow: "rowcount(v)", numpy: "np.count_nonzero(v, 1)"},
	{flow: "colcount(v)", numpy: "np.count_nonzero(v, 0)"},
	{flow: "rowany(v)", numpy: "v.any(1)"},
	{flow: "colany(v)", numpy: "v.any(0)"},
	{flow: "rowall(v)", numpy: "v.all(1)"},
	{flow: "colall(v)", numpy: "v.all(0)"},
	{flow: "rownorm(v)", numpy: "np.linalg.norm(v, axis=1)"},
	{flow: "colnorm(v)", numpy: "np.linalg.norm(v, axis=0)"},
	{flow: "rowprod(v)", numpy: "v.prod(1)"},
	{flow: "colprod(v)", numpy: "v.prod(0)"},
	{flow: "cumsum(v)", numpy: "v.cumsum(0)"},
	{flow: "rowcumsum(v)", numpy: "v.cumsum(1)"},
	{flow: "cumprod(v)", numpy: "v.cumprod(0)"},
	{flow: "rowcumprod(v)", numpy: "v.cumprod(1)"},
	{flow: "cummin(v)", numpy: "np.minimum.accumulate(v, 0)"},
	{flow: "rowcummin(v)", numpy: "np.minimum.accumulate(v, 1)"},
	{flow: "cummax(v)", numpy: "np.maximum.accumulate(v, 0)"},
	{flow: "rowcummax(v)", numpy: "np.maximum.accumulate(v, 1)"},
}

var lineSelections = []operator{
	{flow: "rownunique(v)", numpy: "1 + (np.diff(np.sort(v, 1), axis=1) != 0).sum(1)"},
	{flow: "colnunique(v)", numpy: "1 + (np.diff(np.sort(v, 0), axis=0) != 0).sum(0)"},
	{flow: "rowquantile(v, 0.3)", numpy: "np.quantile(v, 0.3, 1)"},
	{flow: "colquantile(v, 0.3)", numpy: "np.quantile(v, 0.3, 0)"},
}

// moves are the operators that move the elements of v. Slices, also of sparse matrices, and reshape are
// missing: Flow has views where NumPy and SciPy copy.
var moves = []operator{
	{flow: "t(v)", numpy: "np.ascontiguousarray(v.T)"},
	{flow: "cbind(v, v)", numpy: "np.hstack((v, v))"},
	{flow: "rbind(v, v)", numpy: "np.vstack((v, v))"},
	{flow: "reverse(v)", numpy: "v[::-1].copy()"},
	{flow: `reverse(v, by = "cols")`, numpy: "v[:,::-1].copy()"},
	{flow: `reverse(v, by = "both")`, numpy: "v[::-1,::-1].copy()"},
	{flow: "lower(v)", numpy: "np.tril(v)"},
	{flow: "upper(v)", numpy: "np.triu(v)"},
	{flow: "diag(v)", numpy: "np.diag(v).copy()"},
	{flow: "diag(v[:,0])", numpy: "np.diag(v[:,0])"},
}

// tables are the operators that look up and count.
var tables = []operator{
	{flow: "take(w, at)", numpy: "w[at[:,0]]"},
	{flow: "take(x, at)", numpy: "x[at[:,0]]"},
	{flow: "ctable(a, c, 50, 20)", numpy: "np.bincount(a[:,0] * 20 + c[:,0], minlength=1000).reshape(50, 20)"},
	{flow: "ctable(a, c)", numpy: "(lambda n, m: np.bincount(a[:,0] * m + c[:,0], minlength=n * m).reshape(n, m))(a.max() + 1, c.max() + 1)"},
	{flow: "onehot(c, 20)", numpy: "(c == np.arange(20)).astype(np.float64)"},
	{flow: "bin(x, seq(0, 20) / 20)", numpy: "np.searchsorted(np.arange(20) / 20, x, side='right')"},
	{flow: "bin(x, 0.0, 1.0, 20)", numpy: "np.floor((x - 0.0) / ((1.0 - 0.0) / 20)).astype(np.int64)"},
	{flow: "recode(c, seq(0, 20), 3 * seq(0, 20))", numpy: "(3 * np.arange(20))[c]"},
	{flow: "recode(c, 4 * seq(0, 5), seq(0, 5))", numpy: "np.array([0, 1, 2, 3, 1, 5, 6, 7, 2, 9, 10, 11, 3, 13, 14, 15, 4, 17, 18, 19])[c]"},
	{flow: "recode(f64(c), f64(seq(0, 20)), f64(2 * seq(0, 20)))", numpy: "(lambda d, s: (2.0 * np.arange(20))[np.searchsorted(s, d)])(c.astype(np.float64), np.arange(20.0))"},
	{flow: "sort(x)", numpy: "np.sort(x, axis=0)"},
	{flow: "unique(c)", numpy: "np.unique(c)"},
	{flow: "nunique(c)", numpy: "np.unique(c).size", seen: seenScalar},
	{flow: "nunique(1.0 + 0 * x)", numpy: "np.unique(1.0 + 0 * x).size", seen: seenScalar},
	{flow: "i64(x > 0.5)", numpy: "(x > 0.5).astype(np.int64)"},
}

// makers are the operators without operands; s is 0.
var makers = []operator{
	{flow: "rand(2000, 1000, seed = 1) + s[0,0]", numpy: "rng.random((2000, 1000))"},
	{flow: "randn(2000, 1000, seed = 1) + s[0,0]", numpy: "rng.standard_normal((2000, 1000))"},
	{flow: "f64(seq(0, 2000000)) + s[0,0]", numpy: "np.arange(2000000.0)"},
	{flow: "ones(2000, 1000) + s[0,0]", numpy: "np.ones((2000, 1000))"},
}

var pairs = []operator{
	{flow: "outer(u, u)", numpy: "np.outer(u, u)"},
	{flow: `outer(u, u, "max")`, numpy: "np.maximum.outer(u[:,0], u[:,0])"},
	{flow: `outer(u, u, "<=")`, numpy: "np.less_equal.outer(u[:,0], u[:,0])"},
	{flow: "kron(k, l)", numpy: "np.kron(k, l)"},
	{flow: "cov(tall)", numpy: "np.cov(tall, rowvar=False, ddof=0)"},
	{flow: "cor(tall)", numpy: "np.corrcoef(tall, rowvar=False)"},
	{flow: "trace(sq)", numpy: "np.trace(sq)", seen: seenScalar},
	{flow: "t(tall) @ tall", numpy: "tall.T @ tall"},
	{flow: "tall @ t(tall[0..40, :])", numpy: "tall @ tall[:40].T"},
	{flow: "tall @ t(tall[0..1, :])", numpy: "tall @ tall[0]"},
	{flow: "sq @ sq", numpy: "sq @ sq"},
	{flow: "sq @ u", numpy: "sq @ u"},
}

var factors = []operator{
	{flow: "solve(m, b)", numpy: "np.linalg.solve(m, b)"},
	{flow: "inv(m)", numpy: "np.linalg.inv(m)"},
	{flow: "det(m)", numpy: "np.linalg.det(m)", seen: seenScalar},
	{flow: "cholesky(spd)", numpy: "np.linalg.cholesky(spd)"},
	{flow: "solve_spd(spd, b)", numpy: "linalg.solve(spd, b, assume_a='pos')"},
	{flow: "eigvals(spd)", numpy: "np.linalg.eigvalsh(spd)"},
	{flow: "eigvecs(spd)", numpy: "np.linalg.eigh(spd)[1]"},
	{flow: "svdvals(m)", numpy: "np.linalg.svd(m, compute_uv=False)"},
	{flow: "svdu(m)", numpy: "np.linalg.svd(m, full_matrices=False)[0]"},
	{flow: "pinv(m)", numpy: "np.linalg.pinv(m)"},
	{flow: "qr_q(tall)", numpy: "np.linalg.qr(tall)"},
	{flow: "qr_q(m)", numpy: "np.linalg.qr(m)"},
	{flow: "lm(tall, y)", numpy: "np.linalg.lstsq(tall, y, rcond=None)[0]"},
	{flow: "svdvals(tall)", numpy: "np.linalg.svd(tall, compute_uv=False)"},
}

var sparseOperators = []operator{
	{flow: "S @ v", numpy: "S @ v"},
	{flow: "S @ V", numpy: "S @ V"},
	{flow: "t(S) @ v", numpy: "S.T @ v"},
	{flow: "t(S) @ V", numpy: "S.T @ V"},
	{flow: "t(v) @ S", numpy: "v.T @ S"},
	{flow: "t(S)", numpy: "S.T.tocsr()", seen: seenSparse},
	{flow: "S + T", numpy: "S + T", seen: seenSparse},
	{flow: "S * T", numpy: "S.multiply(T)", seen: seenSparse},
	{flow: "2 * S", numpy: "2 * S", seen: seenSparse},
	{flow: "S * v", numpy: "S.multiply(v).tocsr()", seen: seenSparse},
	{flow: "sqrt(S)", numpy: "np.sqrt(S)", seen: seenSparse},
	{flow: "S * S", numpy: "S.multiply(S)", seen: seenSparse},
	{flow: "rowsum(S)", numpy: "S.sum(1)"},
	{flow: "colsum(S)", numpy: "S.sum(0)"},
	{flow: "sum(S)", numpy: "S.sum()", seen: seenScalar},
	{flow: "rowmax(S)", numpy: "S.max(1)"},
	{flow: "colmax(S)", numpy: "S.max(0)"},
	{flow: "max(S)", numpy: "S.max()", seen: seenScalar},
	{flow: "Z @ Z", numpy: "Z @ Z", seen: seenSparse},
	{flow: "sparse(D)", numpy: "sparse.csr_matrix(D)", seen: seenSparse},
	{flow: "dense(Z)", numpy: "Z.toarray()"},
}

// uniformCSR has at most 40 entries in each row, nearly all 40.
const uniformCSR = "(lambda s: (s.sum_duplicates(), s)[1])(sparse.csr_matrix((rng.random(4000000), rng.integers(0, 100000, 4000000), np.arange(100001) * 40), shape=(100000, 100000)))"

var operatorGroups = []operatorGroup{
	{name: "f64", operands: []operand{
		numbers("x", "rand(4000, 1000, seed = 1)", "rng.random((4000, 1000))"),
		numbers("z", "20 * rand(4000, 1000, seed = 2) - 10", "20 * rng.random((4000, 1000)) - 10"),
	}, operators: append(slices.Clone(floatFunctions), operator{flow: "f32(z)", numpy: "z.astype(np.float32)"})},
	{name: "f32", operands: []operand{
		singles("x", "f32(rand(4000, 1000, seed = 1))", "rng.random((4000, 1000), dtype=np.float32)"),
		singles("z", "f32(20 * rand(4000, 1000, seed = 2) - 10)", "20 * rng.random((4000, 1000), dtype=np.float32) - 10"),
	}, operators: append(slices.Clone(floatFunctions), operator{flow: "f64(z)", numpy: "z.astype(np.float64)"})},
	{name: "i64", operands: []operand{
		integers("i", "i64(2000 * rand(4000, 1000, seed = 1)) - 1000", "rng.integers(-1000, 1000, (4000, 1000))"),
		integers("j", "1 + i64(100 * rand(4000, 1000, seed = 2))", "rng.integers(1, 101, (4000, 1000))"),
	}, operators: integerFunctions},
	{name: "bool", operands: []operand{
		truths("p", "rand(4000, 1000, seed = 1) > 0.5", "rng.random((4000, 1000)) > 0.5"),
		truths("q", "rand(4000, 1000, seed = 2) > 0.5", "rng.random((4000, 1000)) > 0.5"),
	}, operators: truthFunctions},
	{name: "f64 whole", operands: []operand{numbers("v", "rand(4000, 1000, seed = 1)", "rng.random((4000, 1000))")}, operators: slices.Concat(whole, selections)},
	{name: "f32 whole", operands: []operand{singles("v", "f32(rand(4000, 1000, seed = 1))", "rng.random((4000, 1000), dtype=np.float32)")}, operators: whole},
	{name: "i64 whole", operands: []operand{integers("v", "1 + i64(1000 * rand(4000, 1000, seed = 1))", "rng.integers(1, 1001, (4000, 1000))")}, operators: slices.Concat(whole, selections[:1])},
	{name: "bool whole", operands: []operand{truths("v", "rand(4000, 1000, seed = 1) > 0.5", "rng.random((4000, 1000)) > 0.5")},
		operators: []operator{whole[0], whole[1], whole[2], whole[8]}},
	{name: "f64 20000 x 200", operands: []operand{numbers("v", "rand(20000, 200, seed = 1)", "rng.random((20000, 200))")}, operators: slices.Concat(lines, lineSelections)},
	{name: "f32 20000 x 200", operands: []operand{singles("v", "f32(rand(20000, 200, seed = 1))", "rng.random((20000, 200), dtype=np.float32)")}, operators: lines},
	{name: "i64 20000 x 200", operands: []operand{integers("v", "i64(3 * rand(20000, 200, seed = 1))", "rng.integers(0, 3, (20000, 200))")}, operators: lines},
	{name: "f64 400000 x 10", operands: []operand{numbers("v", "rand(400000, 10, seed = 1)", "rng.random((400000, 10))")}, operators: lines},
	{name: "f64 100 x 40000", operands: []operand{numbers("v", "rand(100, 40000, seed = 1)", "rng.random((100, 40000))")}, operators: lines},
	{name: "f64 2000 x 2000", operands: []operand{uncut("v", "rand(2000, 2000, seed = 1)", "rng.random((2000, 2000))")}, operators: moves},
	{name: "f32 2000 x 2000", operands: []operand{{"v", asWhole("f32(rand(2000, 2000, seed = 1))"), "rng.random((2000, 2000), dtype=np.float32)", asWhole("X + f32(G)")}}, operators: moves},
	{name: "bool 2000 x 2000", operands: []operand{{"v", asWhole("rand(2000, 2000, seed = 1) > 0.5"), "rng.random((2000, 2000)) > 0.5", asWhole("X or G > 0.5")}}, operators: moves[:8]},
	{name: "2e6", operands: []operand{
		numbers("x", "rand(2000000, 1, seed = 1)", "rng.random((2000000, 1))"),
		numbers("w", "rand(200000, 10, seed = 1)", "rng.random((200000, 10))"),
		integers("at", "i64(200000 * rand(200000, 1, seed = 3))", "rng.integers(0, 200000, (200000, 1))"),
		integers("a", "i64(50 * rand(2000000, 1, seed = 4))", "rng.integers(0, 50, (2000000, 1))"),
		integers("c", "i64(20 * rand(2000000, 1, seed = 5))", "rng.integers(0, 20, (2000000, 1))"),
	}, operators: tables},
	{name: "made", operands: []operand{numbers("s", "zeros(1, 1)", "0.0")}, operators: makers},
	{name: "pairs", operands: []operand{
		uncut("u", "rand(2000, 1, seed = 1)", "rng.random((2000, 1))"),
		uncut("sq", "rand(2000, 2000, seed = 2)", "rng.random((2000, 2000))"),
		uncut("tall", "rand(100000, 40, seed = 1)", "rng.random((100000, 40))"),
		uncut("k", "rand(40, 50, seed = 1)", "rng.random((40, 50))"),
		uncut("l", "rand(50, 40, seed = 1)", "rng.random((50, 40))"),
	}, operators: pairs},
	{name: "n = 600", operands: []operand{
		uncut("m", "rand(600, 600, seed = 1)", "rng.random((600, 600))"),
		uncut("b", "rand(600, 1, seed = 2)", "rng.random((600, 1))"),
		uncut("spd", "rand_spd(600, seed = 1)", "(lambda r: r + r.T + 600 * np.eye(600))(rng.random((600, 600)))"),
		uncut("tall", "rand(100000, 40, seed = 1)", "rng.random((100000, 40))"),
		uncut("y", "rand(100000, 1, seed = 3)", "rng.random((100000, 1))"),
	}, operators: factors},
	{name: "sparse", operands: []operand{
		sparses("S", "rand_sparse(100000, 100000, 40 / 100000, seed = 1)", uniformCSR),
		sparses("T", "rand_sparse(100000, 100000, 40 / 100000, seed = 2)", uniformCSR),
		sparses("Z", "rand_sparse(3000, 3000, 0.01, seed = 3)", "sparse.random(3000, 3000, 0.01, 'csr', random_state=3)"),
		numbers("D", "dense(rand_sparse(2000, 2000, 0.02, seed = 4))", "sparse.random(2000, 2000, 0.02, 'csr', random_state=4).toarray()"),
		numbers("v", "rand(100000, 1, seed = 5)", "rng.random((100000, 1))"),
		numbers("V", "rand(100000, 8, seed = 6)", "rng.random((100000, 8))"),
	}, operators: sparseOperators},
}
