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
