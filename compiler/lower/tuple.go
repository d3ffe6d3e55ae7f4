package lower

import (
	"slices"
	"strings"

	"flow/ir/types"
	"flow/lang/ast"
	"flow/lang/source"
)

// This file elaborates tuples, with and without names, type names, and the unary plus.

// tuple elaborates `(a, b)` and `(ok = a, bad = b)`. Each part is contracted by itself.
func (l *lowerer) tuple(e *ast.Tuple) val {
	parts := make([]val, len(e.Parts))
	var names []string
	for i, x := range e.Parts {
		parts[i] = l.whole(x.Value)
		if x.Name != nil {
			names = append(names, x.Name.Name)
		}
	}
	return val{kind: tuple, compound: &compound{elems: parts, names: names}}
}

// ascribeTuple gives a tuple the types and names that the program writes for its parts. A named
// tuple keeps its names if the type has none; otherwise both must agree in order.
func (l *lowerer) ascribeTuple(v val, t *ast.TupleType, at source.Span) val {
	var names []string
	out := v.each(func(i int, x val) val {
		if f := t.Fields[i]; f.Name != nil {
			names = append(names, f.Name.Name)
		}
		return l.ascribe(x, t.Fields[i].Type, at)
	})
	switch {
	case len(names) == 0:
		return out
	case len(names) < len(t.Fields):
		l.fail(source.Errorf("E135", t.Span(), "some parts of this tuple type have names and others none").WithHelp("name all, (ok: f64, bad: f64), or none"))
	case len(v.names) > 0 && !slices.Equal(v.names, names):
		l.failf("E200", at, "the type says that the parts are %s, this is a tuple of %s", strings.Join(names, ", "), strings.Join(v.names, ", "))
	}
	out.names = names
	return out
}

// noPart is the diagnostic of a missing part of a tuple.
func (l *lowerer) noPart(x val, e *ast.Field) source.Diagnostic {
	if len(x.names) == 0 {
		return source.Errorf("E132", e.Name.At, "the parts of this tuple have no names").
			WithHelp("a, b = .. takes it apart; (a = .., b = ..) and the result type (a: f64, b: f64) name its parts")
	}
	d := source.Errorf("E132", e.Name.At, "the tuple has no part `%s`", e.Name.Name).WithHelp("its parts are %s", strings.Join(x.names, ", "))
	if s, ok := source.Suggest(e.Name.Name, x.names); ok {
		d = d.WithHelp("did you mean `%s`? its parts are %s", s, strings.Join(x.names, ", "))
	}
	return d
}

// plus elaborates unary plus: x, if x is numeric.
func (l *lowerer) plus(x val, e *ast.Unary) val {
	x = l.matrixOf(x, types.NoElem, e.X.Span())
	t := l.typeOf(x)
	switch {
	case !t.Elem.IsNumeric() || !t.IsScalar() && !t.IsMatrix():
		l.failf("E200", e.X.Span(), "the sign `+` takes numbers and matrices, this is %s", l.what(x))
	case t.Elem == types.Bool:
		l.failf("E201", e.X.Span(), "the sign `+` is not defined on bool")
	}
	return x
}

// typeDef declares a type name.
func (l *lowerer) typeDef(s *ast.TypeDef) {
	if _, ok := s.Type.(*ast.RecordType); ok {
		l.failf("L002", s.Span(), "records and frames are not built yet (type %s)", s.Name.Name)
	}
	if _, taken := types.ElemNamed(s.Name.Name); taken {
		l.fail(source.Errorf("E115", s.Name.At, "%s is the name of an element type", s.Name.Name).WithHelp("choose another name"))
	}
	if n, ok := s.Type.(*ast.NamedType); ok && l.aliasOf(n) == nil {
		if _, known := types.ElemNamed(n.Name.Name); !known && n.Name.Name != "_" {
			l.noType(n)
		}
	}
	l.declare(s.Name, val{kind: typeName, compound: &compound{alias: &alias{s.Name.Name, s.Type, l.scope, s.Name.At}}})
}

// aliasOf returns the declaration that t names, nil for element types and unknown names.
func (l *lowerer) aliasOf(t *ast.NamedType) *alias {
	if t.Module != nil {
		m, ok := l.scope.lookup(t.Module.Name)
		switch {
		case ok && m.kind == poison:
			panic(bail{})
		case !ok || m.kind != module:
			l.fail(source.Errorf("E116", t.Module.At, "no imported file is called `%s`", t.Module.Name).WithHelp(`import "FILE.flow" as %s`, t.Module.Name))
		}
		if i := m.mod.find(t.Name.Name); i >= 0 && m.mod.vals[i].kind == typeName {
			return m.mod.vals[i].alias
		}
		l.failf("E134", t.Name.At, "the imported file has no type `%s`", t.Name.Name)
	}
	if _, known := types.ElemNamed(t.Name.Name); known {
		return nil
	}
	v, ok := l.scope.lookup(t.Name.Name)
	switch {
	case ok && v.kind == typeName:
		return v.alias
	case ok && v.kind == poison:
		panic(bail{}) // its declaration was reported
	}
	return nil
}

// aliases returns the visible type names.
func (l *lowerer) aliases() (names []string) {
	for s := l.scope; s != nil; s = s.parent {
		for i, v := range s.vals {
			if v.kind == typeName {
				names = append(names, s.names[i])
			}
		}
	}
	return names
}

// resolved returns the type that t stands for. The scope of its sizes is current until leave is
// called.
func (l *lowerer) resolved(t ast.Type) (_ ast.Type, leave func()) {
	outer := l.scope
	leave = func() { l.scope = outer }
	for {
		n, ok := t.(*ast.NamedType)
		if !ok {
			return t, leave
		}
		a := l.aliasOf(n)
		if a == nil {
			return t, leave
		}
		t = l.sized(n, a)
		if len(n.Dims) == 0 {
			l.scope = &scope{parent: a.env}
		}
	}
}

// sized returns the type of a use n of the alias a. Only element type names take sizes.
func (l *lowerer) sized(n *ast.NamedType, a *alias) ast.Type {
	if len(n.Dims) == 0 {
		return a.typ
	}
	if e, ok := a.typ.(*ast.NamedType); ok && len(e.Dims) == 0 {
		return &ast.NamedType{Src: n.Src, Module: e.Module, Name: e.Name, Dims: n.Dims}
	}
	l.fail(source.Errorf("E134", n.Span(), "%s is a type by itself and takes no sizes", a.name).WithNote(a.at, "declared here"))
	return nil
}

// ascribeAlias is ascribe for a use t of the alias a. An unbound size in the declaration is bound
// for this use alone: `type Square = f64[n,n]`.
func (l *lowerer) ascribeAlias(v val, t *ast.NamedType, a *alias, at source.Span) val {
	typ := l.sized(t, a)
	if len(t.Dims) > 0 {
		return l.ascribe(v, typ, at)
	}
	outer := l.scope
	l.scope = &scope{parent: a.env}
	v = l.ascribe(v, typ, at)
	l.scope = outer
	return v
}
