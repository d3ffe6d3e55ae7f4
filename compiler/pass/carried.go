package pass

import (
	"slices"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
)

// form is another form in which a loop carries a value: as values of some types. into returns
// these, made of node x of a graph, and from makes the value of them again.
type form struct {
	types []types.Type
	into  func(g *ir.Graph, x ir.ID, o ir.Origin) []ir.ID
	from  func(g *ir.Graph, of []ir.ID, o ir.Origin) ir.ID
	cut   cutting // of a value in blocks
}

// reforming is a copy of a graph whose loops carry some values in other forms.
type reforming struct {
	*copying
	part  *op.Def
	forms map[ir.ID][]*form // of an old loop: those of its carried values; nil: as before
	made  map[[2]int]ir.ID  // results of new loops that have other forms, in the old one, by (loop, number)
}

// loops copies the graph. chosen returns the forms of what a loop carries. node may make the new
// node of one in a loop; of tells the form of an old argument, and its values. loops reports
// whether a loop has changed.
func (c *reforming) loops(chosen func(n *ir.Node) []*form, node func(b *copying, id ir.ID, of func(x ir.ID) (*form, []ir.ID)) bool) bool {
	for id, n := range c.old.All() {
		if n.Op.Control == op.Iterate {
			if forms := chosen(n); slices.ContainsFunc(forms, func(f *form) bool { return f != nil }) {
				c.forms[id] = forms
				c.loop(id, node)
				continue
			}
		}
		if n.Op.Control == op.Part && c.forms[c.old.In(id)[0]] != nil {
			c.result(id)
			continue
		}
		c.node(id)
	}
	return len(c.forms) > 0
}

// loop copies a loop. An effect comes behind the values that it carries.
func (c *reforming) loop(id ir.ID, node func(b *copying, id ir.ID, of func(x ir.ID) (*form, []ir.ID)) bool) {
	n, forms, o := &c.old.Nodes[id], c.forms[id], c.old.Origin(id)
	var in []ir.ID
	var ts []types.Type
	for k, x := range c.in(id) {
		if k < len(forms) && forms[k] != nil {
			in, ts = append(in, forms[k].into(c.g, x, o.NoDest())...), append(ts, forms[k].types...)
			continue
		}
		if in = append(in, x); k < len(forms) {
			ts = append(ts, c.old.Results(id)[k].Type)
		}
	}
	attrs := n.Attrs.With("carry", op.Int(len(ts)))
	for _, f := range c.old.Results(id)[len(forms):] {
		ts = append(ts, f.Type)
	}
	c.to[id] = c.g.Add(n.Op, attrs, types.TupleOf(ts...), o, in...)
	c.g.Nodes[c.to[id]].Region = eachRegion(n.Region, func(r *ir.Region) *ir.Region {
		b, args, out := copyOf(r.Graph), make([][]ir.ID, len(r.Args)), &ir.Region{}
		of := func(x ir.ID) (*form, []ir.ID) {
			if k := slices.Index(r.Args[:len(forms)], x); k >= 0 {
				return forms[k], args[k]
			}
			return nil, nil
		}
		for id, n := range r.Graph.All() {
			k := -1
			if n.Op.Role == op.Argument {
				k = slices.Index(r.Args, id)
			}
			switch {
			case k >= 0 && k < len(forms) && forms[k] != nil:
				for _, t := range forms[k].types {
					args[k] = append(args[k], b.g.Add(n.Op, nil, t, r.Graph.Origin(id)))
				}
				b.to[id] = forms[k].from(b.g, args[k], r.Graph.Origin(id))
			case !node(b, id, of):
				b.node(id)
			}
			if k >= 0 && args[k] == nil {
				args[k] = []ir.ID{b.to[id]}
			}
		}
		for k, y := range r.Yields {
			if r == n.Region && k < len(forms) && forms[k] != nil {
				out.Yields = append(out.Yields, forms[k].into(b.g, b.to[y], r.Graph.Origin(y).NoDest())...)
			} else {
				out.Yields = append(out.Yields, b.to[y])
			}
		}
		out.Graph, out.Args = b.g, slices.Concat(args...)
		return out
	})
}

// result makes the result of a loop that part id selects.
func (c *reforming) result(id ir.ID) {
	loop, k := c.old.In(id)[0], c.old.Nodes[id].Attrs.Int("at")
	forms, at, o := c.forms[loop], k, c.old.Origin(id)
	for _, f := range forms[:min(k, len(forms))] {
		if f != nil {
			at += len(f.types) - 1
		}
	}
	part := func(k int, t types.Type) ir.ID {
		return c.g.Add(c.part, op.MakeAttrs(op.Attr{Name: "at", Val: op.Int(k)}), t, o, c.to[loop])
	}
	if k >= len(forms) || forms[k] == nil {
		c.to[id] = part(at, c.old.Type(id))
		return
	}
	key := [2]int{int(loop), k}
	if _, ok := c.made[key]; !ok {
		var of []ir.ID
		for j, t := range forms[k].types {
			of = append(of, part(at+j, t))
		}
		c.made[key] = forms[k].from(c.g, of, o)
	}
	c.to[id] = c.made[key]
}

// dropCarried drops the carried values of loop id that nothing depends on, over any number of
// rounds: no result that is read, no condition and no effect. uses counts the readers of g's nodes;
// parts lists the parts of the loop.
func dropCarried(g *ir.Graph, id ir.ID, parts []ir.ID, uses []int32) {
	n := &g.Nodes[id]
	k := n.Carried()
	needed := neededCarried(g, id, parts, uses)
	// a loop that only asserts keeps one carried value and its next
	if k > 0 && !slices.Contains(needed, true) {
		needed[0] = true
		nextRounds(n.Region, needed)
	}
	keep := make([]bool, len(g.In(id)))
	left := 0
	for i := range keep {
		if keep[i] = i >= k || needed[i]; keep[i] && i < k {
			left++
		}
	}
	if left == k {
		return
	}
	in := kept(g.In(id), keep)
	var ts []types.Type
	at := make([]int, len(g.Results(id)))
	for i, f := range g.Results(id) {
		if at[i] = len(ts); i >= k || needed[i] {
			ts = append(ts, f.Type)
		}
	}
	g.Replace(id, n.Op, n.Attrs.With("carry", op.Int(left)), in...)
	g.Nodes[id].Region = eachRegion(n.Region, func(r *ir.Region) *ir.Region {
		x := &ir.Region{Graph: r.Graph, Args: r.Args, Yields: r.Yields}
		if r == n.Region {
			x.Yields = kept(r.Yields, needed)
		}
		return without(swept(x), keep)
	})
	g.SetType(id, types.TupleOf(ts...))
	for _, p := range parts {
		if old := g.Nodes[p].Attrs.Int("at"); old < k && !needed[old] {
			continue // unread: the caller drops it
		}
		g.Nodes[p].Attrs = g.Nodes[p].Attrs.With("at", op.Int(at[g.Nodes[p].Attrs.Int("at")]))
	}
}

// neededCarried returns which carried values a loop needs.
func neededCarried(g *ir.Graph, id ir.ID, parts []ir.ID, uses []int32) []bool {
	n := &g.Nodes[id]
	needed := make([]bool, n.Carried())
	for _, p := range parts {
		if at := g.Nodes[p].Attrs.Int("at"); at < len(needed) && uses[p] > 0 {
			needed[at] = true
		}
	}
	body := n.Region
	if body.Next != nil {
		markArgs(body.Next, body.Next.Yields, needed)
	}
	for r := body; r != nil; r = r.Next {
		markArgs(r, effectsOf(r.Graph), needed)
	}
	nextRounds(body, needed)
	return needed
}

// nextRounds adds the values that the next values of needed ones depend on.
func nextRounds(body *ir.Region, needed []bool) {
	for before := -1; ; {
		from := kept(body.Yields, needed)
		if len(from) == before {
			return
		}
		before = len(from)
		markArgs(body, from, needed)
	}
}

// markArgs marks the carried arguments that nodes of r depend on.
func markArgs(r *ir.Region, from []ir.ID, needed []bool) {
	reach := reached(r.Graph, from)
	for i := range needed {
		needed[i] = needed[i] || reach[r.Args[i]]
	}
}

// reached returns the nodes that those of from depend on, and those of from.
func reached(g *ir.Graph, from []ir.ID) []bool {
	set := setOf(from)
	return g.Needed(func(id ir.ID) bool { return set[id] })
}

// dependents returns the nodes of g that depend on those of list, and those of list.
func dependents(g *ir.Graph, list ...ir.ID) []bool {
	out := make([]bool, g.Len())
	for i := range out {
		out[i] = slices.Contains(list, ir.ID(i)) || slices.ContainsFunc(g.In(ir.ID(i)), func(y ir.ID) bool { return out[y] })
	}
	return out
}

// swept returns r without the nodes that neither its yields nor an effect needs. Arguments stay.
func swept(r *ir.Region) *ir.Region {
	return r.Compact(reached(r.Graph, slices.Concat(effectsOf(r.Graph), r.Yields, r.Args)))
}

// effectsOf lists the nodes of a graph that are kept though nothing reads them.
func effectsOf(g *ir.Graph) (list []ir.ID) {
	for i := range g.Nodes {
		if g.Required(ir.ID(i)) {
			list = append(list, ir.ID(i))
		}
	}
	return list
}

// CarryBlocks lets a loop whose body was cut into blocks carry the blocks:
//
//	iterate(%c) { %1 = slice(%0); %2 = slice(%0); ..; %9 = lay(%7, %8) }   ->   iterate(%c1, %c2) { ..; yield %7 %8 }
//
// Otherwise each round would assemble the blocks and cut the whole again, two copies of the value.
// The cuts are those of the body's yields; a window across them is assembled from its pieces. Only
// values that all regions read by windows are carried so: a reader of the whole would assemble it
// each time.
func CarryBlocks(g *ir.Graph, table *op.Table) *ir.Graph {
	if !g.Controls() {
		return g
	}
	c := &carrying{&reforming{copying: copyOf(g), part: table.Must("part"), forms: map[ir.ID][]*form{}, made: map[[2]int]ir.ID{}}, table.Must("slice"), table.Must("lay")}
	if !c.loops(c.splits, c.window) {
		return g
	}
	// what laid the wholes together
	return Bodies(c.g, DropDead)
}

type carrying struct {
	*reforming
	slice, lay *op.Def
}

// splits returns the blocks in which a loop carries its values: nil for each that it carries whole.
func (c *carrying) splits(n *ir.Node) []*form {
	out := make([]*form, n.Carried())
	for i := range out {
		if w, ok := c.splitOf(n, i); ok {
			out[i] = c.inBlocks(n.Region.Graph.Type(n.Region.Yields[i]), w)
		}
	}
	return out
}

func (c *carrying) splitOf(n *ir.Node, i int) (cutting, bool) {
	body := n.Region
	y := body.Yields[i]
	t := body.Graph.Type(y)
	if body.Graph.Nodes[y].Op != c.lay || !t.IsDense() || !t.Known() || body.Graph.Type(body.Args[i]) != t {
		return cutting{}, false // what a loop begins with may have another size, which the run tells
	}
	boxes, in, ok := boxesOf(body.Graph, y)
	if !ok {
		return cutting{}, false
	}
	w, ok := laidGrid(boxes, t)
	if !ok || w.single() || (len(w.rc)-1)*(len(w.cc)-1) != len(boxes) {
		return cutting{}, false
	}
	for j, b := range boxes {
		if x := body.Graph.Type(in[j]); b.sr != 0 || b.sc != 0 || b.rows != x.Rows || b.cols != x.Cols {
			return cutting{}, false
		}
	}
	for r := body; r != nil; r = r.Next {
		if slices.Contains(r.Yields, r.Args[i]) {
			return cutting{}, false
		}
		for id, n := range r.Graph.All() {
			if n.Op != c.slice && slices.Contains(r.Graph.In(id), r.Args[i]) {
				return cutting{}, false
			}
		}
	}
	return w, true
}

// inBlocks is the form of a value of type t that is cut at w.
func (c *carrying) inBlocks(t types.Type, w cutting) *form {
	f, boxes, whole := &form{cut: w}, w.boxes(), w.boxes()
	for j, b := range boxes {
		whole[j].sr, whole[j].sc = 0, 0
		f.types = append(f.types, types.DenseOf(t.Elem, b.rows, b.cols))
	}
	f.from = func(g *ir.Graph, of []ir.ID, o ir.Origin) ir.ID { return g.Add(c.lay, layAttrs(t, whole), t, o, of...) }
	f.into = func(g *ir.Graph, x ir.ID, o ir.Origin) (out []ir.ID) {
		laid := map[box]ir.ID{}
		if g.Nodes[x].Op == c.lay {
			list, in, _ := boxesOf(g, x)
			for j, b := range list {
				if of := g.Type(in[j]); of.Rows == b.rows && of.Cols == b.cols {
					laid[b] = in[j]
				}
			}
		}
		for j, b := range boxes {
			y, ok := laid[whole[j]]
			if !ok {
				y = g.Add(c.slice, b.attrs(), f.types[j], o, x)
			}
			out = append(out, y)
		}
		return out
	}
	return f
}

// window makes the slice id of a value in blocks: a block, a part of one, or assembled pieces.
func (c *carrying) window(b *copying, id ir.ID, of func(x ir.ID) (*form, []ir.ID)) bool {
	old, g := b.old, b.g
	if old.Nodes[id].Op != c.slice {
		return false
	}
	f, blocks := of(old.In(id)[0])
	if f == nil {
		return false
	}
	at := old.Nodes[id].Attrs.Ints("at")
	t, o := old.Type(id), old.Origin(id)
	in, boxes := piece{&parts{f.cut.rc, f.cut.cc, blocks}, 0, 0, int(at[0]), int(at[1]), int(at[2]), int(at[3])}.blocks(nil, nil)
	switch {
	case len(in) != 1:
		b.to[id] = g.Add(c.lay, layAttrs(t, boxes), t, o, in...)
	case g.Type(in[0]) == t:
		b.to[id] = in[0]
	default:
		b.to[id] = g.Add(c.slice, boxes[0].attrs(), t, o, in[0])
	}
	return true
}

// boxes returns the cells of a cutting, row by row, as windows of the whole at their own places.
func (c cutting) boxes() []box {
	var out []box
	for i := range len(c.rc) - 1 {
		for j := range len(c.cc) - 1 {
			out = append(out, box{c.rc[i], c.cc[j], c.rc[i+1] - c.rc[i], c.cc[j+1] - c.cc[j], c.rc[i], c.cc[j]})
		}
	}
	return out
}

// attrs returns the window of a box, for slice.
func (b box) attrs() *op.Attrs {
	return op.MakeAttrs(op.Attr{Name: "at", Val: op.Ints(b.sr, b.sc, b.rows, b.cols)})
}

// layAttrs returns the attributes of a lay that makes a t of boxes.
func layAttrs(t types.Type, boxes []box) *op.Attrs {
	l := make([]int, 0, 6*len(boxes))
	for _, b := range boxes {
		l = append(l, b.sr, b.sc, b.rows, b.cols, b.dr, b.dc)
	}
	return op.MakeAttrs(op.Attr{Name: "rows", Val: op.Int(t.Rows)}, op.Attr{Name: "cols", Val: op.Int(t.Cols)}, op.Attr{Name: "boxes", Val: op.Ints(l...)})
}
