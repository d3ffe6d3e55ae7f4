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

// holdsMatrices reports a list with at least one matrix, which may be a list of rows.
func (l *lowerer) holdsMatrices(xs []val) bool {
	return slices.ContainsFunc(xs, func(x val) bool { return x.isRows() || x.kind == edge && l.typeOf(x).IsMatrix() })
}

// listFold is how a reduction folds a plan-time list.
type listFold struct {
	sign  string // of the operator of two arguments; "" is the elementwise row of the same word
	empty val    // the value of no elements, if there is one
	truth bool   // the elements are taken as truth values: what is not 0 counts
}

var listFolds = map[string]listFold{
	"sum":  {sign: "+", empty: val{kind: konst, untyped: true, s: value.I64(0)}},
	"prod": {sign: "*", empty: val{kind: konst, untyped: true, s: value.I64(1)}},
	"any":  {sign: "or", empty: konstVal(value.Bool(false)), truth: true},
	"all":  {sign: "and", empty: konstVal(value.Bool(true)), truth: true},
	"min":  {},
	"max":  {},
}

// foldStep returns the operator of two arguments that folds a list for a reduction, or nil.
func (l *lowerer) foldStep(word string) *op.Def {
	f, ok := listFolds[word]
	if !ok {
		return nil
	}
	if f.sign != "" {
		return l.table.Infix(f.sign)
	}
	for _, r := range l.table.Word(word) {
		if r.Laws.Has(op.Elementwise) {
			return r
		}
	}
	return nil
}

// foldList folds an operator over a plan-time list: sum(for k in a..b => e) adds in index order and
// is the untyped constant 0 if empty; min, max, any and all fold alike.
func (l *lowerer) foldList(e *ast.Call, step *op.Def, word string, xs []val, at source.Span) val {
	f := listFolds[word]
	if len(xs) == 0 {
		if f.sign == "" {
			l.failf("E203", at, "%s of nothing has no value", word)
		}
		return f.empty
	}
	if f.truth {
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
