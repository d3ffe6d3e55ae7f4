package lower

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"flow/compiler/check"
	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
	"flow/lang/ast"
	"flow/lang/source"
)

// callExpr elaborates f(args): a user's function, a form of the language, or an operator of the
// table, in this order.
func (l *lowerer) callExpr(e *ast.Call) val {
	n, isName := e.Fun.(*ast.Name)
	if isName {
		if v, ok := l.scope.lookup(n.Name); ok {
			return l.callVal(e, l.here(*v))
		}
		if v, ok := l.form(n.Name, e); ok {
			return v
		}
		if rows := l.table.Word(n.Name); len(rows) > 0 {
			return l.callOp(e, n.Name, rows)
		}
		if v, ok := l.library(n.Name); ok {
			return l.callVal(e, v)
		}
		if _, written := check.ForeignCall(n.Name, l.texts(e.Args, joins(n.Name))); !written || isText(e.Args[0].Value) {
			if d, ok := notBuilt(n.Name, n.Span()); ok {
				l.fail(d)
			}
		}
		l.fail(l.unknownCall(e, n))
	}
	if f, ok := e.Fun.(*ast.Field); ok {
		l.unknownModule(f, e)
		if v := l.expr(f.X); v.kind == edge || v.kind == konst || v.kind == list || v.kind == array {
			l.method(e, f)
		}
	}
	return l.callVal(e, l.expr(e.Fun))
}

// isText reports a string literal.
func isText(e ast.Expr) bool {
	_, is := e.(*ast.String)
	return is
}

func (l *lowerer) callVal(e *ast.Call, v val) val {
	switch v.kind {
	case function:
		return l.callFn(e, v.fn)
	}
	l.fail(l.notCalled(e, v))
	return val{}
}

// maxDepth bounds instantiation. Only recursive programs nest functions this deep.
const maxDepth = 64

// callFn instantiates a function: it elaborates the body for these arguments.
func (l *lowerer) callFn(e *ast.Call, f *fun) val {
	if len(l.calls) >= maxDepth {
		trail := l.calls
		l.calls = nil // 64 notes of one call say nothing
		defer func() { l.calls = trail }()
		if !slices.Contains(trail, e) {
			l.fail(source.Errorf("E113", e.Span(), "calls are nested more than %d deep", maxDepth).WithHelp("bind a result to a name, and pass that"))
		}
		l.fail(check.Recursion(f.name, e.Span()))
	}
	l.work(e.Span())
	inner := &scope{parent: f.env, fn: true}
	args := l.argsOf(e, f)
	vals := make([]val, len(f.params))
	spans := make([]source.Span, len(f.params))
	for i, a := range args {
		if a != nil {
			vals[i], spans[i] = l.argument(a.Value), a.Value.Span()
		}
	}
	outer, outerCall := l.scope, l.call
	g, before, calls := l.g, l.g.Len(), len(l.g.Calls)
	l.calls = append(l.calls, e)
	if f.name != "fn" {
		l.g.Calls = append(l.g.Calls, ir.Call{Name: f.name, Span: e.Span(), Parent: outerCall})
		l.call = int32(len(l.g.Calls) - 1)
	}
	l.scope = inner
	inner.signature = true
	for i, p := range f.params {
		if args[i] == nil {
			if p.Default == nil {
				l.fail(source.Errorf("E127", e.Span(), "%s needs an argument for `%s`", f.name, p.Name.Name).WithHelp("it is %s", signature(f)).WithNote(f.span, "%s", signature(f)))
			}
			vals[i], spans[i] = l.expr(p.Default), p.Default.Span()
		}
		if p.Type != nil {
			l.callee = f
			vals[i] = l.ascribe(vals[i], p.Type, spans[i])
			l.callee = nil
		}
		inner.bind(p.Name.Name, vals[i], p.Name.At)
	}
	inner.signature = false
	var v val
	if f.expr != nil {
		v = l.expr(f.expr)
	} else {
		v = l.stmts(f.body, true)
	}
	if f.result != nil {
		inner.signature = true
		v = l.ascribe(v, f.result, e.Span())
	}
	if l.g.Len() == before && l.g == g { // a constant: no node needs to know its call
		l.g.Calls = l.g.Calls[:calls]
	}
	l.scope, l.call = outer, outerCall
	l.calls = l.calls[:len(l.calls)-1]
	return v
}

// argument elaborates an argument in canonical form, because the function may send what it computes
// with it.
func (l *lowerer) argument(e ast.Expr) val {
	return l.canonical(e, l.in.Argument)
}

// canonical elaborates an expression and makes it canonical.
func (l *lowerer) canonical(e ast.Expr, form func(g *ir.Graph, from, root ir.ID, compact bool) ir.ID) val {
	from, before := ir.ID(l.g.Len()), l.sends
	v := l.expr(e)
	if v.kind == edge {
		// Channel arrays name the tokens that were sent meanwhile (by a function, or by
		// equations on demand).
		v.id = form(l.g, from, v.id, l.sends == before)
	}
	return v
}

// argsOf returns the argument of each parameter of f in the call, by position or by name, or nil.
func (l *lowerer) argsOf(e *ast.Call, f *fun) []*ast.Arg {
	args := make([]*ast.Arg, len(f.params))
	for i := range e.Args {
		a := &e.Args[i]
		if a.Name == nil {
			if i >= len(f.params) {
				l.fail(source.Errorf("E127", a.Span(), "%s takes %s, this is one more", f.name, counted(len(f.params), "argument")).WithHelp("it is %s", signature(f)).WithNote(f.span, "%s", signature(f)))
			}
			args[i] = a
			continue
		}
		j := 0
		for ; j < len(f.params) && f.params[j].Name.Name != a.Name.Name; j++ {
		}
		if j == len(f.params) {
			var names []string
			for _, p := range f.params {
				names = append(names, p.Name.Name)
			}
			d := source.Errorf("E128", a.Name.At, "%s has no parameter `%s`", f.name, a.Name.Name)
			if s, ok := source.Suggest(a.Name.Name, names); ok {
				l.fail(d.WithHelp("did you mean `%s`?", s))
			}
			l.fail(d.WithHelp("it is %s", signature(f)))
		}
		if args[j] != nil {
			l.fail(source.Errorf("E129", a.Span(), "`%s` is given twice", a.Name.Name).WithHelp("it is %s", signature(f)))
		}
		args[j] = a
	}
	return args
}

// typed is signature with the written types.
func (l *lowerer) typed(f *fun) string {
	var p []string
	for _, x := range f.params {
		p = append(p, l.text(x.Span()))
	}
	return f.name + "(" + strings.Join(p, ", ") + ")"
}

func signature(f *fun) string {
	var p []string
	for _, x := range f.params {
		p = append(p, x.Name.Name)
	}
	return f.name + "(" + strings.Join(p, ", ") + ")"
}

// callOp applies an operator: positional arguments first, then named ones. Values become inputs;
// attributes must be plan-time constants.
func (l *lowerer) callOp(e *ast.Call, word string, rows []*op.Def) val {
	d := rowOf(e, rows)
	var few [4]val
	var where [4]source.Span
	var places [4]int
	var buf [8]bool
	in, spans, args := few[:0], where[:0], places[:0] // args: the place of each input in d.Args
	var attrs []op.Attr
	var seed *val
	var seedAt source.Span
	var open *val // the function of the library that takes the call
	given := append(buf[:0], make([]bool, len(d.Args))...)
	next := 0
	for _, a := range e.Args {
		i := next
		if a.Name != nil {
			i = l.argNamed(d, a, given, next)
		} else if next == len(d.Args) {
			tooMany := source.Errorf("E127", a.Span(), "%s takes %s", word, arity(d)).WithHelp("%s", usage(d))
			if x := l.text(e.Args[0].Value.Span()); len(d.Args) > 1 && l.foldStep(word) != nil {
				all := l.text(e.Args[0].Span().Join(e.Args[len(e.Args)-1].Span()))
				tooMany = tooMany.WithHelp("of a list it takes as many as there are: `%s([%s])`", word, all)
			} else if h := check.ExtraArguments[word]; h != "" {
				tooMany = tooMany.WithHelp("%s", h)
			} else if len(l.table.Word("row"+word)) > 0 {
				tooMany = tooMany.WithHelp("by rows it is `row%s(%s)`, by columns `col%s(%s)`", word, x, word, x)
			}
			l.fail(tooMany)
		} else if !d.Args[next].Rest {
			next++
		}
		given[i] = true
		v := l.expr(a.Value)
		if !d.Args[i].Attr {
			if v.kind == list && len(e.Args) == 1 && !v.isRows() {
				if step := l.foldStep(word); step != nil {
					return l.foldList(e, step, word, v.elems, a.Value.Span())
				}
			}
			if v.kind == list && d.Args[i].Rest && l.holdsMatrices(v.elems) {
				for _, x := range v.elems { // cbind([for j in 0..n => f(j)])
					in, spans, args = append(in, x), append(spans, a.Value.Span()), append(args, i)
				}
				continue
			}
			in, spans, args = append(in, v), append(spans, a.Value.Span()), append(args, i)
			continue
		}
		// a seed of the run
		if v.kind == edge && d.Seeded != "" && d.Args[i].Name == op.SeedArg {
			run := v // a copy, because v would be on the heap in every call
			seed, seedAt = &run, a.Value.Span()
			continue
		}
		if v.kind == edge && l.typeOf(v).IsMatrix() {
			help := usages(rows)
			for _, r := range rows { // another form has an operand in this place, which is given by name
				if !r.Hidden && i < len(r.Args) && !r.Args[i].Attr {
					help = fmt.Sprintf("name it: `%s = %s`; %s", r.Args[i].Name, l.text(a.Value.Span()), usage(r))
				}
			}
			l.fail(source.Errorf("E200", a.Value.Span(), "`%s` is %v, this is %s", d.Args[i].Name, d.Args[i].Kind, l.what(v)).WithHelp("%s", help))
		}
		if v.kind == edge && d.Args[i].Open != "" && l.typeOf(v).Elem == types.I64 {
			if f, ok := l.library(d.Args[i].Open); ok {
				open = &f
				attrs = append(attrs, op.Attr{Name: d.Args[i].Name, Val: op.Int(0)})
				continue
			}
		}
		if told := d.Args[i].Told; v.kind == edge && told != "" {
			l.fail(source.Errorf("E215", a.Value.Span(), "`%s` of %s must be known before the run", d.Args[i].Name, d.Source()).
				WithHelp(told, l.text(a.Value.Span())))
		}
		attrs = append(attrs, op.Attr{Name: d.Args[i].Name, Val: l.attr(v, d.Args[i].Kind, a.Value.Span(), d.Args[i].Name, d)})
	}
	for i, a := range d.Args {
		switch {
		case given[i] || a.Optional || a.Rest:
		case a.Default == nil:
			l.fail(source.Errorf("E127", e.Span(), "%s needs an argument for `%s`", word, a.Name).WithHelp("%s", usage(d)))
		default:
			attrs = append(attrs, op.Attr{Name: a.Name, Val: *a.Default})
		}
	}
	if open != nil {
		l.apply(d, op.MakeAttrs(attrs...), e.Span(), in, spans) // the row says what is wrong with the other arguments
		return l.callVal(e, *open)
	}
	if seed != nil {
		return l.apply(l.table.Must(d.Seeded), op.MakeAttrs(attrs...), e.Span(), []val{*seed}, []source.Span{seedAt})
	}
	if !slices.IsSorted(args) {
		in, spans = inOrder(in, spans, args)
	}
	if d == l.table.Infix("^") { // pow(x, 2) is x ^ 2
		if p, whole := l.wholePower(in[0], in[1], e.Span(), spans[0]); whole {
			return p
		}
	}
	return l.apply(d, op.MakeAttrs(attrs...), e.Span(), in, spans)
}

// inOrder returns the inputs of a call and their spans in the order of the row's arguments; named
// ones may come in any.
func inOrder(in []val, spans []source.Span, args []int) (ordered []val, at []source.Span) {
	by := make([]int, len(args))
	for k := range by {
		by[k] = k
	}
	slices.SortStableFunc(by, func(x, y int) int { return args[x] - args[y] })
	for _, k := range by {
		ordered, at = append(ordered, in[k]), append(at, spans[k])
	}
	return ordered, at
}

// rowOf selects the row that a call means: of those that take as many positional arguments, with the
// named ones if it knows all of them, the first that knows most of the named ones.
func rowOf(e *ast.Call, rows []*op.Def) *op.Def {
	positional := 0
	for _, a := range e.Args {
		if a.Name == nil {
			positional++
		}
	}
	best, unknown := rows[0], len(e.Args)+1
	for _, r := range rows {
		n, operands := 0, positional
		for _, a := range e.Args {
			if a.Name == nil {
				continue
			}
			if k := slices.IndexFunc(r.Args, func(p op.Arg) bool { return p.Name == a.Name.Name }); k < 0 {
				n++
			} else if !r.Args[k].Attr {
				operands++
			}
		}
		least, most := r.Arity()
		if few := positional < least && (n > 0 || operands < least); !few && (most < 0 || positional <= most) && n < unknown {
			best, unknown = r, n
		}
	}
	return best
}

// argNamed returns the place of the argument that a names. The first next arguments are given by
// position.
func (l *lowerer) argNamed(d *op.Def, a ast.Arg, given []bool, next int) int {
	for i := range d.Args {
		if d.Args[i].Name != a.Name.Name {
			continue
		}
		if given[i] {
			twice := source.Errorf("E129", a.Span(), "`%s` is given twice", a.Name.Name)
			if i < next {
				twice = twice.WithHelp("argument %d without a name is `%s`: %s", i+1, a.Name.Name, usage(d))
			}
			l.fail(twice)
		}
		return i
	}
	l.noArgument(d, a)
	return 0
}

func (l *lowerer) noArgument(d *op.Def, a ast.Arg) {
	var names []string
	for _, p := range d.Args {
		names = append(names, p.Name)
	}
	diag := source.Errorf("E128", a.Name.At, "%s has no argument `%s`", d.Source(), a.Name.Name).WithHelp("%s", usage(d))
	if s, ok := source.Suggest(a.Name.Name, names); ok {
		diag = diag.WithHelp("did you mean `%s`? %s", s, usage(d))
	} else if help := check.ForeignArgument(a.Name.Name, d.Source(), func(word string) bool { return len(l.table.Word(word)) > 0 },
		func(word string) bool { return slices.Contains(names, word) }); help != "" {
		diag = diag.WithHelp("%s", help)
	} else if _, bound := l.scope.lookup(a.Name.Name); bound {
		diag = diag.WithHelp("equality is `==`; %s", usage(d))
	}
	l.fail(diag)
}

// knownBefore says what may be a size.
const knownBefore = "params, literals, the sizes of inputs and what follows from them are known, the index of a parfor and what iterate carries are not; a number that the data tell becomes a param, set with --set"

// toInteger returns help for a float where an integer is wanted.
func (l *lowerer) toInteger(at source.Span) string {
	if text := l.text(at); strings.Count(text, "/") == 1 && !strings.Contains(text, "//") {
		return "`/` divides to a float: write `" + strings.Replace(text, "/", "//", 1) + "`"
	} else if text != "" {
		return "write `i64(" + text + ")`; a quotient of integers is a // b, and / divides to a float"
	}
	return "i64(x) makes an integer of it; a quotient of integers is a // b"
}

func arity(d *op.Def) string {
	least, most := d.Arity()
	switch {
	case most < 0:
		return fmt.Sprintf("at least %d arguments", least)
	case least == most && most == 1:
		return "1 argument"
	case least == most:
		return fmt.Sprintf("%d arguments", most)
	}
	return fmt.Sprintf("%d to %d arguments", least, most)
}

// usage returns an operator's signature as a program would write it.
func usage(d *op.Def) string {
	var p []string
	for _, a := range d.Args {
		s := a.Name
		switch {
		case a.Rest:
			s += ".."
		case a.Default != nil:
			s += " = " + a.Default.String()
		}
		p = append(p, s)
	}
	return d.Source() + "(" + strings.Join(p, ", ") + ")"
}

// usages returns the signatures of the rows of a word that programs may call.
func usages(rows []*op.Def) string {
	var all []string
	for _, d := range rows {
		if !d.Hidden {
			all = append(all, usage(d))
		}
	}
	return strings.Join(all, " or ")
}

// attr returns a plan-time constant as an attribute of kind k. NoVal accepts every kind. d is the
// operator that is called, for the help of a message, or nil.
func (l *lowerer) attr(v val, k op.ValKind, at source.Span, name string, d *op.Def) op.Val {
	switch v.kind {
	case edge:
		what := "`" + name + "`"
		if d != nil { // a program may have another value of that name
			what += " of " + d.Source()
		}
		l.fail(source.Errorf("E215", at, "%s must be known before the run", what).WithHelp("%s", knownBefore))
	case list:
		if k != op.NoVal && k != op.IntsVal {
			wrong := source.Errorf("E200", at, "`%s` is %v, this is %s", name, k, l.what(v))
			if k == op.IntVal && len(v.elems) > 1 {
				wrong = wrong.WithHelp("numbers are arguments of their own: write `%s`", strings.Trim(l.text(at), "[]"))
			} else if d != nil {
				wrong = wrong.WithHelp("%s", usage(d))
			}
			l.fail(wrong)
		}
		out := op.Val{Kind: op.IntsVal}
		for _, x := range v.elems {
			if !x.isInt() {
				l.failf("E200", at, "`%s` is a list of integers", name)
			}
			out.L = append(out.L, x.s.I)
		}
		return out
	case konst:
	case tuple:
		inner := l.text(at)
		l.fail(source.Errorf("E200", at, "`%s` is a constant, this is a tuple", name).
			WithHelp("sizes are arguments of their own: write `%s`", strings.TrimSuffix(strings.TrimPrefix(inner, "("), ")")))
	default:
		l.failf("E200", at, "`%s` is a constant, this is %s", name, l.what(v))
	}
	var out op.Val
	switch v.s.Elem {
	case types.I64:
		out = op.Val{Kind: op.IntVal, I: v.s.I}
		if k == op.FloatVal {
			out = op.Float(float64(v.s.I))
		}
	case types.F64, types.F32:
		out = op.Float(v.s.F)
	case types.Bool:
		out = op.Bool(v.s.I != 0)
	case types.Str:
		out = op.Str(v.s.S)
	}
	if k == op.IntVal && out.Kind == op.FloatVal {
		help := l.toInteger(at)
		if whole := math.Trunc(out.F) == out.F && out.F >= 0 && !math.IsInf(out.F, 0); d != nil && !whole && !strings.Contains(l.text(at), "/") {
			// i64(x) would fail, drop a fraction or be no size; the arguments are probably in the wrong order
			help = usage(d)
		}
		l.fail(source.Errorf("E200", at, "`%s` is %v, this is %s", name, k, l.what(v)).WithHelp("%s", help))
	}
	if k != op.NoVal && out.Kind != k {
		wrong := source.Errorf("E200", at, "`%s` is %v, this is %s", name, k, l.what(v))
		if d != nil {
			wrong = wrong.WithHelp("%s", usage(d))
		}
		l.fail(wrong)
	}
	return out
}
