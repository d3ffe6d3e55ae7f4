package pass

import (
	"slices"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
)

// This file is the part of Partition that moves elements: recutting, slices and assemblies, as
// windows of blocks in blocks.

// recut returns an old value with other cuts. Blocks whose cuts agree are reused; others are
// assembled from those that they overlap, once for all readers.
func (p *partitioner) recut(id ir.ID, rc, cc []int) *parts {
	x := p.get(id)
	if slices.Equal(x.rc, rc) && slices.Equal(x.cc, cc) {
		return x
	}
	key := recutKey{id, hashInts(rc), hashInts(cc)}
	if y := p.cuts.done[key]; y != nil && slices.Equal(y.rc, rc) && slices.Equal(y.cc, cc) {
		return y
	}
	out := p.each(cutting{rc, cc}, func(i, j int, b Block) ir.ID {
		src := []piece{{x, 0, 0, rc[i], cc[j], rc[i+1] - rc[i], cc[j+1] - cc[j]}}
		return p.lay(p.old.Type(id), src, rc[i+1]-rc[i], cc[j+1]-cc[j], b)
	})
	p.cuts.done[key] = out
	return out
}

// piece is a window of a value in a result: window (sr, sc, rows, cols) of x at (r, c).
type piece struct {
	x          *parts
	r, c       int
	sr, sc     int
	rows, cols int
}

// blocks appends the blocks of x that the window overlaps to in. For each it appends to boxes the part that
// the window has and its place in the result.
func (s piece) blocks(in []ir.ID, boxes []box) ([]ir.ID, []box) {
	for i := first(s.x.rc, s.sr); i < len(s.x.rc)-1 && s.x.rc[i] < s.sr+s.rows; i++ {
		for j := first(s.x.cc, s.sc); j < len(s.x.cc)-1 && s.x.cc[j] < s.sc+s.cols; j++ {
			r0, r1 := max(s.x.rc[i], s.sr), min(s.x.rc[i+1], s.sr+s.rows)
			c0, c1 := max(s.x.cc[j], s.sc), min(s.x.cc[j+1], s.sc+s.cols)
			if r0 < r1 && c0 < c1 {
				in = append(in, s.x.at(i, j))
				boxes = append(boxes, box{r0 - s.x.rc[i], c0 - s.x.cc[j], r1 - r0, c1 - c0, s.r + r0 - s.sr, s.c + c0 - s.sc})
			}
		}
	}
	return in, boxes
}

// lay makes one block of rows x cols from windows of values in parts.
func (p *partitioner) lay(t types.Type, src []piece, rows, cols int, b Block) ir.ID {
	var in []ir.ID
	var boxes []box
	for _, s := range src {
		in, boxes = s.blocks(in, boxes)
	}
	out := types.DenseOf(t.Elem, rows, cols)
	switch {
	case len(in) == 0:
		return p.zeros(t.Elem, rows, cols, b)
	case len(in) > 1 || boxes[0].dr > 0 || boxes[0].dc > 0 || boxes[0].rows < rows || boxes[0].cols < cols:
		return p.add(p.table.Must("lay"), layAttrs(out, boxes), out, b, in...)
	case p.g.Type(in[0]) == out:
		return in[0]
	}
	return p.add(p.table.Must("slice"), boxes[0].attrs(), out, b, in[0])
}

// zeros returns a block of zeros of any element type.
func (p *partitioner) zeros(e types.Elem, rows, cols int, b Block) ir.ID {
	x := p.add(p.table.Must("zeros"), op.MakeAttrs(op.Attr{Name: "n", Val: op.Int(rows)}, op.Attr{Name: "m", Val: op.Int(cols)}), types.DenseOf(types.F64, rows, cols), b)
	if e == types.F64 {
		return x
	}
	return p.add(p.table.Must(e.String()), nil, types.DenseOf(e, rows, cols), b, x)
}

// first returns the block that contains position x.
func first(cuts []int, x int) int {
	i, ok := slices.BinarySearch(cuts, x)
	if ok {
		return i
	}
	return max(i-1, 0)
}

// move puts pieces of the inputs into the result's blocks.
func (p *partitioner) move(id ir.ID, t types.Type, c cutting, boxes []box, in []ir.ID) {
	// The boxes that touch each block: an untile has as many boxes as blocks.
	cols := len(c.cc) - 1
	touch := make([][]int32, (len(c.rc)-1)*cols)
	for k, x := range boxes {
		for i := first(c.rc, x.dr); i < len(c.rc)-1 && c.rc[i] < x.dr+x.rows; i++ {
			for j := first(c.cc, x.dc); j < cols && c.cc[j] < x.dc+x.cols; j++ {
				touch[i*cols+j] = append(touch[i*cols+j], int32(k))
			}
		}
	}
	p.blocks(id, c, func(i, j int, b Block) ir.ID {
		r0, r1, c0, c1 := c.rc[i], c.rc[i+1], c.cc[j], c.cc[j+1]
		var src []piece
		for _, k := range touch[i*cols+j] {
			x := boxes[k]
			a0, a1 := max(x.dr, r0), min(x.dr+x.rows, r1)
			b0, b1 := max(x.dc, c0), min(x.dc+x.cols, c1)
			if a0 >= a1 || b0 >= b1 {
				continue
			}
			src = append(src, piece{p.get(in[k]), a0 - r0, b0 - c0, x.sr + a0 - x.dr, x.sc + b0 - x.dc, a1 - a0, b1 - b0})
		}
		return p.lay(t, src, r1-r0, c1-c0, b)
	})
}
