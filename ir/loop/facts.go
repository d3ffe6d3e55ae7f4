package loop

// This file derives facts from conditions on indices: which linear forms are not negative where a
// condition holds.

import "flow/ir/types"

// Facts knows the statement of every value of a nest, and so the linear forms of its integers.
type Facts struct {
	nest *Nest
	made []*Stmt // by value; nil: carried, or one of several results
	lins []*Lin  // by value, of those that were asked for
}

// FactsOf reads a nest.
func FactsOf(n *Nest) *Facts {
	f := &Facts{nest: n, made: make([]*Stmt, len(n.Types)), lins: make([]*Lin, len(n.Types))}
	EachStmt(&n.Body, func(s *Stmt) {
		if s.N == 1 {
			f.made[s.Dst] = s
		}
	})
	return f
}

// Limits of forms. Sizes and indices are below 2^45, so no operation wraps and a form is what the
// body computes.
const (
	smallCoef  = 1 << 12
	smallConst = 1 << 45
	smallTerms = 6
)

// none marks a value without a form.
var none = &Lin{}

// Lin returns the linear form, of indices and scalar operands, that a value is known to be. It
// equals what the body computes if these are below 2^45.
func (f *Facts) Lin(v Val) (Lin, bool) {
	if f.lins[v] == nil {
		f.lins[v] = none
		if l, ok := f.form(v); ok && l.small() {
			f.lins[v] = &l
		}
	}
	return *f.lins[v], f.lins[v] != none
}

func (l Lin) small() bool {
	fine := len(l.Terms) <= smallTerms && l.Const > -smallConst && l.Const < smallConst
	for _, t := range l.Terms {
		fine = fine && t.Coef >= -smallCoef && t.Coef <= smallCoef
	}
	return fine
}

func (f *Facts) form(v Val) (Lin, bool) {
	s := f.made[v]
	if s == nil || f.nest.Types[v] != types.I64 {
		return Lin{}, false
	}
	var in []Lin
	switch s.Code {
	case Const:
		return Num(int64(s.Imm)), true
	case IndexOf:
		return Of(IndexSym, int(s.Imm)), true
	case Load:
		return Of(ParamSym, s.Mem.N), s.Mem.Kind == ParamMem && f.nest.Params[s.Mem.N].Kind == ScalarParam
	case Add, Sub, Neg, Mul:
		for _, a := range s.Args {
			l, ok := f.Lin(a)
			if !ok {
				return Lin{}, false
			}
			in = append(in, l)
		}
	}
	switch {
	case s.Code == Add:
		return in[0].Plus(in[1]), true
	case s.Code == Sub:
		return in[0].Plus(in[1].Times(-1)), true
	case s.Code == Neg:
		return in[0].Times(-1), true
	case s.Code == Mul && in[0].Known():
		return in[1].scaled(in[0].Const)
	case s.Code == Mul && in[1].Known():
		return in[0].scaled(in[1].Const)
	}
	return Lin{}, false
}

// scaled returns c * l if that is far from wrapping.
func (l Lin) scaled(c int64) (Lin, bool) {
	if c < -smallCoef || c > smallCoef {
		return Lin{}, false
	}
	return l.Times(c), true
}

// Where lists forms that are not negative if the bool v is truth.
func (f *Facts) Where(v Val, truth bool) []Lin {
	s := f.made[v]
	if s == nil || len(s.Args) == 0 {
		return nil
	}
	switch e := f.nest.Types[s.Args[0]]; {
	case s.Code == Not && e == types.Bool:
		return f.Where(s.Args[0], !truth)
	case e == types.Bool && (s.Code == And && truth || s.Code == Or && !truth):
		return append(f.Where(s.Args[0], truth), f.Where(s.Args[1], truth)...)
	}
	d, ok := f.difference(s)
	if !ok {
		return nil
	}
	less := d.Plus(Num(-1))            // 0 or more: the first is less
	above := d.Times(-1).Plus(Num(-1)) // the second is less
	switch {
	case s.Code == Lt && truth:
		return []Lin{less}
	case s.Code == Lt:
		return []Lin{d.Times(-1)}
	case s.Code == Le && truth:
		return []Lin{d}
	case s.Code == Le:
		return []Lin{above}
	case (s.Code == Eq) == truth:
		return []Lin{d, d.Times(-1)}
	}
	return nil
}

// difference returns the second operand of an integer comparison minus the first.
func (f *Facts) difference(s *Stmt) (Lin, bool) {
	if s.Code != Lt && s.Code != Le && s.Code != Eq && s.Code != Ne || f.nest.Types[s.Args[0]] != types.I64 {
		return Lin{}, false
	}
	a, ok1 := f.Lin(s.Args[0])
	b, ok2 := f.Lin(s.Args[1])
	return b.Plus(a.Times(-1)), ok1 && ok2
}
