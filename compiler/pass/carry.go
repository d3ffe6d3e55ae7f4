package pass

import (
	"slices"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
)

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
	c := &carrying{copying: copyOf(g), slice: table.Must("slice"), lay: table.Must("lay"), arg: table.Must("arg"), part: table.Must("part"),
		shift: map[ir.ID][]int{}, whole: map[ir.ID]map[int]ir.ID{}}
	changed := false
	for id, n := range g.All() {
		if n.Op.Control == op.Iterate {
			if split := c.splits(n); split != nil {
				c.loop(id, split)
				changed = true
				continue
			}
		}
		if n.Op.Control == op.Part {
			if shift := c.shift[g.In(id)[0]]; shift != nil {
				at := n.Attrs.Int("at")
				if w, ok := c.whole[g.In(id)[0]][at]; ok {
					c.to[id] = w
					continue
				}
				c.to[id] = c.g.Add(n.Op, n.Attrs.With("at", op.Int(shift[at])), g.Type(id), g.Origin(id), c.to[g.In(id)[0]])
				continue
			}
		}
		c.node(id)
	}
	if !changed {
		return g
	}
	// what laid the wholes together
	return Bodies(c.g, DropDead)
}

type carrying struct {
	*copying
	slice, lay, arg, part *op.Def
	shift                 map[ir.ID][]int // of a loop: the new number of each result
	// of a loop: the assembled results, by old number
	whole map[ir.ID]map[int]ir.ID
}

// splits returns where each carried value of a loop is cut, the zero value if it is not; nil if
// none is.
func (c *carrying) splits(n *ir.Node) []cutting {
	k := n.Carried()
	out := make([]cutting, k)
	any := false
	for i := range k {
		if w, ok := c.splitOf(n, i); ok {
			out[i], any = w, true
		}
	}
	if !any {
		return nil
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

// loop copies the loop id with the cut values carried as blocks.
func (c *carrying) loop(id ir.ID, split []cutting) {
	n := &c.old.Nodes[id]
	o := c.old.Origin(id)
	var in []ir.ID
	var ts []types.Type
	shift := make([]int, len(c.old.Results(id)))
	for i, x := range c.old.In(id) {
		if i >= len(split) {
			in = append(in, c.to[x])
			continue
		}
		shift[i] = len(ts)
		if split[i].rc == nil {
			in, ts = append(in, c.to[x]), append(ts, c.old.Results(id)[i].Type)
			continue
		}
		for _, b := range split[i].boxes() {
			t := types.DenseOf(c.old.Type(x).Elem, b.rows, b.cols)
			in = append(in, c.g.Add(c.slice, b.attrs(), t, o.NoDest(), c.to[x]))
			ts = append(ts, t)
		}
	}
	carry := len(ts)
	for i, f := range c.old.Results(id)[len(split):] { // an effect
		shift[len(split)+i] = len(ts)
		ts = append(ts, f.Type)
	}
	node := c.g.Add(n.Op, n.Attrs.With("carry", op.Int(carry)), types.TupleOf(ts...), o, in...)
	c.g.Nodes[node].Region = eachRegion(n.Region, func(r *ir.Region) *ir.Region { return c.inBlocks(r, split, r == n.Region) })
	c.to[id], c.shift[id] = node, shift
	c.whole[id] = map[int]ir.ID{}
	for i, w := range split {
		if w.rc == nil {
			continue
		}
		var parts []ir.ID
		boxes := w.boxes()
		for j := range boxes {
			boxes[j].sr, boxes[j].sc = 0, 0 // whole blocks
			at := shift[i] + j
			parts = append(parts, c.g.Add(c.part, op.MakeAttrs(op.Attr{Name: "at", Val: op.Int(at)}), ts[at], o.NoDest(), node))
		}
		t := c.old.Results(id)[i].Type
		c.whole[id][i] = c.g.Add(c.lay, layAttrs(t, boxes), t, o.NoDest(), parts...)
	}
}

// inBlocks rewrites r for blocks. The yields of a body become blocks too.
func (c *carrying) inBlocks(r *ir.Region, split []cutting, body bool) *ir.Region {
	old, b := r.Graph, copyOf(r.Graph)
	g, to := b.g, b.to
	out := &ir.Region{Graph: g}
	blocks := map[ir.ID][]ir.ID{} // of the arguments that are cut
	cut := map[ir.ID]cutting{}
	for i, a := range r.Args {
		if i >= len(split) || split[i].rc == nil {
			b.node(a)
			out.Args = append(out.Args, to[a])
			continue
		}
		to[a] = ir.None
		cut[a] = split[i]
		for _, b := range split[i].boxes() {
			x := g.Add(c.arg, nil, types.DenseOf(old.Type(a).Elem, b.rows, b.cols), old.Origin(a))
			blocks[a] = append(blocks[a], x)
			out.Args = append(out.Args, x)
		}
	}
	for id, n := range old.All() {
		if src := old.In(id); n.Op == c.slice && blocks[src[0]] != nil {
			to[id] = c.window(g, old, id, cut[src[0]], blocks[src[0]])
		} else if n.Op != c.arg {
			b.node(id)
		}
	}
	for i, y := range r.Yields {
		if !body || i >= len(split) || split[i].rc == nil {
			out.Yields = append(out.Yields, to[y])
			continue
		}
		boxes, src, _ := boxesOf(old, y)
		at := map[[2]int]ir.ID{}
		for j, b := range boxes {
			at[[2]int{b.dr, b.dc}] = to[src[j]]
		}
		for _, b := range split[i].boxes() {
			out.Yields = append(out.Yields, at[[2]int{b.sr, b.sc}])
		}
	}
	return out
}

// window returns the slice id of a value in blocks: a block, a part of one, or assembled pieces.
func (c *carrying) window(g, old *ir.Graph, id ir.ID, w cutting, blocks []ir.ID) ir.ID {
	at := old.Nodes[id].Attrs.Ints("at")
	r0, c0, rows, cols := int(at[0]), int(at[1]), int(at[2]), int(at[3])
	t, o := old.Type(id), old.Origin(id)
	in, boxes := piece{&parts{w.rc, w.cc, blocks}, 0, 0, r0, c0, rows, cols}.blocks(nil, nil)
	switch {
	case len(in) != 1:
		return g.Add(c.lay, layAttrs(t, boxes), t, o, in...)
	case g.Type(in[0]) == t:
		return in[0]
	}
	return g.Add(c.slice, boxes[0].attrs(), t, o, in[0])
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
