package loop

// This file writes what is the same in all rounds of an inner loop in front of it. Targets move
// operations out of loops by themselves, but no load whose lanes lie apart.

// lift writes the statements of a loop's block, and of the loops in it, that give the same value in
// every round. It is called where the loop will stand; the block finds their values later by their
// keys. Only what surely is done is lifted: a load that no round makes may lie outside of its operand
// and a division be by zero, and so may one behind a check. In a nest of one point, a load at a known
// place is always inside, because the program fixes all sizes.
func (m *merger) lift(s *Stmt) {
	m.liftFrom(s, map[int]bool{})
}

// liftFrom lifts from loop s inside loops over the indices of inner. It is false if what follows s
// may not be reached.
func (m *merger) liftFrom(s *Stmt, inner map[int]bool) bool {
	rounds, sure := knownRounds(s)
	if sure = sure && rounds > 0; !sure && len(m.from.Space) > 0 {
		return !leaves(s.Loop.Body.Stmts)
	}
	inner[s.Loop.Index.Name] = true
	defer delete(inner, s.Loop.Index.Name)
	b := &s.Loop.Body
	for i := range b.Stmts {
		t := &b.Stmts[i]
		switch {
		case t.Code == For:
			if !m.liftFrom(t, inner) && sure {
				return false
			}
		case t.N == 1 && pure(t):
			if m.steady(t, inner) && (sure || !partial(t) && (t.Code != Load || known(t.At))) {
				m.once(t)
			}
		case !sure:
		case leaves(b.Stmts[i : i+1]):
			return false
		}
	}
	return sure || !leaves(b.Stmts)
}

// leaves reports a statement of a list, or in one of their blocks, that may end a point or a loop.
func leaves(list []Stmt) bool {
	return Some(list, func(s *Stmt) bool { return s.Code == Check || s.Code == Break })
}

// steady reports a pure statement whose operands are written already and that depends on none of
// these indices.
func (m *merger) steady(s *Stmt, inner map[int]bool) bool {
	if s.Code == IndexOf && inner[int(s.Imm)] {
		return false
	}
	for _, v := range s.Args {
		if m.now[v] == NoVal {
			return false
		}
	}
	for _, l := range s.At {
		for _, t := range l.Terms {
			if t.Sym.Kind == IndexSym && inner[t.Sym.N] || t.Sym.Kind == ValSym && m.now[t.Sym.N] == NoVal {
				return false
			}
		}
	}
	return true
}
