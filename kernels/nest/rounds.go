package nest

// This file runs loops of rounds in a body, whose values go from one of two interpreters to the other.

import (
	"flow/ir/op"
	"flow/ir/value"
)

// iterate runs a loop.
func (in *nested) iterate(a *op.Action, c *op.Call) (value.Value, error) {
	copy(in.args, c.In)
	in.forget(1)
	times, counted := a.Attrs.Get("times")
	if c.Rounds != nil {
		c.Rounds.Times.Store(-1)
		if counted {
			c.Rounds.Times.Store(times.I)
		}
		defer c.Rounds.Begun.Store(0)
	}
	// by is what made the carried values that are in no args.
	var by *Interpreter
	for round := int64(0); !counted || round < times.I; round++ {
		if c.Ended() {
			return nil, op.ErrStopped
		}
		if c.Rounds != nil {
			c.Rounds.Begun.Store(round + 1)
		}
		if !counted {
			in.give(in.cond, by, round == 0)
			if err := in.cond.round(); err != nil {
				return nil, op.InBody(err, 1, round)
			}
			if in.cond.get(in.cond.body.Yields[0]).(value.Scalar).True() {
				break
			}
		}
		p := in.body[round&1]
		in.give(p, by, round < 2)
		if err := p.round(); err != nil {
			return nil, op.InBody(err, 0, round)
		}
		if err := in.carry(a, p, int(round&1)); err != nil {
			return nil, err
		}
		by = p
	}
	if by != nil {
		for i, y := range by.body.Yields {
			if in.args[i] == nil {
				in.args[i] = by.get(y)
			}
		}
	}
	return in.whole, nil
}

// give sets the arguments of the body p: the carried ones, those that are in no args as by has made them,
// and in its first round the others.
func (in *nested) give(p, by *Interpreter, first bool) {
	n := len(in.kept[0])
	for i, v := range in.args {
		switch {
		case i >= n && !first:
			return
		case v == nil && i < n && p.counts(i):
			p.Reg[i], p.num[i] = nil, by.num[by.body.Yields[i]]
		default:
			p.set(i, v)
		}
	}
}

// carry takes what a round has made: numbers stay where they are.
func (in *nested) carry(a *op.Action, p *Interpreter, odd int) error {
	for i, y := range p.body.Yields {
		if p.counts(y) {
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

// holds reports that register r lies in the performer's own memory.
func (p *Interpreter) holds(r int) bool {
	return r >= len(p.body.Args) && p.Slot[r-len(p.body.Args)] >= 0
}

// keep is a copy of carried value i that the next round may read: d may lie in memory that is
// written then.
func (in *nested) keep(odd, i int, d *value.Dense) *value.Dense {
	k := in.kept[odd][i]
	if k == nil || k.Type() != d.Type() {
		k = value.New(d.Elem, d.Rows, d.Cols)
		in.kept[odd][i] = k
	}
	k.CopyFrom(d)
	return k
}

// replace runs the stages that may change carried matrices in their own memory. All that may fail is done
// before the first of them is run, since then no action can be run again.
func (p *Interpreter) replace() error {
	s := p.stages
	for _, k := range s.last {
		r := &p.runs[k]
		if r.ready = p.places(k); r.ready {
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

// shareHeld lets p hold what another performer of the same body holds.
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

// forget drops what was the same in all rounds of a loop that begins again, the one that is that
// many loops out from p.
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
