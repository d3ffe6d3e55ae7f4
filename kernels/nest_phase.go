package kernels

// This file writes the phases of a body that gives rows: each is a nest over rows and columns.

import (
	"slices"
	"strings"

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
	number   int
	operands []nestOperand // behind the bounds of the rows
	results  []nestOperand // what it makes of registers; the row itself is the last result of the last phase
	apart    map[int]bool  // kept registers that are read elsewhere than where the row is stored
	column   loop.Lin
	loop     *launch.Loop
}

// writePhases writes all phases in one form; nil where one cannot be written.
func writePhases(p *rowPlan, by int, names string, affine bool) (out []*rowPhase) {
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(op.NoElement); !ok {
				panic(r)
			}
			out = nil
		}
	}()
	for n := 0; n <= p.last; n++ {
		out = append(out, writePhase(p, n, by, names, affine))
	}
	return out
}

func writePhase(p *rowPlan, number, by int, names string, affine bool) *rowPhase {
	f := &rowPhase{plan: p, number: number, apart: map[int]bool{}}
	x := &nestBuilder{Builder: loop.New(), words: loop.FastLevels, affine: affine, lins: map[loop.Val]loop.Lin{},
		scopes: []map[elementKey]loop.Val{{}}, phase: f}
	b := p.body
	lo, n := x.Param(loop.ScalarParam, types.I64), x.Param(loop.ScalarParam, types.I64)
	row := x.Index(strings.Fields(names)[0], loop.Range{Kind: loop.Steps, To: loop.Of(loop.ParamSym, n), By: 1})
	col := x.Index("column", loop.Range{Kind: loop.Steps, To: loop.Num(int64(p.width)), By: 1})
	at := [2]loop.Lin{loop.Of(loop.IndexSym, row), loop.Of(loop.IndexSym, col)}
	f.column = at[1]
	env := []nestRef{{t: types.ScalarOf(types.I64), val: x.value(loop.Of(loop.ParamSym, lo).Plus(at[0].Times(int64(by))))}}
	for r := 1; r < len(p.varies); r++ {
		env = append(env, x.inPhase(r, env, at))
	}
	if number == p.last {
		y := env[b.Yields[0]]
		out := x.Result(dense.Storage(y.t.Elem), loop.Of(loop.ParamSym, n), loop.Num(int64(p.width)))
		x.Store(loop.Mem{Kind: loop.ResultMem, N: out}, at[0], at[1], y.at(loop.Num(0), at[1]))
	}
	if err := x.Nest.Verify(); err != nil {
		panic("BUG: " + err.Error() + " in\n" + x.Nest.String())
	}
	f.operands = x.operands
	f.loop = loopOf(loop.Merge(x.Nest))
	return f
}

// inPhase is register r in the phase, of which the point is at.
func (x *nestBuilder) inPhase(r int, env []nestRef, at [2]loop.Lin) nestRef {
	f, p := x.phase, x.phase.plan
	b, t := p.body, p.body.Register(r)
	k := r - len(b.Args)
	switch {
	case !p.need[f.number][r]:
		return nestRef{t: t, val: loop.NoVal}
	case !p.varies[r]:
		return x.outer(b, r)
	case p.cut(k) && p.level[r] > f.number:
		x.contribute(r, env[b.Acts[k].Args[0]], at)
		return nestRef{t: t, val: loop.NoVal}
	case p.cut(k):
		c := b.Acts[k].Def.Class
		m := x.bring(r, itsReduced, c.Gives(takenAs(c, dense.Storage(b.Register(b.Acts[k].Args[0]).Elem))))
		return nestRef{t: t, val: define.ConvertBody(x.Builder, dense.Storage(t.Elem), x.Load(m, at[0], loop.Num(0)))}
	case p.kept[r] && p.level[r] < f.number:
		m := x.bring(r, itsKept, dense.Storage(t.Elem))
		return x.sized(t, func(_, j loop.Lin) loop.Val {
			f.apart[r] = f.apart[r] || !j.Equal(at[1])
			return x.Load(m, at[0], j)
		})
	}
	mark := x.Mark()
	y := x.act(b, k, env)
	x.Since(mark, func(s *loop.Stmt) {
		if s.Loop != nil || s.Then != nil { // it would be made for every column
			panic(noBody{"a loop for each row"})
		}
	})
	if p.kept[r] {
		out := x.Result(dense.Storage(t.Elem), loop.Of(loop.ParamSym, 1), loop.Num(int64(p.width)))
		f.results = append(f.results, nestOperand{register: r, what: itsKept})
		x.Store(loop.Mem{Kind: loop.ResultMem, N: out}, at[0], at[1], define.ConvertBody(x.Builder, dense.Storage(t.Elem), y.at(loop.Num(0), at[1])))
	}
	return y
}

// bring adds a matrix that an earlier phase has made as an operand.
func (x *nestBuilder) bring(r int, what operandPart, e types.Elem) loop.Mem {
	x.operands = append(x.operands, nestOperand{register: r, what: what})
	return loop.Mem{Kind: loop.ParamMem, N: x.Param(loop.DenseParam, e)}
}

// contribute contributes the elements of a row to the reduction that is register r.
func (x *nestBuilder) contribute(r int, in nestRef, at [2]loop.Lin) {
	p := x.phase.plan
	k := r - len(p.body.Args)
	d := p.body.Acts[k].Def
	if in.at == nil {
		panic(noBody{"`" + define.SourceName(d) + "` of " + in.t.String()})
	}
	var v loop.Val
	if in.t.Rows == 1 {
		v = in.at(loop.Num(0), at[1])
	} else {
		v = in.at(at[1], loop.Num(0))
	}
	v = x.term(d.Class, v)
	e := x.Type(v)
	if !slices.Contains(d.Class.Info().On, e) || loop.StateOf(d.Class, e, loop.FastLevels) == nil || !d.Class.Free(e) {
		panic(noBody{d.Class.Info().Name + " of " + e.String()})
	}
	out := x.Reduced(d.Class, d.Class.Gives(e), loop.Of(loop.ParamSym, 1), loop.Num(1))
	x.phase.results = append(x.phase.results, nestOperand{register: r, what: itsReduced})
	x.Reduce(loop.Mem{Kind: loop.ResultMem, N: out}, at[0], loop.Num(0), v)
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
