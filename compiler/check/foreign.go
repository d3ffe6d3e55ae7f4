package check

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// foreign maps names of other languages and libraries to Flow. Names that Flow has take precedence.
// A row is one of three:
//
//	a word          Flow's name for the same, with the same arguments
//	a form          a text with $1, $2 for the arguments of a call, $* for all of them, and {1},
//	                {2} for an argument in parentheses unless it is a name, number or call;
//	                "; " and a sentence may follow
//	a sentence      anything else; it holds a blank, and neither $ nor {1}
var foreign = map[string]string{
	"True": "true", "TRUE": "true", "False": "false", "FALSE": "false", "NaN": "nan", "NA": "nan", "Inf": "inf", "Infinity": "inf",
	"None": "every name has a value: there is no None; a missing number is `nan`", "null": "every name has a value: there is no null; a missing number is `nan`",
	"NULL":    "every name has a value: there is no NULL; a missing number is `nan`",
	"nothing": "every name has a value: there is no nothing; a missing number is `nan`", "undefined": "every name has a value; a missing number is `nan`",
	"pass": "an empty body is `{ }`", "break": "a loop goes over all of its range: `iterate` ends when its `until` holds", "I": "the identity is `eye(n)`",
	"continue": "a choice `if c { .. }` around the rest of the body takes its place", "end": "the last row or column is `-1`; a body ends with `}`",
	"begin": "a body begins with `{`", "Float64": "f64", "Float32": "f32", "Int": "i64", "Int64": "i64", "float64": "f64", "float32": "f32", "int64": "i64",
	"newaxis": "a column x[:, 0] and a row t(x) go with a matrix as they are",

	"print": "output is `emit e`", "println": "output is `emit e`", "disp": "output is `emit e`", "display": "output is `emit e`", "echo": "output is `emit e`",
	"printf": "output is `emit e`, or emit fmt(\"{} of {}\", a, b)", "fprintf": "output is `emit e`, or emit fmt(\"{} of {}\", a, b)",
	"sprintf": "a text with values in it is `fmt(\"{} of {}\", a, b)`", "format": "a text with values in it is `fmt(\"{} of {}\", a, b)`",
	"paste": "a text with values in it is `fmt(\"{} {}\", a, b)`", "string": "fmt(\"{}\", $1)", "input": "what a run is given is a `param name = default`",
	"range":  "a range of a loop is `a..b`, b left out; as a column it is `seq(a, b)`",
	"len":    "{1}.rows; all elements are ncell(x)",
	"length": "ncell($1); rows are x.rows, columns x.cols", "numel": "ncell", "size": "it is `x.rows`, x.cols or ncell(x)", "shape": "it is `x.rows` and x.cols",
	"dim": "it is `x.rows` and x.cols", "ndims": "every matrix has two dimensions, x.rows and x.cols", "height": "nrow", "width": "ncol", "NROW": "nrow", "NCOL": "ncol",
	"isempty": "ncell($1) == 0", "sizeof": "the elements of x are `ncell(x)`",

	"array": "$1; a list is a matrix where one is wanted", "asarray": "$1; a list is a matrix where one is wanted", "c": "[$*]",
	"matrix": "a matrix is `[[1, 2], [3, 4]]`, of one value fill(x, n, m)", "vector": "a column is `[1, 2, 3]`", "full": "it is `fill(x, n, m)`", "empty": "it is `zeros(n, m)`",
	"list": "a list is `[1, 2, 3]`", "tuple": "a tuple is `(a, b)`", "dict": "names are bound one by one: `a = 1`",
	"arange": "seq", "iota": "seq", "random": "it is `rand(n, m, seed = 1)`", "runif": "rand($1, 1)", "rnorm": "randn($1, 1)", "identity": "eye",
	"zeros_like": "zeros({1}.rows, {1}.cols)", "ones_like": "ones({1}.rows, {1}.cols)", "full_like": "fill($2, {1}.rows, {1}.cols)", "seq_len": "seq(1, {1} + 1)",
	"exponential": "randexp", "rexp": "randexp", "randi": "randint", "randperm": "permutation", "gammaln": "lgamma", "loggamma": "lgamma", "ndtr": "normcdf", "normal_cdf": "normcdf", "norm_cdf": "normcdf", "normal_quantile": "normquantile", "pnorm": "normcdf",
	"ndtri": "normquantile", "qnorm": "normquantile", "norminv": "normquantile", "convolve": "conv", "fftconvolve": "fftconv", "rfft": "fft", "interp1": "interp",
	"normal": "randn", "uniform": "rand", "seed": "each generator has a seed of its own: `rand(n, m, seed = 1)`",
	"meshgrid": "ones(n, 1) @ t(x) repeats a column as rows: `outer(x, y, \"+\")` has a value for every pair",

	"where": "ifelse($1, $2, $3)", "IF": "if $1 { $2 } else { $3 }", "iif": "if $1 { $2 } else { $3 }",
	"transpose": "t", "dot": "{1} @ {2}; of two columns it is sum(a * b)", "inverse": "inv", "mm": "{1} @ {2}", "MMULT": "{1} @ {2}", "einsum": "a sum over an inner index is `a @ b`, over rows rowsum(a * b)",
	"inner": "sum({1} * {2})", "vdot": "sum({1} * {2})", "crossprod": "t($1) @ {2}", "multiply": "{1} * {2}", "divide": "{1} / {2}", "subtract": "{1} - {2}",
	"concat": "rbind($*); side by side it is cbind", "concatenate": "rbind($*); side by side it is cbind", "hstack": "cbind($*)", "vstack": "rbind($*)",
	"stack": "rbind($*)", "horzcat": "cbind($*)", "vertcat": "rbind($*)", "hcat": "cbind($*)", "vcat": "rbind($*)", "column_stack": "cbind($*)",
	"append": "rbind($1, [$2]); a new matrix, the old one stays", "push": "rbind($1, [$2]); a new matrix, the old one stays", "insert": "rbind(a, [x], b)", "extend": "rbind($1, $2)",
	"repmat": "kron(ones($2, $3), $1)", "tile": "kron(ones($2, 1), $1)", "repeat": "kron(ones($2, 1), $1)", "flatten": "reshape($1, ncell($1), 1)", "ravel": "reshape($1, ncell($1), 1)",
	"flip": "reverse", "flipud": "reverse", "fliplr": "reverse($1, by = \"cols\")", "rev": "reverse", "circshift": "roll", "triu": "upper", "tril": "lower",
	"chol": "cholesky", "eig": "eigvals($1); of a symmetric matrix, and eigen has its vectors, too", "eigh": "eigen", "mldivide": "solve", "lsolve": "solve", "linsolve": "solve",
	"ln": "log", "sqr": "{1} ^ 2", "square": "{1} ^ 2", "cube": "{1} ^ 3", "power": "{1} ^ {2}", "rem": "{1} % {2}", "fmod": "{1} % {2}", "absolute": "abs", "fabs": "abs", "AVERAGE": "mean", "average": "mean", "avg": "mean",
	"float": "f64", "double": "f64", "int": "i64", "integer": "i64", "as_numeric": "f64", "bool_": "bool", "astype": "a type converts: `f64(x)`, f32(x), i64(x)",
	"std": "stddev", "sd": "stddev", "STDEV": "stddev", "variance": "var", "maximum": "max", "minimum": "min", "amax": "max", "amin": "min", "aggMax": "max", "aggMin": "min", "aggSum": "sum",
	"idxMax": "argmax($1); of every row rowargmax, of every column colargmax", "idxMin": "argmin($1); of every row rowargmin, of every column colargmin",
	"nanmax": "max(replace($1, nan, -inf))", "nanmin": "min(replace($1, nan, inf))", "nansum": "sum(replace($1, nan, 0))",
	"nanmean": "sum(replace($1, nan, 0)) / count(not isnan($1))", "percentile": "quantile($1, {2} / 100)", "PERCENTILE": "quantile",
	"logical_and": "{1} and {2}", "logical_or": "{1} or {2}", "logical_not": "not {1}", "AND": "{1} and {2}", "OR": "{1} or {2}", "NOT": "not {1}", "xor": "{1} != {2}", "equal": "{1} == {2}",
	"allclose": "max(abs({1} - {2})) < 1e-8", "isclose": "abs({1} - {2}) < 1e-8", "isna": "isnan", "isnull": "isnan", "is_nan": "isnan",
	"argwhere": "argsort(not {1})[0..count($1), :]", "nonzero": "argsort({1} == 0)[0..count($1), :]", "find": "argsort({1} == 0)[0..count($1), :]", "which": "argsort(not {1})[0..count($1), :]",
	"searchsorted": "bin", "digitize": "bin", "cut": "bin", "order": "argsort", "sorted": "sort", "table": "colsum(onehot(x, k)) counts codes from 0 to k - 1; encode makes codes of any values",
	"bincount": "colsum(onehot(x, k)) counts codes from 0 to k - 1; encode makes codes of any values", "COUNTIF": "count", "countif": "count",
	"tabulate": "colsum(onehot(x, k)) counts codes from 0 to k - 1; encode makes codes of any values", "value_counts": "colsum(onehot(x, k)) counts codes from 0 to k - 1; encode makes codes of any values",
	"groupby": "t(onehot(g, k)) @ x adds the rows of x by group, 0 to k - 1; encode numbers the groups of any values", "aggregate": "t(onehot(g, k)) @ x adds the rows of x by group, 0 to k - 1; encode numbers the groups of any values",
	"tapply": "t(onehot(g, k)) @ x adds the rows of x by group, 0 to k - 1; encode numbers the groups of any values", "pivot": "ctable", "crosstab": "ctable", "VLOOKUP": "take(x, rows) has the rows with these numbers",
	"rolling_mean": "parfor i in 0..{1}.rows - {2} + 1 { mean({1}[i..i + {2}, :]) }", "rolling_sum": "parfor i in 0..{1}.rows - {2} + 1 { sum({1}[i..i + {2}, :]) }",
	"rolling": "parfor i in 0..{1}.rows - {2} + 1 { mean({1}[i..i + {2}, :]) }", "movmean": "parfor i in 0..{1}.rows - {2} + 1 { mean({1}[i..i + {2}, :]) }",
	"dropna": "replace($1, nan, 0); rows are left out by take(x, rows)", "fillna": "replace($1, nan, $2)", "nan_to_num": "replace($1, nan, 0)", "unique_values": "unique",
	"head": "{1}[0..$2, :]", "tail": "{1}[-{2}.., :]", "apply": "operators go over all elements as they are; by rows it is `rowsum(x)` and its like, else parfor",
	"sapply": "operators go over all elements as they are: `f(x)`", "lapply": "[for v in $1 => f(v)]",
	"vectorize": "operators go over all elements as they are: `f(x)`", "reduce": "a sum is `sum(x)`; what one round gives the next is carried by iterate",
	"sorted_unique": "unique", "nchar": "operators on text are not built yet",

	"loadtxt": "read", "read_csv": "read", "readMatrix": "read", "genfromtxt": "read", "readtable": "read", "csvread": "read", "mmread": "read", "load": "read", "open": "read", "readdlm": "read",
	"readFrame": "read", "savetxt": "emit $2 to $1", "writeMatrix": "emit $1 to $2", "csvwrite": "emit $2 to $1", "write_csv": "emit $1 to $2", "save": "emit $2 to $1", "csv": "emit $1 to $2",
	"to_csv": "emit $1 to $2", "tofile": "emit $1 to $2", "library": "the library needs no import: leave this line out", "require": "the library needs no import: leave this line out",
	"ans": "a program names its values: `x = ..`; at the prompt of flowrun the last value is _",
	"clc": "leave it out", "clear": "leave it out: a value lives as long as something needs it", "close": "leave it out", "tic": "`flowrun --timing` and --stats say how long a run took",
	"toc": "`flowrun --timing` and --stats say how long a run took", "time": "`flowrun --timing` and --stats say how long a run took", "exit": "leave it out: a program ends with its text",
	"show": "`emit plot(x, y)` draws in the terminal, `emit plot(x, y) to \"a.svg\"` into a file", "savefig": "emit plot(x, y) to $1", "imshow": "heatmap", "pcolor": "heatmap",
	"pcolormesh": "heatmap", "imagesc": "heatmap", "matshow": "heatmap", "imwrite": "emit $2 to $1", "imsave": "emit $2 to $1", "histplot": "hist", "barplot": "bar", "barh": "bar", "boxplot": "hist",
	"subplot": "panels", "subplots": "panels", "legend": "each picture has its label: `figure(plot(x, y, label = \"a\"), scatter(x, z, label = \"b\"))`", "colorbar": "heatmap has one: leave it out",
	"semilogx": "plot(x, y, log = \"x\")", "semilogy": "plot(x, y, log = \"y\")", "loglog": "plot(x, y, log = \"xy\")", "quit": "leave it out: a program ends with its text",
}

// modules lists names of other languages' libraries: np.sum is sum.
var modules = []string{"np", "numpy", "math", "cmath", "scipy", "sp", "pd", "pandas", "torch", "tf", "jnp", "jax", "Math", "std", "random", "rng", "Base", "LinearAlgebra", "Statistics",
	"plt", "matplotlib", "time", "os", "sys", "set", "as", "is", "write"}

// Module reports a name of another language's library.
func Module(name string) bool { return slices.Contains(modules, name) }

// ForeignNames returns all foreign names, sorted.
func ForeignNames() []string { return slices.Sorted(maps.Keys(foreign)) }

// argument matches the place of an argument in a form.
var argument = regexp.MustCompile(`\$([0-9])|\{([0-9])\}`)

// atom matches an argument that needs no parentheses beside an operator.
var atom = regexp.MustCompile(`^[\w.]+(\([^()]*\)|\[[^\[\]]*\])?$`)

// isForm reports a row with places for arguments, and their number.
func isForm(row string) (places int, ok bool) {
	for _, m := range argument.FindAllStringSubmatch(row, -1) {
		n, _ := strconv.Atoi(m[1] + m[2])
		places = max(places, n)
	}
	return places, places > 0 || strings.Contains(row, "$*")
}

// fill inserts arguments into a form.
func fill(form string, args []string) string {
	form = argument.ReplaceAllStringFunc(form, func(place string) string {
		n, _ := strconv.Atoi(strings.Trim(place, "${}"))
		if arg := args[n-1]; place[0] == '$' || atom.MatchString(arg) {
			return arg
		}
		return "(" + args[n-1] + ")"
	})
	return strings.ReplaceAll(form, "$*", strings.Join(args, ", "))
}

// Foreign returns help for a foreign name that is alone or before unknown arguments, or "". A word
// of Flow in backquotes replaces the name.
func Foreign(name string) string {
	row, ok := foreign[name]
	_, form := isForm(row)
	switch {
	case !ok:
		return ""
	case form:
		text, note, noted := strings.Cut(row, "; ")
		text = "it is " + strings.ReplaceAll(fill(strings.ReplaceAll(text, "$*", "a, b"), []string{"a", "b", "c", "d"}), "`", "")
		if noted {
			text += "; " + note
		}
		return text
	case !strings.Contains(row, " "):
		return "it is called `" + row + "` here"
	}
	return row
}

// ForeignCall is Foreign of a call whose arguments are known. Written reports whether the text in
// backquotes takes the place of the whole call.
func ForeignCall(name string, args []string) (help string, written bool) {
	row := foreign[name]
	places, form := isForm(row)
	if !form || len(args) == 0 || len(args) < places || places > 0 && len(args) > places {
		return Foreign(name), false
	}
	if len(args) == 2 && strings.HasPrefix(args[1], `"`) && strings.HasPrefix(row, "emit $2 to $1") { // the file comes second
		args = []string{args[1], args[0]}
	}
	text, note, noted := strings.Cut(row, "; ")
	help = "write `" + fill(text, args) + "`"
	if noted {
		help += "; " + note
	}
	return help, true
}
