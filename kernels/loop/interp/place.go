package interp

// This file compiles subscripts: linear forms, and the places of memory that they give to the lanes
// of a batch.

import (
	"fmt"
	"slices"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
)

// linear is a linear form for the lanes of a context.
type linear struct {
	known   int    // the part that operands decide, a number of Worker.known
	uniform []term // multiples of cells
	varying []term // multiples of registers
	// row and lane are multiples of the indices of the space, where they are not in varying.
	row, lane int64
}

type term struct {
	coef int64
	reg  int
}

// place is where an access goes, row by row.
type place struct {
	row, col linear
	// local says that every lane has its own memory: element (r, c) of all lanes, then the next
	// element.
	local bool
	lane  int // register of the lanes' numbers, 0 where lane k of the batch is lane k
}

// knownPart numbers the part of a form that does not depend on points.
func (c *compiler) knownPart(l loop.Lin) int {
	part := loop.Lin{Const: l.Const}
	for _, t := range l.Terms {
		if t.Sym.Kind != loop.IndexSym && t.Sym.Kind != loop.ValSym {
			part.Terms = append(part.Terms, t)
		}
	}
	for k, p := range c.known {
		if p.Equal(part) {
			return k
		}
	}
	c.known = append(c.known, part)
	return len(c.known) - 1
}

// symbol is the value of an index or a gather.
func (c *compiler) symbol(s loop.Sym) *operand {
	if s.Kind == loop.ValSym {
		return c.vals[s.N]
	}
	return c.frame.index[s.N]
}

// level is how often a form without varying terms changes.
func (c *compiler) level(l loop.Lin) level {
	out := onBegin
	for _, t := range l.Terms {
		if t.Sym.Kind == loop.IndexSym || t.Sym.Kind == loop.ValSym {
			out = max(out, c.symbol(t.Sym).level)
		}
	}
	return out
}

// uniformForm reports that a form is the same in all lanes.
func (c *compiler) uniformForm(l loop.Lin) bool {
	return !slices.ContainsFunc(l.Terms, func(t loop.Term) bool {
		return (t.Sym.Kind == loop.IndexSym || t.Sym.Kind == loop.ValSym) && !c.symbol(t.Sym).uniform
	})
}

// straight reports that a form depends on the lanes by nothing but indices of the space, in the
// root context.
func (c *compiler) straight(l loop.Lin) bool {
	return c.ctx == c.root && !slices.ContainsFunc(l.Terms, func(t loop.Term) bool {
		if t.Sym.Kind != loop.IndexSym && t.Sym.Kind != loop.ValSym {
			return false
		}
		return !c.symbol(t.Sym).uniform && (t.Sym.Kind == loop.ValSym || !c.ofSpace(t.Sym.N))
	})
}

// ofSpace reports the name of one of the first two indices of the space.
func (c *compiler) ofSpace(name int) bool {
	for k, x := range c.nest.Space {
		if k < 2 && x.Name == name {
			return true
		}
	}
	return false
}

// linear compiles a form. indices says that indices of the space stay multiples.
func (c *compiler) linear(l loop.Lin, indices bool) linear {
	out := linear{known: c.knownPart(l)}
	for _, t := range l.Terms {
		if t.Sym.Kind != loop.IndexSym && t.Sym.Kind != loop.ValSym {
			continue
		}
		o := c.symbol(t.Sym)
		switch {
		case o.uniform:
			out.uniform = append(out.uniform, term{t.Coef, o.reg})
		case !indices:
			out.varying = append(out.varying, term{t.Coef, c.lanes(o)})
		case c.across && t.Sym.N == c.nest.Space[0].Name:
			out.row = t.Coef
		default:
			out.lane = t.Coef
		}
	}
	return out
}

// place compiles the subscripts of an access. A frame of a function has no memory, so the indices
// are the nest's.
func (c *compiler) place(at []loop.Lin, local bool) place {
	indices := c.straight(at[0]) && c.straight(at[1])
	if local {
		indices = false
	}
	p := place{row: c.linear(at[0], indices), col: c.linear(at[1], indices), local: local}
	if local && (c.ctx != c.root || len(p.row.varying)+len(p.col.varying) > 0) {
		p.lane = c.lanes(c.laneNumbers())
	}
	return p
}

// base is the part of a form that all lanes have, without the indices of the space.
func (w *Worker) base(l *linear) int64 {
	x := w.known[l.known]
	for _, t := range l.uniform {
		x += t.coef * w.regs[t.reg].i64[0]
	}
	return x
}

// at finds the places of n lanes in memory with these distances between rows and columns. regular
// says that they are at, at+step, ..; else they are in w.places.
func (w *Worker) at(p *place, rows, cols int64, n int) (at, step int, regular bool) {
	base := w.base(&p.row)*rows + w.base(&p.col)*cols
	if p.local && p.lane == 0 {
		return int(base), 1, true
	}
	if !p.local && len(p.row.varying)+len(p.col.varying) == 0 {
		row, lane := p.row.row*rows+p.col.row*cols, p.row.lane*rows+p.col.lane*cols
		return w.straight(base, row, lane, n)
	}
	list := w.places[:n]
	for k := range list {
		list[k] = int(base)
	}
	w.addTerms(list, p.row.varying, rows)
	w.addTerms(list, p.col.varying, cols)
	if p.local {
		for k, lane := range w.regs[p.lane].i64[:n] {
			list[k] += int(lane)
		}
	}
	return 0, 0, false
}

// atOf is at in a matrix whose memory begins with the element number origin.
func (w *Worker) atOf(p *place, d *value.Dense, origin, n int) (at, step int, regular bool) {
	at, step, regular = w.at(p, int64(d.Stride), 1, n)
	if !regular && origin != 0 {
		for k := range w.places[:n] {
			w.places[k] -= origin
		}
	}
	return at - origin, step, regular
}

func (w *Worker) addTerms(list []int, terms []term, by int64) {
	for _, t := range terms {
		f := int(t.coef * by)
		for k, x := range w.regs[t.reg].i64[:len(list)] {
			list[k] += f * int(x)
		}
	}
}

// straight is at for base + row*i + lane*j, the indices of the space being i and j.
func (w *Worker) straight(base, row, lane int64, n int) (at, step int, regular bool) {
	s := &w.segments[0]
	start := base + row*s.row + lane*s.first
	down, right := row*w.by[0], lane*w.by[1]
	switch {
	case len(w.segments) == 1:
		return int(start), int(right), true
	case w.width == 1:
		return int(start), int(down), true
	case w.width > 0 && down == w.width*right:
		return int(start), int(right), true
	}
	for _, s := range w.segments {
		x := base + row*s.row + lane*s.first
		list := w.places[s.at : s.at+s.n]
		for k := range list {
			list[k] = int(x)
			x += right
		}
	}
	return 0, 0, false
}

func (c *compiler) load(s *loop.Stmt) *operand {
	if s.Mem.Kind == loop.LocalMem {
		return c.loadLocal(s)
	}
	k := s.Mem.N
	p := c.nest.Params[k]
	a := accessTo(p.Elem)
	if p.Kind == loop.ScalarParam {
		out := c.cell(p.Elem, onBegin)
		reg := out.reg
		c.emitAt(onBegin, func(w *Worker, n int) int {
			a.setWord(&w.regs[reg], w.scalars[k])
			return n
		})
		return c.defined(out)
	}
	if c.uniformForm(s.At[0]) && c.uniformForm(s.At[1]) {
		// A matrix may be empty, so nothing is loaded before the first point.
		// One at a place that the body computes may stand behind a check.
		l := max(onRow, c.level(s.At[0]), c.level(s.At[1]))
		if c.across || c.cur != c.top || !s.At[0].Affine() || !s.At[1].Affine() {
			l = here
		}
		at := c.place(s.At, false)
		out := c.cell(p.Elem, l)
		reg := out.reg
		c.emitAt(l, func(w *Worker, n int) int {
			d := w.dense[k]
			a.load(&w.regs[reg], d, int(w.base(&at.row))*d.Stride+int(w.base(&at.col))-w.origins[k], 0, 1)
			return n
		})
		return c.defined(out)
	}
	at := c.place(s.At, false)
	out := c.fresh(p.Elem)
	reg, shared := out.reg, c.shared(k)
	c.regs[reg].view = true
	c.emit(func(w *Worker, n int) int {
		d := w.dense[k]
		from, step, regular := w.atOf(&at, d, w.origins[k], n)
		switch {
		case !regular:
			w.regs[reg] = w.own[reg]
			a.gather(&w.regs[reg], d, w.places[:n])
		case step == 1 && !shared:
			a.view(&w.regs[reg], d, from, n)
		default:
			w.regs[reg] = w.own[reg]
			a.load(&w.regs[reg], d, from, step, n)
		}
		return n
	})
	return out
}

// shared reports that a result may share the memory of an operand.
func (c *compiler) shared(param int) bool {
	return slices.ContainsFunc(c.nest.Results, func(r loop.Result) bool { return r.Over == param })
}

func (c *compiler) store(s *loop.Stmt, x *operand) {
	if s.Mem.Kind == loop.LocalMem {
		c.storeLocal(s, x)
		return
	}
	at := c.place(s.At, false)
	reg, a, k := c.lanes(x), accessTo(x.elem), s.Mem.N
	origin := len(c.nest.Params) + k
	bits := slices.Contains(c.frame.bits, s.Args[0])
	c.emit(func(w *Worker, n int) int {
		d := w.out[k]
		to, step, regular := w.atOf(&at, d, w.origins[origin], n)
		if w.comparing {
			return w.compare(k, a, &w.regs[reg], to, step, regular, bits, n)
		}
		if regular {
			a.store(d, to, step, &w.regs[reg], n)
		} else {
			a.storeAt(d, w.places[:n], &w.regs[reg])
		}
		return n
	})
}

// table keeps the words of a table as memory of its type.
func (c *compiler) table(t loop.Table) int {
	d := value.New(t.Elem, 1, len(t.Words))
	a := accessTo(t.Elem)
	one := a.fresh(1)
	for k, word := range t.Words {
		a.setWord(&one, word)
		a.store(d, k, 1, &one, 1)
	}
	c.program.tables = append(c.program.tables, d)
	return len(c.program.tables) - 1
}

func (c *compiler) typeOfTable(s *loop.Stmt) types.Elem {
	if s.Mem.Kind != loop.TableMem {
		panic(fmt.Sprintf("BUG: look into %v", s.Mem))
	}
	return c.program.tables[c.frame.tables[s.Mem.N]].Elem
}
