package kernels

// This file writes the phases of a body that gives rows: each is a nest over rows and columns.

import (
	"slices"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/kernels/define"
	"flow/kernels/dense"
	"flow/kernels/loop/launch"
)

// rowPhase is one phase.
type rowPhase struct {
	plan     *rowPlan
	own      *phasePlan
	operands []nestOperand // behind the bounds of the rows
	results  []nestOperand
	apart    map[int]bool // kept registers that are read elsewhere than at the element that is made
	column   loop.Lin
	loop     *launch.Loop
}

// writePhases writes all phases in one form; nil where one cannot be written. name is that of the
// index, by its step.
func writePhases(p *rowPlan, by int, name string, affine bool) (out []*rowPhase) {
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(op.NoElement); !ok {
				panic(r)
			}
			out = nil
		}
	}()
	for n := range p.phases {
		out = append(out, writePhase(p, n, by, name, affine))
	}
	return out
}

func writePhase(p *rowPlan, number, by int, name string, affine bool) *rowPhase {
	f := &rowPhase{plan: p, own: &p.phases[number], apart: map[int]bool{}}
	x := &nestBuilder{Builder: loop.New(), words: loop.FastLevels, affine: affine, lins: map[loop.Val]loop.Lin{},
		scopes: []map[elementKey]loop.Val{{}}, phase: f}
	lo, n := x.Param(loop.ScalarParam, types.I64), x.Param(loop.ScalarParam, types.I64)
	row := x.Index(name, loop.Range{Kind: loop.Steps, To: loop.Of(loop.ParamSym, n), By: 1})
	col := x.Index("column", loop.Range{Kind: loop.Steps, To: loop.Num(int64(f.own.width)), By: 1})
	at := [2]loop.Lin{loop.Of(loop.IndexSym, row), loop.Of(loop.IndexSym, col)}
	f.column = at[1]
	env := []nestRef{{t: types.ScalarOf(types.I64), val: x.value(loop.Of(loop.ParamSym, lo).Plus(at[0].Times(int64(by))))}}
	for r := 1; r < len(p.varies); r++ {
		env = append(env, x.inPhase(r, env, at))
	}
	for _, k := range f.own.results {
		x.result(k, env, at)
	}
	if err := x.Nest.Verify(); err != nil {
		panic("BUG: " + err.Error() + " in\n" + x.Nest.String())
	}
	f.operands = x.operands
	f.loop = loopOf(loop.Merge(x.Nest))
	return f
}

// result stores the elements of result k, or contributes them.
func (x *nestBuilder) result(k int, env []nestRef, at [2]loop.Lin) {
	f, p := x.phase, x.phase.plan
	y := &p.results[k]
	r := env[y.register]
	switch {
	case y.total != nil:
		x.contribute(y.total, y.typ.Elem, r, [2]loop.Lin{loop.Num(0), loop.Num(0)}, at[1])
		f.results = append(f.results, nestOperand{register: k, what: itsResult})
	case p.kept[y.register]: // it is kept where the result is
	default:
		f.results = append(f.results, nestOperand{register: k, what: itsResult})
		out := x.Result(dense.Storage(y.typ.Elem), loop.Of(loop.ParamSym, 1), loop.Num(int64(f.own.width)))
		v := r.val
		if r.at != nil {
			v = r.at(loop.Num(0), at[1])
		}
		x.Store(loop.Mem{Kind: loop.ResultMem, N: out}, at[0], at[1], define.ConvertBody(x.Builder, dense.Storage(y.typ.Elem), v))
	}
}

// inPhase is register r in the phase, of which the point is at.
func (x *nestBuilder) inPhase(r int, env []nestRef, at [2]loop.Lin) nestRef {
	f, p := x.phase, x.phase.plan
	t := p.Register(r)
	k := r - len(p.Args)
	switch {
	case !f.own.need[r]:
		return nestRef{t: t, val: loop.NoVal}
	case p.ownRow(r):
		return x.ownRow(p.rowsBody, r, at[0])
	case !p.varies[r]:
		return x.outer(p.Body, r)
	case p.cut(k) && p.level[r] > f.own.level:
		x.contribute(p.Acts[k].Def, types.NoElem, env[p.Acts[k].Args[0]], [2]loop.Lin{at[0], loop.Num(0)}, at[1])
		f.results = append(f.results, nestOperand{register: r, what: itsReduced})
		return nestRef{t: t, val: loop.NoVal}
	case p.cut(k):
		c := p.Acts[k].Def.Class
		m := x.bring(r, itsReduced, c.Gives(takenAs(c, dense.Storage(p.Register(p.Acts[k].Args[0]).Elem))))
		v := define.ConvertBody(x.Builder, dense.Storage(t.Elem), x.Load(m, at[0], loop.Num(0)))
		return x.held(t, []loop.Val{v})
	case p.kept[r] && p.level[r] < f.own.level:
		m := x.bring(r, itsKept, dense.Storage(t.Elem))
		return x.sized(t, func(_, j loop.Lin) loop.Val {
			f.apart[r] = f.apart[r] || !j.Equal(at[1])
			return x.Load(m, at[0], j)
		})
	}
	mark := x.Mark()
	y := x.act(p.Body, k, env)
	x.Since(mark, func(s *loop.Stmt) {
		if s.Loop != nil || s.Then != nil { // it would be made for every column
			panic(noBody{"a loop for each row"})
		}
	})
	if p.kept[r] {
		out := x.Result(dense.Storage(t.Elem), loop.Of(loop.ParamSym, 1), loop.Num(int64(f.own.width)))
		f.results = append(f.results, nestOperand{register: r, what: itsKept})
		x.Store(loop.Mem{Kind: loop.ResultMem, N: out}, at[0], at[1], define.ConvertBody(x.Builder, dense.Storage(t.Elem), y.at(loop.Num(0), at[1])))
	}
	return y
}

// ownRow is the row of argument r that belongs to the iteration.
func (x *nestBuilder) ownRow(b *rowsBody, r int, row loop.Lin) nestRef {
	t := b.Args[r]
	m := x.bring(r, itsValue, dense.Storage(t.Elem))
	return x.sized(t, func(_, j loop.Lin) loop.Val { return x.Load(m, row, j) })
}

// bring adds a matrix that an earlier phase has made, or of which the iteration has its row, as an
// operand.
func (x *nestBuilder) bring(r int, what operandPart, e types.Elem) loop.Mem {
	x.operands = append(x.operands, nestOperand{register: r, what: what})
	return loop.Mem{Kind: loop.ParamMem, N: x.Param(loop.DenseParam, e)}
}

// contribute contributes the elements of a row to a reduction of rows, or of all of them, whose
// result is of gives; NoElem: of any type. Its element is to, and col the column.
func (x *nestBuilder) contribute(d *op.Def, gives types.Elem, in nestRef, to [2]loop.Lin, col loop.Lin) {
	if in.at == nil && !in.t.IsScalar() || in.val == loop.NoVal && in.at == nil {
		panic(noBody{"`" + define.SourceName(d) + "` of " + in.t.String()})
	}
	v := in.val
	switch {
	case in.at == nil:
	case in.t.Rows == 1:
		v = in.at(loop.Num(0), col)
	default:
		v = in.at(col, loop.Num(0))
	}
	v = x.term(d.Class, v)
	e := x.Type(v)
	x.summed(d.Class, e, gives)
	rows := loop.Of(loop.ParamSym, 1)
	if to[0].Known() {
		rows = loop.Num(1)
	}
	out := x.Reduced(d.Class, d.Class.Gives(e), rows, loop.Num(1))
	x.Reduce(loop.Mem{Kind: loop.ResultMem, N: out}, to[0], to[1], v)
}

// summed gives up on a reduction of e that has no state, or depends on the order, or whose result
// is not of gives; NoElem: it may be of any type.
func (x *nestBuilder) summed(c loop.Class, e, gives types.Elem) {
	switch {
	case !slices.Contains(c.Info().On, e) || loop.StateOf(c, e, loop.FastLevels) == nil || !c.Free(e):
		panic(noBody{c.Info().Name + " of " + e.String()})
	case gives != types.NoElem && c.Gives(e) != dense.Storage(gives):
		panic(noBody{c.Info().Name + " as " + gives.String()})
	}
}

// term is an element as a class takes it.
func (x *nestBuilder) term(c loop.Class, v loop.Val) loop.Val {
	switch e := x.Type(v); takenAs(c, e) {
	case e:
		return v
	case types.Bool:
		return x.Op(loop.ToBool, v)
	default:
		return x.Op(loop.ToI64, v)
	}
}

// takenAs is the type of the contributions that elements of e are to a class.
func takenAs(c loop.Class, e types.Elem) types.Elem {
	switch {
	case c == loop.Count || c == loop.Any || c == loop.All:
		return types.Bool
	case e == types.Bool && c == loop.Sum:
		return types.I64
	}
	return e
}
