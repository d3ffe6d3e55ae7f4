package pass

import (
	"slices"

	"flow/compiler/nodes"
	"flow/ir"
	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
)

// Lines computes only the elements that a round changes, where a parfor changes one element of each row
// of a matrix that a loop carries and keeps the others:
//
//	iterate(%C, %d) { %1 = parfor(%C, %d) {n=[800,800]} (i, j) { if j - i == %d { .. } else { C[i, j] } }; yield %1 }
//	->
//	%1 = parfor(%d) {n=[800]} (i) { [i, clamp(%d + i, 0, 799)] }
//	%2 = parfor(%1, %C, %d) {n=[800], pairs} { the same body, at the place that row k of %1 tells }
//	yield put(%C, %2, %1)
//
// Dynamic programming over intervals is such a loop: a round fills one diagonal. The parfor over all
// places would store the whole matrix in each round, and lanes of vectors would wait for the one that
// computes.
//
// The equation is solved for the column or for the row. A solution outside of the matrix is moved to
// its border, where the body gives the old element. Bits and failures stay: the body is evaluated at
// the same places in the order of rows, and at all other places it only copies. The solutions for rows
// are in the order of columns, so a body that may fail is not solved for several of them.
//
// An ifelse whose mask selects one row or column by its number becomes a put of this row or column:
//
//	iterate(%T, %k) { %1 = eq(%seq, %k);  %2 = ifelse(%1, %row, %T); yield %2 }
//	->
//	yield put(%T, %row, [%k, 0])
//
// It would be wrong if the body could fail before its branch, because the definition then fails at
// places that are left out. It would also be wrong if sums of indices were not exact. Integers wrap, so
// an equation modulo 2^64 has exactly one solution.
func Lines(g *ir.Graph, table *op.Table) *ir.Graph {
	out := g
	for i := range g.Nodes {
		if g.Nodes[i].Op.Control != op.Iterate {
			continue
		}
		if r := linesIn(g, ir.ID(i), table); r != nil {
			if out == g {
				out = g.Clone()
			}
			out.Nodes[i].Region = r
		}
	}
	return out
}

// leastLine is the least length of the axis that is solved for: a round that changes more than this
// part of a matrix stores it whole in less time. leastLines is the least length of the other axis.
// Stages make fewer elements in less time than the three tasks of a round take. leastChosen is the
// least size of a matrix for which two tasks take less time than a choice of all its elements.
const leastLine, leastLines, leastChosen = 64, 16, 1 << 16

// linesIn returns the region of iterate id with lines, or nil if there are none.
func linesIn(g *ir.Graph, id ir.ID, table *op.Table) *ir.Region {
	r := g.Nodes[id].Region
	found := map[ir.ID]interface{ write(c *nodes.Copying) }{}
	for k := range g.Nodes[id].Carried() {
		if l := lineOf(r, k, table); l != nil {
			found[r.Yields[k]] = l
		} else if l := chosenOf(&around{g, id, r.Args, nil}, k, table); l != nil {
			found[r.Yields[k]] = l
		}
	}
	if len(found) == 0 {
		return nil
	}
	c := nodes.CopyOf(r.Graph)
	for x := range r.Graph.All() {
		if l := found[x]; l != nil {
			l.write(c)
		} else {
			c.Node(x)
		}
	}
	out := c.Region(r)
	out.Next = r.Next
	return out
}

// chosen is an ifelse that replaces one row or column of a carried matrix.
type chosen struct {
	g     *ir.Graph
	id    ir.ID
	table *op.Table
	axis  int // 0: a row, 1: a column
	// Rows have the numbers first, first + 1, .. The row with number k becomes x, and the others stay old.
	first     int64
	k, x, old ir.ID
}

// chosenOf describes yield k of loop a, or returns nil if it replaces no single row or column.
func chosenOf(a *around, k int, table *op.Table) *chosen {
	r := a.g.Nodes[a.id].Region
	g, id := r.Graph, r.Yields[k]
	in, t := g.In(id), g.Type(id)
	if g.Nodes[id].Op.Operands != op.AsChosen || nodes.Sent(g, id) || in[2] != r.Args[k] || !t.Known() || t.Count() < leastChosen {
		return nil
	}
	l, mask := &chosen{g: g, id: id, table: table, x: in[1], old: in[2]}, g.Type(in[0])
	line := types.DenseOf(t.Elem, 1, t.Cols)
	if mask.Rows == 1 {
		l.axis, line = 1, types.DenseOf(t.Elem, t.Rows, 1)
	}
	if x := g.Type(l.x); mask.Count() == 1 || x != line && (x != types.ScalarOf(t.Elem) || line.Count() != 1) || !l.numbered(a, in[0]) {
		return nil
	}
	return l
}

// numbered reports whether mask compares a range of step 1, made outside of the loop, with an integer.
// It sets k and first.
func (l *chosen) numbered(a *around, mask ir.ID) bool {
	if l.g.Nodes[mask].Op != l.table.Infix("==") {
		return false
	}
	for i, x := range l.g.In(mask) {
		around, from, id := a.numbered(l.g, x)
		if from != nil && from.Nodes[id].Op == l.table.Must("t") {
			_, from, id = around.numbered(from, from.In(id)[0])
		}
		if from == nil || from.Nodes[id].Op.Ramp == nil {
			continue
		}
		var down int64
		l.k = l.g.In(mask)[1-i]
		l.first, down, _ = from.Nodes[id].Op.Ramp(from.Nodes[id].Attrs)
		return down == 1 && l.g.Type(l.k) == types.ScalarOf(types.I64)
	}
	return false
}

// write adds a put of the row or column. A number outside of the range changes nothing: put ignores a
// place outside of the matrix.
func (l *chosen) write(c *nodes.Copying) {
	at, o := ir.Origin{Span: l.g.Nodes[l.id].Span}, l.g.Origin(l.id)
	list := func(e types.Elem, in ...ir.ID) ir.ID {
		return c.G.Add(l.table.Must("list"), op.MakeAttrs(op.Attr{Name: "size", Val: op.Ints(1, len(in))}), types.DenseOf(e, 1, len(in)), at, in...)
	}
	first, zero := constantOf(c.G, l.table, int(l.first), at), constantOf(c.G, l.table, 0, at)
	place := []ir.ID{c.G.Add(l.table.Must("sub"), nil, types.ScalarOf(types.I64), at, c.To[l.k], first), zero}
	if l.axis == 1 {
		slices.Reverse(place)
	}
	t, x := l.g.Type(l.id), c.To[l.x]
	if l.g.Type(l.x).IsScalar() {
		x = list(t.Elem, x)
	}
	c.To[l.id] = c.G.Add(l.table.Must("put"), nil, t, o, c.To[l.old], x, list(types.I64, place...))
}

// line is a parfor that changes at most one element of each row of a carried matrix, or of each column.
type line struct {
	g     *ir.Graph
	id    ir.ID
	old   ir.ID // the carried matrix
	table *op.Table
	body  *ir.Region
	// axis is the index that the equation tells: left == right, where left minus right has it sign times.
	axis, sign  int
	left, right ir.ID
	depends     []bool // the nodes of the body that depend on that index
}

// lineOf returns the line that yield k of region r is, or nil.
func lineOf(r *ir.Region, k int, table *op.Table) *line {
	g, id := r.Graph, r.Yields[k]
	n, t := &g.Nodes[id], g.Type(id)
	if n.Op.Role != op.Points || asked(n) || nodes.Sent(g, id) || !fromZero(n) || len(n.Attrs.Ints("by")) != 2 || !t.Known() {
		return nil
	}
	l := &line{g: g, id: id, old: r.Args[k], table: table, body: n.Region}
	b, y := l.body.Graph, l.body.Yields[0]
	if b.Nodes[y].Op.Control != op.Part {
		return nil
	}
	at := ir.Ranges{}.Within(g, id, l.body)
	c := b.In(y)[0]
	for i := range b.Nodes {
		if x := ir.ID(i); x != c && at.MayFail(b, x) {
			return nil
		}
	}
	branch := &b.Nodes[c]
	if branch.Op.Control != op.Select || len(branch.Region.Yields) != 1 {
		return nil
	}
	is := l.keeps(c, branch.Region.Next) // new elements are where the condition holds
	if !is && !l.keeps(c, branch.Region) {
		return nil
	}
	for _, axis := range []int{1, 0} {
		along, across := t.Cols, t.Rows
		if axis == 0 {
			along, across = across, along
		}
		if l.axis = axis; along < leastLine || across < leastLines || !l.solves(b.In(c)[0], is) {
			continue
		}
		other := dependents(b, l.body.Args[1-axis])
		if axis == 1 || !at.MayFail(b, c) || !other[l.left] && !other[l.right] {
			return l
		}
	}
	return nil
}

// keeps reports whether region r of branch c yields the old element.
func (l *line) keeps(c ir.ID, r *ir.Region) bool {
	b, y := l.body.Graph, r.Yields[0]
	first, shift := nodes.Captures(l.g, l.id, l.body)
	from := b.In(c)[b.Nodes[c].FirstArg():]
	outside := func(x ir.ID) int { // the argument of the body that x is
		if k := slices.Index(r.Args, x); k >= 0 {
			return slices.Index(l.body.Args, from[k])
		}
		return -1
	}
	in := r.Graph.In(y)
	if r.Graph.Nodes[y].Op.Role != op.Picks || outside(in[1]) != 0 || outside(in[2]) != 1 {
		return false
	}
	k := outside(in[0])
	return k >= first && l.g.In(l.id)[k+shift] == l.old && l.g.Type(l.old) == l.g.Type(l.id)
}

// solves reports whether the condition x of the body has the value is only where an equation tells the
// index of the axis.
func (l *line) solves(x ir.ID, is bool) bool {
	l.depends = dependents(l.body.Graph, l.body.Args[l.axis])
	return l.equation(x, is)
}

func (l *line) equation(x ir.ID, is bool) bool {
	b, both, same := l.body.Graph, loop.And, loop.Eq
	if !is {
		both, same = loop.Or, loop.Ne
	}
	switch in := b.In(x); codeOf(b, x) {
	case both:
		return l.equation(in[0], is) || l.equation(in[1], is)
	case same:
		left, ok := l.times(in[0])
		right, fine := l.times(in[1])
		l.left, l.right, l.sign = in[0], in[1], left-right
		return ok && fine && (l.sign == 1 || l.sign == -1)
	}
	return false
}

// times returns how often integer x has the index of the axis as a term. ok is false if x is no such
// sum.
func (l *line) times(x ir.ID) (n int, ok bool) {
	b, in := l.body.Graph, l.body.Graph.In(x)
	switch code := codeOf(b, x); {
	case b.Type(x) != types.ScalarOf(types.I64):
		return 0, false
	case x == l.body.Args[l.axis]:
		return 1, true
	case !l.depends[x]:
		return 0, true
	case code == loop.Add || code == loop.Sub:
		p, ok := l.times(in[0])
		q, fine := l.times(in[1])
		if code == loop.Sub {
			q = -q
		}
		return p + q, ok && fine
	}
	return 0, false
}

// codeOf returns the operation that elementwise node x with two operands is. It returns Const for other
// nodes, and if x is more than one operation.
func codeOf(g *ir.Graph, x ir.ID) loop.Code {
	n, in := &g.Nodes[x], g.In(x)
	if n.Op.Body == nil || len(in) != 2 || !nodes.IsNumber(g.Type(in[0])) || g.Type(in[0]) != g.Type(in[1]) || !g.Type(x).IsScalar() {
		return loop.Const
	}
	b, e := loop.New(), g.Type(in[0]).Elem
	n.Op.Body(b, g.Type(x).Elem, []loop.Val{b.Const(e, 0), b.Const(e, 0)})
	if list := b.Nest.Body.Stmts; len(list) == 3 {
		return list[2].Code
	}
	return loop.Const
}

// write adds the places, the elements there, and the matrix with these elements.
func (l *line) write(c *nodes.Copying) {
	n, t, o := &l.g.Nodes[l.id], l.g.Type(l.id), l.g.Origin(l.id)
	number, many := types.ScalarOf(types.I64), t.Rows
	if l.axis == 0 {
		many = t.Cols
	}
	places := types.DenseOf(types.I64, many, 2)
	first, shift := nodes.Captures(l.g, l.id, l.body)
	outer := c.In(l.id)[first+shift:]
	attrs := func(names string, more ...op.Attr) *op.Attrs {
		return op.MakeAttrs(append(more, op.Attr{Name: "by", Val: op.Ints(1)}, op.Attr{Name: "lo", Val: op.Ints(0)},
			op.Attr{Name: "n", Val: op.Ints(many)}, op.Attr{Name: "names", Val: op.Str(names)})...)
	}
	points := func(attrs *op.Attrs, t types.Type, r *ir.Region, in ...ir.ID) ir.ID {
		x := c.G.Add(l.table.Must("parfor"), attrs, t, o.NoDest(), in...)
		c.G.Nodes[x].Region = r
		return x
	}
	here := ir.Origin{Span: n.Span}
	b := nodes.CopyOf(l.body.Graph)
	k := b.G.Add(l.table.Must("arg"), nil, number, here)
	at := l.solved(b, k, t)
	place := []ir.ID{k, at}
	if l.axis == 0 {
		slices.Reverse(place)
	}
	r := &ir.Region{Graph: b.G, Args: []ir.ID{k}}
	var in []ir.ID
	for i, a := range l.body.Args[first:] {
		if b.To[a] != ir.None {
			r.Args, in = append(r.Args, b.To[a]), append(in, outer[i])
		}
	}
	r.Yields = []ir.ID{b.G.Add(l.table.Must("list"), op.MakeAttrs(op.Attr{Name: "size", Val: op.Ints(1, 2)}), types.DenseOf(types.I64, 1, 2), here, place...)}
	where := points(attrs("k"), places, r, in...)

	// The body computes its place, too. A loop then knows that the place is within the matrix.
	b = nodes.CopyOf(l.body.Graph)
	k = b.G.Add(l.table.Must("arg"), nil, number, here)
	list := b.G.Add(l.table.Must("arg"), nil, places, here)
	at = l.solved(b, k, t)
	b.To[l.body.Args[l.axis]] = at
	for x, depends := range l.depends {
		if id := ir.ID(x); b.To[id] == ir.None || depends && id != l.body.Args[l.axis] {
			b.Node(id)
		}
	}
	r = b.Region(l.body)
	r.Args = append([]ir.ID{k, list}, r.Args[first:]...)
	x := points(attrs(n.Attrs.Str("names"), op.Attr{Name: "pairs", Val: op.Bool(true)}), types.DenseOf(t.Elem, many, 1), r, append([]ir.ID{where}, outer...)...)
	c.To[l.id] = c.G.Add(l.table.Must("put"), nil, t, o, c.To[l.old], x, where)
}

// solved adds to a copy of the body what makes the index of the axis from index k of the other one.
func (l *line) solved(b *nodes.Copying, k ir.ID, t types.Type) ir.ID {
	needed := reached(b.Old, []ir.ID{l.left, l.right})
	b.To[l.body.Args[1-l.axis]], b.To[l.body.Args[l.axis]] = k, l.constant(b.G, 0)
	for x := range b.Old.All() {
		if needed[x] && b.To[x] == ir.None {
			b.Node(x)
		}
	}
	from, to := b.To[l.left], b.To[l.right] // where the index is 0
	if l.sign < 0 {
		from, to = to, from
	}
	add := func(row string, in ...ir.ID) ir.ID {
		return b.G.Add(l.table.Must(row), nil, types.ScalarOf(types.I64), ir.Origin{Span: l.g.Nodes[l.id].Span}, in...)
	}
	return add("ew.min", add("ew.max", add("sub", to, from), l.constant(b.G, 0)), l.constant(b.G, []int{t.Rows, t.Cols}[l.axis]-1))
}

// constant adds an integer to g.
func (l *line) constant(g *ir.Graph, i int) ir.ID {
	return constantOf(g, l.table, i, ir.Origin{Span: l.g.Nodes[l.id].Span})
}

// constantOf adds an integer to g.
func constantOf(g *ir.Graph, table *op.Table, i int, at ir.Origin) ir.ID {
	return g.Add(table.Must("const"), op.MakeAttrs(op.Attr{Name: "value", Val: op.Int(i)}), types.ScalarOf(types.I64), at)
}
