package pass

import (
	"slices"

	"flow/compiler/nodes"
	"flow/ir"
	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
)

// Rounds makes one task of a loop over scalars and matrices that one worker has in its cache:
//
//	%3 = iterate(%0, %1) {carry=1} (%x, %c) { .. }
//
// becomes
//
//	%3 = rounds(%0, %1) (%x, %c) { %0 = iterate(%x, %c) {carry=1} (..) { .. }; yield part(%0) }
//
// A round of tasks costs microseconds, whatever is in it. The row compiles all rounds over a few
// numbers to one loop, and others to loops over elements that it launches round by round. Bits
// stay: the operators are the same, in the same order. It would be wrong where something is shown
// in between, or where sizes change, and slow where an operator that is no loop has work for several
// workers. alone says that no ranks share the work: workers then share the loops of a round.
func Rounds(g *ir.Graph, table *op.Table, alone bool) *ir.Graph {
	return roundsIn(g, nil, table, alone)
}

// around is the place of a region: its node, and the graph of that.
type around struct {
	g       *ir.Graph // has the node
	id      ir.ID
	args    []ir.ID // of the region
	outside *around // of g; nil: g is the program
}

// numbered returns the node that makes value x of g, and its graph, if it is a constant number, a ramp
// (op.Def.Ramp) or a view of a ramp. The node may be outside of g. The graph is nil for other values.
func (a *around) numbered(g *ir.Graph, x ir.ID) (*around, *ir.Graph, ir.ID) {
	n := &g.Nodes[x]
	if k := -1; n.Op.Role == op.Argument && a != nil {
		if k = slices.Index(a.args, x); k < a.g.Nodes[a.id].Carried() {
			return nil, nil, 0
		}
		return a.outside.numbered(a.g, a.g.In(a.id)[k+a.g.Nodes[a.id].FirstArg()])
	}
	if n.Op.Role == op.Constant && nodes.IsNumber(g.Type(x)) {
		return a, g, x
	}
	if n.Op.Ramp != nil {
		if _, _, ok := n.Op.Ramp(n.Attrs); ok {
			return a, g, x
		}
	}
	if in := g.In(x); n.Op.Laws.Has(op.View) && n.Op.Elements != nil && len(in) == 1 {
		if _, from, _ := a.numbered(g, in[0]); from != nil {
			return a, g, x
		}
	}
	return nil, nil, 0
}

// copied adds a copy of the numbered value x of g, and of its operands, to the graph to.
func (a *around) copied(g *ir.Graph, x ir.ID, to *ir.Graph, at ir.Origin) ir.ID {
	var in []ir.ID
	for _, y := range g.In(x) {
		around, from, id := a.numbered(g, y)
		in = append(in, around.copied(from, id, to, at))
	}
	return to.Add(g.Nodes[x].Op, g.Nodes[x].Attrs, g.Type(x), at, in...)
}

// roundsIn makes a task of each loop of g that fits, at any depth. a says where g is a region; nil: it
// is none.
func roundsIn(g *ir.Graph, a *around, table *op.Table, alone bool) *ir.Graph {
	out := g
	for id, n := range g.All() {
		if !nodes.IsControl(n) {
			continue
		}
		made := ir.Node{Op: n.Op, Attrs: n.Attrs}
		if n.Op.Control == op.Iterate && !nodes.Hinted(n) && !follows(g, id) && fits(g, a, id, alone) {
			made = ir.Node{Op: table.Must("rounds"), Region: roundsOf(g, a, id, table)}
		} else {
			same := true
			made.Region = nodes.EachRegion(n.Region, func(r *ir.Region) *ir.Region {
				x := &ir.Region{Graph: roundsIn(r.Graph, &around{g, id, r.Args, a}, table, alone), Args: r.Args, Yields: r.Yields}
				same = same && x.Graph == r.Graph
				return x
			})
			if same {
				continue
			}
		}
		if out == g {
			out = g.Clone()
		}
		x := &out.Nodes[id]
		x.Op, x.Attrs, x.Region = made.Op, made.Attrs, made.Region
	}
	return out
}

// follows reports a loop that reads an effect: it asserts or shows something after something else does.
// A task of the row has no such operand.
func follows(g *ir.Graph, id ir.ID) bool {
	return slices.ContainsFunc(g.In(id), func(x ir.ID) bool { return g.Type(x).Kind == types.Effect })
}

// roundsOf returns a region that consists of the loop id of g alone.
func roundsOf(g *ir.Graph, a *around, id ir.ID, table *op.Table) *ir.Region {
	n := &g.Nodes[id]
	at := ir.Origin{Span: n.Span}
	r := &ir.Region{Graph: ir.New()}
	var reads []ir.ID
	texts := map[int]*ir.Node{}
	for k, x := range g.In(id) {
		r.Args = append(r.Args, r.Graph.Add(table.Must("arg"), nil, g.Type(x), at))
		around, from, made := a.numbered(g, x)
		switch {
		case constantText(g, x):
			texts[k] = &g.Nodes[x]
		case from != nil && k >= n.Carried(): // a loop computes its numbers where it reads them
			reads = append(reads, around.copied(from, made, r.Graph, at))
		default:
			reads = append(reads, r.Args[k])
		}
	}
	loop := r.Graph.Add(n.Op, n.Attrs, g.Type(id), at, reads...)
	r.Graph.Nodes[loop].Region = nodes.EachRegion(n.Region, func(r *ir.Region) *ir.Region { return nodes.WithMade(r, texts) })
	for k, f := range g.Results(id) {
		attrs := op.MakeAttrs(op.Attr{Name: "at", Val: op.Int(k)})
		r.Yields = append(r.Yields, r.Graph.Add(table.Must("part"), attrs, f.Type, at, loop))
	}
	return r
}

// constantText reports a text that is known: the form of a message, which a loop reads where it
// fails.
func constantText(g *ir.Graph, id ir.ID) bool {
	return g.Nodes[id].Op.Role == op.Constant && g.Type(id) == types.ScalarOf(types.Str)
}

const (
	// fewNumbers and mostNumbers are the most elements of a matrix that lies in the first cache of one
	// worker, and in its second one beside others.
	fewNumbers, mostNumbers = 4096, 32768
	// mostKept is mostNumbers for a loop that keeps a part of each larger carried matrix. Tasks would copy
	// this part in every round.
	mostKept = 131072
	// mostPlaced is mostNumbers for a loop that changes each larger carried matrix at one place, which a
	// number tells. Its rounds cost the same for a matrix of any size. The place has at most fewNumbers
	// elements, or mostNumbers if a parfor makes it: larger ones are faster as tasks.
	mostPlaced = 1 << 26
	// mostAlone is mostNumbers where no ranks share the work, and mostWorkAlone is mostWork there for the
	// loops over elements: several workers share them.
	mostAlone, mostWorkAlone = 131072, 1 << 23
	// mostWork is the most operations of an operator that counts as small, and of a round with matrices
	// of more than fewNumbers: some 50 us of one worker.
	mostWork = 1 << 19
)

func (w *roundWork) fewElements(t types.Type) bool {
	return nodes.IsNumber(t) || t.IsDense() && t.Known() && t.Elem.Size() > 0 && t.Count() <= w.most
}

// roundWork estimates the work of a round of a loop.
type roundWork struct {
	most    int     // the most elements of a matrix
	mostOps float64 // the most operations of a loop over elements, and of a round with large matrices
	ops     float64 // operations
	large   bool    // the round has matrices of more than fewNumbers elements
}

// note adds a node with a result of type t and so many operations. It reports false if the operator has
// too much work, or if it makes a large matrix otherwise than by loops over elements.
func (w *roundWork) note(d *op.Def, t types.Type, ops float64) bool {
	w.ops += ops
	if t.IsDense() && t.Count() > fewNumbers {
		w.large = true
		// rows are put in order in loops only if they are few
		return ops <= w.mostOps && (d.Elements != nil && (d.Order == nil || d.Order.Own == "") || d.Elt != nil || d.Fold != op.NoFold || d.Role == op.Points)
	}
	return ops <= mostWork
}

// fits reports whether a loop carries and computes only scalars and matrices of few elements. It may
// capture any dense matrix.
func fits(g *ir.Graph, outside *around, id ir.ID, alone bool) bool {
	n := &g.Nodes[id]
	w := roundWork{most: mostNumbers, mostOps: mostWork}
	if alone && !handsOn(n) {
		w.most, w.mostOps = mostAlone, mostWorkAlone
	}
	if some, placed := keepsLarge(g, outside, id); placed {
		w.most = mostPlaced
	} else if some {
		w.most = mostKept
	}
	for k, x := range g.In(id) {
		t := g.Type(x)
		if k >= n.Carried() && constantText(g, x) {
			continue
		}
		if k < n.Carried() && !w.fewElements(t) || !nodes.IsNumber(t) && !(t.IsDense() && t.Known() && t.Elem.Size() > 0) {
			return false
		}
	}
	for _, f := range g.Results(id) {
		if f.Type.Kind != types.Effect && !w.fewElements(f.Type) {
			return false
		}
	}
	return w.within(g, id, outside) && (!w.large || w.ops <= w.mostOps)
}

// handsOn reports a loop that yields a carried matrix or a part of one unchanged (`next old = x`).
// Rounds of one task copy it, because the memory of the matrix is that of the result after the next
// one.
func handsOn(n *ir.Node) bool {
	g := n.Region.Graph
	return slices.ContainsFunc(n.Region.Yields, func(y ir.ID) bool {
		return g.Type(y).IsDense() && (g.Nodes[y].Op.Role == op.Argument || g.Nodes[y].Op.Laws.Has(op.View))
	})
}

// bounded reports a value of few elements. Its size may be one that only the run tells, if it is a part
// of a matrix or computed from such parts.
func (w *roundWork) bounded(g *ir.Graph, id ir.ID) bool {
	t := g.Type(id)
	if !t.IsDense() || t.Known() {
		return w.fewElements(t)
	}
	size, ok := nodes.MostSize(g, id)
	return ok && t.Elem.Size() > 0 && size[0]*size[1] <= w.most
}

// keepsLarge reports whether loop id carries matrices of more than mostNumbers elements, and a round
// chooses between old and new elements of each of them. placed: it chooses new ones at a place alone.
func keepsLarge(g *ir.Graph, outside *around, id ir.ID) (some, placed bool) {
	n := &g.Nodes[id]
	a := &around{g, id, n.Region.Args, outside}
	placed = true
	for k, x := range g.In(id)[:n.Carried()] {
		if t := g.Type(x); t.IsDense() && t.Known() && t.Count() > mostNumbers {
			some = true
			old, at := a.chooses(n.Region.Graph, n.Region.Yields[k], n.Region.Args[k])
			if placed = placed && at; !old {
				return false, false
			}
		}
	}
	return some, some && placed
}

// chooses reports whether value v of g is old, or may have elements of it, which an operator or the
// branches of a parfor choose. placed: it has other elements at most at a place that a number tells.
func (a *around) chooses(g *ir.Graph, v, old ir.ID) (some, placed bool) {
	n, in := &g.Nodes[v], g.In(v)
	switch {
	case n.Op.Operands == op.AsChosen:
		some1, placed1 := a.chooses(g, in[1], old)
		some2, placed2 := a.chooses(g, in[2], old)
		few := g.Type(v).Count() <= fewNumbers*g.Type(in[0]).Count()
		return some1 || some2, placed2 && (placed1 || few && a.atPlace(g, in[0]))
	case n.Op.Role == op.Points:
		y := n.Region.Graph.Nodes[n.Region.Yields[0]].Op
		some = slices.Contains(in, old) && (y.Operands == op.AsChosen || y.Control == op.Part)
		return some, some && a.keptButPlace(g, v) == old && placeSize(n) <= mostNumbers
	case n.Op.Control == op.Part && nodes.Branches(&g.Nodes[in[0]]): // a side may keep old
		from := g.In(in[0])[g.Nodes[in[0]].FirstArg():]
		k := slices.Index(from, old)
		for r := g.Nodes[in[0]].Region; r != nil && k >= 0; r = r.Next {
			side := &around{g, in[0], r.Args, a}
			is, _ := side.chooses(r.Graph, r.Yields[n.Attrs.Int("at")], r.Args[k])
			some = some || is
		}
		return some, false
	}
	return v == old, v == old
}

// atPlace reports a matrix of bools that are true at most where a line of numbers, each another one,
// has a certain number.
func (a *around) atPlace(g *ir.Graph, v ir.ID) bool {
	return onlyWhere(g, v, func(x ir.ID) bool {
		_, from, _ := a.numbered(g, x)
		return from != nil && !nodes.IsNumber(g.Type(x))
	}, func(ir.ID) bool { return true })
}

// keptButPlace returns the matrix whose elements parfor id keeps, except where an index equals one
// of a few numbers. It returns -1 if there is none.
func (a *around) keptButPlace(g *ir.Graph, id ir.ID) ir.ID {
	r := g.Nodes[id].Region
	indices := len(g.Nodes[id].Attrs.Ints("n"))
	if len(r.Args) < indices || r.Graph.Nodes[r.Yields[0]].Op.Control != op.Part {
		return -1
	}
	if k := keptButWhere(r, r.Args[:indices], r.Args[:indices], loop.MostPlaces); k >= indices {
		return g.In(id)[k-indices]
	}
	return -1
}

// placeSize returns the most elements that parfor n changes: those where one number equals an index.
// They are one element, a row or a column.
func placeSize(n *ir.Node) (size int64) {
	r, count := n.Region, n.Attrs.Ints("n")
	size = 1
	for d := range count {
		if keptButWhere(r, r.Args[d:d+1], r.Args[:len(count)], loop.MostPlaces) < len(count) {
			size = max(size, count[d])
		}
	}
	return size
}

// keptButWhere returns which argument of region r holds the elements that the region yields, except
// where an index equals one of at most places numbers. It returns -1 if there is no such argument. The
// indices are arguments of r, too, and vary lists the arguments that depend on them. A number that
// depends on an index would be wrong: i == p[j] holds at many places.
func keptButWhere(r *ir.Region, indices, vary []ir.ID, places int) int {
	g := r.Graph
	if g.Nodes[r.Yields[0]].Op.Control != op.Part {
		kept := -1
		for k := range g.Nodes {
			if x := g.Nodes[k].Op; x.Role == op.Argument || x.Role == op.Constant {
				continue
			}
			read := g.In(ir.ID(k))
			if kept >= 0 || len(read) == 0 {
				return -1
			}
			if kept = slices.Index(r.Args, read[0]); kept < 0 {
				return -1
			}
		}
		return kept
	}
	c := g.In(r.Yields[0])[0]
	branch, varies := &g.Nodes[c], dependents(g, vary...)
	index := func(x ir.ID) bool { return slices.Contains(indices, x) }
	if places == 0 || branch.Op.Control != op.Select || !onlyWhere(g, g.In(c)[0], index, func(x ir.ID) bool { return !varies[x] }) {
		return -1
	}
	other, inside, moved := branch.Region.Next, []ir.ID(nil), []ir.ID(nil)
	from := g.In(c)[branch.FirstArg():]
	for k, x := range from {
		if slices.Contains(indices, x) {
			inside = append(inside, other.Args[k])
		}
		if varies[x] {
			moved = append(moved, other.Args[k])
		}
	}
	if k := keptButWhere(other, inside, moved, places-1); k >= 0 {
		return slices.Index(r.Args, from[k])
	}
	return -1
}

// onlyWhere reports whether bool v of g is true at most where a value for which line holds equals a
// number for which fixed holds. Such a value has each number once.
func onlyWhere(g *ir.Graph, v ir.ID, line, fixed func(x ir.ID) bool) bool {
	n, in := &g.Nodes[v], g.In(v)
	if n.Op.Body == nil || len(in) != 2 || g.Type(v).Elem != types.Bool {
		return false
	}
	b := loop.New()
	e := g.Type(in[0]).Elem
	x := []loop.Val{b.Const(e, 0), b.Const(e, 0)}
	n.Op.Body(b, types.Bool, x)
	switch s := &b.Nest.Body.Stmts[len(b.Nest.Body.Stmts)-1]; s.Code {
	case loop.And:
		return onlyWhere(g, in[0], line, fixed) || onlyWhere(g, in[1], line, fixed)
	case loop.Eq:
		for k, y := range in {
			if line(y) && nodes.IsNumber(g.Type(in[1-k])) && fixed(in[1-k]) {
				return true
			}
		}
	}
	return false
}

// within reports whether the regions of node id compute only such values, by operators without effects,
// and adds their work.
func (w *roundWork) within(of *ir.Graph, id ir.ID, outside *around) bool {
	for r := of.Nodes[id].Region; r != nil; r = r.Next {
		g, a := r.Graph, &around{of, id, r.Args, outside}
		changed := r.Args // in their memory
		if carried := of.Nodes[id].Carried(); carried > 0 {
			changed = r.Args[:carried]
		}
		for i := range g.Nodes {
			n, t := &g.Nodes[i], g.Type(ir.ID(i))
			switch {
			case n.Op.Role == op.Argument, n.Op.Control == op.Part && w.bounded(g, ir.ID(i)):
			case nodes.IsControl(n):
				if !w.within(g, ir.ID(i), a) {
					return false
				}
			case t.Kind == types.Effect && n.Op.Elements != nil: // an assert: a loop has checks
			case n.Op.Role == op.Points && slices.Contains(changed, a.keptButPlace(g, ir.ID(i))):
				if !w.onePoint(n.Region) { // a loop computes what is at the place alone
					return false
				}
			case n.Op.Role == op.Points:
				if ops, fine := w.fewPoints(g, ir.ID(i)); !fine || !w.note(n.Op, t, ops) {
					return false
				}
			case n.Region != nil || n.Op.Role == op.Exchange || !n.Op.Laws.Has(op.Pure),
				!w.bounded(g, ir.ID(i)) && t != types.ScalarOf(types.Str):
				return false
			case a.atPlace(g, ir.ID(i)), n.Op.Operands == op.AsChosen && a.atPlace(g, g.In(ir.ID(i))[0]):
				w.ops++
			case !w.note(n.Op, t, nodes.Flops(g, ir.ID(i))):
				return false
			}
		}
	}
	return true
}

// onePoint reports whether a point computes only such values, and adds its work.
func (w *roundWork) onePoint(r *ir.Region) bool {
	for ; r != nil; r = r.Next {
		for g, id := range nodes.NodesIn(r.Graph, nodes.Branches) {
			x := &g.Nodes[id]
			ops, fine := nodes.Flops(g, id), x.Region == nil && x.Op.Laws.Has(op.Pure)
			switch {
			case x.Op.Role == op.Argument, x.Op.Control == op.Part, nodes.Branches(x):
				continue
			case x.Op.Role == op.Points:
				ops, fine = w.fewPoints(g, id)
			}
			if !fine || !w.note(x.Op, g.Type(id), ops) {
				return false
			}
		}
	}
	return true
}

// fewPoints returns how many operations a parfor runs. fine is false if they are too many, or if the
// program names a technique. If a bound is known only at run time, only reductions of all elements may
// read the parfor. The number of points is then estimated by the length of the longest matrix it reads.
func (w *roundWork) fewPoints(g *ir.Graph, id ir.ID) (ops float64, fine bool) {
	n, t, points := &g.Nodes[id], g.Type(id), int64(1)
	ops, fine = w.pointOps(n.Region)
	if n.Attrs.Ints("lo") != nil {
		fine = fine && w.fewElements(t)
		for _, k := range n.Attrs.Ints("n") {
			points *= k
		}
	} else {
		fine = fine && len(n.Attrs.Ints("by")) == 1 && t.Cols == 1
		for _, x := range g.In(id) {
			if of := g.Type(x); of.IsDense() && of.Known() {
				points = max(points, int64(max(of.Rows, of.Cols)))
			}
		}
		for k := range g.Nodes {
			fine = fine && (g.Nodes[k].Op.Fold == op.FoldAll || !slices.Contains(g.In(ir.ID(k)), id))
		}
	}
	ops *= float64(points)
	return ops, fine && !nodes.Hinted(n) && ops <= w.mostOps
}

// pointOps returns how many operations a point of a parfor runs, in all branches. fine is false if a
// branch has other operators than pure ones on small matrices.
func (w *roundWork) pointOps(r *ir.Region) (ops float64, fine bool) {
	for ; r != nil; r = r.Next {
		for g, id := range nodes.NodesIn(r.Graph, nodes.Branches) {
			x, t := &g.Nodes[id], g.Type(id)
			switch {
			case x.Op.Role == op.Argument || x.Op.Role == op.Constant || x.Op.Control == op.Part && t.Kind != types.Effect || nodes.Branches(x):
				continue
			case x.Region != nil || !x.Op.Laws.Has(op.Pure) || !w.fewElements(t):
				return 0, false
			}
			ops++
			if !x.Op.Laws.Has(op.View) {
				ops = max(ops, ops-1+nodes.Flops(g, id))
			}
		}
	}
	return ops, true
}
