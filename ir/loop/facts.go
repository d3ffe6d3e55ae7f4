package loop

// This file derives facts from conditions on indices: which linear forms are not negative where a
// condition holds.

import "flow/ir/types"

// Facts knows the statement of every value of a nest, and so the linear forms of its integers.
type Facts struct {
	nest *Nest
	made []*Stmt // by value; nil: carried
	lins []*Lin  // by value, of those that were asked for
}

// FactsOf reads a nest.
func FactsOf(n *Nest) *Facts {
	f := &Facts{nest: n, made: make([]*Stmt, len(n.Types)), lins: make([]*Lin, len(n.Types))}
	EachStmt(&n.Body, func(s *Stmt) {
		for n := range s.N {
			f.made[s.Dst+Val(n)] = s
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
	switch s.Code {
	case Const:
		return Num(int64(s.Imm)), true
	case IndexOf:
		return Of(IndexSym, int(s.Imm)), true
	case Load:
		return Of(ParamSym, s.Mem.N), s.Mem.Kind == ParamMem && f.nest.Params[s.Mem.N].Kind == ScalarParam
	case Add, Sub, Neg, Mul:
		var in []Lin
		for _, a := range s.Args {
			l, ok := f.Lin(a)
			if !ok {
				return Lin{}, false
			}
			in = append(in, l)
		}
		return s.Code.Linear(in)
	}
	return Lin{}, false
}

// Where lists forms that are not negative if the bool v is truth.
func (f *Facts) Where(v Val, truth bool) []Lin {
	x := Sets[[]Lin]{
		Facts: f,
		And:   func(a, b []Lin) []Lin { return append(a, b...) },
		Or:    func(_, _ []Lin) []Lin { return nil },
		Compared: func(s *Stmt, is bool) []Lin {
			if d, ok := f.difference(s); ok {
				return NotNegative(s.Code, d, is)
			}
			return nil
		},
	}
	return x.Holds(v, truth)
}

// NotNegative lists forms that are not negative if the comparison of two integers by code has the value
// is. d is the second integer minus the first. No sum wraps.
func NotNegative(code Code, d Lin, is bool) []Lin {
	switch {
	case code == Lt && is:
		return []Lin{d.Plus(Num(-1))}
	case code == Lt:
		return []Lin{d.Times(-1)}
	case code == Le && is:
		return []Lin{d}
	case code == Le:
		return []Lin{d.Times(-1).Plus(Num(-1))}
	case code == Eq && is, code == Ne && !is:
		return []Lin{d, d.Times(-1)}
	}
	return nil
}

// Sets finds sets of points by the conditions of a nest. A set of type S may have more points than
// those asked for, but never fewer.
type Sets[S any] struct {
	*Facts
	None, All S
	And, Or   func(a, b S) S // sets with the points of both, and with those of either
	// Compared returns the points where s, which is no operation of bools, gives the bool is.
	Compared func(s *Stmt, is bool) S
}

// Holds returns the points where the bool v has the value is.
func (x *Sets[S]) Holds(v Val, is bool) S {
	s := x.made[v]
	switch {
	case s != nil && s.Code == Const && (s.Imm != 0) != is:
		return x.None
	case s == nil || len(s.Args) == 0:
		return x.All
	case s.Code == Not:
		return x.Holds(s.Args[0], !is)
	case x.nest.Types[v] == types.Bool && (s.Code == And || s.Code == Or):
		a, b := x.Holds(s.Args[0], is), x.Holds(s.Args[1], is)
		if is == (s.Code == And) {
			return x.And(a, b)
		}
		return x.Or(a, b)
	}
	return x.Compared(s, is)
}

// Chosen returns of(v), where v is a choice (Select or If): the points of either choice where it is
// made. ok is false for other values.
func (x *Sets[S]) Chosen(v Val, of func(v Val) S) (points S, ok bool) {
	s := x.made[v]
	if s == nil || s.Code != Select && s.Code != If {
		return x.All, false
	}
	var then, other Val
	if s.Code == Select {
		then, other = s.Args[1], s.Args[2]
	} else {
		then, other = s.Then.Yield[v-s.Dst], s.Else.Yield[v-s.Dst]
	}
	return x.Or(x.And(of(then), x.Holds(s.Args[0], true)), x.And(of(other), x.Holds(s.Args[0], false))), true
}

// difference returns the second operand of a comparison, a minimum or a maximum of integers, minus
// the first.
func (f *Facts) difference(s *Stmt) (Lin, bool) {
	if s.Code != Lt && s.Code != Le && s.Code != Eq && s.Code != Ne && s.Code != Min && s.Code != Max || f.nest.Types[s.Args[0]] != types.I64 {
		return Lin{}, false
	}
	a, ok1 := f.Lin(s.Args[0])
	b, ok2 := f.Lin(s.Args[1])
	return b.Plus(a.Times(-1)), ok1 && ok2
}
