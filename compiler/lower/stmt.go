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

// program elaborates a file's statements one by one. A failing statement poisons its names, so that
// their uses are not reported again.
func (l *lowerer) program(f *ast.File) {
	for _, s := range f.Stmts {
		if l.ctx.Err() != nil {
			return
		}
		if l.onlyParams {
			switch s.(type) {
			case *ast.Param, *ast.Import:
			default:
				continue
			}
		}
		if !l.try(func() { l.stmt(s) }) {
			l.poisonNames(s)
		}
	}
	l.unusedSets()
}

// poisonNames binds the names of a failed statement, so that their uses stay quiet.
func (l *lowerer) poisonNames(s ast.Stmt) {
	bind := func(id ast.Ident) {
		if v, ok := l.scope.lookup(id.Name); !ok {
			l.scope.bind(id.Name, val{}, id.At)
		} else if v.kind == array && v.grid.eq != nil && v.grid.span == id.At {
			*v = val{} // equations that failed after the array was named
		}
	}
	switch s := s.(type) {
	case *ast.Bind:
		for _, n := range s.Names {
			bind(n)
		}
	case *ast.Chan:
		bind(s.Name)
	case *ast.Param:
		bind(s.Name)
	case *ast.Import:
		bind(check.ImportName(s))
	case *ast.FnDecl:
		bind(s.Name)
	case *ast.TypeDef:
		bind(s.Name)
	case *ast.Stage:
		bind(s.Name)
	case *ast.Iterate:
		for _, c := range s.Carry {
			bind(c.Name)
		}
	}
	l.broken = true
}

func (l *lowerer) stmt(s ast.Stmt) {
	switch s := s.(type) {
	case *ast.Bind:
		l.bind(s)
	case *ast.Param:
		l.param(s)
	case *ast.FnDecl:
		l.declare(s.Name, funVal(&fun{name: s.Name.Name, params: s.Params, result: s.Result,
			expr: s.Expr, body: s.Body, env: l.scope, span: s.Name.At}))
	case *ast.Import:
		l.importFile(s)
	case *ast.Chan:
		l.channel(s)
	case *ast.For:
		l.unroll(s)
	case *ast.Send:
		l.send(s)
	case *ast.Emit:
		l.emit(s)
	case *ast.Assert:
		l.assertion(s)
	case *ast.ExprStmt:
		if iff, ok := s.Expr.(*ast.If); ok {
			l.branch(iff, false)
			return
		}
		l.equality(s)
		l.expr(s.Expr) // checked; an unread value costs nothing
		l.unread(s)
	case *ast.TypeDef:
		l.typeDef(s)
	case *ast.Stage:
		l.failf("L004", s.Name.At, "stages are not built yet (stage %s)", s.Name.Name)
	case *ast.Iterate:
		l.iterate(s)
	case *ast.Next:
		l.failf("E414", s.Span(), "`next` belongs into an iterate or a stage")
	case *ast.State, *ast.On:
		l.failf("E114", s.Span(), "this belongs into a stage")
	case *ast.Bad:
		panic(bail{}) // its diagnostic came from the parser
	default:
		l.failf("L010", s.Span(), "this statement is not built yet")
	}
}

// unread warns of a value that has no name and is not the last of its block.
func (l *lowerer) unread(s *ast.ExprStmt) {
	text := l.text(s.Expr.Span())
	l.diags = append(l.diags, source.Errorf("W006", s.Span(), "nothing reads this value").
		WithHelp("to keep it, write `name = %s`; to print it, `emit %s`", text, text))
}

// declare binds a name that must be new in every visible scope: a block may not rebind a visible
// name. A fn's body starts afresh and may reuse outer names.
func (l *lowerer) declare(id ast.Ident, v val) {
	for s := l.scope; s != nil && !s.session; s = s.parent {
		if i := s.find(id.Name); i >= 0 && s.vals[i].kind != poison {
			free := func(name string) bool { _, bound := l.scope.lookup(name); return !bound && !l.known(name) }
			l.fail(check.TwiceBound(id, s.spans[i], (l.nest >= 0 || l.pure) && s != l.scope, free))
		}
		if s.fn {
			break
		}
	}
	l.scope.bind(id.Name, v, id.At)
}

func (l *lowerer) bind(s *ast.Bind) {
	v := l.whole(s.Expr)
	if s.Type != nil {
		v = l.ascribe(v, s.Type, s.Expr.Span())
	}
	if len(s.Names) == 1 {
		if v.kind == function {
			l.failf("E119", s.Expr.Span(), "a function cannot be bound to a name; declare it with fn %s(..)", s.Names[0].Name)
		}
		l.declare(s.Names[0], v)
		return
	}
	if v.kind != tuple || len(v.elems) != len(s.Names) {
		have := l.what(v)
		if v.kind == tuple {
			have = fmt.Sprintf("a tuple of %d", len(v.elems))
		}
		d := source.Errorf("E135", s.Expr.Span(), "%d names need a tuple of %d parts, this is %s", len(s.Names), len(s.Names), have)
		if v.kind == tuple {
			d = d.WithHelp("as many names stand on the left as the tuple has parts: %d", len(v.elems))
		}
		if v.kind == konst {
			d = d.WithHelp("a name for each: `%s`", l.text(s.Names[0].At)+" = "+l.text(s.Expr.Span()))
		}
		if v.kind == edge && l.typeOf(v).IsMatrix() {
			d = d.WithHelp("a column is taken by its number: `%s = %s[:, 0]`", s.Names[0].Name, l.text(s.Expr.Span()))
		}
		l.fail(d)
	}
	for i, n := range s.Names {
		l.declare(n, v.elems[i])
	}
}

// block elaborates statements in a scope of their own and returns the value of the last.
func (l *lowerer) block(b *ast.Block, wantValue bool) val {
	outer := l.scope
	l.scope = &scope{parent: outer}
	v := l.stmts(b, wantValue)
	l.scope = outer
	return v
}

func (l *lowerer) stmts(b *ast.Block, wantValue bool) val {
	for i, s := range b.Stmts {
		if e, ok := s.(*ast.ExprStmt); ok && i == len(b.Stmts)-1 && wantValue {
			return l.expr(e.Expr)
		}
		l.stmt(s)
	}
	if wantValue {
		d := source.Errorf("E133", b.Span(), "the block has no value: its last statement must be an expression")
		if n := len(b.Stmts); n > 0 {
			if s, ok := b.Stmts[n-1].(*ast.Bind); ok && len(s.Names) == 1 {
				d = d.WithNote(s.Names[0].At, "this binds a name").WithHelp("the value itself stands last: `{ %s }`", l.text(s.Expr.Span()))
			}
		}
		l.fail(d)
	}
	return val{}
}

// unroll elaborates a `for`.
func (l *lowerer) unroll(s *ast.For) {
	for _, r := range s.Ranges {
		if r.Name == nil {
			l.fail(source.Errorf("E416", r.Span(), "a loop range needs a name: `i in a..b`").
				WithHelp("each name has a range of its own: `for i in 0..n, j in 0..m`; two lists are read by one index, xs[i] and ys[i]"))
		}
	}
	var body *scope
	l.rounds(s, s.Ranges, func() {
		if body == nil {
			body = &scope{parent: l.scope}
		}
		body.names, body.vals, body.spans, body.index = body.names[:0], body.vals[:0], body.spans[:0], nil
		l.scope = body
		l.stmts(s.Body, false)
	})
}

// ranges runs body for every point of nested ranges, binding the indices in head. set gets each
// changed index: for a range its value twice, for a list the position and the element.
func (l *lowerer) ranges(rs []ast.Range, head *scope, set func(depth, x int, v val), body func()) {
	if len(rs) == 0 {
		if l.ctx.Err() != nil {
			panic(bail{})
		}
		body()
		return
	}
	depth := len(head.names)
	r := rs[0]
	each := func(v val, x int) {
		l.work(r.Span())
		head.bind(r.Name.Name, v, r.Name.At)
		set(depth, x, v)
		l.ranges(rs[1:], head, set, body)
		head.names, head.vals, head.spans, head.index = head.names[:depth], head.vals[:depth], head.spans[:depth], nil
	}
	if r.Hi == nil {
		v := l.expr(r.Lo)
		if v.kind != list {
			d := source.Errorf("E416", r.Lo.Span(), "a range `a..b` or a list is wanted, this is %s", l.what(v))
			if v.isInt() {
				d = d.WithHelp("write `0..%s`", l.text(r.Lo.Span()))
			} else if v.kind == edge && l.typeOf(v).IsMatrix() {
				d = d.WithHelp("a loop goes over the rows by their numbers: write `0..%s.rows`", l.text(r.Lo.Span()))
			}
			l.fail(d)
		}
		for i, e := range v.elems {
			each(e, i)
		}
		return
	}
	lo, by, count := l.bounds(r)
	for k := range count {
		x := lo + int(k)*by // modulo 2^64, and between lo and the upper bound
		each(intVal(x), x)
	}
}

// bounds returns a range as its first value, a step and a count, which may exceed an int.
func (l *lowerer) bounds(r ast.Range) (lo, by int, count uint64) {
	bound := func(e ast.Expr) int {
		v := l.expr(e)
		if v.kind == edge {
			l.fail(source.Errorf("E405", e.Span(), "a loop bound must be known before the run").
				WithHelp("use parfor for independent results, iterate for rounds"))
		}
		if !v.isInt() {
			l.fail(source.Errorf("E215", e.Span(), "a loop bound is an integer, this is %s", l.what(v)).WithHelp("%s", l.toInteger(e.Span())))
		}
		return int(v.s.I)
	}
	lo, hi, by := bound(r.Lo), bound(r.Hi), 1
	if r.By != nil {
		if by = bound(r.By); by == 0 {
			l.fail(source.Errorf("E417", r.By.Span(), "the step is 0").WithHelp("write `1` to count up, -1 to count down"))
		}
	}
	return lo, by, steps(int64(lo), int64(hi), int64(by), r.Inclusive)
}

// steps counts the values lo, lo + by, .. before hi, or up to it if inclusive, at most 2^64 - 1.
// With a negative by they descend.
func steps(lo, hi, by int64, inclusive bool) uint64 {
	if by < 0 { // as many as ascend from the other side
		lo, hi, by = hi, lo, -by // of -2^63, too: as a uint64 it is 2^63
	}
	if hi < lo || hi == lo && !inclusive {
		return 0
	}
	span := uint64(hi) - uint64(lo) // without a sign it does not overflow
	if !inclusive {
		span--
	}
	n := span / uint64(by)
	if n == math.MaxUint64 {
		return n
	}
	return n + 1
}

// typeOf returns the type of a constant or edge.
func (l *lowerer) typeOf(v val) types.Type {
	switch v.kind {
	case konst:
		return types.ScalarOf(v.s.Elem)
	case edge:
		return l.g.Type(v.id)
	}
	return types.Type{}
}

func (l *lowerer) assertion(s *ast.Assert) {
	v := l.whole(s.Expr)
	if t := l.typeOf(v); t != types.ScalarOf(types.Bool) {
		d := source.Errorf("E202", s.Expr.Span(), "assert takes a bool, this is %s", l.what(v))
		if t.Elem == types.Bool || v.kind == list {
			d = d.WithHelp("write `all(%s)`, or any(..)", l.text(s.Expr.Span()))
		}
		l.fail(d)
	}
	if v.kind == konst && v.s.I == 0 {
		l.unknownWord(s)
		if l.refuted == nil && l.region == nil && len(l.calls) > 0 {
			l.refuted = &refuted{at: s.Span(), calls: slices.Clone(l.calls), where: l.indices()}
		}
	}
	in := []ir.ID{l.toEdge(v, s.Expr.Span())}
	spans := []source.Span{s.Expr.Span()}
	var attrs *op.Attrs
	if s.Message != nil {
		m := l.expr(s.Message)
		switch {
		case m.isStr():
			if l.refuted != nil && l.refuted.at == s.Span() {
				l.refuted.message = m.s.S
			}
			attrs = op.MakeAttrs(op.Attr{Name: "message", Val: op.Str(m.s.S)})
		case m.kind == edge && l.g.Type(m.id) == types.ScalarOf(types.Str):
			in = append(in, m.id)
			spans = append(spans, s.Message.Span())
		default:
			l.failf("E200", s.Message.Span(), "the message is a str, this is %s", l.what(m))
		}
	}
	if v.kind == konst && v.s.I != 0 && len(in) == 1 {
		return // it cannot fail, and a loop need not ask it in each round
	}
	if l.assert != ir.None {
		in = append(in, l.assert)
	}
	l.assert = l.add(l.table.Must("assert"), attrs, s.Span(), spans, in...)
	l.sends++ // later effects hold the ID: no statement may move it
}

// unknownWord reports s, an assert that is known to be false, as a mistake of the call if it is in the
// library and lists the words that a parameter takes: `by == "rows" or by == "cols"`.
func (l *lowerer) unknownWord(s *ast.Assert) {
	name, words := "", []string(nil)
	var lists func(e ast.Expr) bool
	lists = func(e ast.Expr) bool {
		b, _ := e.(*ast.Binary)
		if b == nil {
			return false
		} else if b.Op != "==" { // an `or`: the library joins words by nothing else
			return lists(b.X) && lists(b.Y)
		}
		x, named := b.X.(*ast.Name)
		word, text := b.Y.(*ast.String)
		if !named || !text || len(words) > 0 && x.Name != name {
			return false
		}
		name, words = x.Name, append(words, word.Value)
		return true
	}
	if f := l.in.Files.File(s.Span().From); f == nil || !f.Library || len(l.calls) == 0 || !lists(s.Expr) {
		return
	}
	given, _ := l.scope.lookup(name)
	call := l.calls[len(l.calls)-1]
	at := call.Span()
	for _, a := range call.Args {
		if word, text := a.Value.(*ast.String); a.Name != nil && a.Name.Name == name || text && word.Value == given.s.S {
			at = a.Value.Span()
		}
	}
	l.calls = l.calls[:len(l.calls)-1]
	l.fail(source.Errorf("E203", at, "%s is %q", name, given.s.S).WithHelp("%s is one of %s", name, strings.Join(words, ", ")))
}

// rounds elaborates body once for every point of the ranges of a loop, with the indices bound in a
// scope of their own. Nodes and failures carry the index values.
func (l *lowerer) rounds(loop ast.Node, ranges []ast.Range, body func()) {
	nest := -1
	outerScope, outerLoop, outerNest, outerAt := l.scope, l.loop, l.nest, l.loopAt
	base := len(outerAt)
	at := append(append(make([]int, 0, base+len(ranges)), outerAt...), make([]int, len(ranges))...)
	head := &scope{parent: outerScope}
	l.scope, l.loopAt = head, at
	l.ranges(ranges, head, func(depth, x int, v val) { at[base+depth] = l.indexOf(v, ranges[depth], x) }, func() {
		if nest < 0 {
			nest = l.nestOf(loop, ranges)
		}
		l.nest = nest
		nodes := l.g.Len()
		l.loop = l.g.Loop(nest, at)
		body()
		if l.g.Len() == nodes {
			l.g.DropLoop(l.loop) // a round without nodes takes no memory
		}
		l.scope, l.loopAt, l.nest = head, at, outerNest
	})
	l.scope, l.loop, l.nest, l.loopAt = outerScope, outerLoop, outerNest, outerAt
}
