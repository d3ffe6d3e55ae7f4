package pass

import (
	"slices"

	"flow/compiler/nodes"
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
	cut   nodes.Cutting // of a value in blocks
}

// reforming is a copy of a graph whose loops carry some values in other forms.
type reforming struct {
	*nodes.Copying
	part  *op.Def
	forms map[ir.ID][]*form // of an old loop: those of its carried values; nil: as before
	made  map[[2]int]ir.ID  // results of new loops that have other forms, in the old one, by (loop, number)
}

// loops copies the graph. chosen returns the forms of what a loop carries. node may make the new
// node of one in a loop; of tells the form of an old argument, and its values. loops reports
// whether a loop has changed.
func (c *reforming) loops(chosen func(n *ir.Node) []*form, node func(b *nodes.Copying, id ir.ID, of func(x ir.ID) (*form, []ir.ID)) bool) bool {
	for id, n := range c.Old.All() {
		if n.Op.Control == op.Iterate {
			if forms := chosen(n); slices.ContainsFunc(forms, func(f *form) bool { return f != nil }) {
				c.forms[id] = forms
				c.loop(id, node)
				continue
			}
		}
		if n.Op.Control == op.Part && c.forms[c.Old.In(id)[0]] != nil {
			c.result(id)
			continue
		}
		c.Node(id)
	}
	return len(c.forms) > 0
}

// loop copies a loop. An effect comes behind the values that it carries.
func (c *reforming) loop(id ir.ID, node func(b *nodes.Copying, id ir.ID, of func(x ir.ID) (*form, []ir.ID)) bool) {
	n, forms, o := &c.Old.Nodes[id], c.forms[id], c.Old.Origin(id)
	var in []ir.ID
	var ts []types.Type
	for k, x := range c.In(id) {
		if k < len(forms) && forms[k] != nil {
			in, ts = append(in, forms[k].into(c.G, x, o.NoDest())...), append(ts, forms[k].types...)
			continue
		}
		if in = append(in, x); k < len(forms) {
			ts = append(ts, c.Old.Results(id)[k].Type)
		}
	}
	attrs := n.Attrs.With("carry", op.Int(len(ts)))
	for _, f := range c.Old.Results(id)[len(forms):] {
		ts = append(ts, f.Type)
	}
	c.To[id] = c.G.Add(n.Op, attrs, types.TupleOf(ts...), o, in...)
	c.G.Nodes[c.To[id]].Region = nodes.EachRegion(n.Region, func(r *ir.Region) *ir.Region {
		b, args, out := nodes.CopyOf(r.Graph), make([][]ir.ID, len(r.Args)), &ir.Region{}
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
					args[k] = append(args[k], b.G.Add(n.Op, nil, t, r.Graph.Origin(id)))
				}
				b.To[id] = forms[k].from(b.G, args[k], r.Graph.Origin(id))
			case !node(b, id, of):
				b.Node(id)
			}
			if k >= 0 && args[k] == nil {
				args[k] = []ir.ID{b.To[id]}
			}
		}
		for k, y := range r.Yields {
			if r == n.Region && k < len(forms) && forms[k] != nil {
				out.Yields = append(out.Yields, forms[k].into(b.G, b.To[y], r.Graph.Origin(y).NoDest())...)
			} else {
				out.Yields = append(out.Yields, b.To[y])
			}
		}
		out.Graph, out.Args = b.G, slices.Concat(args...)
		return out
	})
}

// result makes the result of a loop that part id selects.
func (c *reforming) result(id ir.ID) {
	loop, k := c.Old.In(id)[0], c.Old.Nodes[id].Attrs.Int("at")
	forms, at, o := c.forms[loop], k, c.Old.Origin(id)
	for _, f := range forms[:min(k, len(forms))] {
		if f != nil {
			at += len(f.types) - 1
		}
	}
	part := func(k int, t types.Type) ir.ID {
		return c.G.Add(c.part, op.MakeAttrs(op.Attr{Name: "at", Val: op.Int(k)}), t, o, c.To[loop])
	}
	if k >= len(forms) || forms[k] == nil {
		c.To[id] = part(at, c.Old.Type(id))
		return
	}
	key := [2]int{int(loop), k}
	if _, ok := c.made[key]; !ok {
		var of []ir.ID
		for j, t := range forms[k].types {
			of = append(of, part(at+j, t))
		}
		c.made[key] = forms[k].from(c.G, of, o)
	}
	c.To[id] = c.made[key]
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
	in := nodes.Kept(g.In(id), keep)
	var ts []types.Type
	at := make([]int, len(g.Results(id)))
	for i, f := range g.Results(id) {
		if at[i] = len(ts); i >= k || needed[i] {
			ts = append(ts, f.Type)
		}
	}
	g.Replace(id, n.Op, n.Attrs.With("carry", op.Int(left)), in...)
	g.Nodes[id].Region = nodes.EachRegion(n.Region, func(r *ir.Region) *ir.Region {
		x := &ir.Region{Graph: r.Graph, Args: r.Args, Yields: r.Yields}
		if r == n.Region {
			x.Yields = nodes.Kept(r.Yields, needed)
		}
		return nodes.Without(swept(x), keep)
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
		from := nodes.Kept(body.Yields, needed)
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
	set := nodes.SetOf(from)
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
	c := &carrying{&reforming{Copying: nodes.CopyOf(g), part: table.Must("part"), forms: map[ir.ID][]*form{}, made: map[[2]int]ir.ID{}}, table.Must("slice"), table.Must("lay")}
	if !c.loops(c.splits, c.window) {
		return g
	}
	// what laid the wholes together
	return nodes.Bodies(c.G, DropDead)
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

func (c *carrying) splitOf(n *ir.Node, i int) (nodes.Cutting, bool) {
	body := n.Region
	y := body.Yields[i]
	t := body.Graph.Type(y)
	if body.Graph.Nodes[y].Op != c.lay || !t.IsDense() || !t.Known() || body.Graph.Type(body.Args[i]) != t {
		return nodes.Cutting{}, false // what a loop begins with may have another size, which the run tells
	}
	boxes, in, ok := nodes.BoxesOf(body.Graph, y)
	if !ok {
		return nodes.Cutting{}, false
	}
	w, ok := nodes.LaidGrid(boxes, t)
	if !ok || w.Single() || (len(w.RC)-1)*(len(w.CC)-1) != len(boxes) {
		return nodes.Cutting{}, false
	}
	for j, b := range boxes {
		if x := body.Graph.Type(in[j]); b.SR != 0 || b.SC != 0 || b.Rows != x.Rows || b.Cols != x.Cols {
			return nodes.Cutting{}, false
		}
	}
	for r := body; r != nil; r = r.Next {
		if slices.Contains(r.Yields, r.Args[i]) {
			return nodes.Cutting{}, false
		}
		for id, n := range r.Graph.All() {
			if n.Op != c.slice && slices.Contains(r.Graph.In(id), r.Args[i]) {
				return nodes.Cutting{}, false
			}
		}
	}
	return w, true
}

// inBlocks is the form of a value of type t that is cut at w.
func (c *carrying) inBlocks(t types.Type, w nodes.Cutting) *form {
	f, boxes, whole := &form{cut: w}, w.Boxes(), w.Boxes()
	for j, b := range boxes {
		whole[j].SR, whole[j].SC = 0, 0
		f.types = append(f.types, types.DenseOf(t.Elem, b.Rows, b.Cols))
	}
	f.from = func(g *ir.Graph, of []ir.ID, o ir.Origin) ir.ID {
		return g.Add(c.lay, nodes.LayAttrs(t, whole), t, o, of...)
	}
	f.into = func(g *ir.Graph, x ir.ID, o ir.Origin) (out []ir.ID) {
		laid := map[nodes.Box]ir.ID{}
		if g.Nodes[x].Op == c.lay {
			list, in, _ := nodes.BoxesOf(g, x)
			for j, b := range list {
				if of := g.Type(in[j]); of.Rows == b.Rows && of.Cols == b.Cols {
					laid[b] = in[j]
				}
			}
		}
		for j, b := range boxes {
			y, ok := laid[whole[j]]
			if !ok {
				y = g.Add(c.slice, b.Attrs(), f.types[j], o, x)
			}
			out = append(out, y)
		}
		return out
	}
	return f
}

// window makes the slice id of a value in blocks: a block, a part of one, or assembled pieces.
func (c *carrying) window(b *nodes.Copying, id ir.ID, of func(x ir.ID) (*form, []ir.ID)) bool {
	old, g := b.Old, b.G
	if old.Nodes[id].Op != c.slice {
		return false
	}
	f, blocks := of(old.In(id)[0])
	if f == nil {
		return false
	}
	at := old.Nodes[id].Attrs.Ints("at")
	t, o := old.Type(id), old.Origin(id)
	in, boxes := piece{&parts{f.cut.RC, f.cut.CC, blocks}, 0, 0, int(at[0]), int(at[1]), int(at[2]), int(at[3])}.blocks(nil, nil)
	switch {
	case len(in) != 1:
		b.To[id] = g.Add(c.lay, nodes.LayAttrs(t, boxes), t, o, in...)
	case g.Type(in[0]) == t:
		b.To[id] = in[0]
	default:
		b.To[id] = g.Add(c.slice, boxes[0].Attrs(), t, o, in[0])
	}
	return true
}
