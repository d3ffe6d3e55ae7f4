package lower

import (
	"fmt"
	"strings"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/lang/ast"
	"flow/lang/source"
)

// grid is a channel array: for every element the edge of its latest token, in
// program order. A send makes a new edge and forgets the old one; there is no
// storage, so there is nothing to alias.
type grid struct {
	name string
	span source.Span
	num  int // in Graph.Grids; -1: it has no send end
	dims []int
	cur  []ir.ID // latest token, ir.None before the first
	ver  []int32
	// typ is the element type that every token must have; Invalid: each element's first token says.
	typ []types.Type

	// of tiles: the matrix and its cuts
	tiled      bool
	elem       types.Elem
	rows, cols int
	nb         int
	part       string

	eq *equation
}

// equation is the equation form: one expression per element, evaluated on demand.
type equation struct {
	decl  *ast.Chan
	env   *scope
	call  int32
	calls []*ast.Call
	state []uint8 // per element: 0 not asked for, 1 being evaluated, 2 done, 3 outside the domain
	path  []int   // elements being evaluated, outermost first
}

func (g *grid) size() int {
	n := 1
	for _, d := range g.dims {
		n *= d
	}
	return n
}

// offset is the place of an element, or -1 outside the array.
func (g *grid) offset(at []int) int {
	o := 0
	for i, x := range at {
		if x < 0 || x >= g.dims[i] {
			return -1
		}
		o = o*g.dims[i] + x
	}
	return o
}

func (g *grid) at(off int) []int {
	at := make([]int, len(g.dims))
	for i := len(g.dims) - 1; i >= 0; i-- {
		at[i] = off % g.dims[i]
		off /= g.dims[i]
	}
	return at
}

func (g *grid) elemName(off int) string {
	var p []string
	for _, x := range g.at(off) {
		p = append(p, fmt.Sprint(x))
	}
	return g.name + "[" + strings.Join(p, ",") + "]"
}

func newGrid(name string, at source.Span, dims ...int) *grid {
	g := &grid{name: name, span: at, num: -1, dims: dims}
	n := g.size()
	g.cur, g.ver, g.typ = make([]ir.ID, n), make([]int32, n), make([]types.Type, n)
	for i := range g.cur {
		g.cur[i] = ir.None
	}
	return g
}

// channel elaborates a chan declaration.
func (l *lowerer) channel(s *ast.Chan) {
	l.sends++
	if s.With != nil {
		l.checkWith(s.With)
	}
	switch {
	case len(s.Ranges) > 0:
		l.equations(s)
	case s.Expr != nil:
		v := l.expr(s.Expr)
		if v.kind != array || v.grid.eq != nil {
			l.fail(source.Errorf("E401", s.Expr.Span(), "`chan` declares an array of channels, this is %s", l.what(v)).WithHelp("chan %s = tiles(..)", s.Name.Name))
		}
		// A copy: the array that it is made from keeps its own tokens.
		g := *v.grid
		g.name, g.span = s.Name.Name, s.Name.At
		g.cur, g.ver, g.typ = append([]ir.ID(nil), g.cur...), make([]int32, len(g.cur)), append([]types.Type(nil), g.typ...)
		l.openGrid(&g)
		l.declare(s.Name, val{kind: array, grid: &g})
	case s.Type != nil:
		t, ok := s.Type.(*ast.GridType)
		if !ok {
			l.failf("L001", s.Type.Span(), "streams are not built yet; channel arrays are: grid[n] of T")
		}
		var dims []int
		for _, d := range t.Dims {
			n := l.intArg(d, "a dimension of the array")
			if n < 0 {
				l.failf("E216", d.Span(), "the array has %d elements along this dimension", n)
			}
			dims = append(dims, n)
		}
		elem := l.writtenType(t.Elem)
		g := newGrid(s.Name.Name, s.Name.At, dims...)
		for i := range g.typ {
			g.typ[i] = elem
		}
		l.openGrid(g)
		l.declare(s.Name, val{kind: array, grid: g})
	default:
		l.failf("E401", s.Span(), "`chan %s` needs `= tiles(..)` or `: grid[n] of T`", s.Name.Name)
	}
}

// openGrid gives an array its send end: a number in the graph.
func (l *lowerer) openGrid(g *grid) {
	g.num = len(l.g.Grids)
	l.g.Grids = append(l.g.Grids, ir.Grid{Name: g.name, Span: g.span, Dims: g.dims})
}

func (l *lowerer) checkWith(w *ast.With) {
	for _, a := range w.Args {
		if a.Name == nil || a.Name.Name != "place" && a.Name.Name != "schedule" && a.Name.Name != "grain" {
			l.fail(source.Errorf("E128", a.Span(), "no such hint").WithHelp("hints are place, schedule and grain"))
		}
		if n, ok := a.Value.(*ast.Name); a.Name.Name == "place" && (!ok || n.Name != "cyclic2d") {
			l.fail(source.Errorf("E203", a.Value.Span(), "no such placement").WithHelp("place = cyclic2d"))
		}
	}
}

// writtenType is a type whose sizes are all written as numbers.
func (l *lowerer) writtenType(t ast.Type) types.Type {
	n, ok := t.(*ast.NamedType)
	if !ok {
		l.failf("L009", t.Span(), "channel arrays of this type are not built yet")
	}
	e, ok := types.ElemNamed(n.Name.Name)
	if !ok {
		l.failf("E134", t.Span(), "no type is called `%s`", n.Name.Name)
	}
	switch len(n.Dims) {
	case 0:
		return types.ScalarOf(e)
	case 1:
		return types.DenseOf(e, l.intArg(n.Dims[0], "a size"), 1)
	case 2:
		return types.DenseOf(e, l.intArg(n.Dims[0], "a size"), l.intArg(n.Dims[1], "a size"))
	}
	l.failf("E218", t.Span(), "matrices have two dimensions")
	return types.Type{}
}

// element is the array and place that a target or a read names.
func (l *lowerer) element(e *ast.Index, g *grid) (off int) {
	if len(e.Subs) != len(g.dims) {
		l.failf("E218", e.Span(), "%s has %d subscripts, this gives %d", g.name, len(g.dims), len(e.Subs))
	}
	var buf [4]int
	at := buf[:0]
	for i, s := range e.Subs {
		if s.All || s.IsRange {
			l.failf("L010", s.Span(), "slices of channel arrays are not built yet")
		}
		x := l.intArg(s.Lo, "a subscript of a channel array")
		if x < 0 || x >= g.dims[i] {
			l.failf("E403", s.Span(), "subscript %d is outside %s, which has %d along this dimension", x, g.name, g.dims[i])
		}
		at = append(at, x)
	}
	return g.offset(at)
}

// send elaborates `L[i,j] <- e`: one task, whose result is the element's next version.
func (l *lowerer) send(s *ast.Send) {
	target, ok := s.Target.(*ast.Index)
	if !ok {
		if n, isName := s.Target.(*ast.Name); isName {
			v := l.name(n)
			if v.kind == array {
				l.failf("E218", s.Target.Span(), "%s is an array of channels: send to one element, %s[i,j] <- ..", n.Name, n.Name)
			}
			l.fail(source.Errorf("E401", s.Target.Span(), "`%s` is no channel, it is %s", n.Name, l.what(v)).WithHelp("declare an array of channels: chan %s = tiles(..)", n.Name))
		}
		l.failf("E111", s.Target.Span(), "`<-` sends to an element of a channel array")
	}
	v := l.expr(target.X)
	if v.kind == poison {
		panic(bail{})
	}
	if v.kind != array {
		l.fail(source.Errorf("E401", target.X.Span(), "this is no channel, it is %s", l.what(v)).WithHelp("declare an array of channels: chan L = tiles(..)"))
	}
	g := v.grid
	if g.num < 0 || g.eq != nil {
		l.fail(source.Errorf("E407", target.X.Span(), "%s has no send end", g.name).WithNote(g.span, "declared here").WithHelp("chan L = %s gives an array that can be sent to", g.name))
	}
	off := l.element(target, g)
	id := l.sent(g, off, s.Expr)
	if want := g.typ[off]; want.Kind == types.Invalid {
		g.typ[off] = l.g.Type(id)
	} else if got := l.g.Type(id); got != want {
		l.fail(source.Errorf("E411", s.Expr.Span(), "%s carries %v, this is %v", g.elemName(off), want, got).WithNote(g.span, "declared here"))
	}
	g.cur[off] = id
	l.sends++
}

// sent elaborates an expression that becomes one task: contracted at once, and
// marked as the element's next version.
func (l *lowerer) sent(g *grid, off int, e ast.Expr) ir.ID {
	from := ir.ID(l.g.Len())
	v := l.whole(e)
	if v.kind == konst && v.untyped && g.typ[off].Elem.IsFloat() {
		v = konstVal(v.s.Convert(g.typ[off].Elem))
	}
	id := l.toEdge(v, e.Span())
	if id < from {
		return id // only another name for a token that exists: no task
	}
	if _, _, _, taken := l.g.Dest(id); !taken {
		g.ver[off]++
		l.g.SetOrigin(id, l.g.Sends(l.g.Origin(id), g.num, int(g.ver[off]), g.at(off)))
		for x := from; x < id; x++ { // what could not become one node is still this send's work
			if _, _, _, taken := l.g.Dest(x); !taken && l.g.Nodes[x].Op.Shard.Kind != op.ShardMove {
				l.g.SetOrigin(x, l.g.Sends(l.g.Origin(x), g.num, int(g.ver[off]), g.at(off)))
			}
		}
	}
	return id
}

// whole elaborates a statement's expression and brings it into canonical form.
func (l *lowerer) whole(e ast.Expr) val {
	from, before := ir.ID(l.g.Len()), l.sends
	v := l.expr(e)
	if v.kind == edge {
		// Tokens sent meanwhile (by a function, by equations asked for) are named in channel arrays.
		v.id = l.in.Contract(l.g, from, v.id, l.sends == before)
	}
	return v
}

// read is the latest token of an element.
func (l *lowerer) read(g *grid, off int, at source.Span) ir.ID {
	if g.cur[off] == ir.None && g.eq != nil {
		l.solve(g, off, at)
	}
	if id := g.cur[off]; id != ir.None {
		return id
	}
	if l.broken {
		panic(bail{})
	}
	d := source.Errorf("E402", at, "%s is read before anything was sent to it", g.elemName(off)).WithNote(g.span, "declared here")
	if g.tiled && g.part != "all" {
		d = d.WithHelp("tiles(.., part = %q) has no tile there", g.part)
	}
	l.fail(d)
	return ir.None
}

// equations declares an array by one equation per element. Nothing is evaluated
// until it is asked for.
func (l *lowerer) equations(s *ast.Chan) {
	if s.Expr == nil {
		l.failf("E401", s.Span(), "the equation form needs `= e`")
	}
	// The array spans the box of all indices; elements outside the domain stay empty.
	var points [][]int
	head := &scope{parent: l.scope}
	outer := l.scope
	l.scope = head
	at := make([]int, len(s.Ranges))
	dims := make([]int, len(s.Ranges))
	for _, r := range s.Ranges {
		if r.Name == nil || r.Hi == nil {
			l.failf("E416", r.Span(), "an equation's range is `i in a..b`")
		}
	}
	l.ranges(s.Ranges, head, func(d, x int) {
		at[d] = x
	}, func() {
		for d, x := range at {
			if x < 0 {
				l.failf("E212", s.Ranges[d].Span(), "subscript %d is negative", x)
			}
			dims[d] = max(dims[d], x+1)
		}
		points = append(points, append([]int(nil), at...))
	})
	l.scope = outer
	g := newGrid(s.Name.Name, s.Name.At, dims...)
	g.eq = &equation{decl: s, env: l.scope, call: l.call, calls: append([]*ast.Call(nil), l.calls...), state: make([]uint8, g.size())}
	for i := range g.eq.state {
		g.eq.state[i] = 3
	}
	for _, p := range points {
		g.eq.state[g.offset(p)] = 0
	}
	l.openGrid(g)
	l.declare(s.Name, val{kind: array, grid: g})
	g.eq.env = l.scope
	// All elements, in order of their indices; each asks for what it needs.
	for _, p := range points {
		if off := g.offset(p); g.eq.state[off] == 0 {
			l.solve(g, off, s.Name.At)
		}
	}
}

// solve evaluates the equation of one element.
func (l *lowerer) solve(g *grid, off int, at source.Span) {
	q := g.eq
	switch q.state[off] {
	case 3:
		return // outside the domain: the reader reports it
	case 1:
		cycle := ""
		for i := len(q.path) - 1; i >= 0; i-- {
			cycle = " needs " + g.elemName(q.path[i]) + cycle
			if q.path[i] == off {
				break
			}
		}
		l.fail(source.Errorf("E404", at, "the equations of %s form a cycle: %s", g.name, strings.TrimPrefix(cycle, " needs ")+" needs "+g.elemName(off)).
			WithNote(g.span, "declared here"))
	}
	q.state[off] = 1
	q.path = append(q.path, off)
	outerScope, outerLoop, outerNest, outerAt, outerCall, outerCalls := l.scope, l.loop, l.nest, l.loopAt, l.call, l.calls
	head := &scope{parent: q.env}
	idx := g.at(off)
	key := nestKey{-2 - g.num, nil}
	nest, ok := l.nests[key]
	if !ok {
		var names []string
		for _, r := range q.decl.Ranges {
			names = append(names, r.Name.Name)
		}
		nest = len(l.g.Scopes)
		l.g.Scopes = append(l.g.Scopes, ir.Scope{Names: names})
		l.nests[key] = nest
	}
	for i, r := range q.decl.Ranges {
		head.bind(r.Name.Name, intVal(idx[i]), r.Name.At)
	}
	l.scope, l.nest, l.loopAt, l.call, l.calls = head, nest, idx, q.call, q.calls
	l.loop = l.g.Loop(nest, idx)
	id := l.sent(g, off, q.decl.Expr)
	l.scope, l.loop, l.nest, l.loopAt, l.call, l.calls = outerScope, outerLoop, outerNest, outerAt, outerCall, outerCalls
	q.path = q.path[:len(q.path)-1]
	q.state[off] = 2
	g.cur[off], g.typ[off] = id, l.g.Type(id)
	l.sends++
}

// index elaborates x[subs]: an element of a channel array, a scalar, or a slice.
func (l *lowerer) index(e *ast.Index) val {
	x := l.expr(e.X)
	switch x.kind {
	case poison:
		panic(bail{})
	case array:
		return edgeVal(l.read(x.grid, l.element(e, x.grid), e.Span()))
	case list:
		if len(e.Subs) != 1 || e.Subs[0].All || e.Subs[0].IsRange {
			l.failf("E218", e.Span(), "a list has one subscript")
		}
		i := l.intArg(e.Subs[0].Lo, "a subscript")
		if i < 0 || i >= len(x.elems) {
			l.failf("E212", e.Span(), "subscript %d of a list of %d", i, len(x.elems))
		}
		return x.elems[i]
	case edge:
	default:
		l.failf("E217", e.X.Span(), "%s cannot be indexed", l.what(x))
	}
	t := l.g.Type(x.id)
	if !t.IsMatrix() {
		l.failf("E217", e.X.Span(), "%s cannot be indexed", l.what(x))
	}
	subs := e.Subs
	if len(subs) == 1 && t.Cols == 1 {
		subs = append(append([]ast.Sub(nil), subs...), ast.Sub{Lo: &ast.Int{Value: 0}})
	}
	if len(subs) != 2 {
		l.failf("E218", e.Span(), "matrices take two subscripts")
	}
	r0, r1, oneRow := l.sub(subs[0], t.Rows, "row")
	c0, c1, oneCol := l.sub(subs[1], t.Cols, "column")
	spans := []source.Span{e.X.Span()}
	if oneRow && oneCol {
		return edgeVal(l.add(l.table.Must("item"), op.MakeAttrs(op.Attr{Name: "at", Val: op.Ints(r0, c0)}), e.Span(), spans, x.id))
	}
	return edgeVal(l.add(l.table.Must("slice"), sliceAttrs(r0, c0, r1-r0, c1-c0), e.Span(), spans, x.id))
}

func sliceAttrs(r0, c0, rows, cols int) *op.Attrs {
	return op.MakeAttrs(op.Attr{Name: "at", Val: op.Ints(r0, c0, rows, cols)})
}

// sub is one subscript as a half-open interval; a negative index counts from the end.
func (l *lowerer) sub(s ast.Sub, n int, what string) (lo, hi int, one bool) {
	if s.All {
		return 0, n, false
	}
	end := func(e ast.Expr) int {
		x := l.intArg(e, "a subscript")
		if x < 0 {
			x += n
		}
		return x
	}
	lo = end(s.Lo)
	switch {
	case !s.IsRange:
		hi, one = lo+1, true
	case s.Hi == nil:
		hi = n
	default:
		hi = end(s.Hi)
		if s.Inclusive {
			hi++
		}
	}
	if lo < 0 || hi > n || lo > hi {
		at := s.Span()
		if one {
			l.failf("E212", at, "%s %s of a matrix with %d %ss", what, l.expr(s.Lo).s, n, what)
		}
		l.failf("E212", at, "%ss %d to %d of a matrix with %d", what, lo, hi, n)
	}
	return lo, hi, one
}

// formNames are the words that mean something to elaboration itself.
var formNames = []string{"tiles", "untile"}

// form elaborates a call of one of them.
func (l *lowerer) form(name string, e *ast.Call) (v val, ok bool) {
	switch name {
	case "tiles":
		return l.tiles(e), true
	case "untile":
		return l.untile(e), true
	}
	return val{}, false
}

// args matches a form's arguments to names, positional first.
func (l *lowerer) args(e *ast.Call, names ...string) []ast.Expr {
	out := make([]ast.Expr, len(names))
	for i, a := range e.Args {
		j := i
		if a.Name != nil {
			for j = 0; j < len(names) && names[j] != a.Name.Name; j++ {
			}
			if j == len(names) {
				l.fail(source.Errorf("E128", a.Name.At, "no argument is called `%s`", a.Name.Name).WithHelp("arguments are %s", strings.Join(names, ", ")))
			}
		}
		if j >= len(names) {
			l.failf("E127", a.Span(), "at most %d arguments", len(names))
		}
		if out[j] != nil {
			l.failf("E129", a.Span(), "`%s` is given twice", names[j])
		}
		out[j] = a.Value
	}
	return out
}

// tiles cuts a matrix into an array of tiles of edge nb; the last row and column of
// tiles may be smaller.
func (l *lowerer) tiles(e *ast.Call) val {
	a := l.args(e, "x", "nb", "part")
	if a[0] == nil {
		l.fail(source.Errorf("E127", e.Span(), "tiles needs a matrix").WithHelp("tiles(A, nb, part = \"all\")"))
	}
	x := l.expr(a[0])
	if x.kind == poison {
		panic(bail{})
	}
	if x.kind != edge || !l.g.Type(x.id).IsMatrix() {
		l.failf("E200", a[0].Span(), "tiles cuts a matrix, this is %s", l.what(x))
	}
	t := l.g.Type(x.id)
	nb := 0
	if a[1] != nil {
		if nb = l.intArg(a[1], "the tile edge"); nb < 0 {
			l.failf("E203", a[1].Span(), "the tile edge is %d, it must be positive (or 0 for the default)", nb)
		}
	}
	if nb == 0 {
		v, err := l.table.Must("auto_tile").Shape([]types.Type{t})
		if err != nil {
			l.failf("E203", e.Span(), "%v", err)
		}
		nb = max(1, int(v.(value.Scalar).I))
	} else if nb > max(t.Rows, t.Cols, 1) && len(l.calls) == 0 {
		l.diags = append(l.diags, source.Errorf("W003", a[1].Span(), "a tile edge of %d is larger than the %d x %d matrix: one tile", nb, t.Rows, t.Cols))
	}
	part := "all"
	if a[2] != nil {
		if part = l.strArg(a[2], "part"); part != "all" && part != "lower" && part != "upper" {
			l.fail(source.Errorf("E203", a[2].Span(), "part is %q", part).WithHelp(`part is "all", "lower" or "upper"`))
		}
	}
	p, q := (t.Rows+nb-1)/nb, (t.Cols+nb-1)/nb
	g := newGrid("tiles", e.Span(), p, q)
	g.tiled, g.elem, g.rows, g.cols, g.nb, g.part = true, t.Elem, t.Rows, t.Cols, nb, part
	spans := []source.Span{a[0].Span()}
	for i := range p {
		for j := range q {
			r, c := min(nb, t.Rows-i*nb), min(nb, t.Cols-j*nb)
			g.typ[i*q+j] = types.DenseOf(t.Elem, r, c)
			if part == "lower" && j > i || part == "upper" && j < i {
				continue
			}
			if p == 1 && q == 1 {
				g.cur[0] = x.id
				continue
			}
			g.cur[i*q+j] = l.add(l.table.Must("slice"), sliceAttrs(i*nb, j*nb, r, c), e.Span(), spans, x.id)
		}
	}
	l.sends++
	return val{kind: array, grid: g}
}

// untile lays the latest tokens of an array of tiles into one matrix; elements that
// were left out (part = "lower", the domain of an equation) are zero.
func (l *lowerer) untile(e *ast.Call) val {
	a := l.args(e, "c")
	if a[0] == nil {
		l.failf("E127", e.Span(), "untile needs a channel array")
	}
	v := l.expr(a[0])
	if v.kind == poison {
		panic(bail{})
	}
	if v.kind != array || len(v.grid.dims) > 2 {
		l.failf("E200", a[0].Span(), "untile takes a one- or two-dimensional channel array, this is %s", l.what(v))
	}
	g := v.grid
	p, q := 1, g.dims[0]
	if len(g.dims) == 2 {
		p, q = g.dims[0], g.dims[1]
	} else {
		p, q = q, 1
	}
	height, width := make([]int, p), make([]int, q)
	for i := range height {
		height[i] = -1
	}
	for j := range width {
		width[j] = -1
	}
	elem := g.elem
	for off := range g.cur {
		if g.eq != nil && g.cur[off] == ir.None {
			l.solve(g, off, e.Span())
		}
		id, i, j := g.cur[off], off/q, off%q
		if id == ir.None {
			hole := g.eq != nil || g.tiled && (g.part == "lower" && j > i || g.part == "upper" && j < i)
			if !hole && !l.broken {
				l.fail(source.Errorf("E409", a[0].Span(), "nothing was sent to %s", g.elemName(off)).WithNote(g.span, "declared here"))
			}
			continue
		}
		t := l.g.Type(id)
		if t.IsScalar() {
			t.Kind, t.Rows, t.Cols = types.Matrix, 1, 1
		}
		if elem == types.NoElem {
			elem = t.Elem
		}
		if height[i] >= 0 && height[i] != t.Rows || width[j] >= 0 && width[j] != t.Cols || elem != t.Elem {
			l.failf("E411", a[0].Span(), "%s is %v and does not fit with its neighbours", g.elemName(off), t)
		}
		height[i], width[j] = t.Rows, t.Cols
	}
	rows, cols := 0, 0
	r0, c0 := make([]int, p), make([]int, q)
	for i, h := range height {
		if h < 0 && g.tiled {
			h = min(g.nb, g.rows-i*g.nb)
		}
		r0[i] = rows
		rows += max(h, 0)
	}
	for j, w := range width {
		if w < 0 && g.tiled {
			w = min(g.nb, g.cols-j*g.nb)
		}
		c0[j] = cols
		cols += max(w, 0)
	}
	if elem == types.NoElem {
		elem = types.F64
	}
	boxes := make([]int, 0, 6*len(g.cur))
	var in []ir.ID
	yes := ir.None
	for off, id := range g.cur {
		if id == ir.None {
			continue
		}
		i, j := off/q, off%q
		t := l.g.Type(id)
		if t.IsScalar() {
			if yes == ir.None {
				yes = l.yes(e.Span())
			}
			id = l.add(l.table.Must("ifelse"), nil, e.Span(), nil, yes, id, id)
			t = l.g.Type(id)
		}
		in = append(in, id)
		boxes = append(boxes, 0, 0, t.Rows, t.Cols, r0[i], c0[j])
	}
	if len(in) == 0 {
		attrs := op.MakeAttrs(op.Attr{Name: "n", Val: op.Int(rows)}, op.Attr{Name: "m", Val: op.Int(cols)})
		none := edgeVal(l.add(l.table.Must("zeros"), attrs, e.Span(), nil))
		if elem != types.F64 {
			none = l.apply(l.table.Must(elem.String()), nil, e.Span(), []val{none}, []source.Span{e.Span()})
		}
		return none
	}
	attrs := op.MakeAttrs(op.Attr{Name: "rows", Val: op.Int(rows)}, op.Attr{Name: "cols", Val: op.Int(cols)}, op.Attr{Name: "boxes", Val: op.Ints(boxes...)})
	return edgeVal(l.add(l.table.Must("lay"), attrs, e.Span(), nil, in...))
}

// yes is the 1 x 1 matrix of true: ifelse(yes, x, x) is the scalar x as a matrix, in every bit.
func (l *lowerer) yes(at source.Span) ir.ID {
	one := op.MakeAttrs(op.Attr{Name: "n", Val: op.Int(1)}, op.Attr{Name: "m", Val: op.Int(1)})
	return l.add(l.table.Must("bool"), nil, at, nil, l.add(l.table.Must("ones"), one, at, nil))
}

// unbuilt says, for words of the language that no row answers to yet, what they are.
var unbuilt = map[string]struct {
	code source.Code
	text string
}{
	"lines": {"L001", "streams are not built yet (lines)"}, "tail": {"L001", "streams are not built yet (tail)"},
	"files": {"L001", "streams are not built yet (files)"}, "batches": {"L001", "streams are not built yet (batches)"},
	"ticks": {"L001", "streams are not built yet (ticks)"}, "generate": {"L001", "streams are not built yet (generate)"},
	"each": {"L001", "streams are not built yet (each)"}, "map": {"L001", "streams are not built yet (map)"},
	"filter": {"L001", "streams are not built yet (filter)"}, "flat_map": {"L001", "streams are not built yet (flat_map)"},
	"window": {"L001", "streams are not built yet (window)"}, "zip": {"L001", "streams are not built yet (zip)"},
	"merge": {"L001", "streams are not built yet (merge)"}, "deal": {"L001", "streams are not built yet (deal)"},
	"buffer": {"L001", "streams are not built yet (buffer)"}, "parse": {"L001", "streams are not built yet (parse)"},
	"where": {"L002", "frames are not built yet (where)"}, "select": {"L002", "frames are not built yet (select)"},
	"derive": {"L002", "frames are not built yet (derive)"}, "join": {"L002", "frames are not built yet (join)"},
	"group": {"L002", "frames are not built yet (group)"}, "head": {"L002", "frames are not built yet (head)"},
	"sparse": {"L003", "sparse matrices are not built yet; dense ones are"}, "read_graph": {"L003", "sparse matrices are not built yet (read_graph)"},
	"rand_graph": {"L003", "sparse matrices are not built yet (rand_graph)"}, "onehot": {"L003", "sparse matrices are not built yet (onehot)"},
	"paramserver": {"L005", "`paramserver` is not built yet"},
}
