package loop

// This file defines arithmetic on linear forms.

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// Num returns the constant form c.
func Num(c int64) Lin { return Lin{Const: c} }

// Of returns the form of one symbol.
func Of(kind SymKind, n int) Lin { return Lin{Terms: []Term{{1, Sym{kind, n}}}} }

// Plus returns l + m. The result may share its terms with one of them.
func (l Lin) Plus(m Lin) Lin {
	a, b, out := l.Terms, m.Terms, Lin{Const: l.Const + m.Const}
	switch {
	case len(b) == 0:
		out.Terms = slices.Clip(a)
		return out
	case len(a) == 0:
		out.Terms = slices.Clip(b)
		return out
	}
	terms := make([]Term, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		order := cmp.Or(cmp.Compare(a[0].Sym.Kind, b[0].Sym.Kind), cmp.Compare(a[0].Sym.N, b[0].Sym.N))
		switch {
		case order < 0:
			terms, a = append(terms, a[0]), a[1:]
		case order > 0:
			terms, b = append(terms, b[0]), b[1:]
		default:
			if c := a[0].Coef + b[0].Coef; c != 0 {
				terms = append(terms, Term{c, a[0].Sym})
			}
			a, b = a[1:], b[1:]
		}
	}
	if terms = append(append(terms, a...), b...); len(terms) > 0 {
		out.Terms = slices.Clip(terms)
	}
	return out
}

// Without returns l without a symbol.
func (l Lin) Without(s Sym) Lin {
	k := slices.IndexFunc(l.Terms, func(t Term) bool { return t.Sym == s })
	switch {
	case k < 0:
		return l
	case len(l.Terms) == 1:
		return Lin{Const: l.Const}
	case k == 0:
		return Lin{l.Const, slices.Clip(l.Terms[1:])}
	}
	return Lin{l.Const, slices.Concat(l.Terms[:k], l.Terms[k+1:])}
}

// Times returns c * l.
func (l Lin) Times(c int64) Lin {
	out := Lin{Const: c * l.Const}
	if c == 0 {
		return out
	}
	out.Terms = each(l.Terms, func(t Term) Term { return Term{c * t.Coef, t.Sym} })
	return out
}

// Known reports a form without symbols.
func (l Lin) Known() bool { return len(l.Terms) == 0 }

// known reports whether all places are constants.
func known(at []Lin) bool {
	return !slices.ContainsFunc(at, func(l Lin) bool { return !l.Known() })
}

// Affine reports whether the form contains no value of the body, so that it is known before the
// point is evaluated.
func (l Lin) Affine() bool {
	return !l.Any(func(s Sym) bool { return s.Kind == ValSym })
}

// Any reports whether f holds for a symbol of the form.
func (l Lin) Any(f func(s Sym) bool) bool {
	return slices.ContainsFunc(l.Terms, func(t Term) bool { return f(t.Sym) })
}

// Coef returns the coefficient of a symbol, 0 if it does not occur.
func (l Lin) Coef(s Sym) int64 {
	for _, t := range l.Terms {
		if t.Sym == s {
			return t.Coef
		}
	}
	return 0
}

// End returns l with index x replaced by the end of its range at which l is greatest, or least if high
// is false. It would be wrong for an index that does not count up by one.
func (l Lin) End(x Index, high bool) Lin {
	own := Sym{IndexSym, x.Name}
	a := l.Coef(own)
	if a == 0 {
		return l
	}
	at := x.Range.From
	if high == (a > 0) {
		at = x.Range.To.Plus(Num(-1))
	}
	return l.Without(own).Plus(at.Times(a))
}

// Linear returns the linear form of the integer that a scalar operation makes of these. ok is false if
// it is none.
func (c Code) Linear(in []Lin) (l Lin, ok bool) {
	switch {
	case c == Add:
		return in[0].Plus(in[1]), true
	case c == Sub:
		return in[0].Plus(in[1].Times(-1)), true
	case c == Neg:
		return in[0].Times(-1), true
	case c == Mul && in[0].Known():
		return in[1].Times(in[0].Const), true
	case c == Mul && in[1].Known():
		return in[0].Times(in[1].Const), true
	}
	return Lin{}, false
}

// AppendKey appends bytes that tell the form from all others.
func (l Lin) AppendKey(b []byte) []byte {
	b = binary.AppendVarint(binary.AppendVarint(b, l.Const), int64(len(l.Terms)))
	for _, t := range l.Terms {
		b = binary.AppendVarint(binary.AppendVarint(b, t.Coef), int64(t.Sym.Kind)<<32|int64(t.Sym.N))
	}
	return b
}

// Equal reports whether the forms are equal.
func (l Lin) Equal(m Lin) bool { return l.Const == m.Const && slices.Equal(l.Terms, m.Terms) }
