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

// Plus returns l + m.
func (l Lin) Plus(m Lin) Lin {
	out := Lin{Const: l.Const + m.Const}
	terms := slices.Concat(l.Terms, m.Terms)
	if len(terms) == 1 && terms[0].Coef != 0 {
		out.Terms = terms
		return out
	}
	slices.SortStableFunc(terms, func(a, b Term) int {
		return cmp.Or(cmp.Compare(a.Sym.Kind, b.Sym.Kind), cmp.Compare(a.Sym.N, b.Sym.N))
	})
	kept := terms[:0]
	for _, t := range terms {
		if k := len(kept) - 1; k >= 0 && kept[k].Sym == t.Sym {
			if kept[k].Coef += t.Coef; kept[k].Coef == 0 {
				kept = kept[:k]
			}
			continue
		}
		if t.Coef != 0 {
			kept = append(kept, t)
		}
	}
	if len(kept) > 0 {
		out.Terms = slices.Clip(kept)
	}
	return out
}

// Times returns c * l.
func (l Lin) Times(c int64) Lin {
	out := Lin{Const: c * l.Const}
	if c == 0 {
		return out
	}
	for _, t := range l.Terms {
		out.Terms = append(out.Terms, Term{c * t.Coef, t.Sym})
	}
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
