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
// It would be wrong if the body could fail before its branch, or in a branch that keeps, because the
// definition then fails at places that are left out. It would also be wrong if sums of indices were
// not exact. Integers wrap, so an equation modulo 2^64 has exactly one solution.
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
	// changes are conditions of the body: an element for which none of them holds stays old.
	changes []condition
}

// condition holds where bool x has the value is.
type condition struct {
	x  ir.ID
	is bool
}

// lineOf returns the line that yield k of region r is, or nil.
func lineOf(r *ir.Region, k int, table *op.Table) *line {
	g, id := r.Graph, r.Yields[k]
	n, t := &g.Nodes[id], g.Type(id)
	if n.Op.Role != op.Points || asked(n) || nodes.Sent(g, id) || !fromZero(n) || len(n.Attrs.Ints("by")) != 2 || !t.Known() {
		return nil
	}
	body := nodes.CopyOf(n.Region.Graph)
	for x := range body.Old.All() {
		body.Node(x)
	}
	l := &line{g: g, id: id, old: r.Args[k], table: table, body: body.Region(n.Region)}
	b, y := l.body.Graph, l.body.Yields[0]
	c := ir.None // the branch
	if b.Nodes[y].Op.Control == op.Part {
		c = b.In(y)[0]
	} else if t.Count() < leastChosen {
		return nil
	}
	to := make([]ir.ID, b.Len())
	for i := range to {
		to[i] = ir.ID(i)
	}
	if !l.changed(b, y, to) {
		return nil
	}
	at := ir.Ranges{}.Within(g, id, l.body)
	for i := range b.Nodes {
		if x := ir.ID(i); x != c && at.MayFail(b, x) {
			return nil
		}
	}
	for _, axis := range []int{1, 0} {
		along, across := t.Cols, t.Rows
		if axis == 0 {
			along, across = across, along
		}
		l.axis, l.sign, l.depends = axis, 0, dependents(b, l.body.Args[axis])
		for _, c := range l.changes {
			if !l.solves(c) {
				l.sign = 0
				break
			}
		}
		if l.sign == 0 || along < leastLine || across < leastLines {
			continue
		}
		other := dependents(b, l.body.Args[1-axis])
		if c == ir.None || axis == 1 || !at.MayFail(b, c) || !other[l.left] && !other[l.right] {
			return l
		}
	}
	return nil
}

// changed adds the conditions under which node y of h is a new element. It reports whether y is the
// old one elsewhere. to tells the nodes of the body that those of h are: h is the body or, in a chain
// of branches, the region of one.
func (l *line) changed(h *ir.Graph, y ir.ID, to []ir.ID) bool {
	if l.keeps(h, y, to) {
		return true
	}
	n, in := &h.Nodes[y], h.In(y)
	if n.Op.Operands == op.AsChosen && h.Type(in[0]).IsScalar() {
		x, is := l.lifted(h, in[0], to), !l.keeps(h, in[1], to)
		if x == ir.None || is && !l.changed(h, in[2], to) {
			return false
		}
		l.changes = append(l.changes, condition{x, is})
		return true
	}
	if n.Op.Control != op.Part || h.Nodes[in[0]].Op.Control != op.Select {
		return false
	}
	c := in[0]
	from, branch := h.In(c), &h.Nodes[c]
	x := l.lifted(h, from[0], to)
	if len(branch.Region.Yields) != 1 || x == ir.None || !l.calm(h, c, to) {
		return false
	}
	stays := func(r *ir.Region, test func(h *ir.Graph, y ir.ID, to []ir.ID) bool) bool {
		inside := slices.Repeat([]ir.ID{ir.None}, r.Graph.Len())
		for k, a := range r.Args {
			inside[a] = to[from[branch.FirstArg()+k]]
		}
		return test(r.Graph, r.Yields[0], inside)
	}
	is := !stays(branch.Region, l.keeps)
	if is && !stays(branch.Region.Next, l.changed) {
		return false
	}
	l.changes = append(l.changes, condition{x, is})
	return true
}

// keeps reports whether node y of h is the old element, and no other node of h may fail. to is as that
// of changed.
func (l *line) keeps(h *ir.Graph, y ir.ID, to []ir.ID) bool {
	first, shift := nodes.Captures(l.g, l.id, l.body)
	in := h.In(y)
	if h.Nodes[y].Op.Role != op.Picks || to[in[1]] != l.body.Args[0] || to[in[2]] != l.body.Args[1] {
		return false
	}
	k := slices.Index(l.body.Args, to[in[0]])
	return k >= first && l.g.In(l.id)[k+shift] == l.old && l.g.Type(l.old) == l.g.Type(l.id) && l.calm(h, y, to)
}

// calm reports whether all nodes of h but x are nodes of the body or never fail. The definition
// evaluates them at places that a line leaves out. to is as that of changed.
func (l *line) calm(h *ir.Graph, x ir.ID, to []ir.ID) bool {
	for i := range h.Nodes {
		if y := ir.ID(i); y != x && l.lifted(h, y, to) == ir.None && (h.Required(y) || ir.MayFail(h, y)) {
			return false
		}
	}
	return true
}

// lifted returns the node of the body that is x of h, and adds it if there is none. Nothing reads an
// added node but the equation. It returns None if x depends on more than arguments and operators.
func (l *line) lifted(h *ir.Graph, x ir.ID, to []ir.ID) ir.ID {
	n, b := &h.Nodes[x], l.body.Graph
	if to[x] != ir.None || n.Region != nil || n.Op.Role == op.Argument || n.Op.Control == op.Part || h.Required(x) {
		return to[x]
	}
	in := make([]ir.ID, len(h.In(x)))
	for i, y := range h.In(x) {
		if in[i] = l.lifted(h, y, to); in[i] == ir.None {
			return ir.None
		}
	}
	for i := range b.Nodes {
		if m := &b.Nodes[i]; m.Op == n.Op && m.Attrs.Equal(n.Attrs) && slices.Equal(b.In(ir.ID(i)), in) && b.Type(ir.ID(i)) == h.Type(x) {
			to[x] = ir.ID(i)
			return to[x]
		}
	}
	to[x] = b.Add(n.Op, n.Attrs, h.Type(x), h.Origin(x), in...)
	return to[x]
}

// solves reports whether condition c of the body holds only where an equation tells the index of the
// axis. All conditions need the same equation.
func (l *line) solves(c condition) bool {
	b, both, same := l.body.Graph, loop.And, loop.Eq
	if !c.is {
		both, same = loop.Or, loop.Ne
	}
	switch in := b.In(c.x); codeOf(b, c.x) {
	case both:
		return l.solves(condition{in[0], c.is}) || l.solves(condition{in[1], c.is})
	case same:
		left, ok := l.times(in[0])
		right, fine := l.times(in[1])
		sign := left - right
		if !ok || !fine || sign != 1 && sign != -1 || l.sign != 0 && (l.left != in[0] || l.right != in[1]) {
			return false
		}
		l.left, l.right, l.sign = in[0], in[1], sign
		return true
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
