package loop

// This file finds inner loops whose rounds may be evaluated side by side.

import "slices"

// leastApart and leastAdded are the fewest rounds that are worth it, of a loop that carries nothing and
// of one whose states merge.
const leastApart, leastAdded = 4, 16

// RoundsApart reports an inner loop whose rounds may be evaluated side by side: it carries nothing but
// states of reductions that merge and stores every element once, and no round reads what another one
// stores.
func RoundsApart(n *Nest, s *Stmt) bool {
	x, least := s.Loop, int64(leastApart)
	if s.N > 0 {
		least = leastAdded
	}
	r := x.Index.Range
	if s.N > 0 && len(x.Sums) == 0 || r.Kind != Steps || r.By != 1 || x.After > 0 || r.From.Known() && r.To.Known() && r.To.Const-r.From.Const < least ||
		slices.ContainsFunc(x.Sums, func(t *Terms) bool { return !t.merges() }) {
		return false
	}
	inside := Made(&x.Body)
	stored := map[Mem]Lin{}
	fine := true
	EachStmt(&x.Body, func(s *Stmt) {
		switch {
		case s.Code == For, s.Code == Break, s.Code == Reduce:
			fine = false
		case s.Code == Store:
			at, ok := flat(n, s)
			before, twice := stored[s.Mem]
			stored[s.Mem] = at
			fine = fine && ok && at.Coef(Sym{Kind: IndexSym, N: x.Index.Name}) != 0 && (!twice || before.Equal(at)) &&
				!at.Any(func(s Sym) bool { return s.Kind == ValSym && inside[Val(s.N)] })
		}
	})
	EachStmt(&x.Body, func(s *Stmt) {
		switch {
		case s.Code != Load:
		case s.Mem.Kind == LocalMem:
			at, _ := flat(n, s)
			to, also := stored[s.Mem]
			fine = fine && (!also || to.Equal(at))
		default: // a result may share the memory of the operand
			for m := range stored {
				fine = fine && (m.Kind != ResultMem || n.Results[m.N].Over != s.Mem.N)
			}
		}
	})
	return fine && len(stored)+s.N > 0
}

// flat is the place of an access as one form; ok is false where several forms may be one place.
func flat(n *Nest, s *Stmt) (at Lin, ok bool) {
	if s.Mem.Kind == LocalMem {
		if x := n.Locals[s.Mem.N]; x.Cols.Known() {
			return s.At[0].Times(x.Cols.Const).Plus(s.At[1]), true
		}
	}
	for k := range s.At {
		if s.At[1-k].Known() {
			return s.At[k].Times(2).Plus(Num(int64(k))), true // no form of a column is one of a row
		}
	}
	return at, false
}

// Made is the values that the statements of a block make.
func Made(b *Block) map[Val]bool {
	set := map[Val]bool{}
	EachStmt(b, func(s *Stmt) {
		for k := range s.N {
			set[s.Dst+Val(k)] = true
		}
	})
	return set
}
