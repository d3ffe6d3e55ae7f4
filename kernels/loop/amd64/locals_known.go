package amd64

// This file remembers what elements of locals hold, where the subscripts are constants and the
// steps follow one another: a load gets the value that was stored. A local that is loaded in no
// other way needs no memory.

import "flow/ir/loop"

// localPlace is an element of a local.
type localPlace struct {
	local    int
	row, col int64
}

// knownLocals is what is known at a statement.
type knownLocals struct {
	vals map[localPlace]operand
	// zero says of each local that what is not in vals is 0: the point has just begun.
	zero []bool
	// loaded says of each local that some step reads its memory.
	loaded []bool
}

// beginKnown is what is known at the begin of a point.
func (l *lowering) beginKnown() {
	n := len(l.nest.Locals)
	l.known.vals = map[localPlace]operand{}
	l.known.zero = make([]bool, n)
	for k := range n {
		l.known.zero[k] = true
	}
	if l.known.loaded == nil {
		l.known.loaded = make([]bool, n)
	}
}

// constantPlace is the element of an access with constant subscripts.
func (l *lowering) constantPlace(s *loop.Stmt) (p localPlace, ok bool) {
	row, col := l.form(s.At[0]), l.form(s.At[1])
	return localPlace{s.Mem.N, row.Const, col.Const}, row.Known() && col.Known()
}

// knownElement is what an element holds, if that is known.
func (l *lowering) knownElement(p localPlace) (o operand, ok bool) {
	if o, ok = l.known.vals[p]; ok {
		return o, true
	}
	return operand{elem: l.locals[p.local].elem, konst: true}, l.known.zero[p.local]
}

// noteStore remembers a store, of lanes that count alone where those are not all of the window.
func (l *lowering) noteStore(s *loop.Stmt, v operand) {
	p, ok := l.constantPlace(s)
	if !ok {
		l.forgetLocal(s.Mem.N)
		return
	}
	v = operand{elem: v.elem, konst: v.konst, word: v.word, v: v.v}
	if l.active != l.top {
		old, ok := l.knownElement(p)
		if !ok {
			delete(l.known.vals, p)
			return
		}
		v = operand{elem: v.elem, v: l.merged(l.active, v, old)}
	}
	l.known.vals[p] = v
}

// forgetLocal forgets what a local holds.
func (l *lowering) forgetLocal(n int) {
	l.known.zero[n] = false
	for p := range l.known.vals {
		if p.local == n {
			delete(l.known.vals, p)
		}
	}
}

// forgetStored forgets the locals that a block stores to: it may be passed, or made again.
func (l *lowering) forgetStored(b *loop.Block) {
	if b == nil || len(l.locals) == 0 {
		return
	}
	for i := range b.Stmts {
		s := &b.Stmts[i]
		if s.Code == loop.Store && s.Mem.Kind == loop.LocalMem {
			l.forgetLocal(s.Mem.N)
		}
		l.forgetStored(s.Then)
		l.forgetStored(s.Else)
		if s.Loop != nil {
			l.forgetStored(&s.Loop.Body)
		}
	}
}

// dropStores drops what is stored to locals that no step loads from.
func (l *lowering) dropStores() {
	kept := l.steps[:0]
	for _, s := range l.steps {
		if s.local == 0 || l.known.loaded[s.local-1] {
			kept = append(kept, s)
		}
	}
	l.steps = kept
}
