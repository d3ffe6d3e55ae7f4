package pass

import (
	"slices"

	"flow/compiler/nodes"
	"flow/ir"
	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
)

// This file is the part of Group that makes one group of several, which share what they read, and ends
// groups with reductions of all elements:
//
//	%5 = rbind(..);  %6 = pipe(%5, %0) {fold="max"} {..}   ->   %5, %6 = nest(%0, ..) { both }
//
// A reduction of what a group makes is computed in the loop that makes it. If the elements have other
// readers, they are stored in the same loop. The reduction must allow any order of its contributions,
// because the lanes of the loop may be along either index.

// merger makes one group of several.
type merger struct {
	*nesting
	readers [][]ir.ID
	list    map[ir.ID][]ir.ID // the members of the groups
	rows    bool              // something reduces rows
}

// mergeGroups merges groups that read a chain, and reductions with what makes their elements.
func (f *nesting) mergeGroups() {
	f.results = map[ir.ID][]ir.ID{}
	m := merger{nesting: f, readers: readersOf(f.g), rows: f.reducesRows(),
		list: f.members(func(id ir.ID) bool { return f.of(id) != noMember })}
	for x := ir.ID(f.g.Len() - 1); x >= 0; x-- {
		if f.head[x] == x && (f.of(x) == chainMember || f.of(x) == pointMember) {
			m.shared(x)
		}
	}
	for id, n := range f.g.All() {
		if f.head[id] == id && f.of(id) == foldMember && n.Op.Control != op.Part && f.results[id] == nil {
			m.end(id)
		}
	}
}

// shared makes one group of chain x and of the groups that read it, if all of them read only the
// element at their own place, or if all read x at the same other place (displaced). The latter also
// holds for points. A chain with a single reading group joins it only if that group has been merged
// from several, or if the chain may fail: otherwise the chain would have been its member. So
// mergeGroups visits readers first.
func (m *merger) shared(x ir.ID) {
	groups := []ir.ID{x}
	several := false
	displaced := m.displaced(x)
	for _, r := range m.readers[x] {
		h := m.head[r]
		for k, y := range m.g.In(r) {
			if y == x && !displaced && (m.of(x) != chainMember || m.of(r) != chainMember || !m.aligned(r, k) || m.reads[r] != 1 || !nodes.SameShape(m.g.Type(h), m.g.Type(x))) {
				return // not at its own place
			}
		}
		if m.g.Type(h).Kind == types.Tuple && m.results[h] == nil {
			return // a chain that is stored and reduced: its parts would be no results of the group
		}
		if !slices.Contains(groups, h) {
			groups, several = append(groups, h), several || m.results[h] != nil
		}
	}
	for _, h := range groups[1:] { // a group that another one reads would be computed again
		if slices.ContainsFunc(m.readers[h], func(r ir.ID) bool { return m.head[r] != h && slices.Contains(groups, m.head[r]) }) {
			return
		}
	}
	if len(groups) > 2 && !several || len(groups) == 2 && (several || ir.MayFail(m.g, x)) {
		m.merge(groups...)
	}
}

// displaced reports whether all groups that read matrix x take it as a whole into a larger matrix,
// at the same place. All these larger matrices have one shape, so one loop over it computes each
// element of x once.
func (m *merger) displaced(x ir.ID) bool {
	var first *spot
	for _, r := range m.readers[x] {
		at := m.spotIn(x, r, map[ir.ID]*spot{})
		if at == nil || first != nil && *at != *first {
			return false
		}
		first = at
	}
	return first != nil
}

// spot is the place of a matrix in the space of a group. row and col are the place of its element (0,
// 0), rows and cols the size of the space.
type spot struct{ row, col, rows, cols int }

// spotIn returns the place of y in the space of the group of its reader r. It returns nil if y has
// several places, or if only a part of y is read.
func (m *merger) spotIn(y, r ir.ID, known map[ir.ID]*spot) *spot {
	g := m.g
	if _, is := known[r]; !is {
		known[r] = nil
		if t := nodes.SpaceIn(g, r); m.head[r] == r {
			known[r] = &spot{0, 0, t.Rows, t.Cols}
		} else {
			known[r] = m.oneSpot(r, known)
		}
	}
	at := known[r]
	if at == nil {
		return nil
	}
	out := *at
	for k, z := range g.In(r) {
		switch {
		case z != y || (m.of(r) == chainMember || m.of(r) == foldMember) && m.aligned(r, k):
		case m.of(r) != moveMember:
			return nil
		default:
			p, ok := placeIn(g, r, k)
			if !ok {
				return nil
			}
			out.row, out.col = at.row+p.Row, at.col+p.Col
		}
	}
	return &out
}

// oneSpot returns the place of member y in its group, or nil if y has several. Only members of the
// group read y.
func (m *merger) oneSpot(y ir.ID, known map[ir.ID]*spot) (one *spot) {
	for _, r := range m.readers[y] {
		at := m.spotIn(y, r, known)
		if at == nil || one != nil && *one != *at {
			return nil
		}
		one = at
	}
	return one
}

// placeIn returns the rectangle of node r, which moves elements, that holds all of operand k.
func placeIn(g *ir.Graph, r ir.ID, k int) (at op.Piece, ok bool) {
	n := &g.Nodes[r]
	t := g.Type(g.In(r)[k])
	list, _ := n.Op.Pieces(n.Attrs, g.Types(nil, g.In(r)...), g.Type(r))
	for _, p := range list {
		if p.In != k {
			continue
		}
		if ok || p.By != 1 || p.Over != 1 || p.Rows != t.Rows || p.Cols != t.Cols || p.Down != -p.Row || p.Right != -p.Col {
			return p, false
		}
		at, ok = p, true
	}
	return at, ok
}

// padded returns the graph in which a reduction goes over a larger matrix, if operators put what it
// reduces into one:
//
//	%3 = map(..);  %4 = pipe(%3, %0) {fold="max"} {..};  %5 = rbind(%1, %3, %2)
//	->  %3 = map(..);  %6 = map(%3, %0) {..};  %7 = rbind(-inf, %6, -inf);  %4 = max(%7)
//	    %5 = rbind(%1, %3, %2)
//
// The elements around leave the result as it is, bit for bit. Both larger matrices have one shape,
// so that one loop makes them (shared): a step of a stencil, its border and its largest change. A
// mean becomes a sum that is divided by the old number of elements. It would be wrong for places of
// extremes, which would move, and for variances, which divide by the number of elements.
func (f *nesting) padded() *ir.Graph {
	g := f.g
	var readers [][]ir.ID
	of := map[ir.ID]*padding{}
	for id := range g.All() {
		if p := f.padding(id); p != nil {
			if readers == nil {
				readers = readersOf(g)
			}
			if p.around = f.around(id, readers); p.around != nil {
				of[id] = p
			}
		}
	}
	if len(of) == 0 {
		return g
	}
	c := nodes.CopyOf(g)
	for id := range g.All() { // in front of all, so that the group may be at any place
		if p := of[id]; p != nil {
			p.number = f.constant(c, p.neutral, g.Origin(id))
			if p.count != nil {
				p.over = f.constant(c, *p.count, g.Origin(id))
			}
		}
	}
	for id := range g.All() {
		if of[id] == nil {
			c.Node(id)
			continue
		}
		p, n, o := of[id], &g.Nodes[id], g.Origin(id)
		modes := op.MakeAttrs(op.Attr{Name: "modes", Val: n.Attrs.Val("modes")})
		e := nodes.PipeSpace(n).Elem
		made := c.G.Add(f.table.Must("map"), modes, nodes.PipeSpace(n), o, c.In(id)...)
		c.G.Nodes[made].Region = n.Region
		for _, b := range p.around {
			var in []ir.ID
			for k, y := range g.In(b.by) {
				if k == b.k {
					in = append(in, made)
				} else {
					in = append(in, f.alike(c, p.number, g.Type(y).With(e), o))
				}
			}
			made = c.G.Add(g.Nodes[b.by].Op, g.Nodes[b.by].Attrs, g.Type(b.by).With(e), o, in...)
		}
		c.To[id] = c.G.Add(p.fold, nil, g.Type(id), o, made)
		if p.count != nil {
			c.To[id] = c.G.Add(f.table.Infix("/"), nil, g.Type(id), o, c.To[id], p.over)
		}
	}
	return c.G
}

// padding is what padded knows of a reduction.
type padding struct {
	fold    *op.Def
	neutral value.Scalar  // leaves the result as it is
	count   *value.Scalar // nil: nothing divides the result
	around  []taken
	number  ir.ID // neutral and count in the new graph
	over    ir.ID
}

// constant adds a number.
func (f *nesting) constant(c *nodes.Copying, v value.Scalar, o ir.Origin) ir.ID {
	attrs := op.MakeAttrs(op.Attr{Name: "value", Val: op.Int(int(v.I))})
	switch v.Elem {
	case types.F64:
		attrs = attrs.With("value", op.Float(v.F))
	case types.F32:
		attrs = attrs.With("value", op.Float(v.F)).With("elem", op.Str("f32"))
	case types.Bool:
		attrs = attrs.With("value", op.Bool(v.I != 0))
	}
	return c.G.Add(f.table.Must("const"), attrs, v.Type(), o)
}

// alike adds a matrix of type t whose elements are one number.
func (f *nesting) alike(c *nodes.Copying, number ir.ID, t types.Type, o ir.Origin) ir.ID {
	r := &ir.Region{Graph: ir.New()}
	r.Args = []ir.ID{r.Graph.Add(f.table.Must("arg"), nil, types.ScalarOf(t.Elem), ir.Origin{})}
	r.Yields = r.Args
	id := c.G.Add(f.table.Must("map"), op.MakeAttrs(op.Attr{Name: "modes", Val: op.Ints(int(op.Single))}), t, o, number)
	c.G.Nodes[id].Region = r
	return id
}

// padding returns how pipe id is reduced over a larger matrix, or nil.
func (f *nesting) padding(id ir.ID) *padding {
	n := &f.g.Nodes[id]
	if n.Op.Role != op.Reduces || f.of(id) != foldMember {
		return nil
	}
	list, t := nodes.PipeFolds(f.table, n), nodes.PipeSpace(n)
	if len(list) != 1 || list[0] == nil {
		return nil
	}
	p, w := &padding{fold: list[0]}, loop.Word(0)
	switch p.fold.Class {
	case loop.Mean:
		if t.Elem != types.F64 {
			return nil
		}
		n := value.F64(float64(t.Count()))
		p.fold, p.count = f.table.Must("sum"), &n
	case loop.Sum, loop.Norm, loop.Any, loop.Count:
	case loop.All, loop.Least, loop.Greatest:
		w = p.fold.Class.Fold(t.Elem, [][]loop.Word{nil})
	default:
		return nil
	}
	p.neutral = loop.ScalarOf(t.Elem, w)
	return p
}

// taken says which operand of an operator becomes a part of a larger matrix.
type taken struct {
	by ir.ID
	k  int
}

// around returns the operators that take an operand of pipe id into a larger matrix, one after the
// other. It returns nil if anything but them and such reductions reads that operand.
func (f *nesting) around(id ir.ID, readers [][]ir.ID) (list []taken) {
	g := f.g
	for k, x := range g.In(id) {
		if f.of(x) != chainMember && f.of(x) != pointMember || !f.aligned(id, k) || f.turned(x) || ir.MayFail(g, x) && f.stops.Between(x, id) {
			continue
		}
		next := slices.DeleteFunc(slices.Clone(readers[x]), func(r ir.ID) bool { return f.padding(r) != nil })
		for len(next) == 1 && f.of(next[0]) == moveMember && !f.views(next[0]) && nodes.SameSend(g, next[0], id) {
			b := taken{next[0], slices.Index(g.In(next[0]), x)}
			if _, ok := placeIn(g, b.by, b.k); !ok {
				break
			}
			list, x, next = append(list, b), b.by, readers[b.by]
		}
		if list != nil {
			return list
		}
	}
	return nil
}

// end puts reduction id into the groups that make what it reduces.
func (m *merger) end(id ir.ID) {
	g := m.g
	m.results[id] = []ir.ID{id}
	if g.Type(id).Kind == types.Tuple {
		m.results[id] = m.readers[id]
		for _, part := range m.readers[id] {
			m.head[part] = id
		}
		m.list[id] = append(m.list[id], m.readers[id]...)
	}
	atPlace := map[ir.ID]bool{id: true} // chains of the group that the reduction reads at its own place
	for _, y := range slices.Backward(m.list[id]) {
		for k, x := range g.In(y) {
			switch {
			case !atPlace[y] || !m.aligned(y, k):
			case m.head[x] == m.head[id]:
				atPlace[x] = m.of(x) == chainMember && m.reads[x] == 1
			case m.stores(x, id):
				m.merge(m.head[x], m.head[id])
			}
		}
	}
}

// stores reports whether x is a result that its group stores, and that reduction r can read in the
// same loop. A chain alone is left to groups of rows, unless they know no such reduction.
func (m *merger) stores(x, r ir.ID) bool {
	h := m.head[x]
	if x != h && !slices.Contains(m.results[h], x) {
		return false
	}
	makes := func(x ir.ID) bool {
		return m.of(x) == pointMember || m.of(x) == moveMember && !m.views(x)
	}
	return slices.ContainsFunc(m.list[h], makes) || m.readsAlong(x, r) && !m.rows
}

// readsAlong reports whether one pass that makes x, the elements of a chain, and reduces them as r
// does takes less time than two passes. It does if r reads a matrix that the chain reads, or another
// view of it. Otherwise x may be made in the memory of its operand, and two passes take less time. It
// does not for a chain of functions, which takes longer to compute than to read and needs the
// registers of its loop.
func (m *merger) readsAlong(x, r ir.ID) bool {
	if pipe, is := nodes.StoredPart(m.g, x); is && m.of(x) == foldMember { // with reductions of the elements
		x = pipe
	} else if m.of(x) != chainMember || m.turned(x) {
		return false
	} else if m.g.Nodes[r].Op.Places {
		return true
	}
	return m.flops[x] <= nodes.AgainFlops/2 && m.readsAgain(x, r)
}

// merge makes one group of several, unless they are too large together for one loop. The group is at
// the place of the last one or, if another node reads a result before that, at the place of the first.
// It would be wrong there if a member read a value that is computed later: then the groups stay apart.
// They also stay apart if a member reads a reduction of another member, because the loop has its value
// only at the end. And they stay apart if a member may fail and another node may fail between the first
// such member, or the first group, and the last group. A result that only its own group reads is not
// stored.
func (m *merger) merge(groups ...ir.ID) {
	g := m.g
	first, last := slices.Min(groups), slices.Max(groups)
	var members, results []ir.ID
	steps := 0.0
	for _, h := range groups {
		members, steps = append(members, m.list[h]...), steps+m.steps[h]
		if several := m.results[h]; several != nil {
			results = append(results, several...)
		} else {
			results = append(results, h)
		}
	}
	slices.Sort(members)
	own, place := nodes.SetOf(members), last
	reduced := func(y ir.ID) bool { return own[y] && m.of(y) == foldMember && g.Type(y).IsScalar() }
	fails, _ := split(members, func(x ir.ID) bool { return ir.MayFail(g, x) })
	others := len(fails) > 0 && m.stops.Among(min(first, fails[0]), last) > len(fails)
	if steps > againSteps || others || slices.ContainsFunc(members, func(x ir.ID) bool {
		return m.picks(x) || slices.ContainsFunc(g.In(x), reduced)
	}) {
		return
	}
	other := func(y ir.ID) bool { return !own[y] }
	for _, x := range results {
		if slices.ContainsFunc(m.readers[x], func(y ir.ID) bool { return other(y) && m.head[y] <= last }) {
			place = first
		}
	}
	for _, x := range members {
		if slices.ContainsFunc(g.In(x), func(y ir.ID) bool { return other(y) && m.head[y] >= place }) {
			return
		}
	}
	matrices, numbers := split(results, func(x ir.ID) bool { return g.Type(x).IsDense() })
	matrices = slices.DeleteFunc(matrices, func(x ir.ID) bool { return len(m.readers[x]) > 0 && !slices.ContainsFunc(m.readers[x], other) })
	for _, h := range groups {
		delete(m.results, h)
		delete(m.list, h)
	}
	m.results[place], m.list[place], m.steps[place] = append(matrices, numbers...), members, steps
	for _, x := range members {
		m.head[x] = place
	}
}

// reducesRows reports a graph with reductions of rows, alone or in pipes.
func (f *nesting) reducesRows() bool {
	return reducesRows(f.g) || slices.ContainsFunc(f.g.Nodes, func(n ir.Node) bool {
		return n.Op.Role == op.Reduces && axisOf(nodes.PipeFolds(f.table, &n)) == op.FoldRows
	})
}

// turned reports a chain that reads an operand transposed: as a map it goes over pairs of blocks.
func (f *nesting) turned(id ir.ID) bool {
	return slices.Contains(f.g.Nodes[id].Attrs.Ints("modes"), int64(op.Trans))
}

// folds reports a node that reduces all elements: a map-reduce (which may also store them), a reduction
// without a chain, or the place of an extreme.
func (f *nesting) folds(id ir.ID) bool {
	g := f.g
	n, in := &g.Nodes[id], g.In(id)
	if len(in) == 0 {
		return false
	}
	t := nodes.SpaceIn(g, id)
	if !t.IsDense() || !t.Known() || t.Count() < 2 {
		return false
	}
	switch {
	case n.Op.Role == op.Reduces:
		return !n.Draws() && !f.turned(id) &&
			!slices.ContainsFunc(nodes.PipeFolds(f.table, n), func(d *op.Def) bool { return d != nil && !f.wholeOf(d, t.Elem) })
	case n.Region == nil && len(in) == 1:
		return f.wholeOf(n.Op, t.Elem)
	}
	return false
}

// wholeOf reports whether a loop over two indices can compute reduction d of elements of type e, with
// the contributions in any order.
func (f *nesting) wholeOf(d *op.Def, e types.Elem) bool {
	switch {
	case f.apart && (d.Places || d.Shard.Partial == ""):
		return false
	case d.Places:
		return e.IsFloat() || e == types.I64
	case d.Fold != op.FoldAll || d.Class == loop.NoClass:
		return false
	case e.IsFloat():
		return true
	}
	return slices.Contains([]loop.Class{loop.Sum, loop.Least, loop.Greatest, loop.Count, loop.Any, loop.All}, d.Class)
}

// space returns the attributes of a group without a matrix among its results: the rows and columns of
// what it reduces. Other groups have none, since the matrices say what the loop goes over.
func (f *nesting) space(results []ir.ID) *op.Attrs {
	if slices.ContainsFunc(results, func(id ir.ID) bool { return f.g.Type(id).IsDense() }) {
		return nil
	}
	t := nodes.SpaceIn(f.g, results[0])
	if t.Cols == 1 && !f.apart { // it is reduced like a row
		t.Rows, t.Cols = 1, t.Rows
	}
	return op.MakeAttrs(op.Attr{Name: "rows", Val: op.Int(t.Rows)}, op.Attr{Name: "cols", Val: op.Int(t.Cols)})
}
