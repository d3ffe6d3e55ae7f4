package check

import (
	"maps"
	"slices"
)

// foreign says what a name of other languages and libraries is in Flow: help for people who come from there. Only names that Flow
// does not have stand here (a test looks).
var foreign = map[string]string{
	"True": "it is written `true`", "False": "it is written `false`", "None": "every name has a value: there is no None", "null": "every name has a value: there is no null",
	"np": "operators need no module: `sum(x)`, `exp(x)`", "numpy": "operators need no module: `sum(x)`, `exp(x)`", "math": "operators need no module: `exp(x)`, `sqrt(x)`",

	"print": "output is `emit e`", "println": "output is `emit e`", "disp": "output is `emit e`",
	"range":  "a range is `a..b`, b left out",
	"length": "it is nrow(x), ncol(x) or ncell(x)", "size": "it is nrow(x), ncol(x) or ncell(x)", "shape": "it is nrow(x) and ncol(x)",

	"array": "a column is `[1, 2, 3]`, a matrix `[[1, 2], [3, 4]]`", "matrix": "a matrix is `[[1, 2], [3, 4]]`", "full": "it is fill(x, n, m)", "empty": "it is zeros(n, m)",
	"arange": "it is seq(a, b)", "linspace": "it is seq(a, b, step)", "random": "it is rand(n, m, seed = 1)", "identity": "it is eye(n)",

	"transpose": "it is t(x)", "dot": "the product is `a @ b`", "mm": "the product is `a @ b`",
	"concatenate": "it is cbind(a, b) or rbind(a, b)", "hstack": "it is cbind(a, b)", "vstack": "it is rbind(a, b)",
	"chol": "it is cholesky(a)", "ln": "it is log(x)", "power": "it is `a ^ b`",
	"float": "it is f64(x) or f32(x)", "double": "it is f64(x)", "int": "it is i64(x)", "std": "it is stddev(x)",
}

// ForeignNames is all of these names, sorted.
func ForeignNames() []string { return slices.Sorted(maps.Keys(foreign)) }

// Foreign is help for a name of another language, "" for all others.
func Foreign(name string) string { return foreign[name] }
