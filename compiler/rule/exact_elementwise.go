package rule

// This file defines the exact rules of elementwise arithmetic. IEEE 754 keeps few rules of algebra:
// most others fail on -0, nan or inf, or where an element type is converted between, and are listed
// as counterexamples.

func elementwise() []Rule {
	return []Rule{
		{
			Name: foldConstants,
			Doc: "An operator on constants is a constant, computed by its definition. Elaboration folds what the program writes; this folds what " +
				"other rules leave.",
			Rewrites: []string{"Pure(constants) -> constant"},
		},
		{
			Name:     "undo-twice",
			Sparse:   true,
			Doc:      "What undoes itself is nothing when done twice: -(-x), not not x, t(t(x)), a reversal of the same axis.",
			Rewrites: []string{"Involution(Involution(x){A}){A} -> x"},
			Wrong: []Wrong{
				{Rewrite: "div(1, div(1, x)) -> x", Why: "1 / 3 is rounded: 1 / (1 / 49) is not 49"},
				{Rewrite: "exp(log(x)) -> x", Why: "both round, and the log of a negative number is nan"},
				{Rewrite: "i64(f64(x)) -> x", Why: "integers beyond 2^53 lose their last bits in f64"},
			},
		},
		{
			Name:     "same-twice",
			Doc:      "The minimum, maximum, conjunction or disjunction of x and x is x.",
			Rewrites: []string{"Idempotent(x, x) -> x"},
			Wrong: []Wrong{{Rewrite: "sub(x, x) -> mul(x, 0)", Why: "-1 - -1 is 0, -1 * 0 is -0; inf - inf and nan are not 0 either"},
				{Rewrite: "div(x, x) -> pow(x, 0)", Why: "0 / 0 is nan"}},
		},
		{
			Name: "apply-once",
			Doc:  "A second absolute value, sign, or rounding to integers changes nothing, nor does the sign below an absolute value.",
			Rewrites: []string{"abs(abs(x)) -> abs(x)", "abs(neg(x)) -> abs(x)", "sign(sign(x)) -> sign(x)", "relu(relu(x)) -> relu(x)",
				"floor(floor(x)) -> floor(x)", "floor(ceil(x)) -> ceil(x)", "floor(round(x)) -> round(x)",
				"ceil(floor(x)) -> floor(x)", "ceil(ceil(x)) -> ceil(x)", "ceil(round(x)) -> round(x)",
				"round(floor(x)) -> floor(x)", "round(ceil(x)) -> ceil(x)", "round(round(x)) -> round(x)"},
			Wrong: []Wrong{{Rewrite: "sqrt(mul(x, x)) -> abs(x)", Why: "the square overflows, underflows and rounds"},
				{Rewrite: "relu(neg(x)) -> neg(relu(x))", Why: "relu(-(-1)) is 1"}},
		},
		{
			Name:     "convert-once",
			Doc:      "A conversion to the type that a value has is nothing; so is one to a wider type and back.",
			Rewrites: []string{"Conversion(x) -> x", "f32(f64(x)) -> x", "bool(i64(x)) -> x", "bool(f64(x)) -> x", "bool(f32(x)) -> x"},
			Wrong: []Wrong{{Rewrite: "f64(f32(x)) -> f64(x)", Why: "the bits beyond f32 are lost"},
				{Rewrite: "bool(f32(x)) -> bool(x)", Why: "1e-300 is 0 in f32"}},
		},
		{
			Name: "drop-neutral",
			Doc: "x * 1, x / 1, x ^ 1, x - 0 and x + -0 are x, bit for bit: 0 has the sign with which subtracting it changes nothing. " +
				"A signalling nan, which only a file can bring, stays one; all nans are one value.",
			Rewrites: []string{"mul(x, 1) -> x", "div(x, 1) -> x", "pow(x, 1) -> x", "sub(x, 0) -> x", "add(x, -0.0) -> x",
				"and(x, true) -> x", "or(x, false) -> x"},
			Wrong: []Wrong{{Rewrite: "add(x, 0) -> x", Why: "-0 + 0 is 0"},
				{Rewrite: "mul(x, 0) -> sub(x, x)", Why: "-1 * 0 is -0"},
				{Rewrite: "idiv(x, 1) -> x", Why: "2.5 // 1 is 2"},
				{Rewrite: "sub(0, x) -> neg(x)", Why: "0 - 0 is 0, -(0) is -0"}},
		},
		{
			Name:     "drop-neutral-integer",
			Doc:      "Integers have no -0: x + 0 and x // 1 are x.",
			Rewrites: []string{"add(x, 0) -> x", "idiv(x, 1) -> x"},
			Where:    []string{"integers(x)"},
			Wrong:    []Wrong{{Rewrite: "add(x, 0) -> x", Why: "of floats: -0 + 0 is 0"}},
		},
		{
			Name: "absorb-sign",
			Doc: "a - -b is a + b, and so on: a subtraction is the addition of the negative by definition, and the sign of a product is that of " +
				"its factors. Only where no conversion comes between: an i64 is negated as such, and -2^63 is its own negative.",
			Rewrites: []string{"sub(a, neg(b)) -> add(a, b)", "add(a, neg(b)) -> sub(a, b)", "mul(neg(a), neg(b)) -> mul(a, b)", "div(neg(a), neg(b)) -> div(a, b)"},
			Where:    []string{"alike(a, b)", "alike(a, root)"},
			Wrong: []Wrong{{Rewrite: "neg(sub(a, b)) -> sub(b, a)", Why: "-(1 - 1) is -0, 1 - 1 is 0"},
				{Rewrite: "sub(a, neg(b)) -> add(a, b)", Why: "a of f64, b = -2^63 of i64: -b is b"},
				{Rewrite: "neg(add(a, b)) -> sub(neg(a), b)", Why: "-(1 + -1) is -0, -1 - -1 is 0"}},
		},
		{
			Name:     "flip-sign",
			Doc:      "x * -1 and x / -1 are -x, without a multiplication or division.",
			Rewrites: []string{"mul(x, -1) -> neg(x)", "div(x, -1) -> neg(x)"},
			Where:    []string{"alike(x, root)"},
			Wrong:    []Wrong{{Rewrite: "mul(x, -1) -> sub(0, x)", Why: "0 * -1 is -0, 0 - 0 is 0"}},
		},
		{
			Name: "multiply-by-inverse",
			Doc: "A division by a power of two is a multiplication by its inverse: both are the same real number, rounded once. " +
				"A product costs a quarter of a division.",
			Rewrites: []string{"div(x, c) -> mul(x, inverse(c))"},
			Where:    []string{"power(c)"},
			Wrong: []Wrong{{Rewrite: "div(x, 10) -> mul(x, 0.1)", Why: "0.1 is not the inverse of 10"},
				{Rewrite: "div(x, c) -> mul(x, div(1, c))", Why: "the inverse is rounded"}},
		},
		{
			Name: "multiply-power",
			Doc: "x ^ 2 is x * x and x ^ -1 is 1 / x by the definition of pow; x * x and 1 / x have vector loops and fuse. " +
				"A cube of f64 is two products; of f32 it is rounded once, from f64.",
			Rewrites: []string{"pow(x, 2) -> mul(x, x)", "pow(x, -1) -> div(1, x)"},
			Wrong: []Wrong{{Rewrite: "pow(x, 4) -> mul(mul(x, x), mul(x, x))", Why: "pow rounds once"},
				{Rewrite: "pow(x, 0.5) -> sqrt(x)", Why: "(-inf) ^ 0.5 is inf and (-0) ^ 0.5 is 0, their roots nan and -0"},
				{Rewrite: "pow(x, 3) -> mul(mul(x, x), x)", Why: "of f32"}},
		},
		{
			Name: "square-stored", Sparse: true,
			Doc:      "The square of a sparse matrix is dense, and zero where the matrix is: only what is stored is multiplied.",
			Rewrites: []string{"sp.pow(x, 2) -> sp.dense(sp.mul(x, x))"},
			Wrong:    []Wrong{{Rewrite: "sp.pow(x, 3) -> sp.dense(sp.mul(sp.mul(x, x), x))", Why: "of f32, whose cube is rounded once from f64"}},
		},
		{
			Name:     "multiply-cube",
			Doc:      "x ^ 3 of f64 is x * x * x by the definition of pow.",
			Rewrites: []string{"pow(x, 3) -> mul(mul(x, x), x)"},
			Where:    []string{"doubles(x)"},
			Wrong:    []Wrong{{Rewrite: "pow(x, 3) -> mul(mul(x, x), x)", Why: "of f32, whose cube is rounded once from f64"}},
		},
	}
}

func choices() []Rule {
	const down, along = "seq(){a=0, b=nrow(root), step=1}", "seq(){a=0, b=ncol(root), step=1}"
	var triangles []string
	for _, w := range [][2]string{{"lower(Elementwise(..)!){unit=false, strict=false}", "ge"}, {"lower(Elementwise(..)!){unit=false, strict=true}", "gt"},
		{"upper(Elementwise(..)!){strict=false}", "le"}, {"upper(Elementwise(..)!){strict=true}", "lt"}} {
		triangles = append(triangles, w[0]+" -> ifelse("+w[1]+"("+down+", t("+along+")), Elementwise(..), 0)")
	}
	return []Rule{
		{
			Name:     "choose-known",
			Doc:      "A choice by a constant is the value chosen, if it has the result's shape and type and the other one cannot fail.",
			Rewrites: []string{"ifelse(true, a, b) -> a"},
			Where:    []string{"total(b)"},
			Wrong:    []Wrong{{Rewrite: "ifelse(true, a, b) -> b", Why: "true chooses the first"}},
		},
		{
			Name:     "choose-known-else",
			Doc:      "The same for false.",
			Rewrites: []string{"ifelse(false, a, b) -> b"},
			Where:    []string{"total(a)"},
			Wrong:    []Wrong{{Rewrite: "ifelse(false, a, b) -> a", Why: "false chooses the second"}},
		},
		{
			Name:     "choose-same",
			Doc:      "A choice between x and x is x, whatever the condition, if that cannot fail.",
			Rewrites: []string{"ifelse(c, x, x) -> x"},
			Where:    []string{"total(c)"},
			Wrong:    []Wrong{{Rewrite: "ifelse(eq(a, b), a, b) -> b", Why: "0 == -0, and the choice is the first"}},
		},
		{
			Name: "choose-triangle",
			Doc: "A triangle of an elementwise result is a choice by the places, if nothing else reads the rest. It fuses then as other choices do, " +
				"and is not stored for the reductions that read it.",
			Rewrites: triangles,
			Where:    []string{"plain(Elementwise)"},
			Wrong: []Wrong{{Rewrite: "lower(Elementwise(..)!){unit=false, strict=false} -> mul(ge(" + down + ", t(" + along + ")), Elementwise(..))",
				Why: "0 times inf is nan, 0 times -1 is -0"}},
		},
		{
			Name:     "swap-choice",
			Doc:      "A choice by `not c` is the other choice by c.",
			Rewrites: []string{"ifelse(not(c), a, b) -> ifelse(c, b, a)"},
			Wrong:    []Wrong{{Rewrite: "ifelse(lt(a, b), a, b) -> ew.min(a, b)", Why: "nan < 1 is false, min(nan, 1) is nan"}},
		},
		{
			Name:     "negate-comparison",
			Doc:      "not (a == b) is a != b; of a nan the one is false and the other true, as it must be.",
			Rewrites: []string{"not(eq(a, b)) -> ne(a, b)", "not(ne(a, b)) -> eq(a, b)"},
			Wrong:    []Wrong{{Rewrite: "not(lt(a, b)) -> ge(a, b)", Why: "neither nan < 1 nor nan >= 1"}},
		},
		{
			Name:     "negate-order",
			Doc:      "not (a < b) is a >= b where there is no nan: of integers.",
			Rewrites: []string{"not(lt(a, b)) -> ge(a, b)", "not(le(a, b)) -> gt(a, b)", "not(gt(a, b)) -> le(a, b)", "not(ge(a, b)) -> lt(a, b)"},
			Where:    []string{"integers(a, b)"},
			Wrong:    []Wrong{{Rewrite: "not(lt(a, b)) -> ge(a, b)", Why: "of floats: neither nan < 1 nor nan >= 1"}},
		},
		{
			Name:     "know-identical",
			Doc:      "x has the bits of x, nan or not, if computing it cannot fail.",
			Rewrites: []string{"identical(x, x) -> true"},
			Where:    []string{"total(x)"},
			Wrong:    []Wrong{{Rewrite: "all(eq(x, x)) -> true", Why: "nan equals nothing"}},
		},
	}
}
