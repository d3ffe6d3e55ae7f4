package loop

// This file checks what every reader of a nest may rely on.

import (
	"fmt"
	"slices"

	"flow/ir/types"
)

// Verify reports the first rule that the nest breaks: numbering, scopes, element types, places of
// statements.
func (n *Nest) Verify() error {
	v := &verifier{nest: n, types: n.Types, names: n.Names, tables: n.Tables, index: map[int]bool{}}
	return v.run(func() {
		for _, x := range n.Space {
			v.enter(x)
		}
		for i, l := range n.Locals {
			v.outside(l.Rows, "the size of w%d", i)
			v.outside(l.Cols, "the size of w%d", i)
		}
		for i, r := range n.Results {
			v.outside(r.Rows, "the size of out%d", i)
			v.outside(r.Cols, "the size of out%d", i)
			v.check(r.Over < len(n.Params), "out%d shares memory with operand %d of %d", i, r.Over, len(n.Params))
			if r.Over >= 0 {
				a := n.Params[r.Over]
				v.check(a.Kind == DenseParam && a.Elem == r.Elem, "out%d cannot share the memory of %%%d, %v", i, r.Over, a)
			}
		}
		v.block(&n.Body, false)
		v.check(len(n.Body.Yield) == 0, "the body of a nest yields nothing")
	})
}

// Verify reports the first rule that the function breaks. A function reads only its parameters and
// tables.
func (f *Function) Verify() error {
	v := &verifier{types: f.Types, names: f.Names, tables: f.Tables, index: map[int]bool{}}
	err := v.run(func() {
		for i, e := range f.Params {
			v.define(Val(i))
			v.check(v.typ(Val(i)) == e, "v%d is a %v", i, e)
		}
		v.block(&f.Body, false)
		v.check(len(f.Body.Yield) > 0, "a function yields its results")
	})
	if err != nil {
		return fmt.Errorf("%s: %w", f.Name, err)
	}
	return nil
}

// Done returns the nest. It panics if the nest is not well formed, which is a bug of the caller.
func (b *Builder) Done() *Nest {
	if err := b.Nest.Verify(); err != nil {
		panic("BUG: " + err.Error() + " in\n" + b.Nest.String())
	}
	return b.Nest
}

type verifier struct {
	nest    *Nest // nil in a function
	types   []types.Elem
	names   []string
	tables  []Table
	index   map[int]bool // visible names
	visible []bool       // of each value
	defined int
	in, out []types.Elem // of the statement that is checked, up to its first block
}

// violation is the verifier's panic.
type violation struct{ error }

func (v *verifier) run(f func()) (err error) {
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(violation)
			if !ok {
				panic(r)
			}
			err = e.error
		}
	}()
	v.visible = make([]bool, len(v.types))
	f()
	v.check(v.defined == len(v.types), "%d values have types and %d are defined", len(v.types), v.defined)
	return nil
}

func (v *verifier) check(ok bool, format string, args ...any) {
	if !ok {
		panic(violation{fmt.Errorf("loop: "+format, args...)})
	}
}

// define makes x the next value. A check of every value formats its message only if it fails.
func (v *verifier) define(x Val) {
	if int(x) != v.defined {
		v.check(false, "v%d is defined where v%d comes", x, v.defined)
	}
	if v.defined >= len(v.types) || !slices.Contains(all, v.types[x]) {
		v.check(false, "v%d has no type", x)
	}
	v.visible[x] = true
	v.defined++
}

func (v *verifier) typ(x Val) types.Elem {
	if x < 0 || int(x) >= len(v.types) || !v.visible[x] {
		v.check(false, "v%d is not visible where it is read", x)
	}
	return v.types[x]
}

func (v *verifier) reads(list []Val) []types.Elem { return each(list, v.typ) }

// one returns the type of the only result of the statement.
func (v *verifier) one(e types.Elem) []types.Elem {
	v.out = append(v.out[:0], e)
	return v.out
}

// enter makes an index visible after checking its range.
func (v *verifier) enter(x Index) {
	v.check(x.Name >= 0 && x.Name < len(v.names), "index %d has no name", x.Name)
	if _, seen := v.index[x.Name]; seen {
		v.check(false, "index %s twice", v.names[x.Name])
	}
	r := x.Range
	if r.Kind == Steps {
		if r.By == 0 {
			v.check(false, "the step of %s is 0", v.names[x.Name])
		}
		v.lin(r.From)
		v.lin(r.To)
	}
	v.index[x.Name] = true
}

func (v *verifier) lin(l Lin) {
	for _, t := range l.Terms {
		switch s := t.Sym; s.Kind {
		case IndexSym:
			v.check(v.index[s.N], "index %d is not visible in a subscript", s.N)
		case ValSym:
			v.check(v.typ(Val(s.N)) == types.I64, "v%d in a subscript is no i64", s.N)
		default:
			v.check(v.nest != nil && s.N >= 0 && s.N < len(v.nest.Params), "no operand %%%d", s.N)
			a := v.nest.Params[s.N]
			v.check(s.Kind != ParamSym || a.Kind == ScalarParam && a.Elem == types.I64, "%%%d in a subscript is no i64", s.N)
			v.check(s.Kind == ParamSym || a.Kind != ScalarParam, "%%%d is a scalar and has no size", s.N)
		}
	}
}

// outside checks a form that is known before the first point.
func (v *verifier) outside(l Lin, format string, args ...any) {
	v.lin(l)
	for _, t := range l.Terms {
		v.check(t.Sym.Kind != IndexSym && t.Sym.Kind != ValSym, format+" depends on the point", args...)
	}
}

// block checks the statements of a block and returns the types that it yields. Its definitions are
// not visible after it. breaks: it is the body of a For.
func (v *verifier) block(b *Block, breaks bool) []types.Elem {
	from := v.defined
	for i := range b.Stmts {
		s := &b.Stmts[i]
		v.check(s.Code != Break || breaks, "a break outside the body of a for")
		v.stmt(s)
	}
	out := v.reads(b.Yield)
	for x := from; x < v.defined; x++ {
		v.visible[x] = false
	}
	return out
}
