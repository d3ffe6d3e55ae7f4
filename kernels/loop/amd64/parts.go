package amd64

// This file lowers several vectors together. Statement by statement their instructions alternate,
// so the processor works on one while the other waits, and the instructions that count and jump are
// shared.

import "flow/ir/loop"

// part is one of the vectors that are lowered together.
type part struct {
	frame  *frame
	active virt // the mask of the lanes that count, or 0: all
	number int  // it holds the lanes number*lanes to (number+1)*lanes-1 of those that are lowered together
	row    int  // it is so many rows behind the row index
}

// each calls f for every part, which is the present one meanwhile. What f changes of it stays.
func (l *lowering) each(f func(k int)) {
	for k := range l.parts {
		l.part = l.parts[k]
		f(k)
		l.parts[k] = l.part
	}
}

// begin makes so many parts of the body of the nest, all lanes counting or those of a mask.
func (l *lowering) begin(parts int, mask virt) {
	l.parts = l.parts[:0]
	n := l.nest
	for k := range parts {
		f := &frame{vals: l.cut(len(n.Types)), types: n.Types, tables: n.Tables, body: &n.Body, nest: true}
		p := part{frame: f, active: mask, number: k}
		if l.square {
			p.number, p.row = 0, k
		}
		l.parts = append(l.parts, p)
	}
	l.top, l.keyed = mask, map[int]*keyedTable{}
}

// first reports the first of the vectors.
func (p *part) first() bool { return p.number == 0 && p.row == 0 }

// reads is how often statements of the body read v.
func (f *frame) reads(v loop.Val) int {
	if f.read == nil {
		f.read = make([]int, len(f.vals))
		note := func(v loop.Val) { f.read[v]++ }
		loop.EachStmt(f.body, func(s *loop.Stmt) { s.EachRead(note) })
		for _, v := range f.body.Yield {
			note(v)
		}
	}
	return f.read[v]
}
