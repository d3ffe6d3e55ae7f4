package pass

import (
	"maps"
	"slices"

	"flow/compiler/nodes"
	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
)

// RowRounds turns rounds over matrices whose rows do not depend on each other into a loop over rows:
//
//	%3 = iterate(%0, %1) {carry=1, times=20} (%x, %a) { %2 = div(%a, %x); .. }
//	->  %3 = parfor(%0, %1) (%i, %0, %1) { %2 = %0[%i, :]; %3 = %1[%i, :]; yield iterate(%2, %3) { the same } }
//
// All rounds of a row stay in registers, and the rows are lanes of vectors. Rounds over matrices would
// read and write memory each time. Bits stay, since each element has the same operators in the same
// order.
//
// Where all operators are elementwise, the loop goes over elements, and so does what reads its results
// element by element. Each matrix that something else reads is then made by a loop of its own: rounds
// of few operations take less time twice in registers than once in memory. Rounds of functions such as
// exp do not. A column or row that moves through a matrix from round to round is read at the element's
// place: panels of time series, paths of given increments. A row draws only its own random numbers if
// the seed depends on the round.
//
// It would be wrong if the number of rounds depended on the matrices: that reduces all rows, so such a
// loop stays. Loops with operators that may fail stay, too, so that the first failure in the order of
// rounds is reported. It would be slow if a round had more operators on numbers than on rows, and for
// rounds over few elements inside of rounds: see Rounds.
func RowRounds(g *ir.Graph, table *op.Table, sizes nodes.Sizes) *ir.Graph {
	c, uses, changed := nodes.CopyOf(g), g.Uses(), false
	owner := make([]*rowRounds, g.Len()) // of what is made with a loop
	for id, n := range g.All() {
		if r := owner[id]; r != nil {
			if r.each && slices.Contains(r.reads, id) {
				r.write(c, id)
			}
			continue
		}
		if n.Op.Control == op.Iterate {
			r := &rowRounds{g: g, id: id, table: table, block: sizes.Filled().Block, each: true}
			if !r.is(uses, owner) {
				r.each = false
			}
			if r.each || r.is(uses, owner) {
				for x := range r.members {
					owner[x] = r
				}
				if changed = true; !r.each {
					r.write(c, r.reads...)
				}
				continue
			}
		}
		c.Node(id)
	}
	if !changed {
		return g
	}
	return c.G
}

const (
	// The least number of rows, or elements, is Sizes.Block / leastRowRounds: workers share them, and
	// they are lanes of vectors. Within other rounds, a matrix of up to Sizes.Block / cachedRowRounds
	// elements stays in a cache anyway.
	leastRowRounds, cachedRowRounds = 1024, 2
	// mostRowRounds is the most columns of a row for which registers and the first cache hold a round, and
	// wideRowRounds the most for the second cache. Rounds of functions such as exp gain nothing in the
	// second one, because a row computes them again for each reader.
	mostRowRounds, wideRowRounds = 64, 256
	// mostRounds is how often rounds in registers are made, at most.
	mostRounds = 3
)

// rowRounds is a loop that may become one over rows.
type rowRounds struct {
	g     *ir.Graph
	id    ir.ID
	table *op.Table
	block int // of Sizes
	rows  int
	cols  int     // of the carried matrices
	wide  int     // the most columns of a row
	each  bool    // the loop goes over elements
	moved bool    // the loop reads other matrices at places that depend on its indices
	once  int     // operators on numbers, which each row would make again
	made  int     // operators on rows
	flops float64 // of these
	// rowed says of each region which values have rows.
	rowed map[*ir.Graph][]bool
	// members are the parts of the loop, and what is made of them element by element. reads lists those
	// that others read.
	members map[ir.ID]bool
	reads   []ir.ID
}

// is reports a loop that this pass rewrites.
func (r *rowRounds) is(uses []int32, owner []*rowRounds) bool {
	n, in := &r.g.Nodes[r.id], r.g.In(r.id)
	if *r = (rowRounds{g: r.g, id: r.id, table: r.table, block: r.block, each: r.each, rowed: map[*ir.Graph][]bool{}}); nodes.Hinted(n) || follows(r.g, r.id) || n.Carried() == 0 {
		return false
	}
	for _, x := range in[:n.Carried()] {
		if t := r.g.Type(x); t.IsDense() && t.Known() {
			r.rows, r.cols = max(r.rows, t.Rows), max(r.cols, t.Cols)
		}
	}
	if r.rows*r.cols < 2 || !r.each && (r.rows < max(2, r.block/leastRowRounds) || r.cols > wideRowRounds) {
		return false
	}
	least := r.block / leastRowRounds
	if last := len(r.g.Nodes) - 1; r.g.Nodes[last].Op == nodes.Closing {
		least = r.block / cachedRowRounds
	}
	by := make([]bool, len(in))
	for k, x := range in {
		t := r.g.Type(x)
		by[k] = r.byRows(t)
		if !by[k] && !nodes.IsNumber(t) && (k < n.Carried() || !t.IsDense() || !t.Known()) {
			return false
		}
	}
	if !r.within(r.g, r.id, by, nil) || r.once > r.made || r.rows*r.wide <= least {
		return false
	}
	if !r.each && r.wide > mostRowRounds && r.flops > nodes.AgainFlops*float64(r.rows*r.cols) {
		return false
	}
	elem := types.NoElem
	r.members = map[ir.ID]bool{}
	for i := int(r.id) + 1; i < len(r.g.Nodes); i++ {
		x := ir.ID(i)
		if part := &r.g.Nodes[i]; part.Op.Control != op.Part || r.g.In(x)[0] != r.id {
			continue
		}
		r.members[x] = true
		if t := r.g.Type(x); uses[x] == 0 {
			continue
		} else if r.each && (t.Rows != r.rows || t.Cols != r.cols) || !by[r.g.Nodes[i].Attrs.Int("at")] || !r.each && elem != types.NoElem && elem != t.Elem {
			return false
		}
		elem = r.g.Type(x).Elem
		r.reads = append(r.reads, x)
	}
	if r.each && len(r.reads) > 0 {
		r.follow(uses, owner)
	}
	if !r.each {
		return len(r.reads) > 0
	}
	again, carried := float64(len(r.reads)-1)*r.flops, float64(n.Carried()*r.rows*r.cols)
	return len(r.reads) > 0 && len(r.reads) <= mostRounds && again <= nodes.AgainFlops*carried
}

// follow makes members of what reads the results element by element, if that leaves no more to store.
// What an earlier loop makes stays there: that loop stores only what no member of it reads.
func (r *rowRounds) follow(uses []int32, owner []*rowRounds) {
	g := r.g
	members := maps.Clone(r.members)
	for i := int(r.id) + 1; i < len(g.Nodes); i++ {
		x, t := ir.ID(i), g.Type(ir.ID(i))
		fits := func(y ir.ID) bool { return members[y] || nodes.IsNumber(g.Type(y)) || r.byRows(g.Type(y)) }
		if members[x] || owner[x] != nil || !nodes.ElementwiseOperator(&g.Nodes[i]) || !t.IsDense() || t.Rows != r.rows || t.Cols != r.cols || t.Elem.Size() == 0 ||
			ir.MayFail(g, x) || !nodes.SameSend(g, r.id, x) || uses[x] == 0 {
			continue
		}
		if in := g.In(x); slices.ContainsFunc(in, func(y ir.ID) bool { return members[y] }) && !slices.ContainsFunc(in, func(y ir.ID) bool { return !fits(y) }) {
			members[x] = true
		}
	}
	var reads []ir.ID
	for i := int(r.id) + 1; i < len(g.Nodes); i++ {
		for _, y := range g.In(ir.ID(i)) {
			if members[y] && !members[ir.ID(i)] && !slices.Contains(reads, y) {
				reads = append(reads, y)
			}
		}
	}
	if len(reads) <= len(r.reads) {
		r.members, r.reads = members, reads
	}
}

// byRows reports whether a matrix of type t is made row by row, or element by element. r.wide then
// counts its columns.
func (r *rowRounds) byRows(t types.Type) bool {
	by := t.IsDense() && (t.Rows == r.rows || r.each && t.Rows == 1) && t.Known() && t.Elem.Size() > 0
	if by {
		r.wide = max(r.wide, t.Cols)
	}
	return by && (t.Cols <= wideRowRounds && !r.each || r.each && (t.Cols == r.cols || t.Cols == 1))
}

// within reports whether row i of each matrix in loop or branch id follows from rows i of others, and
// numbers from numbers. by tells the matrices among the arguments of its regions, and at the ranges
// around it.
func (r *rowRounds) within(of *ir.Graph, id ir.ID, by []bool, at ir.Ranges) bool {
	carried := of.Nodes[id].Carried()
	for region := of.Nodes[id].Region; region != nil; region = region.Next {
		g, inner := region.Graph, at.Within(of, id, region)
		rowed := make([]bool, g.Len())
		r.rowed[g] = rowed
		for k, a := range region.Args {
			rowed[a] = by[k]
		}
		for i := range g.Nodes {
			if n := &g.Nodes[i]; n.Op.Role != op.Argument && n.Op.Role != op.Constant {
				var ok bool
				if rowed[i], ok = r.takes(g, ir.ID(i), rowed, inner); !ok {
					return false
				}
			}
		}
		for k, y := range region.Yields {
			is := carried > 0 && by[k]
			if of.Nodes[id].Op.Control == op.Select {
				is = r.byRows(g.Type(y))
			}
			if rowed[y] != is || !is && !nodes.IsNumber(g.Type(y)) {
				return false
			}
		}
		carried = 0 // the condition is a number
	}
	return true
}

// takes reports whether a node makes a number of numbers, or rows of rows alone.
func (r *rowRounds) takes(g *ir.Graph, id ir.ID, rowed []bool, at ir.Ranges) (is, ok bool) {
	n, t, in := &g.Nodes[id], g.Type(id), g.In(id)
	of := make([]bool, len(in))
	some := false
	for k, x := range in {
		of[k] = rowed[x]
		some = some || of[k]
	}
	if some {
		r.made, r.flops = r.made+1, r.flops+nodes.Flops(g, id)
	}
	switch {
	case n.Op.Control == op.Iterate:
		if nodes.Hinted(n) || follows(g, id) {
			return false, false
		}
		return some, r.within(g, id, of, at)
	case n.Op.Control == op.Select: // by a number: all rows take the same side
		return some, !of[0] && !follows(g, id) && r.within(g, id, of[1:], at)
	case n.Op.Control == op.Part:
		return r.byRows(t), r.byRows(t) || nodes.IsNumber(t)
	case n.Region != nil || !n.Op.Laws.Has(op.Pure) || n.Draws() || at.MayFail(g, id):
		return false, false
	case r.each && n.Op.Role == op.Windows && r.byRows(t):
		r.moved = true
		return true, !some
	case drawn(g, id) && r.byRows(t) && t.Rows == r.rows && (!r.each || t.Cols == r.cols):
		r.moved, r.made, r.flops = true, r.made+1, r.flops+nodes.Flops(g, id)
		return true, true
	case !some:
		r.once++
		return false, nodes.IsNumber(t) && (nodes.ElementwiseOperator(n) || n.Op.Role == op.Picks)
	case !r.byRows(t):
		return false, false
	case nodes.ElementwiseOperator(n):
		for k, x := range in {
			if of := g.Type(x); !rowed[x] && !nodes.IsNumber(of) && of.Rows != 1 || k > 0 && of.Elem == types.Str {
				return false, false
			}
		}
		return true, true
	case r.each:
		return false, false
	case n.Op.Role == op.Windows:
		return true, of[0] && !of[1] && !of[2] && isZero(g, in[1], at)
	}
	cut := n.Attrs.Ints("at")
	return true, n.Op.Fold == op.FoldRows && n.Attrs == nil && len(in) == 1 || n.Op.Role == op.Beside && !slices.Contains(of, false) ||
		n.Op.Role == op.Slices && len(cut) == 4 && cut[0] == 0
}

// drawn reports a matrix of random numbers. Each element follows from its place and from numbers, such
// as a seed that only the run knows.
func drawn(g *ir.Graph, id ir.ID) bool {
	n, in := &g.Nodes[id], g.In(id)
	return n.Op.Elements != nil && n.Op.Laws.Has(op.Total) && g.Type(id).IsDense() && len(in) > 0 && !slices.ContainsFunc(in, func(x ir.ID) bool { return !nodes.IsNumber(g.Type(x)) })
}

// isZero reports a number that is 0 in all rounds.
func isZero(g *ir.Graph, x ir.ID, at ir.Ranges) bool {
	if n := &g.Nodes[x]; n.Op.Role == op.Constant {
		v, known := n.Attrs.Get("value")
		return known && (v.Kind == op.IntVal && v.I == 0 || v.Kind == op.FloatVal && v.F == 0)
	}
	r, known := at[x]
	return known && r == [2]int64{}
}

// row is a type for one row, or one element.
func (r *rowRounds) row(t types.Type, by bool) types.Type {
	switch {
	case by && r.each:
		return types.ScalarOf(t.Elem)
	case by:
		t.Rows = 1
	}
	return t
}

// of returns regions for one row.
func (r *rowRounds) of(region *ir.Region) *ir.Region { return nodes.EachRegion(region, r.regionOf) }

func (r *rowRounds) regionOf(region *ir.Region) *ir.Region {
	g, to := region.Graph, make([]ir.ID, region.Graph.Len())
	out := &ir.Region{Graph: ir.New()}
	out.Graph.CopyTables(g)
	var at []ir.ID
	if r.moved {
		at = append(at, r.index(out.Graph))
	}
	if r.moved && r.each {
		at = append(at, r.index(out.Graph))
	}
	for i, rowed := range r.rowed[g] {
		id := ir.ID(i)
		n, in, t := &g.Nodes[i], nodes.Through(to, g.In(id)), g.Type(id)
		attrs, of := n.Attrs, r.row(t, rowed)
		switch cut := attrs.Ints("at"); {
		case rowed && drawn(g, id): // a loop draws only what is read
			whole := out.Graph.Add(n.Op, attrs, t, g.Origin(id), in...)
			to[i] = r.placeOf(out.Graph, of, g.Origin(id), whole, at)
			continue
		case rowed && r.each && n.Op.Role == op.Windows:
			for axis, size := range [2]int{t.Rows, t.Cols} {
				if size > 1 {
					in[1+axis] = out.Graph.Add(r.table.Must("add"), nil, types.ScalarOf(types.I64), g.Origin(id), in[1+axis], at[axis])
				}
			}
			to[i] = out.Graph.Add(r.table.Must("element"), nil, of, g.Origin(id), in...)
			continue
		case rowed && n.Op.Role == op.Windows:
			attrs = attrs.With("size", op.Ints(1, t.Cols))
		case rowed && len(cut) == 4:
			attrs = attrs.With("at", op.Ints(0, int(cut[1]), 1, t.Cols))
		}
		if nodes.IsControl(n) {
			in, of = append(in, at...), r.results(g, id)
		}
		to[i] = out.Graph.Add(n.Op, attrs, of, g.Origin(id), in...)
		if nodes.IsControl(n) {
			out.Graph.Nodes[to[i]].Region = r.of(n.Region)
		}
	}
	out.Args, out.Yields = append(nodes.Through(to, region.Args), at...), nodes.Through(to, region.Yields)
	return out
}

// placeOf adds what a row reads of the node whole, a matrix: element (at[0], at[1]) if the loop goes
// over elements, else row at[0]. It has type t.
func (r *rowRounds) placeOf(g *ir.Graph, t types.Type, o ir.Origin, whole ir.ID, at []ir.ID) ir.ID {
	if r.each {
		return g.Add(r.table.Must("element"), nil, t, o, whole, at[0], at[1])
	}
	zero := g.Add(r.table.Must("const"), op.MakeAttrs(op.Attr{Name: "value", Val: op.Int(0)}), types.ScalarOf(types.I64), o)
	return g.Add(r.table.Must("window"), op.MakeAttrs(op.Attr{Name: "size", Val: op.Ints(1, t.Cols)}), t, o, whole, at[0], zero)
}

// index adds an argument that is an index.
func (r *rowRounds) index(g *ir.Graph) ir.ID {
	return g.Add(r.table.Must("arg"), nil, types.ScalarOf(types.I64), r.g.Origin(r.id))
}

// results is the type of a loop over a row.
func (r *rowRounds) results(g *ir.Graph, id ir.ID) types.Type {
	var list []types.Type
	for _, f := range g.Results(id) {
		list = append(list, r.row(f.Type, r.byRows(f.Type)))
	}
	return types.TupleOf(list...)
}

// write adds the loop over rows that makes some of the members.
func (r *rowRounds) write(c *nodes.Copying, reads ...ir.ID) {
	g, n := r.g, &r.g.Nodes[r.id]
	o := g.Origin(r.id)
	body := &ir.Region{Graph: ir.New()}
	b := body.Graph
	b.CopyTables(g)
	dims, line := 1, r.each && r.rows == 1 // workers share the first index, so a row is made as a column
	if r.each && !line {
		dims = 2
	}
	for range dims {
		body.Args = append(body.Args, r.index(b))
	}
	zero := b.Add(r.table.Must("const"), op.MakeAttrs(op.Attr{Name: "value", Val: op.Int(0)}), types.ScalarOf(types.I64), o)
	index, at := slices.Clone(body.Args), []ir.ID(nil)
	if line {
		index = []ir.ID{zero, index[0]}
	}
	if r.moved {
		at = index
	}
	var outer []ir.ID // what the loop reads
	to := map[ir.ID]ir.ID{}
	// row adds what stands for a value of g in the body.
	row := func(x ir.ID) ir.ID {
		if y, known := to[x]; known {
			return y
		}
		t, of := g.Type(x), &g.Nodes[x]
		if of.Op.Role == op.Constant && nodes.IsNumber(t) { // counters that begin with a known number have known values
			to[x] = b.Add(of.Op, of.Attrs, t, o)
			return to[x]
		}
		a := b.Add(r.table.Must("arg"), nil, t, o)
		body.Args, outer = append(body.Args, a), append(outer, c.To[x])
		switch one := r.row(t, true); {
		case !r.byRows(t):
		case r.each:
			i, j := zero, zero
			if t.Rows > 1 {
				i = index[0]
			}
			if t.Cols > 1 {
				j = index[1]
			}
			a = b.Add(r.table.Must("element"), nil, one, o, a, i, j)
		default:
			a = b.Add(r.table.Must("window"), op.MakeAttrs(op.Attr{Name: "size", Val: op.Ints(1, t.Cols)}), one, o, a, index[0], zero)
		}
		to[x] = a
		return a
	}
	rowsOf := func(ids []ir.ID) (out []ir.ID) {
		for _, x := range ids {
			out = append(out, row(x))
		}
		return out
	}
	loop := b.Add(n.Op, n.Attrs, r.results(g, r.id), o, append(rowsOf(g.In(r.id)), at...)...)
	b.Nodes[loop].Region, to[r.id] = r.of(n.Region), loop
	needed := reached(g, reads)
	cols, elem := 0, types.NoElem
	for x := r.id + 1; x <= slices.Max(reads); x++ {
		if r.members[x] && needed[x] {
			to[x] = b.Add(g.Nodes[x].Op, g.Nodes[x].Attrs, r.row(g.Type(x), true), g.Origin(x), rowsOf(g.In(x))...)
		}
		if slices.Contains(reads, x) {
			cols, elem = cols+g.Type(x).Cols, g.Type(x).Elem
		}
	}
	y := to[reads[0]]
	if len(reads) > 1 {
		y = b.Add(r.table.Must("cbind"), nil, types.DenseOf(elem, 1, cols), o, rowsOf(reads)...)
	}
	body.Yields = []ir.ID{y}
	by1, lo, size, names, t := []int{1, 1}, []int{0, 0}, []int{r.rows, r.cols}, "i j", types.DenseOf(elem, r.rows, cols)
	if line {
		size, t = size[1:], types.DenseOf(elem, cols, 1)
	}
	attrs := op.MakeAttrs(op.Attr{Name: "by", Val: op.Ints(by1[:dims]...)}, op.Attr{Name: "lo", Val: op.Ints(lo[:dims]...)},
		op.Attr{Name: "n", Val: op.Ints(size[:dims]...)}, op.Attr{Name: "names", Val: op.Str(names[:2*dims-1])})
	all := c.G.Add(r.table.Must("parfor"), attrs, t, o, outer...)
	c.G.Nodes[all].Region = body
	if line {
		all = c.G.Add(r.table.Must("t"), nil, types.DenseOf(elem, 1, cols), o, all)
	}
	from := 0
	for _, x := range reads {
		t := g.Type(x)
		c.To[x] = all
		if len(reads) > 1 {
			c.To[x] = c.G.Add(r.table.Must("slice"), op.MakeAttrs(op.Attr{Name: "at", Val: op.Ints(0, from, t.Rows, t.Cols)}), t, g.Origin(x), all)
		}
		from += t.Cols
	}
}
