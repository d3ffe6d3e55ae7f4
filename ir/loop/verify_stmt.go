package loop

// This file checks statements.

import (
	"slices"

	"flow/ir/types"
)

func (v *verifier) stmt(s *Stmt) {
	first := v.defined
	for k := range s.N {
		v.define(s.Dst + Val(k))
		v.visible[first+k] = false // until the statement has ended
	}
	v.in = v.in[:0]
	for _, x := range s.Args {
		v.in = append(v.in, v.typ(x))
	}
	gives := v.gives(s, v.in)
	v.check(len(gives) == s.N, "statement %v gives %d values, not %d", s.Code, len(gives), s.N)
	for k, e := range gives {
		if v.types[first+k] != e {
			v.check(false, "v%d is a %v", first+k, e)
		}
		v.visible[first+k] = true
	}
}

// gives checks a statement and returns the types of its results.
func (v *verifier) gives(s *Stmt, in []types.Elem) []types.Elem {
	if s.Code.IsOp() {
		e, err := opType(s.Code, in)
		v.check(err == nil, "%v", err)
		return v.one(e)
	}
	switch s.Code {
	case Const:
		v.check(s.N == 1, "a constant is one value")
		return v.one(v.types[s.Dst])
	case IndexOf:
		v.check(v.index[int(s.Imm)], "index %d is not visible", s.Imm)
		return v.one(types.I64)
	case Load:
		return v.one(v.load(s))
	case Look:
		v.check(s.Mem.Kind == TableMem && s.Mem.N < len(v.tables), "no table %v", s.Mem)
		v.check(v.tables[s.Mem.N].Elem.Size() == 8, "a table of %v", v.tables[s.Mem.N].Elem)
		v.check(slices.Equal(in, ints), "look takes one i64")
		return v.one(v.tables[s.Mem.N].Elem)
	case Store, Reduce:
		v.write(s, in)
	case Check:
		v.check(len(in) > 0 && in[0] == types.Bool, "check takes a bool first")
	case Break:
		v.check(slices.Equal(in, []types.Elem{types.Bool}), "break takes a bool")
	case Apply:
		v.check(slices.Equal(in, s.Func.Params), "%s takes %v, not %v", s.Func.Name, s.Func.Params, in)
		return s.Func.Results()
	case If:
		v.check(slices.Equal(in, []types.Elem{types.Bool}), "if takes a bool")
		then := v.block(s.Then, false)
		v.check(slices.Equal(then, v.block(s.Else, false)), "the two blocks of an if yield different types")
		return then
	case For:
		return v.loop(s)
	default:
		v.check(false, "no statement %d", s.Code)
	}
	return nil
}

func (v *verifier) loop(s *Stmt) []types.Elem {
	l := s.Loop
	v.enter(l.Index)
	defer delete(v.index, l.Index.Name)
	carried := v.reads(l.Init)
	for k, e := range carried {
		x := l.Carry + Val(k)
		v.define(x)
		v.check(v.types[x] == e, "v%d carries a %v", x, e)
	}
	v.check(slices.Equal(v.block(&l.Body, true), carried), "a for hands on what it carries")
	var sums []types.Elem
	for _, t := range l.Sums {
		elems, _ := t.Empty()
		sums = append(sums, elems...)
	}
	v.check(l.Sums == nil || slices.Equal(sums, carried), "a for carries the states of its sums")
	for k := range carried {
		v.visible[int(l.Carry)+k] = false
	}
	return carried
}

// contribution reports whether the values after the first have the types that the class takes.
func (v *verifier) contribution(c Class, in []types.Elem) bool {
	switch c {
	case ArgLeast, ArgGreatest:
		return in[1] == types.I64
	case Chain:
		return in[1] == in[0]
	}
	return true
}

func (v *verifier) subscripts(s *Stmt, n int) {
	v.check(len(s.At) == n, "%v has %d subscripts, not %d", &s.Mem, n, len(s.At))
	for _, l := range s.At {
		v.lin(l)
	}
}

func (v *verifier) load(s *Stmt) types.Elem {
	v.check(v.nest != nil, "a function loads from a table alone")
	if s.Mem.Kind == LocalMem {
		v.check(s.Mem.N < len(v.nest.Locals), "no local %v", &s.Mem)
		v.subscripts(s, 2)
		return v.nest.Locals[s.Mem.N].Elem
	}
	v.check(s.Mem.Kind == ParamMem && s.Mem.N < len(v.nest.Params), "%v cannot be loaded", &s.Mem)
	a := v.nest.Params[s.Mem.N]
	n := 0
	if a.Kind == DenseParam {
		n = 2
	}
	v.subscripts(s, n)
	return a.Elem
}

func (v *verifier) write(s *Stmt, in []types.Elem) {
	v.check(v.nest != nil, "a function stores nothing")
	if s.Mem.Kind == LocalMem && s.Code == Store {
		v.check(s.Mem.N < len(v.nest.Locals), "no local %v", &s.Mem)
		l := v.nest.Locals[s.Mem.N]
		v.subscripts(s, 2)
		v.only(in, l.Elem, &s.Mem)
		return
	}
	v.check(s.Mem.Kind == ResultMem && s.Mem.N < len(v.nest.Results), "%v cannot be stored", &s.Mem)
	r := v.nest.Results[s.Mem.N]
	v.check((r.Class != NoClass) == (s.Code == Reduce), "out%d is made in another way", s.Mem.N)
	if s.Code == Reduce {
		c := r.Class.Info()
		if len(in) != c.Args || !slices.Contains(c.On, in[0]) || !v.contribution(r.Class, in) || r.Class.Gives(in[0]) != r.Elem {
			v.check(false, "%s of %v into %v", c.Name, in, &s.Mem)
		}
	} else {
		v.only(in, r.Elem, &s.Mem)
	}
	v.subscripts(s, 2)
}

// only checks that a store takes one value of type e.
func (v *verifier) only(in []types.Elem, e types.Elem, to *Mem) {
	if len(in) != 1 || in[0] != e {
		v.check(false, "%v into %v", in, to)
	}
}
