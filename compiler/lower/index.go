package lower

import (
	"math"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/lang/ast"
	"flow/lang/source"
)

// This file elaborates x[..]: elements of channel arrays and lists, slices of matrices.

// index elaborates x[subs]: an element of a channel array, a scalar, or a slice.
func (l *lowerer) index(e *ast.Index) val {
	l.doubleSubscript(e)
	x := l.expr(e.X)
	switch x.kind {
	case array:
		return l.edgeVal(l.read(x.grid, l.element(e, x.grid), e.Span()))
	case list:
		if len(e.Subs) != 1 || e.Subs[0].All || e.Subs[0].IsRange {
			x = l.matrixOf(x, types.NoElem, e.X.Span())
			break
		}
		v := l.expr(e.Subs[0].Lo)
		// the run chooses, from a matrix
		if _, several := v.vector(l); several || v.kind == edge {
			x = l.matrixOf(x, types.NoElem, e.X.Span())
			break
		}
		i := l.intArg(e.Subs[0].Lo, "a subscript")
		if i < 0 {
			i += len(x.elems)
		}
		if i < 0 || i >= len(x.elems) {
			d := source.Errorf("E212", e.Span(), "subscript %d of a list of %d", v.s.I, len(x.elems))
			if len(x.elems) > 0 {
				d = d.WithHelp("the first is 0, the last is `%d`, or -1", len(x.elems)-1)
			}
			l.fail(d)
		}
		return x.elems[i]
	case edge:
	case tuple:
		parts := "a, b = .."
		if len(x.names) > 0 {
			parts = "." + x.names[0]
		}
		l.fail(source.Errorf("E217", e.X.Span(), "%s cannot be indexed", l.what(x)).WithHelp("the parts of a tuple have names: `%s`", parts))
	default:
		l.fail(source.Errorf("E217", e.X.Span(), "%s cannot be indexed", l.what(x)).WithHelp("a scalar is one value, without subscripts"))
	}
	t := l.g.Type(x.id)
	if !t.IsMatrix() {
		l.fail(source.Errorf("E217", e.X.Span(), "%s cannot be indexed", l.what(x)).WithHelp("a scalar is one value, without subscripts"))
	}
	subs := e.Subs
	if len(subs) == 1 && t.Cols == 1 {
		subs = []ast.Sub{subs[0], {Src: subs[0].Src, Lo: &ast.Int{Src: subs[0].Src, Value: 0}}}
	}
	if len(subs) != 2 {
		l.fail(l.tooFewSubscripts(e, t))
	}
	row, col := l.sub(subs[0], l.axis(x, 0)), l.sub(subs[1], l.axis(x, 1))
	if row.picks() || col.picks() {
		return l.selection(e, x, row, col)
	}
	return l.part(e, x, row, col)
}

// part returns the rectangle of x that two subscripts name, or the element.
func (l *lowerer) part(e *ast.Index, x val, row, col subscript) val {
	spans := []source.Span{e.X.Span()}
	one := row.one && col.one
	if row.open || col.open {
		return l.cut(e, x, row, col)
	}
	if row.dynamic() || col.dynamic() {
		at := []ir.ID{x.id, l.start(row), l.start(col)}
		spans = append(spans, row.at, col.at)
		if one {
			return l.edgeVal(l.add(l.table.Must("element"), nil, e.Span(), spans, at...))
		}
		size := op.MakeAttrs(op.Attr{Name: "size", Val: op.Ints(row.size, col.size)})
		return l.edgeVal(l.add(l.table.Must("window"), size, e.Span(), spans, at...))
	}
	if one {
		return l.edgeVal(l.add(l.table.Must("item"), op.MakeAttrs(op.Attr{Name: "at", Val: op.Ints(row.lo, col.lo)}), e.Span(), spans, x.id))
	}
	return l.edgeVal(l.add(l.table.Must("slice"), sliceAttrs(row.lo, col.lo, row.size, col.size), e.Span(), spans, x.id))
}

// cut returns a slice whose size only the run knows.
func (l *lowerer) cut(e *ast.Index, x val, row, col subscript) val {
	in, spans := []ir.ID{x.id}, []source.Span{e.X.Span()}
	var size, through []int
	for _, s := range []subscript{row, col} {
		from, to, n := l.start(s), s.to, s.size
		if s.open {
			n = types.Unknown
		} else {
			to = from // the size says where it ends
		}
		in, spans = append(in, from, to), append(spans, s.at, s.at)
		size = append(size, n)
		through = append(through, s.through)
	}
	attrs := op.MakeAttrs(op.Attr{Name: "size", Val: op.Ints(size...)}, op.Attr{Name: "through", Val: op.Ints(through...)})
	return l.edgeVal(l.add(l.table.Must("cut"), attrs, e.Span(), spans, in...))
}

func sliceAttrs(r0, c0, rows, cols int) *op.Attrs {
	return op.MakeAttrs(op.Attr{Name: "at", Val: op.Ints(r0, c0, rows, cols)})
}

// subscript is size indices from lo on, or, if only the run knows it, from the value of edge from
// on. The size of an open one is known only in the run: it ends before the value of edge to, or
// with it if through is 1. If through is 2, the range is the whole axis. 3 means 1, and that the
// program writes the range in descending order, so that messages do, too.
type subscript struct {
	lo      int
	from    ir.ID // ir.None: lo
	size    int
	one     bool // a single index, not a range of one
	open    bool
	to      ir.ID
	through int
	// picked is the column of positions that a vector names; ir.None: no vector. The other
	// fields are then those of `:`.
	picked ir.ID
	all    bool // the whole axis
	at     source.Span
	step   int // take every step-th index of a range, from the last if negative; 0: all
}

// picks reports a subscript that is no interval.
func (s subscript) picks() bool { return s.picked != ir.None || s.step != 0 }

func (s subscript) dynamic() bool { return s.from != ir.None }

// start returns the first index as an edge.
func (l *lowerer) start(s subscript) ir.ID {
	if s.dynamic() {
		return s.from
	}
	return l.konst(value.I64(int64(s.lo)), s.at)
}

// sub elaborates a subscript. A negative index counts from the end.
func (l *lowerer) sub(s ast.Sub, a axis) subscript {
	if s.All {
		return l.wholeAxis(s, a)
	}
	v := l.expr(s.Lo)
	if t, several := v.vector(l); several && !s.IsRange {
		out := l.wholeAxis(s, a)
		out.picked = l.positions(s, v, t, a)
		return out
	}
	lo := l.integerOf(v, s.Lo, "E200", "a subscript")
	one := !s.IsRange
	var hi val
	switch {
	case one:
	case s.Hi == nil:
		hi = l.length(a, s.Span())
	default:
		hi = l.integer(s.Hi, "E200", "a subscript")
	}
	if s.By != nil {
		return l.steppedSub(s, lo, hi, a)
	}
	return l.interval(s, lo, hi, a)
}

// interval returns the subscript s, a single index or a range, with bounds lo and hi.
func (l *lowerer) interval(s ast.Sub, lo, hi val, axis axis) subscript {
	n, what := axis.n, axis.what
	if lo.kind == edge || hi.kind == edge || n == types.Unknown {
		return l.dynamicSub(s, lo, hi)
	}
	one := !s.IsRange
	a := axis.fromStart(lo)
	b := a + 1
	if !one {
		b = axis.fromStart(hi)
		if s.Inclusive && b < math.MaxInt { // which is outside with or without
			b++
		}
	}
	if a < 0 || b > n || a > b {
		at := s.Span()
		if one {
			d := source.Errorf("E212", at, "%s %d of a matrix with %s", what, lo.s.I, counted(n, what))
			if n > 0 && a >= n {
				d = d.WithHelp("%ss are numbered from 0: the last is `%d`", what, n-1)
			} else if n > 0 {
				d = d.WithHelp("%ss are numbered from 0, and from the end from -1: the first is `%d`", what, -n)
			}
			l.fail(d)
		}
		from, to := a, b // as written, if they are before the first
		if a < 0 {
			from = int(lo.s.I)
		}
		if b < 0 {
			to = int(hi.s.I)
		}
		d := source.Errorf("E212", at, "%ss %d to %d of a matrix with %s", what, from, to, counted(n, what))
		if a < 0 && n > 0 {
			d = d.WithHelp("%ss are numbered from 0, and from the end from -1: the first is `%d`", what, -n)
			if b >= 0 && b <= n && s.By == nil {
				d = d.WithHelp("%ss are numbered from 0, and from the end from -1; from the first on it is `0..%d`", what, b)
			}
		}
		if s.Hi == nil && a > n {
			d = source.Errorf("E212", at, "%ss from %d on of a matrix with %s", what, a, counted(n, what))
			if n > 0 {
				d = d.WithHelp("%ss are numbered from 0: the last is `%d`", what, n-1)
			}
		}
		if a >= 0 && a <= n && b > n {
			by := ""
			if s.By != nil {
				by = " by " + l.text(s.By.Span())
			}
			d = d.WithHelp("up to the last it is `%d..%d%s`", a, n, by)
		} else if a > b && a < n && b >= 0 && s.By == nil {
			d = d.WithHelp("a range that descends has a step: `%s by -1`", l.text(at))
		}
		l.fail(d)
	}
	return subscript{lo: a, from: ir.None, size: b - a, one: one, picked: ir.None, all: a == 0 && b == n, at: s.Span()}
}

// wholeAxis returns the subscript `:`.
func (l *lowerer) wholeAxis(s ast.Sub, a axis) subscript {
	if a.n == types.Unknown {
		out := l.openSub(s, intVal(0), l.length(a, s.Span()))
		out.all, out.through = true, 2
		return out
	}
	return subscript{from: ir.None, size: a.n, picked: ir.None, all: true, at: s.Span()}
}

// integer returns the value of e, an integer known before the run or not. Anything else is reported
// with code; what names its place.
func (l *lowerer) integer(e ast.Expr, code source.Code, what string) val {
	return l.integerOf(l.expr(e), e, code, what)
}

// integerOf returns v, the value of e, if it is an integer.
func (l *lowerer) integerOf(v val, e ast.Expr, code source.Code, what string) val {
	switch {
	case v.isInt() || v.kind == edge && l.g.Type(v.id) == types.ScalarOf(types.I64):
		return v
	}
	d := source.Errorf(code, e.Span(), "%s is an integer, this is %s", what, l.what(v))
	if v.kind == konst && v.s.Elem.IsFloat() || v.kind == edge && l.g.Type(v.id).IsScalar() && l.g.Type(v.id).Elem.IsFloat() {
		d = d.WithHelp("%s", l.toInteger(e.Span()))
	}
	l.fail(d)
	return val{}
}

// dynamicSub returns a subscript that only the run knows. A range has a known size if its bounds
// differ by a constant, as in i..i+3 and i*3..(i+1)*3.
func (l *lowerer) dynamicSub(s ast.Sub, lo, hi val) subscript {
	out := subscript{from: l.toEdge(lo, s.Lo.Span()), size: 1, one: !s.IsRange, picked: ir.None, at: s.Span()}
	if out.one {
		return out
	}
	a, b := l.linear(lo), l.linear(hi)
	fixed := l.differ(a, b)
	// 1..-1 of a matrix of n rows ends with n
	if !fixed || len(a.terms) == 0 && (a.number < 0) != (b.number < 0) {
		return l.openSub(s, lo, hi)
	}
	if out.size = int(b.number - a.number); b.number > a.number && out.size < 0 {
		l.failf("E212", s.Span(), "the range has more than 2^63 indices")
	}
	if s.Inclusive && out.size < math.MaxInt {
		out.size++
	}
	if out.size < 0 {
		l.failf("E212", s.Span(), "the range ends %d before it begins", -out.size)
	}
	return out
}

// openSub returns a range whose size only the run knows.
func (l *lowerer) openSub(s ast.Sub, lo, hi val) subscript {
	out := subscript{from: l.toEdge(lo, s.Span()), to: l.toEdge(hi, s.Span()), size: types.Unknown, open: true, picked: ir.None, at: s.Span()}
	if s.Inclusive {
		out.through = 1
	}
	return out
}

// linear is an integer as a sum: a number, plus edges times numbers.
type linear struct {
	terms  []term
	number int64
}

// term is an edge times a number.
type term struct {
	edge  ir.ID
	times int64
}

// linear returns the integer v as a sum.
func (l *lowerer) linear(v val) linear {
	var f linear
	if v.kind == konst {
		f.number = v.s.I
		return f
	}
	left := mostTerms
	l.addTo(&f, v.id, 1, &left)
	return f
}

// mostTerms is the most nodes of an expression that are looked into.
const mostTerms = 64

// addTo adds edge id times k to f. left is the number of nodes that may still be looked into. The
// others are terms.
func (l *lowerer) addTo(f *linear, id ir.ID, k int64, left *int) {
	n, in := &l.g.Nodes[id], l.g.In(id)
	if *left--; *left > 0 {
		switch {
		case n.Op == l.constant:
			f.number += k * int64(n.Attrs.Int("value"))
			return
		case len(in) == 2 && (n.Op.Infix == "+" || n.Op.Infix == "-"):
			l.addTo(f, in[0], k, left)
			if n.Op.Infix == "-" {
				k = -k
			}
			l.addTo(f, in[1], k, left)
			return
		case len(in) == 2 && n.Op.Infix == "*":
			for i, x := range in {
				if c := &l.g.Nodes[x]; c.Op == l.constant {
					l.addTo(f, in[1-i], k*int64(c.Attrs.Int("value")), left)
					return
				}
			}
		}
	}
	for i := range f.terms {
		if t := &f.terms[i]; l.sameValue(t.edge, id) {
			t.times += k
			return
		}
	}
	f.terms = append(f.terms, term{id, k})
}

// differ reports whether a and b differ by a number alone.
func (l *lowerer) differ(a, b linear) bool {
	has := func(a, b linear) bool {
		for _, x := range a.terms {
			times := int64(0)
			for _, y := range b.terms {
				if l.sameValue(x.edge, y.edge) {
					times = y.times
				}
			}
			if x.times != times {
				return false
			}
		}
		return true
	}
	return has(a, b) && has(b, a)
}

// sameValue reports whether two edges are the same expression, and so the same value.
func (l *lowerer) sameValue(a, b ir.ID) bool {
	if a == b {
		return true
	}
	x, y := &l.g.Nodes[a], &l.g.Nodes[b]
	p, q := l.g.In(a), l.g.In(b)
	if x.Op != y.Op || !x.Op.Laws.Has(op.Pure) || x.Region != nil || y.Region != nil || x.Op.Role == op.Argument || len(p) != len(q) || !x.Attrs.Equal(y.Attrs) {
		return false
	}
	for i := range p {
		if !l.sameValue(p[i], q[i]) {
			return false
		}
	}
	return true
}
