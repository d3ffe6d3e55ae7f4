package nodes

import (
	"slices"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
)

// This file describes matrices that consist of blocks.

// Cutting is where a matrix is cut. RC has the first rows of its blocks and then the number of rows,
// and CC the same of columns.
type Cutting struct{ RC, CC []int }

// Single reports whether the matrix is one block.
func (c Cutting) Single() bool { return len(c.RC) <= 2 && len(c.CC) <= 2 }

// Boxes returns the blocks of a cutting, row by row. Each is a window of the matrix at its own place.
func (c Cutting) Boxes() []Box {
	var out []Box
	for i := range len(c.RC) - 1 {
		for j := range len(c.CC) - 1 {
			out = append(out, Box{c.RC[i], c.CC[j], c.RC[i+1] - c.RC[i], c.CC[j+1] - c.CC[j], c.RC[i], c.CC[j]})
		}
	}
	return out
}

// Box is Rows x Cols elements from (SR, SC) of an input, at (DR, DC) of a result.
type Box struct{ SR, SC, Rows, Cols, DR, DC int }

// Attrs returns the window of a box, for slice.
func (b Box) Attrs() *op.Attrs {
	return op.MakeAttrs(op.Attr{Name: "at", Val: op.Ints(b.SR, b.SC, b.Rows, b.Cols)})
}

// BoxesOf returns a slice, lay, cbind or rbind as boxes, and the input of each box. ok is false for
// other operators, which may move single elements (reverse, reshape), and for bindings of matrices that
// are sparse, of unknown shape or of another element type.
func BoxesOf(g *ir.Graph, id ir.ID) (boxes []Box, inputs []ir.ID, ok bool) {
	n := &g.Nodes[id]
	in := g.In(id)
	switch n.Op.Role {
	case op.Slices:
		a := n.Attrs.Ints("at")
		return []Box{{int(a[0]), int(a[1]), int(a[2]), int(a[3]), 0, 0}}, in, true
	case op.Lays:
		l := n.Attrs.Ints("boxes")
		out := make([]Box, len(in))
		for k := range out {
			b := l[6*k:]
			out[k] = Box{int(b[0]), int(b[1]), int(b[2]), int(b[3]), int(b[4]), int(b[5])}
		}
		return out, in, true
	case op.Beside, op.Below:
		var out []Box
		at := 0
		for _, x := range in {
			t := g.Type(x)
			if !t.IsDense() || !t.Known() || t.Elem != g.Type(id).Elem {
				return nil, nil, false
			}
			if n.Op.Role == op.Beside {
				out = append(out, Box{0, 0, t.Rows, t.Cols, 0, at})
				at += t.Cols
			} else {
				out = append(out, Box{0, 0, t.Rows, t.Cols, at, 0})
				at += t.Rows
			}
		}
		return out, in, true
	}
	return nil, nil, false
}

// LaidGrid returns the grid that the boxes of a lay make in its result of type t (Cells).
func LaidGrid(ws []Box, t types.Type) (grid Cutting, ok bool) {
	return Cells(ws, t, func(w Box) (int, int) { return w.DR, w.DC })
}

// Cells returns the grid of a matrix of type t in which each box is one cell. at returns the first row
// and column of a box. ok is false if there is no such grid, or if it has far more cells than boxes.
func Cells(ws []Box, t types.Type, at func(Box) (int, int)) (grid Cutting, ok bool) {
	rc, cc := []int{0, t.Rows}, []int{0, t.Cols}
	for _, w := range ws {
		r, c := at(w)
		rc, cc = append(rc, r, r+w.Rows), append(cc, c, c+w.Cols)
	}
	slices.Sort(rc)
	slices.Sort(cc)
	rc, cc = slices.Compact(rc), slices.Compact(cc)
	if (len(rc)-1)*(len(cc)-1) > 4*len(ws)+16 {
		return Cutting{}, false
	}
	for _, w := range ws {
		r, c := at(w)
		i, okR := slices.BinarySearch(rc, r)
		j, okC := slices.BinarySearch(cc, c)
		if !okR || !okC || i+1 >= len(rc) || j+1 >= len(cc) || rc[i+1] != r+w.Rows || cc[j+1] != c+w.Cols {
			return Cutting{}, false
		}
	}
	return Cutting{rc, cc}, true
}

// LayAttrs returns the attributes of a lay that makes a matrix of type t of boxes, one an input.
func LayAttrs(t types.Type, boxes []Box) *op.Attrs {
	l := make([]int, 0, 6*len(boxes))
	for _, b := range boxes {
		l = append(l, b.SR, b.SC, b.Rows, b.Cols, b.DR, b.DC)
	}
	return op.MakeAttrs(op.Attr{Name: "rows", Val: op.Int(t.Rows)}, op.Attr{Name: "cols", Val: op.Int(t.Cols)}, op.Attr{Name: "boxes", Val: op.Ints(l...)})
}
