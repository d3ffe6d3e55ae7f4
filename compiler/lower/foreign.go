package lower

import (
	"slices"
	"strings"

	"flow/compiler/check"
	"flow/ir/types"
	"flow/lang/ast"
	"flow/lang/source"
)

// This file reports names, methods and fields of other languages. Where possible the help holds the
// user's own text, corrected, in backquotes, and the diagnostic is at the text that it replaces.

// afterSlashes reports a span after // on its line, as before a C comment.
func (l *lowerer) afterSlashes(at source.Span) bool {
	f := l.in.Files.File(at.From)
	return f != nil && strings.HasSuffix(strings.TrimRight(f.Text[:f.Offset(at.From)], " \t"), "//")
}

// equality refuses x == e as a statement if x is unbound: a binding with one sign too many.
func (l *lowerer) equality(s *ast.ExprStmt) {
	b, ok := s.Expr.(*ast.Binary)
	if !ok || b.Op != "==" {
		return
	}
	if n, is := b.X.(*ast.Name); is {
		if _, bound := l.scope.lookup(n.Name); !bound && !l.known(n.Name) {
			l.fail(source.Errorf("E116", s.Span(), "nothing is called `%s` here", n.Name).
				WithHelp("a binding has one sign: write `%s = %s`", n.Name, l.text(b.Y.Span())))
		}
	}
}

// joins reports a name that other systems call with one list of things to join.
func joins(name string) bool {
	return slices.Contains(strings.Fields("concat concatenate hstack vstack stack horzcat vertcat hcat vcat column_stack"), name)
}

// known reports a word that can be called.
func (l *lowerer) known(word string) bool {
	_, lib := l.library(word)
	return lib || len(l.table.Word(word)) > 0 || slices.Contains(formNames, word)
}

// unknownCall is the diagnostic of a call of an unknown name.
func (l *lowerer) unknownCall(e *ast.Call, n *ast.Name) source.Diagnostic {
	d := source.Errorf("E116", n.Span(), "no function or operator is called `%s`", n.Name)
	if help, written := check.ForeignCall(n.Name, l.texts(e.Args, joins(n.Name))); help != "" {
		if written {
			d.Span = e.Span()
		}
		return d.WithHelp("%s", help)
	}
	return d.WithHelp("%s", check.Unknown(n.Name, true, l.scope.visible(), l.vocabulary()))
}

// near returns help for an unknown name: the nearest name of the program or word of the language.
func (l *lowerer) near(name string) string {
	return check.Near(name, l.scope.visible(), l.vocabulary())
}

// vocabulary lists the words of the language and of the library.
func (l *lowerer) vocabulary() []string {
	words := l.words()
	if l.std != nil {
		words = append(words, l.std.words...)
	}
	return words
}

// fileEndings are the endings of names of files that programs read and write.
var fileEndings = []string{"csv", "tsv", "mtx", "npy", "csr", "pgm", "png", "svg", "html", "txt", "dat"}

// unknownModule reports np.f(x) and np.linalg.f(x) if np is unbound, and data.csv without quotes.
func (l *lowerer) unknownModule(f *ast.Field, e *ast.Call) {
	root := ast.Expr(f)
	for {
		x, ok := root.(*ast.Field)
		if !ok {
			break
		}
		root = x.X
	}
	n, ok := root.(*ast.Name)
	if !ok {
		return
	}
	if _, bound := l.scope.lookup(n.Name); bound {
		return
	}
	if e == nil && f.X == root && slices.Contains(fileEndings, f.Name.Name) {
		l.fail(source.Errorf("E116", f.Span(), "nothing is called `%s` here", n.Name).WithHelp("a file is named by a text: write `%q`", l.text(f.Span())))
	}
	if !check.Module(n.Name) {
		return
	}
	word, d := f.Name.Name, source.Errorf("E116", f.Span(), "nothing is called `%s` here", n.Name)
	help, written := "", false
	if e != nil {
		help, written = check.ForeignCall(word, l.texts(e.Args, true))
	} else {
		help = check.Foreign(word)
	}
	switch {
	case l.known(word) || word == "nan" || word == "inf":
		d.Help = "write `" + word + "`: operators and the library need no module"
	case written:
		d.Span, d.Help = e.Span(), help
	case help != "":
		d.Help = help
	default:
		d.Help = "operators and the library need no module: sum(x), exp(x)"
	}
	l.fail(d)
}

// method reports x.f(a) where x is a value: values have no methods.
func (l *lowerer) method(e *ast.Call, f *ast.Field) {
	d := source.Errorf("E132", e.Span(), "values have no functions of their own: `.%s(..)`", f.Name.Name)
	word, value := f.Name.Name, l.text(f.X.Span())
	args := []string{value}
	axis := ""
	for _, a := range e.Args {
		by := map[string]string{"0": "col", "1": "row"}[l.text(a.Value.Span())]
		alone := a.Name == nil && len(e.Args) == 1 && by != "" && l.known(by+word) // x.sum(0)
		if alone || a.Name != nil && a.Name.Name == check.AxisArgument {
			axis = by
			continue
		}
		args = append(args, l.text(a.Span()))
	}
	if word == "head" && len(args) == 1 {
		args = append(args, "5")
	}
	if axis != "" && l.known(axis+word) {
		word = axis + word
	}
	if l.known(word) {
		l.fail(d.WithHelp("write `%s(%s)`", word, strings.Join(args, ", ")))
	} else if help, written := check.ForeignCall(word, args); written {
		l.fail(d.WithHelp("%s", help))
	} else if h := check.Foreign(word); strings.HasPrefix(h, "it is called `") {
		own := strings.TrimSuffix(strings.TrimPrefix(h, "it is called `"), "` here")
		l.fail(d.WithHelp("write `%s(%s)`", own, strings.Join(args, ", ")))
	} else if word == "astype" && len(args) == 2 {
		if own := check.Foreign(args[1]); strings.HasPrefix(own, "it is called `") {
			args[1] = strings.TrimSuffix(strings.TrimPrefix(own, "it is called `"), "` here")
		}
		l.fail(d.WithHelp("write `%s(%s)`", args[1], value))
	} else if h != "" {
		l.fail(d.WithHelp("%s", h))
	}
	if word == "rows" || word == "cols" {
		l.fail(d.WithHelp("write `%s.%s`", value, word))
	}
	l.fail(d.WithHelp("an operator or function is called with the value: f(%s)", value))
}

// matrixFields maps fields of other languages to Flow forms of x.
var matrixFields = map[string]string{"T": "t($)", "shape": "[$.rows, $.cols]", "size": "ncell($)", "length": "ncell($)", "len": "ncell($)", "nrow": "$.rows", "nrows": "$.rows",
	"row": "$.rows", "ncol": "$.cols", "ncols": "$.cols", "columns": "$.cols", "col": "$.cols", "width": "$.cols", "height": "$.rows", "real": "$", "values": "$", "flat": "reshape($, ncell($), 1)"}

// noField is the diagnostic of x.f where x has no f.
func (l *lowerer) noField(e *ast.Field, x val) source.Diagnostic {
	d := source.Errorf("E132", e.Name.At, "%s has no field `%s`", l.what(x), e.Name.Name)
	value, matrix := l.text(e.X.Span()), x.kind == list || x.kind == edge && l.typeOf(x).IsMatrix()
	if form := matrixFields[e.Name.Name]; form != "" && (matrix || form == "$") {
		d.Span = e.Span()
		return d.WithHelp("write `%s`", strings.ReplaceAll(form, "$", value))
	}
	if rows := l.table.Word(e.Name.Name); len(rows) > 0 {
		if least, _ := rows[0].Arity(); least <= 1 && !rows[0].Args[0].Attr {
			d.Span = e.Span()
			return d.WithHelp("write `%s(%s)`", e.Name.Name, value)
		}
	}
	if matrix {
		if s, ok := source.Suggest(e.Name.Name, []string{"rows", "cols"}); ok {
			return d.WithHelp("did you mean `%s`?", s)
		}
		return d.WithHelp("matrices have .rows and .cols")
	}
	return d.WithHelp("matrices have .rows and .cols, and a scalar has no fields")
}

// notCalled is the diagnostic of x(i, j) where x is a value.
func (l *lowerer) notCalled(e *ast.Call, v val) source.Diagnostic {
	d := source.Errorf("E118", e.Fun.Span(), "%s cannot be called", l.what(v))
	if (v.kind == list || v.kind == array || v.kind == edge && l.typeOf(v).IsMatrix()) && len(e.Args) > 0 && len(e.Args) < 3 {
		d.Span = e.Span()
		return d.WithHelp("write `%s[%s]`: subscripts are in brackets, and start at 0", l.text(e.Fun.Span()), strings.Join(l.texts(e.Args, false), ", "))
	}
	if v.kind == edge || v.kind == konst {
		return d.WithHelp("a product is written with a sign: `%s *`", l.text(e.Fun.Span()))
	}
	return d
}

// tooFewSubscripts is the diagnostic of X[i] and X[mask] for a matrix of type t.
func (l *lowerer) tooFewSubscripts(e *ast.Index, t types.Type) source.Diagnostic {
	d := source.Errorf("E218", e.Span(), "matrices take two subscripts")
	if len(e.Subs) != 1 {
		return d.WithHelp("X[i, :] is a row, X[:, j] a column, X[i, j] an element, X[mask, :] the rows that a mask chooses")
	}
	x, sub := l.text(e.X.Span()), l.text(e.Subs[0].Span())
	if s := e.Subs[0]; !s.All && !s.IsRange {
		if at, several := l.expr(s.Lo).vector(l); several && at.Rows != 1 && at.Cols > 1 {
			return d.WithHelp("ifelse(%[2]s, %[1]s, 0) keeps the shape; x = reshape(%[1]s, ncell(%[1]s), 1) is a column of all elements, of which x[mask] takes some", x, sub)
		}
	}
	if s := e.Subs[0].Lo; s != nil {
		if v := l.expr(s); l.typeOf(v) == types.ScalarOf(types.Str) {
			return d.WithHelp("columns have numbers, no names: `%s[:, 0]` is the first", x)
		}
	}
	if t.Rows == 1 {
		return d.WithHelp("write `%s[:, %s]`: this is a row, and its elements are columns", x, sub)
	}
	return d.WithHelp("write `%s[%s, :]` for rows; X[:, j] is a column, X[mask, :] the rows that a mask chooses", x, sub)
}

// doubleSubscript refuses X[i][j] of a matrix before X[i] is refused.
func (l *lowerer) doubleSubscript(e *ast.Index) {
	inner, ok := e.X.(*ast.Index)
	if !ok || len(inner.Subs) != 1 || len(e.Subs) != 1 {
		return
	}
	n, ok := inner.X.(*ast.Name)
	if !ok {
		return
	}
	v, ok := l.scope.lookup(n.Name)
	if !ok || v.kind != edge {
		return
	}
	if t := l.typeOf(l.expr(n)); !t.IsMatrix() || t.Cols == 1 {
		return
	}
	l.fail(source.Errorf("E218", e.Span(), "matrices take two subscripts in one pair of brackets").
		WithHelp("write `%s[%s, %s]`", n.Name, l.text(inner.Subs[0].Span()), l.text(e.Subs[0].Span())))
}

// square is the diagnostic of a matrix that a parameter f64[n,n] does not take. ok is false if that
// is not the mistake.
func square(t *ast.NamedType, have types.Type, at source.Span) (source.Diagnostic, bool) {
	if len(t.Dims) != 2 {
		return source.Diagnostic{}, false
	}
	a, ok := t.Dims[0].(*ast.Name)
	b, same := t.Dims[1].(*ast.Name)
	if !ok || !same || a.Name != b.Name || have.Rows == have.Cols {
		return source.Diagnostic{}, false
	}
	return source.Errorf("E213", at, "a square matrix is wanted; this has %d rows and %d columns", have.Rows, have.Cols), true
}

// Foreign returns the Flow form of a name of another language or library as a sentence, or "".
func Foreign(name string) string { return check.Foreign(name) }
