package nest

// This file runs the loops of a body. Two interpreters alternate, because a round reads the results of
// the round before it.

import (
	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/value"
)

// iterate runs loop a, whose operands are those of c, and returns the carried values. It fails as its
// body does, or with op.ErrStopped.
func (in *nested) iterate(a *op.Action, c *op.Call) (value.Value, error) {
	copy(in.args, c.In)
	in.forget(1)
	for _, p := range in.all() {
		if p != nil {
			p.given = false
		}
	}
	times, counted := a.Attrs.Get("times")
	if c.Rounds != nil {
		c.Rounds.Times.Store(-1)
		if counted {
			c.Rounds.Times.Store(times.I)
		}
		defer c.Rounds.Begun.Store(0)
	}
	// by is the interpreter of the last round. It has the carried values whose args are nil.
	var by *Interpreter
	for round, odd := int64(0), 0; !counted || round < times.I; round, odd = round+1, odd^1 {
		if c.Ended() {
			return nil, op.ErrStopped
		}
		if c.Rounds != nil {
			c.Rounds.Begun.Store(round + 1)
		}
		left := int64(-1)
		if counted {
			left = times.I - round
		}
		if in.batch != nil && !in.batch.none && in.batch.worthwhile(left, in.body[0].compileFrom) {
			in.settle(by)
			n, ended, err := in.batch.rounds(in.body[0], in.args, len(in.kept[0]), left, c)
			if err != nil {
				return nil, err
			}
			if by, round = nil, round+n; ended || counted && round == times.I {
				break
			}
		}
		if !counted {
			in.give(in.cond, by)
			if err := in.cond.round(); err != nil {
				return nil, op.InBody(err, 1, round)
			}
			if in.cond.get(in.cond.body.Yields[0]).(value.Scalar).True() {
				break
			}
		}
		p := in.body[odd]
		in.give(p, by)
		if err := p.round(); err != nil {
			return nil, op.InBody(err, 0, round)
		}
		if err := in.carry(a, p, odd); err != nil {
			return nil, err
		}
		by = p
	}
	in.settle(by)
	return in.whole, nil
}

// settle copies the carried values that are numbers from interpreter by to the args that are nil.
func (in *nested) settle(by *Interpreter) {
	if by == nil {
		return
	}
	for i, y := range by.body.Yields {
		if in.args[i] == nil {
			in.args[i] = by.get(y)
		}
	}
}

// give sets the arguments of interpreter p. The carried ones come from args, or from by if they are nil
// there. The others are set in p's first round only.
func (in *nested) give(p, by *Interpreter) {
	n := len(in.kept[0])
	for i, v := range in.args {
		switch {
		case i >= n && p.given:
			return
		case v == nil && i < n && p.inNum(i):
			p.Reg[i], p.num[i] = nil, by.num[by.body.Yields[i]]
		default:
			p.set(i, v)
		}
	}
	p.given = true
}

// carry sets args to what p has made in a round: nil for numbers, which stay in p's registers. It fails
// if a matrix has another shape than before.
func (in *nested) carry(a *op.Action, p *Interpreter, odd int) error {
	for i, y := range p.body.Yields {
		if p.inNum(y) {
			in.args[i] = nil
			continue
		}
		v, was := p.Reg[y], in.args[i]
		d, dense := v.(*value.Dense)
		if b, is := was.(*value.Dense); !dense || !is || d.Rows != b.Rows || d.Cols != b.Cols || d.Elem != b.Elem {
			if was, is := was.Type(), v.Type(); was != is {
				return a.ChangedShape(was, is)
			}
		}
		if dense && d != in.own[i] && !p.holds(y) {
			v = in.keep(odd, i, d)
		}
		in.args[i] = v
	}
	return nil
}

// holds reports whether place has given register r memory of the interpreter.
func (p *Interpreter) holds(r int) bool {
	return r >= len(p.body.Args) && p.Slot[r-len(p.body.Args)] >= 0
}

// keep copies carried value i for the next round, because d may lie in memory that this round writes.
func (in *nested) keep(odd, i int, d *value.Dense) *value.Dense {
	k := in.kept[odd][i]
	if k == nil || k.Type() != d.Type() {
		k = value.New(d.Elem, d.Rows, d.Cols)
		in.kept[odd][i] = k
	}
	k.CopyFrom(d)
	return k
}

// runInPlace runs the stages that change carried matrices in place. Everything that may fail comes
// before the first of them, because no action can be run again after it.
func (p *Interpreter) runInPlace() error {
	s := p.stages
	for _, k := range s.last {
		r := &p.runs[k]
		if r.ready = p.prepareInPlace(k); r.ready {
			continue
		}
		if err := p.staged(k); err != nil {
			return err
		}
	}
	for _, k := range s.last {
		if !p.runs[k].ready {
			continue
		}
		if flagged, err := p.launch(k); flagged {
			panic("BUG: a check in a loop without checks")
		} else if err != nil {
			return err
		}
		p.Reg[len(p.body.Args)+k] = p.own[s.over[k]-1]
	}
	return nil
}

// shareHeld makes p use the held values of another interpreter of the same body.
func (p *Interpreter) shareHeld(with *Interpreter) {
	p.held = with.held
	for k := range p.inner {
		a, b := &p.inner[k], &with.inner[k]
		for i, q := range a.body {
			if q != nil {
				q.shareHeld(b.body[i])
			}
		}
		if a.cond != nil {
			a.cond.shareHeld(b.cond)
		}
	}
}

// forget drops the invariants of a loop that begins again. The loop is out loops outside of p.
func (p *Interpreter) forget(out int) {
	for _, k := range p.Acts {
		if p.keep[k] == out {
			p.held[k] = nil
		}
		in := &p.inner[k]
		switch p.body.Acts[k].Def.Control {
		case op.Select:
			in.body[0].forget(out)
			in.body[1].forget(out)
		case op.Iterate:
			in.forget(out + 1)
		}
	}
}

func (in *nested) forget(out int) {
	in.body[0].forget(out)
	in.body[1].forget(out)
	if in.cond != nil {
		in.cond.forget(out)
	}
}

// LoopsIn lists the nests that run the loops and branches in a body, for listings. why is the reason
// why some loop is no nest of many rounds; "" if there is none.
func LoopsIn(b *op.Body) (list []*loop.Nest, why string) {
	for k := range b.Acts {
		a := &b.Acts[k]
		if a.Def.Control != op.Iterate && a.Def.Control != op.Select {
			continue
		}
		if c := planOf(a.Bodies[0]).batch; c != nil {
			f := c.form(batchKey{loop.FastLevels, true})
			if f.loop != nil {
				list = append(list, f.loop.Nest())
				continue
			}
			why = f.why
		}
		for _, in := range a.Bodies {
			if s := planOf(in).stages; s != nil {
				loops, no := s.loops()
				if list = append(list, loops...); why == "" {
					why = no
				}
			}
			more, no := LoopsIn(in)
			if list = append(list, more...); why == "" {
				why = no
			}
		}
	}
	return list, why
}
