package lower

import (
	"slices"

	"flow/ir/types"
	"flow/lang/ast"
	"flow/lang/source"
)

// This file elaborates fields: sizes, and names of an import.

// axis is the rows or the columns of a matrix, as a subscript names them.
type axis struct {
	of   val    // the matrix
	k    int    // 0 for rows, 1 for columns
	n    int    // the length, or types.Unknown
	what string // "row" or "column"
}

// axis returns the rows of a matrix (k = 0) or its columns (k = 1).
func (l *lowerer) axis(x val, k int) axis {
	t := l.typeOf(x)
	return axis{of: x, k: k, n: [...]int{t.Rows, t.Cols}[k], what: [...]string{"row", "column"}[k]}
}

// length returns the length of an axis. It is a value of the run if only the run knows it.
func (l *lowerer) length(a axis, at source.Span) val {
	if a.n == types.Unknown {
		return l.edgeVal(l.add(l.table.Must([...]string{"nrow", "ncol"}[a.k]), nil, at, []source.Span{at}, a.of.id))
	}
	return intVal(a.n)
}

// field elaborates .rows and .cols of matrices, lists and channel arrays, and names of an import.
func (l *lowerer) field(e *ast.Field) val {
	l.unknownModule(e, nil)
	x := l.expr(e.X)
	switch x.kind {
	case module:
		for i, n := range x.mod.names {
			if n == e.Name.Name {
				return l.here(x.mod.vals[i])
			}
		}
		d := source.Errorf("E132", e.Name.At, "the imported file has no `%s`", e.Name.Name)
		if s, ok := source.Suggest(e.Name.Name, x.mod.names); ok {
			d = d.WithHelp("did you mean `%s`?", s)
		}
		l.fail(d)
	case list:
		switch e.Name.Name { // of the matrix that it stands for
		case "rows":
			return intVal(len(x.elems))
		case "cols":
			if x.isRows() {
				return intVal(len(x.elems[0].elems))
			}
			return intVal(1)
		}
	case tuple:
		if i := slices.Index(x.names, e.Name.Name); i >= 0 {
			return x.elems[i]
		}
		l.fail(l.noPart(x, e))
	case array:
		if len(x.grid.dims) == 2 && e.Name.Name == "rows" || len(x.grid.dims) == 1 && e.Name.Name == "rows" {
			return intVal(x.grid.dims[0])
		}
		if len(x.grid.dims) == 2 && e.Name.Name == "cols" {
			return intVal(x.grid.dims[1])
		}
	case edge:
		if t := l.g.Type(x.id); t.IsMatrix() {
			switch e.Name.Name {
			case "rows":
				return l.length(l.axis(x, 0), e.Span())
			case "cols":
				return l.length(l.axis(x, 1), e.Span())
			}
		}
	}
	l.fail(l.noField(e, x))
	return val{}
}
