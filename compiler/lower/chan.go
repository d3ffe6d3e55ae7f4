package lower

import (
	"fmt"
	"strings"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
	"flow/lang/ast"
	"flow/lang/source"
)

// offset returns the place of an element, or -1 outside the array.
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

func (g *grid) at(off int) []int { return g.subscripts(off, nil) }

// subscripts returns the subscripts of an offset in the memory of buf.
func (g *grid) subscripts(off int, buf []int) []int {
	at := append(buf[:0], g.dims...)
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

func (l *lowerer) newGrid(name string, at source.Span, dims ...int) *grid {
	n := 1
	for _, d := range dims {
		if d > 0 && n > l.limit()/d {
			l.failf("E410", at, "the array has more than %d elements", l.limit())
		}
		n *= d
	}
	g := &grid{name: name, span: at, num: -1, dims: dims, level: l.level()}
	g.cur, g.ver, g.typ = make([]ir.ID, n), make([]int32, n), make([]types.Type, n)
	for i := range g.cur {
		g.cur[i] = ir.None
	}
	return g
}

// channel elaborates a chan declaration.
func (l *lowerer) channel(s *ast.Chan) {
	l.sends++
	place := l.arrayPlace(s.With)
	switch {
	case len(s.Ranges) > 0:
		l.equations(s, place)
	case s.Expr != nil:
		v := l.expr(s.Expr)
		if v.kind != array || v.grid.eq != nil {
			l.fail(source.Errorf("E401", s.Expr.Span(), "`chan` declares an array of channels, this is %s", l.what(v)).WithHelp("chan %s = tiles(..)", s.Name.Name))
		}
		// A copy: the source array keeps its own tokens.
		g := *v.grid
		g.name, g.span, g.outer = s.Name.Name, s.Name.At, false
		g.cur, g.ver, g.typ = append([]ir.ID(nil), g.cur...), make([]int32, len(g.cur)), append([]types.Type(nil), g.typ...)
		g.place = place
		l.openGrid(&g)
		l.declare(s.Name, arrayVal(&g))
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
		g := l.newGrid(s.Name.Name, s.Name.At, dims...)
		for i := range g.typ {
			g.typ[i] = elem
		}
		g.place = place
		l.openGrid(g)
		l.declare(s.Name, arrayVal(g))
	default:
		l.failf("E401", s.Span(), "`chan %s` needs `= tiles(..)` or `: grid[n] of T`", s.Name.Name)
	}
}

// openGrid gives an array its send end: a number in the graph.
func (l *lowerer) openGrid(g *grid) {
	g.num = len(l.g.Grids)
	l.g.Grids = append(l.g.Grids, ir.Grid{Name: g.name, Span: g.span, Dims: g.dims, Place: g.place})
}

// writtenType returns a type whose sizes are all written as numbers.
func (l *lowerer) writtenType(t ast.Type) types.Type {
	if s, ok := t.(*ast.SparseType); ok {
		if out := l.writtenType(s.Elem); out.IsDense() {
			return types.SparseOf(out.Elem, out.Rows, out.Cols)
		}
		l.failf("E200", t.Span(), "a sparse matrix has an element type and two sizes: sparse f64[n,m]")
	}
	t, leave := l.resolved(t)
	defer leave()
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

// element returns the place of the element that a target or a read names.
func (l *lowerer) element(e *ast.Index, g *grid) (off int) {
	if len(e.Subs) != len(g.dims) {
		l.failf("E218", e.Span(), "%s has %d subscripts, this gives %d", g.name, len(g.dims), len(e.Subs))
	}
	var buf [4]int
	at := buf[:0]
	for i, s := range e.Subs {
		if s.All || s.IsRange {
			l.fail(source.Errorf("L010", s.Span(), "slices of channel arrays are not built yet").
				WithHelp("name one element, %s[..] with a number at each place; the matrix of all is untile(%s), and that has slices", g.name, g.name))
		}
		x := l.intArg(s.Lo, "a subscript of a channel array")
		if x < 0 || x >= g.dims[i] {
			l.fail(source.Errorf("E403", s.Span(), "subscript %d is outside %s, which has %d along this dimension", x, g.name, g.dims[i]).
				WithHelp("subscripts are 0 to %d; %s.rows and %s.cols say how many there are", g.dims[i]-1, g.name, g.name))
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
	if n, is := target.X.(*ast.Name); is && !l.callable(n.Name) && l.near(n.Name) == "" {
		l.fail(source.Errorf("E116", n.Span(), "nothing is called `%s` here", n.Name).
			WithHelp("an array of channels is declared above: `chan %s = tiles(A, nb)`, or chan %s: grid[n] of f64", n.Name, n.Name))
	}
	v := l.expr(target.X)
	if v.kind != array {
		l.fail(source.Errorf("E401", target.X.Span(), "this is no channel, it is %s", l.what(v)).WithHelp("declare an array of channels: chan L = tiles(..)"))
	}
	g := v.grid
	if g.outer {
		d := source.Errorf("E406", s.Span(), "%s is sent to from inside a loop or branch of the run, where the order is not known before the run", g.name).
			WithNote(g.span, "declared here, outside").WithHelp("carry the value out (`next`, or the value of the `if`) and send it after")
		if l.pure {
			d = d.WithHelp("collect values, and send them after the loop")
		}
		l.fail(d)
	}
	if g.num < 0 || g.eq != nil {
		l.fail(source.Errorf("E407", target.X.Span(), "%s has no send end", g.name).WithNote(g.span, "declared here").WithHelp("chan L = %s gives an array that can be sent to", g.name))
	}
	off := l.element(target, g)
	id := l.sent(g, off, s.Expr)
	if want := g.typ[off]; want.Kind == types.Invalid {
		g.typ[off] = l.g.Type(id)
	} else if got := l.g.Type(id); got != want {
		l.fail(source.Errorf("E411", s.Expr.Span(), "%s carries %v, this is %v", g.elemName(off), want, got).WithNote(g.span, "declared here").
			WithHelp("what is sent has the type and the sizes of the tile, which stay"))
	}
	g.cur[off] = id
	l.sends++
}

// sent elaborates an expression that becomes one task: it is contracted at once and marked as the
// element's next version.
func (l *lowerer) sent(g *grid, off int, e ast.Expr) ir.ID {
	from := ir.ID(l.g.Len())
	v := l.whole(e)
	if v.kind == konst && v.untyped && g.typ[off].Elem.IsFloat() {
		v = konstVal(v.s.Convert(g.typ[off].Elem))
	}
	id := l.toEdge(v, e.Span())
	if id < from {
		return id // another name for an existing token: no task
	}
	if _, _, _, taken := l.g.Dest(id); !taken {
		g.ver[off]++
		var buf [4]int
		at := g.subscripts(off, buf[:])
		l.g.SetOrigin(id, l.g.Sends(l.g.Origin(id), g.num, int(g.ver[off]), at))
		// nodes that could not be merged belong to this send; constants to none
		for x := from; x < id; x++ {
			if _, _, _, taken := l.g.Dest(x); !taken && l.g.Nodes[x].Op.Shard.Kind != op.ShardMove && l.g.Nodes[x].Op != l.constant {
				l.g.SetOrigin(x, l.g.Sends(l.g.Origin(x), g.num, int(g.ver[off]), at))
			}
		}
	}
	return id
}

// whole elaborates a statement's expression in canonical form.
func (l *lowerer) whole(e ast.Expr) val { return l.canonical(e, l.in.Contract) }

// read returns the latest token of an element.
func (l *lowerer) read(g *grid, off int, at source.Span) ir.ID {
	if g.cur[off] == ir.None && g.eq != nil && !g.outer {
		l.solve(g, off, at)
	}
	if id := g.cur[off]; id != ir.None {
		return id
	}
	if l.broken {
		panic(bail{})
	}
	d := source.Errorf("E402", at, "%s is read before anything was sent to it", g.elemName(off)).WithNote(g.span, "declared here")
	if g.tiled && g.part != wholeMatrix {
		d = d.WithHelp("tiles(.., part = %q) has no tile there", g.part)
	} else if !g.tiled {
		d = d.WithHelp("its first token is sent above: `%s <- ..`", g.elemName(off))
	}
	l.fail(d)
	return ir.None
}
