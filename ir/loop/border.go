package loop

// This file finds what is constant over most of the space of a nest, such as conditions that tell a
// border from the rest, and decides it. A remainder by a size is one more condition:
//
//	x[(i + n - 1) % n]      ->      x[i - 1], for the points with (i + n - 1) // n == 1

import (
	"cmp"
	"slices"

	"flow/ir/types"
)

// Border is an integer of a nest that cuts the space into pieces. It belongs to a comparison that
// branches, choices or checks depend on, to a minimum or a maximum, to a division, or to a
// subscript of a load. Its outcome is the truth of the comparison, the truth of a <= b for the
// minimum or maximum of a and b, the quotient, or 0 for a subscript inside the matrix.
type Border struct {
	// Low and High are the least and the greatest value over all rounds of inner loops: of the second
	// operand of a comparison minus the first, of a dividend, or of a subscript. They are forms of one
	// index of the space, scalar operands and sizes.
	Low, High Lin
	Size      Lin // what is divided by, of scalar operands and sizes
	stmt      *Stmt
	at        int // which subscript of a load
}

// mostQuotient bounds the quotients that are decided. A remainder with more of them is no border.
const mostQuotient = 8

// Outcome returns the outcome where Low, High and Size have these values. It is false if rounds of
// inner loops may differ.
func (b *Border) Outcome(low, high, size int64) (int64, bool) {
	x, y := b.side(low, size), b.side(high, size)
	switch b.stmt.Code {
	case Eq, Ne: // rounds with one sign of the difference may only be unequal
		is := (x == 0) == (b.stmt.Code == Eq)
		return int64(truth(is)), x == y
	case Lt, Le, Min, Max:
		return x, x == y
	case Load:
		return 0, x == 0 && y == 0
	}
	return x, x == y && x >= -mostQuotient && x <= mostQuotient
}

// Numbers reports whether the outcome decides a number, which a subscript may contain, and not only
// a truth value.
func (b *Border) Numbers() bool {
	switch b.stmt.Code {
	case Min, Max, Mod, IDiv:
		return true
	}
	return false
}

// side returns the outcome of a round with the value x. Of equalities it returns the sign of x.
func (b *Border) side(x, size int64) int64 {
	switch b.stmt.Code {
	case Eq, Ne:
		return int64(cmp.Compare(x, 0))
	case Lt:
		return int64(truth(x > 0))
	case Le, Min, Max:
		return int64(truth(x >= 0))
	}
	return FloorDiv(x, size)
}

// Changes lists the values of i, from from to to, at which the outcome for a*i + c differs, or may
// differ, from that for i-1. It is false if there are many.
func (b *Border) Changes(a, c, size, from, to int64) (list []int64, ok bool) {
	if a == 0 {
		return nil, true
	}
	first, last := int64(0), int64(0)
	switch b.stmt.Code {
	case Eq, Ne: // the sign changes to 0, and from 0
		last = 1
	case Lt:
		c--
	case Le, Min, Max:
	default:
		first = FloorDiv(min(a*from, a*to)+c, size) + 1
		if last = FloorDiv(max(a*from, a*to)+c, size); last-first >= mostQuotient {
			return nil, false
		}
	}
	for q := first; q <= last; q++ {
		if d := c - q*size; a > 0 { // from there on a*i + d is not negative
			list = append(list, -FloorDiv(d, a))
		} else { // up to there
			list = append(list, FloorDiv(d, -a)+1)
		}
	}
	return list, true
}

// Borders lists what may be the same at most points of n, and is not known yet.
func Borders(n *Nest) (list []Border) {
	c := &cutter{facts: FactsOf(n), ranges: map[int][2]int64{}}
	// uniform reports a form of scalar operands, sizes and at most so many indices of the space.
	uniform := func(f Lin, indices int) bool {
		for _, t := range f.Terms {
			switch t.Sym.Kind {
			case ValSym:
				return false
			case IndexSym:
				if indices--; indices < 0 || !slices.ContainsFunc(n.Space, func(x Index) bool { return x.Name == t.Sym.N }) {
					return false
				}
			}
		}
		return f.small()
	}
	var inner []Index
	end := func(f Lin, high bool) Lin {
		for k := len(inner) - 1; k >= 0; k-- {
			if x := inner[k]; x.Range.Kind == Steps && x.Range.By == 1 {
				f = f.End(x, high)
			}
		}
		return f
	}
	add := func(s *Stmt, f, size Lin, at int) {
		b := Border{end(f, false), end(f, true), size, s, at}
		if uniform(b.Low, 1) && uniform(b.High, 1) && uniform(size, 0) && len(b.Low.Terms)+len(b.High.Terms) > 0 {
			list = append(list, b)
		}
	}
	var compare func(v Val)
	compare = func(v Val) {
		s := c.facts.made[v]
		if s == nil || c.truth(v) >= 0 || slices.ContainsFunc(list, func(b Border) bool { return b.stmt == s }) {
			return
		}
		if s.Code == Not || s.Code == And || s.Code == Or {
			for _, a := range s.Args {
				compare(a)
			}
		} else if f, ok := c.facts.difference(s); ok {
			add(s, f, Num(1), 0)
		}
	}
	var walk func(b *Block)
	walk = func(b *Block) {
		for i := range b.Stmts {
			s := &b.Stmts[i]
			switch s.Code {
			case If, Select, Check:
				compare(s.Args[0])
			case Mod, IDiv:
				f, ok1 := c.facts.Lin(s.Args[0])
				size, ok2 := c.facts.Lin(s.Args[1])
				if ok1 && ok2 {
					add(s, f, size, 0)
				}
			case Min, Max:
				if f, ok := c.facts.difference(s); ok {
					add(s, f, Num(1), 0)
				}
			case Load:
				for k, l := range s.At {
					if f, ok := c.facts.linear(l); ok && !l.Affine() && s.Mem.Kind == ParamMem {
						add(s, f, Of([]SymKind{RowsSym, ColsSym}[k], s.Mem.N), k)
					}
				}
			}
			around := inner
			if s.Loop != nil {
				inner = append(inner, s.Loop.Index)
			}
			s.EachBlock(walk)
			inner = around
		}
	}
	walk(&n.Body)
	return list
}

// linear returns l with the forms of values instead of these.
func (f *Facts) linear(l Lin) (Lin, bool) {
	out := Num(l.Const)
	for _, t := range l.Terms {
		x := Lin{Terms: []Term{{1, t.Sym}}}
		if t.Sym.Kind == ValSym {
			y, ok := f.Lin(Val(t.Sym.N))
			if !ok {
				return l, false
			}
			x = y
		}
		out = out.Plus(x.Times(t.Coef))
	}
	return out, out.small()
}

// Decided returns n for points at which some of its borders have these outcomes, by number.
func Decided(n *Nest, borders []Border, outcomes map[int]int64) *Nest {
	c := &cutter{facts: FactsOf(n), ranges: map[int][2]int64{}, known: map[*Stmt][2]outcome{}}
	limited := map[int]bool{} // operands: a launch knows no outcome where one is large
	for k, q := range outcomes {
		b := &borders[k]
		for _, f := range []Lin{b.Low, b.High, b.Size} {
			for _, t := range f.Terms {
				if t.Sym.Kind == ParamSym {
					limited[t.Sym.N] = true
				}
			}
		}
		x := c.known[b.stmt]
		x[b.at] = outcome{q, true}
		c.known[b.stmt] = x
	}
	return counted(c.rewritten(n), limited)
}

// outcome is that of a border, if it is known.
type outcome struct {
	value int64
	known bool
}

// decide writes what a statement is if its outcome is known, and bools without operands that are known.
func (c *cutter) decide(r *rewriter, s *Stmt) bool {
	x, is := c.known[s]
	switch {
	case s.Code == Load && is:
		t := *s
		t.At = slices.Clone(s.At)
		for k := range t.At {
			if x[k].known {
				t.At[k], _ = c.facts.linear(s.At[k])
			}
		}
		r.copy(&t)
	case s.Code == Mod && is:
		r.set(s, []Val{r.Op(Sub, r.now[s.Args[0]], r.Op(Mul, r.now[s.Args[1]], r.Const(types.I64, Word(x[0].value))))})
	case (s.Code == Min || s.Code == Max) && is: // the first operand is at most the second one, or it is not
		k := 0
		if (x[0].value == 1) != (s.Code == Min) {
			k = 1
		}
		r.set(s, []Val{r.now[s.Args[k]]})
	case is:
		r.set(s, []Val{r.Const(r.from.Types[s.Dst], Word(x[0].value))})
	case (s.Code == And || s.Code == Or) && r.from.Types[s.Dst] == types.Bool && len(c.known) > 0:
		for k, v := range s.Args {
			if t := c.truth(v); t >= 0 && (t == 1) == (s.Code == And) {
				r.set(s, []Val{r.now[s.Args[1-k]]})
				return true
			}
		}
		return false
	default:
		return false
	}
	return true
}
