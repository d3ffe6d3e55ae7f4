package lower

import (
	"slices"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/lang/ast"
	"flow/lang/source"
)

// This file lowers reductions of lists: `sum([a, b])` of scalars or matrices is a chain of the
// operator.

// holdsMatrices reports a list with at least one matrix.
func (l *lowerer) holdsMatrices(xs []val) bool {
	return slices.ContainsFunc(xs, func(x val) bool { return x.kind == edge && l.typeOf(x).IsMatrix() })
}

// foldStep returns the operator of two arguments that folds a list for a reduction, or nil.
func (l *lowerer) foldStep(word string) *op.Def {
	switch word {
	case "sum":
		return l.table.Infix("+")
	case "prod":
		return l.table.Infix("*")
	case "any":
		return l.table.Infix("or")
	case "all":
		return l.table.Infix("and")
	case "min", "max":
		for _, r := range l.table.Word(word) {
			if r.Laws.Has(op.Elementwise) {
				return r
			}
		}
	}
	return nil
}

// foldList folds an operator over a plan-time list: sum(for k in a..b => e) adds in index order and
// is the untyped constant 0 if empty; min, max, any and all fold alike.
func (l *lowerer) foldList(e *ast.Call, step *op.Def, word string, xs []val, at source.Span) val {
	if len(xs) == 0 {
		switch word {
		case "sum":
			return val{kind: konst, untyped: true, s: value.I64(0)}
		case "prod":
			return val{kind: konst, untyped: true, s: value.I64(1)}
		case "any", "all":
			return konstVal(value.Bool(word == "all"))
		}
		l.failf("E203", at, "%s of nothing has no value", word)
	}
	if word == "any" || word == "all" { // of numbers, too: what is not 0 counts
		truth := l.table.Must("bool")
		xs = slices.Clone(xs)
		for i, x := range xs {
			if x.kind == konst || x.kind == edge && l.typeOf(x).Elem != types.Bool {
				xs[i] = l.apply(truth, nil, e.Span(), []val{x}, []source.Span{at})
			}
		}
	}
	acc := xs[0]
	for _, x := range xs[1:] {
		acc = l.apply(step, nil, e.Span(), []val{acc, x}, []source.Span{at, at})
	}
	return acc
}
