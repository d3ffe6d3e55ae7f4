package lower

import (
	"slices"
	"strings"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/lang/ast"
	"flow/lang/source"
)

// This file elaborates tiles and untile, which convert between matrices and channel arrays.

// formNames lists the words with a meaning in elaboration itself.
var formNames = []string{"tiles", "untile"}

// form elaborates a call of one of them.
func (l *lowerer) form(name string, e *ast.Call) (v val, ok bool) {
	switch slices.Index(formNames, name) {
	case 0:
		return l.tiles(e), true
	case 1:
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

// tiles cuts a matrix into an array of tiles of edge nb. The last row and column of tiles may be
// smaller.
func (l *lowerer) tiles(e *ast.Call) val {
	a := l.args(e, "x", "nb", "part")
	if a[0] == nil {
		l.fail(source.Errorf("E127", e.Span(), "tiles needs a matrix").WithHelp("tiles(A, nb, part = \"all\")"))
	}
	x := l.expr(a[0])
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
	part := wholeMatrix
	if a[2] != nil {
		if part = l.strArg(a[2], "part"); part != wholeMatrix && part != lowerHalf && part != upperHalf {
			l.fail(source.Errorf("E203", a[2].Span(), "part is %q", part).WithHelp(`part is "all", "lower" or "upper"`))
		}
	}
	p, q := t.Rows/nb+min(t.Rows%nb, 1), t.Cols/nb+min(t.Cols%nb, 1)
	g := l.newGrid("tiles", e.Span(), p, q)
	g.tiled, g.elem, g.rows, g.cols, g.nb, g.part = true, t.Elem, t.Rows, t.Cols, nb, part
	spans := []source.Span{a[0].Span()}
	for i := range p {
		for j := range q {
			r, c := min(nb, t.Rows-i*nb), min(nb, t.Cols-j*nb)
			tile := t
			tile.Rows, tile.Cols = r, c
			g.typ[i*q+j] = tile
			if g.noTile(i, j) {
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
	return arrayVal(g)
}

// The parts of a matrix that tiles may be of.
const wholeMatrix, lowerHalf, upperHalf = "all", "lower", "upper"

// noTile reports that an array of tiles has none at (i, j).
func (g *grid) noTile(i, j int) bool {
	return g.part == lowerHalf && j > i || g.part == upperHalf && j < i
}

// untile assembles the latest tokens of an array of tiles into one matrix. Missing elements (part =
// "lower", outside an equation's domain) are zero.
func (l *lowerer) untile(e *ast.Call) val {
	a := l.args(e, "c")
	if a[0] == nil {
		l.failf("E127", e.Span(), "untile needs a channel array")
	}
	v := l.expr(a[0])
	if v.kind != array || len(v.grid.dims) > 2 {
		l.failf("E200", a[0].Span(), "untile takes a one- or two-dimensional channel array, this is %s", l.what(v))
	}
	m := &mosaic{l: l, g: v.grid, at: e.Span(), arg: a[0].Span(), elem: v.grid.elem}
	m.measure()
	return m.lay()
}

// mosaic is the tiles of a channel array to be assembled.
type mosaic struct {
	l       *lowerer
	g       *grid
	at, arg source.Span // of the untile and of its argument
	elem    types.Elem
	// The height of each row of tiles and the width of each column, in elements; -1 without a
	// tile.
	height, width []int
}

// measure finds the sizes of the tiles, which must agree.
func (m *mosaic) measure() {
	l, g := m.l, m.g
	p, q := g.dims[0], 1
	if len(g.dims) == 2 {
		q = g.dims[1]
	}
	m.height, m.width = slices.Repeat([]int{-1}, p), slices.Repeat([]int{-1}, q)
	for off := range g.cur {
		if g.eq != nil && g.cur[off] == ir.None && !g.outer {
			l.solve(g, off, m.at)
		}
		id, i, j := g.cur[off], off/q, off%q
		if id == ir.None {
			hole := g.eq != nil || g.tiled && g.noTile(i, j)
			if !hole && !l.broken {
				l.fail(source.Errorf("E409", m.arg, "nothing was sent to %s", g.elemName(off)).WithNote(g.span, "declared here"))
			}
			continue
		}
		t := l.g.Type(id)
		if t.IsScalar() {
			t.Kind, t.Rows, t.Cols = types.Matrix, 1, 1
		}
		if m.elem == types.NoElem {
			m.elem = t.Elem
		}
		if m.height[i] >= 0 && m.height[i] != t.Rows || m.width[j] >= 0 && m.width[j] != t.Cols || m.elem != t.Elem {
			l.failf("E411", m.arg, "%s is %v and does not fit with its neighbours", g.elemName(off), t)
		}
		m.height[i], m.width[j] = t.Rows, t.Cols
	}
	if m.elem == types.NoElem {
		m.elem = types.F64
	}
}

// offsets returns where the tiles along one side of the matrix begin, and where the last ends.
// Missing tiles have the size that tiles() gives a side of n elements.
func (m *mosaic) offsets(sizes []int, n int) (at []int, end int) {
	at = make([]int, len(sizes))
	for i, s := range sizes {
		if s < 0 && m.g.tiled {
			s = min(m.g.nb, n-i*m.g.nb)
		}
		at[i] = end
		end += max(s, 0)
	}
	return at, end
}

// lay assembles the matrix.
func (m *mosaic) lay() val {
	l, g := m.l, m.g
	r0, rows := m.offsets(m.height, g.rows)
	c0, cols := m.offsets(m.width, g.cols)
	boxes := make([]int, 0, 6*len(g.cur))
	var in []ir.ID
	yes := ir.None
	for off, id := range g.cur {
		if id == ir.None {
			continue
		}
		i, j := off/len(m.width), off%len(m.width)
		t := l.g.Type(id)
		if t.IsScalar() {
			if yes == ir.None {
				yes = l.yes(m.at)
			}
			id = l.add(l.table.Must("ifelse"), nil, m.at, nil, yes, id, id)
			t = l.g.Type(id)
		}
		in = append(in, id)
		boxes = append(boxes, 0, 0, t.Rows, t.Cols, r0[i], c0[j])
	}
	if len(in) == 0 {
		attrs := op.MakeAttrs(op.Attr{Name: "n", Val: op.Int(rows)}, op.Attr{Name: "m", Val: op.Int(cols)})
		none := l.edgeVal(l.add(l.table.Must("zeros"), attrs, m.at, nil))
		if m.elem != types.F64 {
			none = l.apply(l.table.Must(m.elem.String()), nil, m.at, []val{none}, []source.Span{m.at})
		}
		return none
	}
	attrs := op.MakeAttrs(op.Attr{Name: "rows", Val: op.Int(rows)}, op.Attr{Name: "cols", Val: op.Int(cols)}, op.Attr{Name: "boxes", Val: op.Ints(boxes...)})
	return l.edgeVal(l.add(l.table.Must("lay"), attrs, m.at, nil, in...))
}

// yes returns the 1 x 1 matrix of true: ifelse(yes, x, x) is the scalar x as a matrix, bit for bit.
func (l *lowerer) yes(at source.Span) ir.ID {
	one := op.MakeAttrs(op.Attr{Name: "n", Val: op.Int(1)}, op.Attr{Name: "m", Val: op.Int(1)})
	return l.add(l.table.Must("bool"), nil, at, nil, l.add(l.table.Must("ones"), one, at, nil))
}
