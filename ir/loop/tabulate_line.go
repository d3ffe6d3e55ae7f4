package loop

// This file finds values that depend on two indices through one linear form of them, such as u^(2*j-k).
// Their table has a place for each value of the form instead of each pair of indices: a binomial tree
// of 500 steps has 1,500 powers instead of 250,000, and reads them from the nearest cache.

import (
	"math/bits"

	"flow/ir/types"
)

// line is the form a*p + b*q of two indices, by bit. a and b have no common divisor, and neither is 0;
// the zero line is none.
type line struct {
	p, q int
	a, b int64
}

// form is how a value depends on two indices.
type form struct {
	kind formKind
	a, b int64
}

type formKind uint8

const (
	formFixed  formKind = iota // on neither
	formLinear                 // an integer, a*p + b*q and what is fixed
	formAlong                  // through a*p + b*q alone
	formFree                   // in another way
)

// mostCoef bounds the coefficients of a form.
const mostCoef = 1 << 20

// lineOf returns the line through which v depends on two indices. It is zero where there is none.
func (t *tabulator) lineOf(v Val) line {
	d := t.deps[v]
	if d == varies || bits.OnesCount64(d) != 2 {
		return line{}
	}
	l := line{p: bits.TrailingZeros64(d), q: 63 - bits.LeadingZeros64(d)}
	for _, bit := range []int{l.p, l.q} {
		if t.index[bit].Range.To.Any(func(s Sym) bool { return s.Kind != ParamSym }) {
			return line{} // a table's nest computes with the number of rounds
		}
	}
	f := t.form(v, l, map[Val]form{}).direction()
	if f.kind != formAlong || f.a == 0 || f.b == 0 {
		return line{}
	}
	l.a, l.b = f.a, f.b
	return l
}

// form is how v depends on the indices of l.
func (t *tabulator) form(v Val, l line, known map[Val]form) (f form) {
	if f, ok := known[v]; ok || t.deps[v] == 0 {
		return f
	}
	defer func() {
		if max(f.a, -f.a, f.b, -f.b) > mostCoef {
			f = form{kind: formFree}
		}
		known[v] = f
	}()
	if c := t.carried[v]; c != nil {
		if f = t.form(c.init, l, known); f.kind > formLinear {
			return form{kind: formFree}
		}
		return f.plus(int64(c.step), unit(c.loop, l))
	}
	s := t.made[v]
	args := each(s.Args, func(v Val) form { return t.form(v, l, known) })
	whole := t.from.Types[v] == types.I64
	for _, x := range args {
		whole = whole && x.kind <= formLinear
	}
	switch {
	case s.Code == IndexOf:
		return unit(t.bit(int(s.Imm)), l)
	case s.Code == Load:
		for _, x := range s.At {
			f = f.join(t.subscript(x, l))
		}
		return f
	case whole && s.Code == Add:
		return args[0].plus(1, args[1])
	case whole && s.Code == Sub:
		return args[0].plus(-1, args[1])
	case whole && s.Code == Mul && t.constant(s.Args[0]):
		return form{kind: formLinear}.plus(int64(t.made[s.Args[0]].Imm), args[1])
	case whole && s.Code == Mul && t.constant(s.Args[1]):
		return form{kind: formLinear}.plus(int64(t.made[s.Args[1]].Imm), args[0])
	}
	for _, x := range args {
		f = f.join(x)
	}
	return f
}

func (t *tabulator) constant(v Val) bool { return t.made[v] != nil && t.made[v].Code == Const }

// unit is an index alone.
func unit(bit int, l line) form {
	if bit == l.p {
		return form{formLinear, 1, 0}
	}
	return form{formLinear, 0, 1}
}

// subscript is the form of a subscript.
func (t *tabulator) subscript(x Lin, l line) form {
	f := form{kind: formLinear}
	for _, m := range x.Terms {
		if m.Sym.Kind == IndexSym {
			f = f.plus(m.Coef, unit(t.bit(m.Sym.N), l))
		}
	}
	return f
}

// plus is a linear form with c times another one. Coefficients beyond mostCoef are as bad as it.
func (f form) plus(c int64, g form) form {
	c = min(max(c, -mostCoef-1), mostCoef+1)
	return form{formLinear, f.a + c*g.a, f.b + c*g.b}
}

// join is how a function of two values depends on the indices.
func (f form) join(g form) form {
	f, g = f.direction(), g.direction()
	switch {
	case f.kind == formFixed:
		return g
	case g.kind == formFixed || f == g:
		return f
	}
	return form{kind: formFree}
}

// direction is the form of a function of a value: forms that are multiples of one another are the same.
func (f form) direction() form {
	if f.kind != formLinear {
		return f
	}
	g, h := max(f.a, -f.a), max(f.b, -f.b)
	for h != 0 {
		g, h = h, g%h
	}
	if g == 0 {
		return form{}
	}
	if f.b < 0 || f.b == 0 && f.a < 0 {
		g = -g
	}
	return form{formAlong, f.a / g, f.b / g}
}

// extent is how many values the form of l has, and what makes the least of them 0.
func (t *tabulator) extent(l line) (count, first Lin) {
	for _, x := range []struct {
		bit int
		c   int64
	}{{l.p, l.a}, {l.q, l.b}} {
		span := t.index[x.bit].Range.To.Plus(Num(-1)).Times(max(x.c, -x.c))
		if count = count.Plus(span); x.c < 0 {
			first = first.Plus(span)
		}
	}
	return count.Plus(Num(1)), first
}

// times is how often the form of l is in a linear one.
func (l line) times(f form) int64 { return f.b / l.b }
