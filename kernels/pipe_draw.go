package kernels

// This file draws operands: elements of constructors, which follow from their places alone, are
// made in the first-level cache when a chain gets to them, and stored nowhere.

import (
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/dense"
	"flow/kernels/window"
)

// drawnElems is how many elements are drawn at a time: 16 KiB of f64. The call of a constructor,
// some 50 ns, is spread over them.
const drawnElems = 4 * batch

// offset is a row and a column.
type offset struct{ row, col int }

// placeOf is where the index space of a map or a pipe lies in those of its constructors.
func placeOf(c *op.Call) offset {
	if at := c.Attrs.Ints("origin"); len(at) == 2 {
		return offset{int(at[0]), int(at[1])}
	}
	return offset{}
}

// source is where a Drawn operand comes from.
type source struct {
	gen   *op.Def
	attrs *op.Attrs
	from  offset // of the index space in the whole
	cols  int    // of the index space
	room  dense.Slab
	block value.Dense // over room
}

// draw binds the Drawn operands of a program that has been prepared for an index space which lies
// at from and has so many columns, unless it is taken as one row.
func (m *machine) draw(p *op.Program, from offset, cols int) {
	n := 0
	for k := range p.In {
		if p.In[k].Mode == op.Drawn {
			n++
		}
	}
	if n == 0 {
		return
	}
	m.drawn = drawnElems
	if need := n*drawnElems + 8; len(m.draws) < need {
		m.draws = aligned(make([]uint64, need+8))
	}
	n = 0
	for k := range p.In {
		o := &p.In[k]
		if o.Mode != op.Drawn {
			continue
		}
		r0, c0 := window.Origin(o.Attrs)
		m.in[k].source = source{gen: o.Gen, attrs: o.Attrs, from: offset{r0 + from.row, c0 + from.col}, cols: cols,
			room: dense.SlabOver(m.draws[n*drawnElems:], o.Elem, drawnElems)}
		n++
	}
}

// drawBlock makes rows i0.. and columns j0.. of drawn operand k, one row after the other.
func (m *machine) drawBlock(k, i0, rows, j0, cols int) {
	x := &m.in[k].source
	if x.cols != m.cols { // it is one row
		m.drawRun(k, j0, cols)
		return
	}
	x.window(m.prog.In[k].Elem, 0, i0, rows, j0, cols)
	m.in[k].made = dense.Cut(x.room, 0, rows*cols)
}

// drawRun makes n elements of drawn operand k, from number at of the index space on, row by row:
// what is left of a row, whole rows, and a part of one.
func (m *machine) drawRun(k, at, n int) {
	x := &m.in[k].source
	m.in[k].made = dense.Cut(x.room, 0, n)
	for to := 0; to < n; {
		i, j := (at+to)/x.cols, (at+to)%x.cols
		rows, cols := 1, min(n-to, x.cols-j)
		if j == 0 && n-to >= x.cols {
			rows = (n - to) / x.cols
		}
		x.window(m.prog.In[k].Elem, to, i, rows, j, cols)
		to += rows * cols
	}
}

// window draws a window of the index space to the room from element to on.
func (x *source) window(e types.Elem, to, i0, rows, j0, cols int) {
	s := dense.Cut(x.room, to, rows*cols)
	x.block = denseOver(s, e, rows, cols, cols)
	x.gen.Window(x.attrs, &x.block, x.from.row+i0, x.from.col+j0)
}

// drawnRef is the windows of a call's constructors as they are defined, stored.
func drawnRef(c *op.Call) ([]*value.Dense, error) {
	var out []*value.Dense
	from := placeOf(c)
	for _, o := range c.Body.In {
		if o.Mode != op.Drawn {
			continue
		}
		r0, c0 := window.Origin(o.Attrs)
		t := types.DenseOf(o.Elem, c.Type.Rows, c.Type.Cols)
		at := o.Attrs.With("at", op.Ints(r0+from.row, c0+from.col, t.Rows, t.Cols))
		v, err := o.Gen.Ref(&op.Call{Def: o.Gen, Attrs: at, Type: t})
		if err != nil {
			return nil, err
		}
		out = append(out, v.(*value.Dense))
	}
	return out, nil
}
