package kernels

// This file defines the row `rounds`: a loop over scalars and matrices of a few thousand elements, all
// rounds of which are one task. Where there are many, it is one compiled loop over a few numbers, or
// stages.

import (
	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/dense"
	"flow/kernels/loop/launch"
	"flow/kernels/nest"
)

func roundsRow() *op.Def {
	return define.OfBody(op.Def{
		Name: "rounds",
		Role: op.Rounds,
		Doc:  "rounds runs a loop over numbers that a cache holds as one task; the pass rounds makes it.",
		Cost: func(*op.Sig, types.Type) op.Work {
			return op.Work{Flops: 1e5} // of a loop with an unknown number of rounds
		},
		Kernel: roundsKernel,
		Nests:  roundsNests,
	})
}

// roundsCode is a body as a loop of one point, in the forms that were needed.
type roundsCode struct {
	body *op.Body
	work int  // actions that an execution runs, about; 0: the rounds are the run's
	few  bool // it runs as one loop, not by stages

	forms define.Made[nest.Form, *roundsMade]
}

type roundsMade struct {
	loop     *launch.Loop // nil: there is none
	operands []nest.Operand
	why      string
}

func roundsOf(b *op.Body) *roundsCode {
	return b.Compiled(func(b *op.Body) any {
		c := &roundsCode{body: b, work: actionsOf(b)}
		if unbounded(b) {
			c.work = 0
		}
		c.few = fewNumbers(b) && !nest.Apart(b)
		nest.PlanStages(b)
		return c
	}).(*roundsCode)
}

// mostHeld is the most elements of a matrix for a loop of one point, which computes an element at a
// time; larger ones are worth loops over their elements.
const mostHeld = 64

// fewNumbers reports whether all matrices that a body makes are small, except ramps (op.Def.Ramp).
func fewNumbers(b *op.Body) bool {
	ramps := nest.Ramps(b)
	for k := range b.Acts {
		a := &b.Acts[k]
		if a.Type.IsDense() && a.Type.Count() > mostHeld && !ramps[k] {
			return false
		}
		for _, in := range a.Bodies {
			if !fewNumbers(in) {
				return false
			}
		}
	}
	return true
}

// unbounded reports a loop in a body whose condition the run tells.
func unbounded(b *op.Body) bool {
	for k := range b.Acts {
		a := &b.Acts[k]
		if _, times := a.Attrs.Get("times"); a.Def.Control == op.Iterate && !times {
			return true
		}
		for _, in := range a.Bodies {
			if unbounded(in) {
				return true
			}
		}
	}
	return false
}

// form is the body in one form.
func (c *roundsCode) form(f nest.Form) *roundsMade {
	return c.forms.Of(f, func() *roundsMade {
		m := &roundsMade{}
		m.why, _ = nest.Written(func() {
			var n *loop.Nest
			n, m.operands = writeRounds(c.body, f)
			m.loop = nest.LoopOf(n)
		})
		return m
	})
}

// writeRounds writes a body whose arguments are the operands, as a nest without indices: one point.
// Result k is a row of all elements of what the body yields k-th.
func writeRounds(b *op.Body, form nest.Form) (n *loop.Nest, operands []nest.Operand) {
	x := nest.NewBuilder(form)
	env := make([]nest.Ref, 0, len(b.Args)+len(b.Acts))
	for r := range b.Args {
		env = append(env, x.Outer(b, r))
	}
	for k := range b.Acts {
		env = append(env, x.Act(b, k, env))
	}
	for _, r := range b.Yields {
		y := env[r]
		if y.Type.Kind == types.Effect {
			continue
		}
		if y.Type.Elem.Size() == 0 || y.Parts != nil || y.Val == loop.NoVal && y.At == nil {
			panic(nest.NoBody{Why: "a result of " + y.Type.String()})
		}
		list, e := x.Hold(y), dense.Storage(y.Type.Elem)
		m := loop.Mem{Kind: loop.ResultMem, N: x.Result(e, loop.Num(1), loop.Num(int64(len(list))))}
		for k, v := range list {
			x.Store(m, loop.Num(0), loop.Num(int64(k)), define.ConvertBody(x.Builder, e, v))
		}
	}
	return loop.Merge(x.Done()), x.Operands
}

// roundsNests is the loop of a call.
func roundsNests(c *op.Call, _ []types.Type) ([]*loop.Nest, string) {
	code := roundsOf(c.Bodies[0])
	if !code.few {
		return stageNests(c.Bodies[0]), ""
	}
	m := code.form(nest.Form{Words: loop.FastLevels})
	if m.loop == nil {
		return nil, m.why
	}
	return []*loop.Nest{m.loop.Nest()}, ""
}

// stageNests is the loops of the stages of loops and branches in a body.
func stageNests(b *op.Body) (list []*loop.Nest) {
	for k := range b.Acts {
		if a := &b.Acts[k]; a.Def.Control != op.NoControl {
			for _, in := range a.Bodies {
				if s := nest.StagesOf(in); s != nil {
					list = append(list, s.Loops()...)
				}
				list = append(list, stageNests(in)...)
			}
		}
	}
	return list
}

// roundsKernel runs a loop over a few numbers compiled if it has many rounds, or if only the run tells
// how many; else, and where a check fails, its actions one after the other, or by stages.
func roundsKernel(c *op.Call) error {
	b := c.Bodies[0]
	code := roundsOf(b)
	define.LendResults(c)
	rows := make([]*value.Dense, len(b.Yields)) // nil: an effect
	for k, r := range b.Yields {
		t := b.Register(r)
		if t.Kind == types.Effect {
			continue
		}
		if rows[k] = c.Lent(k); rows[k] == nil {
			rows[k] = value.New(t.Elem, max(1, t.Rows), max(1, t.Cols))
		}
	}
	done, err := false, error(nil)
	if code.few && (code.work == 0 || int64(code.work) >= loopsFrom.Load()) {
		done, err = code.run(c, rows)
	}
	if !done && err == nil {
		err = code.perform(c, rows)
	}
	if err != nil {
		return err
	}
	for k, r := range b.Yields {
		if t := b.Register(r); t.IsScalar() {
			c.Give(k, rows[k].At(0, 0))
		} else if t.IsDense() {
			c.Give(k, rows[k])
		}
	}
	return nil
}

// run runs the loop compiled; false if it is none, or if it says nothing of these operands.
func (c *roundsCode) run(call *op.Call, rows []*value.Dense) (done bool, err error) {
	var flat []*value.Dense
	for _, d := range rows {
		switch {
		case d == nil:
			continue
		case d.Rows > 1 && d.Stride != d.Cols:
			return false, nil
		}
		x := *d
		x.Rows, x.Cols = 1, d.Rows*d.Cols
		x.Stride = x.Cols
		flat = append(flat, &x)
	}
	for words := loop.FastLevels; words <= nest.WideWords; words++ {
		// Subscripts are checked: what is in registers or in the loop's own memory, no launch proves.
		m := c.form(nest.Form{Words: words})
		if m.loop == nil {
			return false, nil
		}
		var in []value.Value
		for _, o := range m.operands {
			in = append(in, o.Of(call.In))
		}
		run, err := m.loop.Begin(in, flat)
		if err != nil {
			return false, nil
		}
		w := run.Worker()
		flagged, err := w.Window(0, 1, 0, 1, call.Ended)
		w.Free()
		if err != nil {
			return false, op.ErrStopped
		}
		if !flagged {
			launch.Begun.Add(1)
			return true, nil
		}
	}
	return false, nil
}

// perform runs the actions one after the other, those of a stage as one loop. A failure has the words
// of the kernel, which are those of the definition.
func (c *roundsCode) perform(call *op.Call, rows []*value.Dense) error {
	p := nest.NewStaged(c.body, call, loopsFrom.Load())
	defer p.Free()
	out, err := p.On(call.In)
	if err != nil {
		return err
	}
	for k, v := range out {
		switch v := v.(type) {
		case *value.Dense:
			rows[k].CopyFrom(v)
		case value.Scalar:
			rows[k].Set(0, 0, v)
		}
	}
	return nil
}
