package lower

import (
	"math"
	"slices"

	"flow/compiler/check"
	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/lang/ast"
	"flow/lang/source"
)

// expr elaborates an expression.
func (l *lowerer) expr(e ast.Expr) val {
	switch e := e.(type) {
	case *ast.Name:
		return l.name(e)
	case *ast.Int:
		return val{kind: konst, untyped: true, s: value.I64(e.Value)}
	case *ast.Float:
		return val{kind: konst, untyped: true, s: value.F64(e.Value)}
	case *ast.Bool:
		return konstVal(value.Bool(e.Value))
	case *ast.String:
		return konstVal(value.Str(e.Value))
	case *ast.Paren:
		return l.expr(e.X)
	case *ast.Binary:
		return l.binary(e)
	case *ast.Unary:
		return l.unary(e)
	case *ast.Call:
		return l.callExpr(e)
	case *ast.Index:
		return l.index(e)
	case *ast.Field:
		return l.field(e)
	case *ast.If:
		return l.ifExpr(e)
	case *ast.Lambda:
		return funVal(&fun{name: "fn", params: e.Params, expr: e.Expr, body: e.Body, env: l.scope, span: e.Span()})
	case *ast.List:
		if len(e.Elems) == 1 {
			// [for ..] is the list of the values, not a list in a list
			if c, is := e.Elems[0].(*ast.Comp); is {
				return seqVal(list, l.comprehension(c))
			}
		}
		return seqVal(list, l.exprs(e.Elems))
	case *ast.Tuple:
		return l.tuple(e)
	case *ast.Comp:
		return seqVal(list, l.comprehension(e))
	case *ast.Duration:
		l.failf("L009", e.Span(), "durations are not built yet")
	case *ast.Parfor:
		return l.parfor(e)
	case *ast.Record:
		l.fail(source.Errorf("L002", e.Span(), "records are not built yet").WithHelp("a tuple has names for its parts: (x = 1, y = 2)"))
	case *ast.Column:
		l.fail(source.Errorf("L002", e.Span(), "frames are not built yet: `.%s` is a column of one", e.Name.Name).
			WithHelp("columns of a matrix have numbers: X[:, 0]"))
	}
	l.failf("L010", e.Span(), "this expression is not built yet")
	return val{}
}

func (l *lowerer) exprs(es []ast.Expr) []val {
	out := make([]val, len(es))
	for i, e := range es {
		out[i] = l.expr(e)
	}
	return out
}

func (l *lowerer) name(e *ast.Name) val {
	if v, ok := l.scope.lookup(e.Name); ok {
		return l.here(*v)
	}
	if v, ok := l.library(e.Name); ok {
		return v
	}
	d := source.Errorf("E116", e.Span(), "nothing is called `%s` here", e.Name)
	if len(l.table.Word(e.Name)) > 0 {
		d.Message = "`" + e.Name + "` is an operator, not a value"
		d.Help = "call it: " + e.Name + "(..)"
	} else if h := check.Foreign(e.Name); h != "" {
		d.Help = h
	} else if l.afterSlashes(e.Span()) {
		d.Help = "`//` divides; a comment starts with `#`"
	} else {
		d.Help = check.Unknown(e.Name, false, l.scope.visible(), l.vocabulary())
	}
	l.fail(d)
	return val{}
}

func (l *lowerer) unary(e *ast.Unary) val {
	x := l.expr(e.X)
	sign := e.Op
	if sign == "+" {
		return l.plus(x, e)
	}
	if sign == "-" {
		sign = "neg"
		if x.kind == konst && x.s.Elem == types.I64 && x.s.I != math.MinInt64 {
			x.s.I = -x.s.I
			return x
		}
		if x.kind == konst && x.s.Elem == types.F64 {
			x.s.F = -x.s.F
			return x
		}
	}
	return l.apply(l.table.Infix(sign), nil, e.Span(), []val{x}, []source.Span{e.X.Span()})
}

func (l *lowerer) binary(e *ast.Binary) val {
	if e.Op == "|>" {
		return l.pipe(e)
	}
	if e.Op == "@" {
		return l.product(e)
	}
	x := l.expr(e.X)
	if x.kind == konst && x.s.Elem == types.Bool && (e.Op == "and" || e.Op == "or") {
		if (x.s.I != 0) == (e.Op == "or") {
			return x // decided: the other side may be an error (i < n and xs[i] > 0)
		}
	}
	y := l.expr(e.Y)
	switch e.Op {
	case "==", "!=", "<", "<=", ">", ">=":
		if x.isNaN() || y.isNaN() {
			other, not := e.X, ""
			if x.isNaN() {
				other = e.Y
			}
			if e.Op == "!=" {
				not = "not "
			}
			l.diags = append(l.diags, source.Errorf("W004", e.Span(), "comparison with nan: always %v", e.Op == "!=").
				WithHelp("write `%sisnan(%s)`", not, l.text(other.Span())))
		}
	}
	if x.isInt() && y.isInt() {
		if v, ok := l.ints(e, x.s.I, y.s.I); ok {
			v.untyped = x.untyped && y.untyped && v.s.Elem != types.Bool
			return v
		}
	}
	if e.Op == "-" && x.kind == edge && y.isInt() && y.untyped && y.s.I == 0 && l.typeOf(x).Elem.IsNumeric() && l.typeOf(x).Elem != types.Bool {
		return x // bit for bit, -0 and nan included, so an empty sum costs no task
	}
	if e.Op == "^" {
		if p, whole := l.wholePower(x, y, e.Span(), e.X.Span()); whole {
			return p
		}
	}
	if e.Op == "+" && (l.isText(x) || l.isText(y)) {
		return l.joined(e, x, y)
	}
	d := l.table.Infix(e.Op)
	if d == nil {
		l.failf("L011", e.OpAt, "the operator `%s` is not built yet", e.Op)
	}
	return l.apply(d, nil, e.Span(), []val{x, y}, []source.Span{e.X.Span(), e.Y.Span()})
}

// ints is the fast path for index arithmetic, the most frequent operation of elaboration.
func (l *lowerer) ints(e *ast.Binary, a, b int64) (val, bool) {
	switch e.Op {
	case "+":
		if s := a + b; (s > a) == (b > 0) {
			return konstVal(value.I64(s)), true
		}
		l.overflow(e.Span(), "%d + %d leaves the range of i64", a, b)
	case "-":
		if s := a - b; (s < a) == (b > 0) {
			return konstVal(value.I64(s)), true
		}
		l.overflow(e.Span(), "%d - %d leaves the range of i64", a, b)
	case "*":
		s := a * b
		if a != 0 && (s/a != b || a == -1 && b == math.MinInt64) {
			l.overflow(e.Span(), "%d * %d leaves the range of i64", a, b)
		}
		return konstVal(value.I64(s)), true
	case "^":
		if b >= 0 && !powerFits(a, b) {
			l.overflow(e.Span(), "%d ^ %d leaves the range of i64", a, b)
		}
	case "==":
		return konstVal(value.Bool(a == b)), true
	case "!=":
		return konstVal(value.Bool(a != b)), true
	case "<":
		return konstVal(value.Bool(a < b)), true
	case "<=":
		return konstVal(value.Bool(a <= b)), true
	case ">":
		return konstVal(value.Bool(a > b)), true
	case ">=":
		return konstVal(value.Bool(a >= b)), true
	case "//", "%":
		if b == 0 {
			d := source.Errorf("E219", e.Span(), "division by zero: %d %s 0", a, e.Op)
			if e.Op == "//" {
				d = d.WithHelp("integers have no infinity; of floats it is `%d / 0`", a)
			}
			l.fail(d)
		}
		if e.Op == "//" && a == math.MinInt64 && b == -1 {
			l.overflow(e.Span(), "%d // -1 leaves the range of i64", a)
		}
	}
	return val{}, false
}

// overflow reports an integer, known before the run, that is too large.
func (l *lowerer) overflow(at source.Span, format string, args ...any) {
	l.fail(source.Errorf("E220", at, format, args...).WithHelp("a float is rounded and has a larger range: one operand as 2.0 or f64(..)"))
}

// powerFits reports whether a to the nonnegative power b is an i64.
func powerFits(a, b int64) bool {
	if a >= -1 && a <= 1 {
		return true
	}
	p := int64(1)
	for ; b > 0; b-- { // 63 rounds at most: |a| is at least 2
		q := p * a
		if q/a != p {
			return false
		}
		p = q
	}
	return true
}

// pipe elaborates x |> f(a) as f(x, a).
func (l *lowerer) pipe(e *ast.Binary) val {
	c, ok := e.Y.(*ast.Call)
	if !ok {
		c = &ast.Call{Src: ast.Src{At: e.Y.Span()}, Fun: e.Y}
	}
	piped := *c
	piped.At = e.Span()
	piped.Args = append([]ast.Arg{{Src: ast.Src{At: e.X.Span()}, Value: e.X}}, c.Args...)
	return l.callExpr(&piped)
}

func (l *lowerer) ifExpr(e *ast.If) val {
	last := e
	for last.ElseIf != nil {
		last = last.ElseIf
	}
	if last.Else == nil { // whichever branch is taken: another --set would take another
		l.fail(source.Errorf("E204", e.Span(), "an `if` used as a value needs an else").WithHelp("write `%s else { .. }`, with what the value is then", l.text(e.Span())))
	}
	return l.branch(e, true)
}

// comprehension returns the list of its values.
func (l *lowerer) comprehension(e *ast.Comp) []val {
	var out []val
	for _, r := range e.Ranges {
		if r.Name == nil {
			l.failf("E416", r.Span(), "a comprehension's range needs a name: `k in a..b`")
		}
	}
	l.rounds(e, e.Ranges, func() {
		if len(out) >= l.limit() {
			l.failf("E410", e.Span(), "the list has more than %d elements", l.limit())
		}
		out = append(out, l.expr(e.Expr))
	})
	return out
}

// apply makes a node of an operator, or folds it if all its inputs are constants.
func (l *lowerer) apply(d *op.Def, attrs *op.Attrs, at source.Span, in []val, spans []source.Span) val {
	constant, lists := d.Laws.Has(op.Pure), false
	for i, v := range in {
		switch v.kind {
		case konst:
		case edge:
			constant = false
		case list:
			constant = false
			lists = true
		default:
			wrong := source.Errorf("E200", spans[i], "%s takes matrices and scalars, this is %s", d.Source(), l.what(v))
			if v.kind == tuple {
				wrong = wrong.WithHelp("a tuple is taken apart: a, b = ..")
			}
			l.fail(wrong)
		}
	}
	if lists {
		in = l.matrices(d, in, spans)
	}
	if d.Shape != nil {
		if v, ok := l.shape(d, at, in, spans); ok {
			return v
		}
	}
	if constant && len(in) > 0 {
		if v, ok := l.fold(d, attrs, at, in, spans); ok {
			return v
		}
	}
	if len(in) > 0 && in[0].isStr() {
		l.checkFormat(d, attrs, at, in, spans)
	}
	meet := l.meet(in)
	var ids [8]ir.ID
	list := ids[:0]
	looked := false
	for i, v := range in {
		list = append(list, l.toEdge(l.adapt(v, meets(d, i, meet)), spans[i]))
		looked = looked || v.product
	}
	if looked && l.in.Rules != nil && l.in.Rules.Concerns(d) {
		// a list of its own, or the arguments of every call would be on the heap
		var written []ir.ID
		for _, v := range in {
			if v.product {
				written = append(written, v.id)
			}
		}
		single := func(id ir.ID) bool { return slices.Contains(written, id) }
		if id, ok := l.in.Rules.Rewrite(l.g, d, attrs, slices.Clone(list), l.origin(at), single); ok {
			return l.edgeVal(id)
		}
	}
	return l.edgeVal(l.add(d, attrs, at, spans, list...))
}

// meet returns the float type that literals among the inputs should take: f32 if a typed input is
// f32, as in `2 * X`, else none.
func (l *lowerer) meet(in []val) types.Elem {
	for _, v := range in {
		if v.kind == konst && v.untyped || v.kind == list {
			continue
		}
		if l.typeOf(v).Elem == types.F32 {
			return types.F32
		}
	}
	return types.NoElem
}

// meets returns the type that literals of input i take: meet, but for row numbers, which stay whole.
func meets(d *op.Def, i int, meet types.Elem) types.Elem {
	if i > 0 && i == d.Numbers {
		return types.NoElem
	}
	return meet
}

func (l *lowerer) adapt(v val, e types.Elem) val {
	if e != types.NoElem && v.kind == konst && v.untyped {
		v.s = v.s.Convert(e)
		v.untyped = false
	}
	return v
}

// fold computes an operator on constants by its definition.
func (l *lowerer) fold(d *op.Def, attrs *op.Attrs, at source.Span, in []val, spans []source.Span) (val, bool) {
	if d.Ref == nil {
		return val{}, false
	}
	untyped := true
	meet := l.meet(in)
	c := &op.Call{Def: d, Attrs: attrs}
	l.types = l.types[:0]
	var consts []value.Value
	for _, v := range in {
		untyped = untyped && v.untyped
		v = l.adapt(v, meet)
		c.In = append(c.In, v.s)
		consts = append(consts, v.s)
		l.types = append(l.types, types.ScalarOf(v.s.Elem))
	}
	t, err := d.Type(&op.Sig{Def: d, In: l.types, Attrs: attrs, Consts: consts})
	if err != nil {
		l.fault(d, err, at, spans)
	}
	if t.Kind != types.Scalar {
		return val{}, false
	}
	c.Type = t
	out, err := d.Ref(c)
	if err != nil {
		l.fault(d, err, at, spans)
	}
	s, ok := out.(value.Scalar)
	if d.Name == s.Elem.String() {
		untyped = false // f32(0.1) says what it is
	}
	return val{kind: konst, s: s, untyped: untyped && s.Elem.IsNumeric() && s.Elem != types.Bool}, ok
}

// shape computes a function of the argument types alone. ok is false if sizes are open.
func (l *lowerer) shape(d *op.Def, at source.Span, in []val, spans []source.Span) (v val, ok bool) {
	l.types = l.types[:0]
	for _, v := range in {
		l.types = append(l.types, l.typeOf(v))
	}
	if _, err := d.Type(&op.Sig{Def: d, In: l.types}); err != nil {
		l.fault(d, err, at, spans)
	}
	out, err := d.Shape(l.types)
	if err != nil {
		l.fault(d, err, at, spans)
	}
	if out == nil {
		return val{}, false
	}
	return konstVal(out.(value.Scalar)), true
}

// intArg returns an integer known before the run.
func (l *lowerer) intArg(e ast.Expr, what string) int {
	if n, ok := e.(*ast.Name); ok { // the subscripts of a million tasks: no copies of the value
		if v, ok := l.scope.lookup(n.Name); ok && v.isInt() {
			return int(v.s.I)
		}
	}
	v := l.expr(e)
	if v.kind == edge {
		l.fail(source.Errorf("E215", e.Span(), "%s must be known before the run", what).WithHelp("%s", knownBefore))
	}
	if !v.isInt() {
		l.fail(source.Errorf("E200", e.Span(), "%s is an integer, this is %s", what, l.what(v)).WithHelp("%s", l.toInteger(e.Span())))
	}
	return int(v.s.I)
}

// strArg returns a text known before the run.
func (l *lowerer) strArg(e ast.Expr, what string) string {
	v := l.expr(e)
	if !v.isStr() {
		l.failf("E200", e.Span(), "%s is a str, this is %s", what, l.what(v))
	}
	return v.s.S
}
