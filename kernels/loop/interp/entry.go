package interp

// This file compiles and runs indices over the stored entries of rows of sparse operands.

import (
	"fmt"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
)

// cursor is the registers of an index over entries: the column, and the places of the entry in two
// operands, -1 where one stores none.
type cursor struct {
	column int
	at     [2]int
}

// entryRange is a range over entries whose lanes are packed.
type entryRange struct {
	kind loop.RangeKind
	of   [2]int // operands; -1: none
	rows [2]int // registers of the context around: the rows
	// next and end are registers of the loop: the next entries of each row, and where the rows end.
	next, end [2]int
	cursor
}

func (c *compiler) entryRange(r loop.Range) *entryRange {
	x := &entryRange{kind: r.Kind, of: [2]int{r.A, -1}}
	x.rows[0] = c.form(r.At)
	if r.Kind != loop.Row {
		x.of[1] = r.B
		x.rows[1] = c.form(r.BAt)
	}
	return x
}

// indices makes the index visible and gives it registers in the context of the loop.
func (x *entryRange) indices(c *compiler, p *packed, index loop.Index) {
	for side, k := range x.of {
		if k >= 0 {
			c.use(x.rows[side])
		}
	}
	register := func() *operand {
		o := c.fresh(types.I64)
		c.regs[o.reg].def = p.start
		p.kept = append(p.kept, o.reg)
		return o
	}
	column := register()
	at := [2]*operand{register(), register()}
	x.cursor = cursor{column.reg, [2]int{at[0].reg, at[1].reg}}
	for side := range x.of {
		x.next[side], x.end[side] = register().reg, register().reg
	}
	c.frame.entries[index.Name] = &entryIndex{column, at, x.of}
}

// begin finds the rows of n lanes.
func (x *entryRange) begin(w *Worker, n int) {
	for side, k := range x.of {
		next, end := w.regs[x.next[side]].i64[:n], w.regs[x.end[side]].i64[:n]
		if k < 0 {
			clear(next)
			clear(end)
			continue
		}
		ptr := w.sparse[k].Ptr
		for e, row := range w.regs[x.rows[side]].i64[:n] {
			next[e], end[e] = ptr[row], ptr[row+1]
		}
	}
	for _, reg := range x.at {
		fillWords(w.regs[reg].i64[:n], -1)
	}
}

// nextEntries moves every lane to its next entry. Lanes without one leave; false: all have.
func (w *Worker) nextEntries(p *packed, l *lanes) bool {
	x := p.ranges
	for k := range l.all {
		l.stop[k] = 1
		if column, a, b, ok := x.advance(w, k); ok {
			l.stop[k] = 0
			w.regs[x.column].i64[k], w.regs[x.at[0]].i64[k], w.regs[x.at[1]].i64[k] = column, a, b
		}
	}
	return w.lose(p, l, l.stop, nil) > 0
}

// advance is the next entry of lane k.
func (x *entryRange) advance(w *Worker, k int) (column, a, b int64, ok bool) {
	i, iEnd := &w.regs[x.next[0]].i64[k], w.regs[x.end[0]].i64[k]
	j, jEnd := &w.regs[x.next[1]].i64[k], w.regs[x.end[1]].i64[k]
	return nextEntry(x.kind, w.sparse[x.of[0]], other(w, x.of[1]), i, iEnd, j, jEnd)
}

func other(w *Worker, k int) *value.CSR {
	if k < 0 {
		return nil
	}
	return w.sparse[k]
}

// nextEntry is the next entry of a row, or of two rows together; i and j are the next entries of
// each and move on.
func nextEntry(kind loop.RangeKind, m, o *value.CSR, i *int64, iEnd int64, j *int64, jEnd int64) (column, a, b int64, ok bool) {
	switch kind {
	case loop.Row:
		if *i == iEnd {
			return 0, 0, 0, false
		}
		*i++
		return int64(m.Col[*i-1]), *i - 1, -1, true
	case loop.Both:
		for *i < iEnd && *j < jEnd {
			switch u, v := m.Col[*i], o.Col[*j]; {
			case u == v:
				*i++
				*j++
				return int64(u), *i - 1, *j - 1, true
			case u < v:
				*i++
			default:
				*j++
			}
		}
		return 0, 0, 0, false
	}
	switch {
	case *i == iEnd && *j == jEnd:
		return 0, 0, 0, false
	case *j == jEnd || *i < iEnd && m.Col[*i] < o.Col[*j]:
		*i++
		return int64(m.Col[*i-1]), *i - 1, -1, true
	case *i == iEnd || o.Col[*j] < m.Col[*i]:
		*j++
		return int64(o.Col[*j-1]), -1, *j - 1, true
	}
	*i++
	*j++
	return int64(m.Col[*i-1]), *i - 1, *j - 1, true
}

// entry is the value that an operand stores at an index over entries.
func (c *compiler) entry(s *loop.Stmt) *operand {
	x, k := c.frame.entries[int(s.Imm)], s.Mem.N
	var at []int
	for side, of := range x.of {
		if of == k {
			at = append(at, c.lanes(x.at[side]))
		}
	}
	if len(at) == 0 {
		panic(fmt.Sprintf("BUG: an entry of operand %d, over whose entries the index does not run", k))
	}
	e := c.nest.Params[k].Elem
	out, a := c.fresh(e), accessTo(e)
	reg, first, second := out.reg, at[0], at[len(at)-1]
	c.emit(func(w *Worker, n int) int {
		m := w.sparse[k]
		if first == second {
			a.entries(&w.regs[reg], m, w.regs[first].i64[:n])
			return n
		}
		// Both rows are of this operand: the first that stores the column counts.
		list := w.entryPlaces[:n]
		copy(list, w.regs[first].i64[:n])
		for k, i := range list {
			if i < 0 {
				list[k] = w.regs[second].i64[k]
			}
		}
		a.entries(&w.regs[reg], m, list)
		return n
	})
	return out
}
