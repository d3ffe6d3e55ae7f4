package loop

// This file removes repeated work: loops over the same range in one block become one loop, and an
// operation on the same operands is done once, before a loop if it is the same in all rounds.

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// MostAcross is the most columns of a matrix that one point of a loop over its rows computes. Merge
// then leaves one computation of what the columns share.
const MostAcross = 16

// Merge returns n with inner loops of one range merged and equal operations done once. All values
// and results stay the same; of several failing checks another may fail first.
func Merge(n *Nest) *Nest {
	n = Through(n)
	m := &merger{rewriter: newRewriter(n)}
	for v := range m.now {
		m.now[v] = NoVal
	}
	m.scope(func() { m.statements(&n.Body) })
	if err := m.Nest.Verify(); err != nil {
		panic(fmt.Sprintf("BUG: %v after merging\n%s\ninto\n%s", err, n, m.Nest))
	}
	return m.Nest
}

type merger struct {
	*rewriter
	// seen holds, for each open block, the operations done, by their text.
	seen []map[string]Val
	text []byte // of key
}

func (m *merger) scope(f func()) {
	m.seen = append(m.seen, map[string]Val{})
	f()
	m.seen = m.seen[:len(m.seen)-1]
}

// statements writes a block.
func (m *merger) statements(b *Block) {
	done := make([]bool, len(b.Stmts))
	m.room(len(b.Stmts))
	for i := range b.Stmts {
		if !done[i] {
			m.statement(b, i, done)
		}
	}
}

// statement writes statement i of b. A loop is written with those that merge with it.
func (m *merger) statement(b *Block, i int, done []bool) {
	s := &b.Stmts[i]
	done[i] = true
	m.where = s.Origin
	switch {
	case s.Code == For:
		m.loops(b, i, done)
	case s.Code == If:
		m.within(s)
	case s.N == 1 && pure(s):
		m.once(s)
	case s.Code == Check: // one that has passed passes again
		key := string(m.key(s))
		if !slices.ContainsFunc(m.seen, func(seen map[string]Val) bool { _, ok := seen[key]; return ok }) {
			m.copy(s)
			m.seen[len(m.seen)-1][key] = NoVal
		}
	default:
		m.copy(s)
	}
}

// once writes a pure statement unless a block that is open has done the same.
func (m *merger) once(s *Stmt) {
	key := m.key(s)
	for k := len(m.seen) - 1; k >= 0; k-- {
		if v, ok := m.seen[k][string(key)]; ok {
			m.now[s.Dst] = v
			return
		}
	}
	m.copy(s)
	m.seen[len(m.seen)-1][string(key)] = m.now[s.Dst]
}

// pure reports a statement with one value that depends only on its operands and on memory that no
// statement writes.
func pure(s *Stmt) bool {
	switch s.Code {
	case Const, IndexOf, Look, Apply:
		return true
	case Load:
		return s.Mem.Kind == ParamMem
	}
	return s.Code.IsOp()
}

// key returns a pure statement as text, in terms of the new values. The next call overwrites it.
func (m *merger) key(s *Stmt) []byte {
	b := m.text[:0]
	word := func(x int64) { b = binary.AppendVarint(b, x) }
	word(int64(s.Code))
	if s.Code == Const {
		word(int64(m.from.Types[s.Dst]))
	}
	imm := int64(s.Imm)
	if s.Code == IndexOf {
		imm = int64(m.name(int(s.Imm)))
	}
	word(imm)
	word(int64(s.Mem.Kind)<<32 | int64(s.Mem.N))
	for _, v := range s.Args {
		word(int64(m.now[v]))
	}
	if s.Func != nil {
		b = append(b, s.Func.Name...)
	}
	for _, l := range s.At {
		b = m.form(l).AppendKey(b)
	}
	m.text = b
	return b
}

// within writes a statement with blocks of its own: an if or a fold.
func (m *merger) within(s *Stmt) {
	block := m.rewriter.blocks
	m.rewriter.blocks = func(b *Block) { m.scope(func() { m.statements(b) }) }
	m.copy(s)
	m.rewriter.blocks = block
}

// loops writes loop i of b together with later loops of the block over the same range that need
// nothing in between.
func (m *merger) loops(b *Block, i int, done []bool) {
	first := &b.Stmts[i]
	group, at := []*Stmt{first}, []int{i}
	if mergeable(first) {
		for j := i + 1; j < len(b.Stmts); j++ {
			s := &b.Stmts[j]
			if !done[j] && s.Code == For && mergeable(s) && sameRange(first.Loop.Index.Range, s.Loop.Index.Range) && m.early(b, at, j, done) {
				done[j] = true
				group, at = append(group, s), append(at, j)
			}
		}
	}
	for _, s := range group {
		m.lift(s)
	}
	x := first.Loop.Index
	x.Range = m.rng(x.Range)
	var init []Val
	for _, s := range group {
		init = append(init, m.values(s.Loop.Init)...)
		m.names[s.Loop.Index.Name] = x.Name
	}
	out := m.For(x, init, func(carried []Val) (next []Val) {
		m.scope(func() {
			for _, s := range group {
				m.carry(s.Loop, carried[:len(s.Loop.Init)])
				carried = carried[len(s.Loop.Init):]
			}
			for _, s := range group {
				m.statements(&s.Loop.Body)
			}
			for _, s := range group {
				next = append(next, m.values(s.Loop.Body.Yield)...)
			}
		})
		return next
	})
	var sums []*Terms
	for _, s := range group {
		m.set(s, out)
		out, sums = out[s.N:], append(sums, s.Loop.Sums...)
	}
	if !slices.ContainsFunc(group, func(s *Stmt) bool { return s.N > 0 && s.Loop.Sums == nil }) {
		m.last().Loop.Sums = sums
	}
}

// mergeable reports a loop whose number of rounds depends only on its range, and whose rounds write
// nothing.
func mergeable(s *Stmt) bool {
	return s.Loop.Index.Range.Kind == Steps && !Some(s.Loop.Body.Stmts, func(t *Stmt) bool {
		return t.Code == Break || t.Code == Store || t.Code == Reduce || t.Code == Load && t.Mem.Kind != ParamMem
	})
}

func sameRange(a, b Range) bool {
	return a.Kind == b.Kind && a.By == b.By && a.From.Equal(b.From) && a.To.Equal(b.To)
}

// early reports whether loop j of b can join the loops at group, which become one where the first
// of them is. It writes the pure statements in between that the loop needs, and the checks there
// before them if one of them, or of the loop, relies on a check. What the group's own loops define is
// there only after them.
func (m *merger) early(b *Block, group []int, j int, done []bool) bool {
	at := map[Val]int{} // the statements that define values in between
	for k := group[0]; k < j; k++ {
		if !done[k] || slices.Contains(group, k) {
			for n := range b.Stmts[k].N {
				at[b.Stmts[k].Dst+Val(n)] = k
			}
		}
	}
	var list []int // statements to write first, in order
	var needs func(s *Stmt) bool
	value := func(v Val) bool {
		k, between := at[v]
		if !between || slices.Contains(list, k) {
			return true
		}
		s := &b.Stmts[k]
		if slices.Contains(group, k) || s.N != 1 || !pure(s) || !needs(s) {
			return false
		}
		list = append(list, k)
		return true
	}
	needs = func(s *Stmt) bool {
		fine := true
		s.EachRead(func(v Val) { fine = fine && value(v) })
		return fine
	}
	s := &b.Stmts[j]
	whole := func() bool {
		return needs(s) && !Some(s.Loop.Body.Stmts, func(t *Stmt) bool { return !needs(t) })
	}
	if !whole() {
		return false
	}
	if s.some(partial) || slices.ContainsFunc(list, func(k int) bool { return partial(&b.Stmts[k]) }) {
		list = nil
		for k := group[0]; k < j; k++ {
			if t := &b.Stmts[k]; !done[k] && t.Code == Check && t.Imm != Uncertain {
				if !needs(t) {
					return false
				}
				list = append(list, k)
			}
		}
		whole()
	}
	for _, k := range list {
		m.statement(b, k, done)
	}
	return true
}

// partial reports a statement that a check before it may have to allow: a division of integers, and
// a place in memory, or a range, that depends on a value.
func partial(s *Stmt) bool {
	return s.Code == IDiv || s.Code == Mod || s.byValue()
}

// byValue reports a statement whose place in memory, or number of rounds, depends on a value.
func (s *Stmt) byValue() bool {
	return slices.ContainsFunc(s.forms(), func(l Lin) bool { return !l.Affine() })
}
