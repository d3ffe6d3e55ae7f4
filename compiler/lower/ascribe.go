package lower

// This file gives a value the type that the program writes for it: parameters, results, bindings.

import (
	"fmt"
	"strings"

	"flow/compiler/check"
	"flow/ir/types"
	"flow/lang/ast"
	"flow/lang/source"
)

// ascribe checks a value against a written type and converts it: literals take the type, bool and
// i64 widen. Dimension names are bound or compared.
func (l *lowerer) ascribe(v val, t ast.Type, at source.Span) val {
	switch t := t.(type) {
	case *ast.NamedType:
		if a := l.aliasOf(t); a != nil {
			return l.ascribeAlias(v, t, a, at)
		}
		if len(t.Dims) > 0 && v.kind == edge && l.g.Type(v.id).IsSparse() {
			d := source.Errorf("E200", at, "a dense matrix is wanted, this is %s", l.what(v)).WithHelp("dense(x) makes one")
			if l.ownText(t.Span()) {
				d = d.WithHelp("dense(x) makes one, or write sparse before the type")
			}
			l.fail(d)
		}
		return l.ascribeNamed(v, t, at)
	case *ast.SparseType:
		return l.ascribeSparse(v, t, at)
	case *ast.ChanType:
		l.failf("L001", t.Span(), "streams are not built yet")
	case *ast.RecordType:
		l.failf("L002", t.Span(), "records and frames are not built yet")
	case *ast.FnType:
		if v.kind != function {
			l.failf("E200", at, "a function is wanted, this is %s", l.what(v))
		}
		return v
	case *ast.TupleType:
		if v.kind != tuple || len(v.elems) != len(t.Fields) {
			l.failf("E200", at, "a tuple of %d parts is wanted, this is %s", len(t.Fields), l.what(v))
		}
		return l.ascribeTuple(v, t, at)
	case *ast.GridType:
		if v.kind != array {
			l.failf("E200", at, "a channel array is wanted, this is %s", l.what(v))
		}
		return v
	}
	return v
}

// ascribeSparse checks that v is sparse, and the rest as for a dense matrix. It never converts the
// storage form.
func (l *lowerer) ascribeSparse(v val, t *ast.SparseType, at source.Span) val {
	named, ok := t.Elem.(*ast.NamedType)
	if !ok || len(named.Dims) == 0 {
		l.failf("E200", t.Span(), "a sparse matrix has an element type and two sizes: sparse f64[n,m]")
	}
	if v.kind != edge || !l.g.Type(v.id).IsSparse() {
		l.fail(source.Errorf("E200", at, "a sparse matrix is wanted, this is %s", l.what(v)).WithHelp("sparse(x) makes one of a dense matrix"))
	}
	return l.ascribeNamed(v, named, at)
}

func (l *lowerer) ascribeNamed(v val, t *ast.NamedType, at source.Span) val {
	e, ok := types.ElemNamed(t.Name.Name)
	if v.kind == list && len(t.Dims) > 0 {
		v = l.matrixOf(v, e, at)
	}
	if t.Name.Name == "_" && (v.kind == konst || v.kind == edge) { // any element type
		e, ok = l.typeOf(v).Elem, true
	} else if t.Name.Name == "_" {
		l.failf("E200", at, "a matrix or scalar is wanted, this is %s", l.what(v))
	}
	if !ok {
		l.noType(t)
	}
	if e == types.Time || e == types.Dur {
		l.failf("L009", t.Span(), "values of type %v are not built yet", e)
	}
	if v.kind != konst && v.kind != edge {
		l.failf("E200", at, "%v is wanted, this is %s", e, l.what(v))
	}
	have := l.typeOf(v)
	if len(t.Dims) == 0 {
		if !have.IsScalar() {
			l.failf("E200", at, "a scalar %v is wanted, this is %s", e, l.what(v))
		}
	} else if !have.IsMatrix() {
		d := source.Errorf("E200", at, "a matrix of %v is wanted, this is %s", e, l.what(v))
		if have.IsScalar() {
			d = d.WithHelp("a matrix of one element is `[%s]`", l.text(at))
		}
		l.fail(d)
	} else {
		l.unify(v, t, at)
	}
	if have.Elem == e {
		v.untyped = false
		return v
	}
	if v.kind == konst {
		if w, ok := types.Widen(have.Elem, e); ok && w == e || v.untyped && have.Elem == types.F64 && e == types.F32 || v.untyped && have.Elem == types.I64 && e.IsFloat() {
			return konstVal(v.s.Convert(e))
		}
	} else if w, ok := types.Widen(have.Elem, e); ok && w == e {
		return l.apply(l.table.Must(e.String()), nil, at, []val{v}, []source.Span{at})
	}
	d := source.Errorf("E200", at, "%v is wanted, this is %s", e, l.what(v)).WithHelp("convert it: %v(..)", e)
	if e == types.Picture {
		d = d.WithHelp("plot(x, y) is a picture of y over x")
	}
	l.fail(d)
	return val{}
}

// noType fails for an unknown type name.
func (l *lowerer) noType(t *ast.NamedType) {
	var names []string
	for x := types.Bool; x <= types.Dur; x++ {
		names = append(names, x.String())
	}
	names = append(names, l.aliases()...)
	d := source.Errorf("E134", t.Name.At, "no type is called `%s`", t.Name.Name)
	if s, ok := source.Suggest(t.Name.Name, names); ok {
		d = d.WithHelp("did you mean `%s`?", s)
	} else if help := check.Foreign(t.Name.Name); strings.HasPrefix(help, "it is called") {
		d = d.WithHelp("%s", help)
	}
	l.fail(d)
}

// unify compares a matrix's sizes with the written ones. An unbound name becomes a plan-time
// integer of that size, or a value of the run if only the run knows it.
func (l *lowerer) unify(v val, t *ast.NamedType, at source.Span) {
	have := l.typeOf(v)
	dims := []int{have.Rows, have.Cols}
	if len(t.Dims) > 2 {
		l.failf("E218", t.Span(), "matrices have two dimensions")
	}
	if len(t.Dims) == 1 && have.Cols != 1 {
		l.failf("E213", at, "a column is wanted (%s[n] is short for %s[n,1]), this is %v", t.Name.Name, t.Name.Name, have)
	}
	for i, d := range t.Dims {
		if n, ok := d.(*ast.Name); ok {
			if n.Name == "_" {
				continue
			}
			sizes := l.scope
			// its sizes bind at each call, whatever the program calls by these names
			if sizes.signature {
				sizes = &scope{names: sizes.names, vals: sizes.vals, index: sizes.index}
			}
			if _, bound := sizes.lookup(n.Name); !bound {
				l.scope.bind(n.Name, l.length(l.axis(v, i), at), at)
				continue
			}
		}
		if dims[i] == types.Unknown {
			l.failf("E215", at, "the sizes of this %v must be known before the run: the type says what they are", have)
		}
		if want := l.intArg(d, "a size"); want != dims[i] {
			what := "rows"
			if i == 1 {
				what = "columns"
			}
			diag := source.Errorf("E214", at, "%v has %d %s where the type says %d", have, dims[i], what, want).
				WithHelp("the type of this value is `%v`", have)
			if sq, ok := square(t, have, at); ok {
				if l.callee != nil {
					sq.Help = "it is " + l.typed(l.callee)
				}
				l.fail(sq)
			}
			if n, ok := d.(*ast.Name); ok {
				diag.Code = "E213"
				diag.Help = ""
				if l.callee != nil {
					diag.Help = "it is " + l.typed(l.callee)
				}
				diag.Message = fmt.Sprintf("%v has %d %s, but %s is %d", have, dims[i], what, n.Name, want)
				l.boundNote(&diag, n.Name)
			}
			l.fail(diag)
		}
	}
}

func (l *lowerer) boundNote(d *source.Diagnostic, name string) {
	for s := l.scope; s != nil; s = s.parent {
		for i, n := range s.names {
			if n == name {
				*d = d.WithNote(s.spans[i], "%s = %s", name, s.vals[i].s.String())
				return
			}
		}
	}
}
