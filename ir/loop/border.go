package loop

// This file finds the conditions of a nest that are constant over most of its space, such as those that tell
// a border from the rest, and decides them.

import "slices"

// Border is an integer comparison on which branches or choices of a nest depend.
type Border struct {
	Val  Val
	Form Lin // the second operand minus the first: a form of indices of the space, scalar operands and sizes
	code Code
}

// Truth is the value of the comparison where its form has the value x.
func (b *Border) Truth(x int64) bool {
	switch b.code {
	case Lt:
		return x > 0
	case Le:
		return x >= 0
	case Eq:
		return x == 0
	}
	return x != 0
}

// Changes lists the values of i at which Truth(a*i + c) differs, or may differ, from that for i-1. a is not
// 0.
func (b *Border) Changes(a, c int64) []int64 {
	switch b.code {
	case Eq, Ne:
		if c%a != 0 {
			return nil
		}
		return []int64{-c / a, -c/a + 1}
	case Lt:
		c--
	}
	if a > 0 { // from there on a*i + c is not negative
		return []int64{-FloorDiv(c, a)}
	}
	return []int64{FloorDiv(c, -a) + 1} // up to there
}

// Borders lists the comparisons on which branches and choices of n still depend if those in known have these
// values.
func Borders(n *Nest, known map[Val]bool) (list []Border) {
	c := &cutter{facts: FactsOf(n), ranges: map[int][2]int64{}, known: known}
	ofSpace := func(s Sym) bool {
		return s.Kind == ParamSym || s.Kind == RowsSym || s.Kind == ColsSym ||
			s.Kind == IndexSym && slices.ContainsFunc(n.Space, func(x Index) bool { return x.Name == s.N })
	}
	var add func(v Val)
	add = func(v Val) {
		s := c.facts.made[v]
		if s == nil || c.truth(v) >= 0 {
			return
		}
		if s.Code == Not || s.Code == And || s.Code == Or {
			for _, a := range s.Args {
				add(a)
			}
			return
		}
		f, ok := c.facts.difference(s)
		if !ok || slices.ContainsFunc(f.Terms, func(t Term) bool { return !ofSpace(t.Sym) }) ||
			slices.ContainsFunc(list, func(b Border) bool { return b.Val == v }) {
			return
		}
		list = append(list, Border{Val: v, Form: f, code: s.Code})
	}
	var walk func(b *Block)
	walk = func(b *Block) {
		if b == nil {
			return
		}
		for i := range b.Stmts {
			s := &b.Stmts[i]
			t := -1
			if s.Code == If || s.Code == Select {
				if t = c.truth(s.Args[0]); t < 0 {
					add(s.Args[0])
				}
			}
			if t != 0 {
				walk(s.Then)
			}
			if t != 1 {
				walk(s.Else)
			}
			if s.Loop != nil {
				walk(&s.Loop.Body)
			}
		}
	}
	walk(&n.Body)
	return list
}

// Decided returns n for points at which the comparisons in known have these values.
func Decided(n *Nest, known map[Val]bool) *Nest {
	c := &cutter{facts: FactsOf(n), ranges: map[int][2]int64{}, known: known}
	return c.rewritten(n)
}
