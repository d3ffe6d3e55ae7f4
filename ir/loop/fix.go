package loop

// This file makes nests for certain values of scalar operands. A function such as pow has a case for
// each kind of exponent. If the exponent is known before the code is made, only one case is left. A
// division by a known integer is a product, or a shift.

// Deciding lists the scalar operands, by number, that decide conditions of applied functions, or divide
// integers. Such a condition or divisor depends on scalar operands alone, so it is constant once their
// values are known.
func Deciding(n *Nest) (list []int) {
	if len(n.Params) > 64 {
		return nil
	}
	a := lone{}
	a.walk(&n.Body, func(s *Stmt) (uint64, bool) {
		return 1 << s.Mem.N, s.Mem.Kind == ParamMem && n.Params[s.Mem.N].Kind == ScalarParam
	})
	for k := range n.Params {
		if a.applied>>k&1 != 0 {
			list = append(list, k)
		}
	}
	return list
}

// lone holds, during a walk over statements, which values depend on scalar operands alone.
type lone struct {
	of      map[Val]uint64 // of values that depend on scalar operands alone: on which, a bit each
	ifs     uint64         // what conditions depend on
	applied uint64         // what divisors, and conditions of applied functions, depend on
}

// walk looks at the statements of a block. load returns what a loaded value depends on.
func (a *lone) walk(b *Block, load func(s *Stmt) (uint64, bool)) {
	if a.of == nil {
		a.of = map[Val]uint64{}
	}
	EachStmt(b, func(s *Stmt) {
		on, is := a.all(s.Args)
		switch {
		case s.Code == Load:
			on, is = load(s)
		case s.Code == If && is:
			a.ifs |= on
		case s.Code == Apply:
			a.apply(s)
		case s.Code == IDiv || s.Code == Mod:
			by, _ := a.all(s.Args[1:])
			a.applied |= by
		}
		if is && s.N == 1 && (s.Code == Const || s.Code == Load || s.Code >= firstOp) {
			a.of[s.Dst] = on
		}
	})
}

// all returns what a list of values depends on. is reports that all of them depend on scalar operands
// alone.
func (a *lone) all(list []Val) (on uint64, is bool) {
	for _, v := range list {
		x, known := a.of[v]
		if on |= x; !known {
			return 0, false
		}
	}
	return on, true
}

// apply looks at the conditions of a function for the arguments that depend on scalar operands alone.
func (a *lone) apply(s *Stmt) {
	f := lone{of: map[Val]uint64{}}
	for k, v := range s.Args {
		if on, is := a.of[v]; is {
			f.of[Val(k)] = on
		}
	}
	if len(f.of) > 0 {
		f.walk(&s.Func.Body, func(*Stmt) (uint64, bool) { return 0, false })
	}
	a.applied |= f.ifs
}

// Fix returns n with constants for some scalar operands. values has the words by the number of the
// operand.
func Fix(n *Nest, values map[int]Word) *Nest {
	return rewritten(n, func(r *rewriter, s *Stmt) bool {
		w, is := values[s.Mem.N]
		if is = is && s.Code == Load && s.Mem.Kind == ParamMem; is {
			r.set(s, []Val{r.Const(n.Params[s.Mem.N].Elem, w)})
		}
		return is
	})
}
