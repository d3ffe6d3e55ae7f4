package nest

// This file runs stages. The first round of a loop binds the operands of a stage. Later rounds update
// only the operands that have moved: none, if a state alternates between two memories.

import (
	"errors"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/value"
	"flow/kernels/dense"
	"flow/kernels/loop/launch"
	"flow/kernels/window"
)

// stageCall is the cost of a kernel call, in operations on elements.
const stageCall = 1000

// stage runs the stage of action k into out. done is false if its actions have to run one by one.
func (p *Interpreter) stage(k int, out *value.Dense) (done bool, err error) {
	s := &p.runs[k]
	if !p.bind(k, out) {
		return false, nil
	}
	flagged, err := p.launch(k)
	switch {
	case errors.Is(err, launch.ErrStopped):
		return false, op.ErrStopped
	case flagged || err != nil:
		s.flags++
		s.off = s.flags > mostFlags
		return false, nil
	}
	if s.flags = 0; s.number != nil {
		first := s.rects[0].worker
		for i := range s.rects[1:] {
			first.Merge(s.rects[1+i].worker)
		}
		first.Finish()
	}
	return true, nil
}

// compiled returns the loops of the stage of action k. They are written once enough work has been seen.
func (p *Interpreter) compiled(k int) []stageRect {
	s := &p.runs[k]
	if s.off || s.rects != nil || !p.stages.worthwhile(k, p.compileFrom) {
		return s.rects
	}
	code := p.stages.written(k, s.form)
	s.off = len(code) == 0
	s.ops = p.stages.ops(k)
	s.rects = make([]stageRect, len(code))
	for i := range code {
		s.rects[i].begin(&code[i], p.body, p.stages.gives[k])
	}
	launch.Begun.Add(1)
	return s.rects
}

// prepareInPlace binds the stage of action k to write in place. It copies the carried matrix to the
// rounds' own memory unless it lies there. It reports false if the stage has to make a new matrix.
func (p *Interpreter) prepareInPlace(k int) bool {
	list, c := p.compiled(k), p.stages.over[k]-1
	if p.runs[k].off || len(list) == 0 || list[0].place == nil {
		return false
	}
	for i := range list {
		if list[i].Loop == nil {
			continue // a copy: it stays as it is
		}
		at, ok := list[i].place.window(p.num)
		if list[i].part = at; !ok {
			return false
		}
	}
	d := p.Reg[c].(*value.Dense)
	if p.own[c] == nil {
		p.own[c] = value.New(d.Elem, d.Rows, d.Cols)
	}
	if own := p.own[c]; d != own {
		own.CopyFrom(d)
		p.Reg[c] = own
	}
	return p.bind(k, p.own[c])
}

// bind binds the loops of the stage of action k to their operands and to the result. It reports false
// if there are no loops for these.
func (p *Interpreter) bind(k int, out *value.Dense) bool {
	s := &p.runs[k]
	list := p.compiled(k)
	if s.off || len(list) == 0 || list[0].place != nil && p.own[p.stages.over[k]-1] != out {
		return false
	}
	for i := range list {
		r := &list[i]
		if r.again(p) {
			continue
		}
		fits, err := r.bind(p, out)
		switch {
		case errors.Is(err, launch.ErrOutside) && s.form == 0:
			for k := range list {
				list[k].free()
			}
			s.form, s.rects = 1, nil
			return list[0].place == nil && p.bind(k, out)
		case err != nil:
			s.off = true
			return false
		case !fits:
			return false
		}
	}
	return true
}

// launch runs the loops of a bound stage. flagged: a check has failed.
func (p *Interpreter) launch(k int) (flagged bool, err error) {
	s := &p.runs[k]
	for i := range s.rects {
		r := &s.rects[i]
		switch {
		case r.Loop != nil:
			if s.number != nil {
				r.worker.Forget()
			}
			parts := p.partsOf(s, r)
			begun, way := r.team.tries(parts)
			if way == 1 {
				r.team.parts = parts
				flagged, err = r.team.run(p.team, p.owner, &r.run, r.worker, r.part, s.number != nil, p.stopped)
			} else {
				flagged, err = r.worker.Window(r.part[0][0], r.part[0][1], r.part[1][0], r.part[1][1], p.stopped)
			}
			r.team.took(begun, way)
			if flagged || err != nil {
				return flagged, err
			}
		case r.place == nil:
			window.CopyRect(&r.view, window.Rect{Rows: r.Rows, Cols: r.Cols}, p.Reg[r.From].(*value.Dense), r.I, r.J)
		}
	}
	return false, nil
}

// partsOf returns the number of parts of the loop of a stage; 1: one worker runs it.
func (p *Interpreter) partsOf(s *stageRun, r *stageRect) int {
	rows, cols := r.part[0][1]-r.part[0][0], r.part[1][1]-r.part[1][0]
	reduces, across := r.run.Reduces()
	if p.team == nil || r.place != nil || rows*cols == 0 || !r.worker.Direct() || s.number == nil && across {
		return 1
	}
	ops := s.ops * float64(rows*cols) / float64(max(1, r.Rows*r.Cols))
	from := float64(teamFrom.Load())
	if ops < from {
		return 1
	}
	if p.team.alone > 0 {
		p.team.alone--
		return 1
	}
	n := p.team.Workers()
	parts := min(n*teamParts, int(ops/(from/4))/n*n)
	if r.team.columns = rows < parts; r.team.columns {
		if parts = min(parts, cols/launch.Lanes()); reduces && !across { // windows hold whole rows
			return 1
		}
	}
	return parts
}

// Share makes the workers of t run large stages of p and of the bodies within. owner is the worker that
// runs p. t may be nil.
func (p *Interpreter) Share(t *Team, owner int) {
	p.team, p.owner = t, owner
	for k := range p.inner {
		for _, q := range p.inner[k].all() {
			if q != nil {
				q.Share(t, owner)
			}
		}
	}
}

// mostFlags is the most failed checks in a row. After one more, the actions of a stage always run one
// by one.
const mostFlags = 8

// worthwhile counts a run of a stage and reports whether it should run as loops: if its runs so far
// have had ten times from operations.
func (s *Stages) worthwhile(k int, from int64) bool {
	ops := stageCall
	for _, i := range s.members[k] {
		ops += stageCall + s.body.Acts[i].Type.Count()*max(1, int(s.cost(i)))
	}
	return s.code[k].seen.Add(int64(ops)) >= 10*from
}

// begin makes r an unbound loop with this code. gives lists the registers of b that it sets; nil: it
// computes a matrix.
func (r *stageRect) begin(code *SpaceRect, b *op.Body, gives []int) {
	r.SpaceRect, r.part = code, [2][2]int{{0, code.Rows}, {0, code.Cols}}
	for _, g := range gives {
		t := b.Register(g)
		d := value.New(t.Elem, 1, max(1, t.Count()))
		shaped := *d
		shaped.Rows, shaped.Cols, shaped.Stride = max(1, t.Rows), max(1, t.Cols), max(1, t.Cols)
		r.out, r.given = append(r.out, d), append(r.given, &shaped)
	}
	if r.out == nil {
		r.out, r.first = []*value.Dense{&r.view}, 2
		r.run.Varies = ^uint64(3) &^ code.told // the size stays
		r.in = []value.Value{value.I64(int64(r.Rows)), value.I64(int64(r.Cols))}
	}
	r.in = append(r.in, make([]value.Value, len(r.Operands))...)
	r.views = make([]stageView, len(r.Operands))
}

// again updates the operands of a bound loop. It reports false if the loop has to be bound first, or if
// a subscript is out of range.
func (r *stageRect) again(p *Interpreter) bool {
	if r.Loop == nil {
		return r.view.Rows > 0
	}
	if r.worker == nil || !r.worker.Direct() {
		return false
	}
	told := false
	for k := range r.Operands {
		o, v := &r.Operands[k], &r.views[k]
		if v.from == nil {
			w, fits := p.word(o)
			if !fits {
				return false
			}
			if w != v.number && r.told>>(r.first+k)&1 == 1 {
				r.in[r.first+k], told = value.I64(int64(w)), true
			}
			v.number = w
			r.worker.Word(r.first+k, w)
			continue
		}
		d, _ := p.Reg[o.Register].(*value.Dense)
		if d == v.from && o.RowBy == 0 && o.ColBy == 0 {
			continue
		}
		t := d
		switch {
		case d == v.from:
			t = v.turned
		case d.Stride != v.from.Stride || d.Rows != v.from.Rows || d.Cols != v.from.Cols || o.Turned:
			return false
		}
		at, fits := o.begin(p.num, t)
		if !fits {
			return false
		}
		if d != v.from || at != v.at {
			r.worker.Move(r.first+k, t, at[0], at[1])
			v.from, v.turned, v.at = d, t, at
		}
	}
	return !told || r.worker.Told()
}

// bind binds the loop to its operands. fits is false if a subscript is out of range.
func (r *stageRect) bind(p *Interpreter, out *value.Dense) (fits bool, err error) {
	r.free()
	switch {
	case out == nil: // numbers
	case out.Rows == 1 && out.Cols == 1:
		r.view = *out
	default:
		out.Window(&r.view, r.Row, r.Col, r.Rows, r.Cols)
	}
	if r.Loop == nil {
		return true, nil
	}
	for k := range r.Operands {
		o, v := &r.Operands[k], &r.views[k]
		d, is := p.Reg[o.Register].(*value.Dense)
		if !is || o.What == itsElement {
			w, fits := p.word(o)
			if !fits {
				return false, nil
			}
			v.number, r.in[r.first+k] = w, loop.ScalarOf(p.body.Register(o.Register).Elem, w)
			continue
		}
		t := d
		if o.Turned {
			if t = p.turned[d]; t == nil {
				t = value.New(d.Elem, d.Cols, d.Rows)
				dense.Turn(t, d)
				p.turned[d] = t
			}
		}
		at, fits := o.View(&v.Dense, t, p.num)
		if !fits {
			return false, nil
		}
		v.from, v.turned, v.at, r.in[r.first+k] = d, t, at, &v.Dense
	}
	if err := r.Loop.Bind(&r.run, r.in, r.out); err != nil {
		return false, err
	}
	r.worker = r.run.Worker()
	return true, nil
}

// word returns the number that operand o is. fits is false if it is an element that is not there.
func (p *Interpreter) word(o *Operand) (w loop.Word, fits bool) {
	if o.What != itsElement {
		return p.num[o.Register], true
	}
	d := p.Reg[o.Register].(*value.Dense)
	at, fits := o.begin(p.num, d)
	if fits = fits && at[0] < d.Rows && at[1] < d.Cols; fits {
		w = loop.Word(d.I64[at[0]*d.Stride+at[1]])
	}
	return w, fits
}

// begin returns the row and column of d where an operand's view begins. num is the registers' numbers.
// fits is false if the view does not lie in d.
func (o *Operand) begin(num []loop.Word, d *value.Dense) (at [2]int, fits bool) {
	at = [2]int{o.Row, o.Col}
	for axis, by := range [2]int{o.RowBy, o.ColBy} {
		if by == 0 {
			continue
		}
		n, limit := int64(num[max(by, -by)-1]), [2]int{d.Rows, d.Cols}[axis]
		if by < 0 {
			n = -n
		}
		if reach := int64(limit) + max(int64(at[axis]), -int64(at[axis])); n < -reach || n > reach {
			return at, false
		}
		at[axis] += int(n)
		if at[axis] < 0 || at[axis]+o.size(axis, 0) > limit {
			return at, false
		}
	}
	return at, true
}

// View makes v the part of d that is the operand, which begins at row at[0] and column at[1]. num is
// the registers' numbers. fits is false if the view does not lie in d.
func (o *Operand) View(v, d *value.Dense, num []loop.Word) (at [2]int, fits bool) {
	if at, fits = o.begin(num, d); fits {
		d.Window(v, at[0], at[1], o.size(0, d.Rows-at[0]), o.size(1, d.Cols-at[1]))
	}
	return at, fits
}

// size returns the rows (axis 0) or columns (axis 1) of a view: rest, unless a register says where it
// begins.
func (o *Operand) size(axis, rest int) int {
	switch {
	case axis == 0 && o.RowBy != 0:
		return o.Rows
	case axis == 1 && o.ColBy != 0:
		return o.Cols
	}
	return rest
}

// free unbinds the loop.
func (r *stageRect) free() {
	r.view = value.Dense{} // idle interpreters keep no memory of their last call
	r.team.free()
	if r.worker != nil {
		r.worker.Free()
		r.worker = nil
	}
}

// NewStaged makes an interpreter of all actions of b. It runs the stages of inner bodies as loops once
// their actions have run about ten times from operations. The caller calls Free in the end. old is an
// interpreter of b whose last run has ended without a failure, or nil. Its memory is used again.
func NewStaged(old *Interpreter, b *op.Body, within *op.Call, from int64) *Interpreter {
	if old != nil && old.compileFrom == from {
		clear(old.turned)
		old.renew(within)
		return old
	}
	return newInterpreter(b, nil, false, within, nil, nil, staging{from, from}, nil, map[*value.Dense]*value.Dense{})
}

// renew makes p take its environment from another call, and forget what held in the last one.
func (p *Interpreter) renew(within *op.Call) {
	p.stopped = within.Stopped
	clear(p.held)
	inside := *within
	inside.Rounds = nil
	for _, k := range p.Acts {
		c := &p.calls[k]
		c.Env, c.Read, c.Rounds, c.Stopped = within.Env, within.Read, within.Rounds, within.Stopped
		for _, q := range p.inner[k].all() {
			if q != nil {
				q.renew(&inside)
			}
		}
	}
}

// Free frees the memory of the stages. The interpreter may serve NewStaged after it.
func (p *Interpreter) Free() {
	for k := range p.runs {
		for i := range p.runs[k].rects {
			p.runs[k].rects[i].free()
		}
	}
	for k := range p.inner {
		for _, q := range p.inner[k].all() {
			if q != nil {
				q.Free()
			}
		}
	}
}

// staged runs the stage of action k, as loops or one action after the other.
func (p *Interpreter) staged(k int) error {
	a := &p.body.Acts[k]
	out := p.runs[k].number
	switch {
	case p.stages.tiny[k]:
	case a.Type.IsDense():
		out = p.memory(k)
	case out == nil:
		out = value.New(a.Type.Elem, 1, 1)
		p.runs[k].number = out
	}
	done, err := p.stage(k, out)
	if err != nil {
		return err
	}
	r := len(p.body.Args) + k
	switch {
	case done && p.stages.tiny[k]:
		p.setNumbers(k)
	case done && a.Type.IsDense():
		p.Reg[r] = out
	case done:
		p.Reg[r], p.num[r] = nil, wordOf(out)
	default:
		for _, i := range p.stages.members[k] {
			if err := p.one(i); err != nil {
				return err
			}
		}
	}
	return nil
}

// setNumbers sets the registers that stage k of numbers computes.
func (p *Interpreter) setNumbers(k int) {
	for i, r := range p.stages.gives[k] {
		d := p.runs[k].rects[0].out[i]
		if p.inNum(r) {
			p.Reg[r], p.num[r] = nil, wordOf(d)
			continue
		}
		p.Reg[r] = p.runs[k].rects[0].given[i]
	}
}
