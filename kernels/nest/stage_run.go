package nest

// This file runs stages. A round of a loop binds the operands of a stage once; later rounds change
// what has moved, which is nothing where a state alternates between two places.

import (
	"errors"
	"slices"

	"flow/ir/op"
	"flow/ir/value"
	"flow/kernels/dense"
	"flow/kernels/loop/launch"
	"flow/kernels/window"
)

// stageCall is how many operations on elements the call of a kernel takes as long as, about.
const stageCall = 1000

// stageRun is a stage in the memory of one interpreter.
type stageRun struct {
	rects []stageRect
	off   bool // its loops have failed, or there are none
	form  int  // of its loops: see Stages.written
	flags int  // consecutive windows in which a check has failed
	// number is the result of a reduction of all elements; nil for other stages.
	number *value.Dense
	// regs are the registers that the loops read, and bound what they held when they were bound.
	regs  []int
	bound []value.Value
}

// stageRect is a loop of a stage, bound to operands.
type stageRect struct {
	*SpaceRect
	run    launch.Run
	worker *launch.Worker // nil: it is not bound
	in     []value.Value
	from   []*value.Dense // the matrices that operands are views of
	at     [][2]int       // where the views begin
	views  []value.Dense
	view   value.Dense
	out    []*value.Dense // view
}

// stage runs the stage of action k into out. done is false where its actions have to run one after
// the other.
func (p *Interpreter) stage(k int, out *value.Dense) (done bool, err error) {
	s := &p.runs[k]
	switch {
	case s.off:
		return false, nil
	case s.rects == nil:
		if !p.stages.worthwhile(k, p.compileFrom) {
			return false, nil
		}
		code := p.stages.written(k, s.form)
		s.off = len(code) == 0
		s.rects = make([]stageRect, len(code))
		for i := range code {
			s.rects[i].begin(&code[i])
			s.note(&code[i])
		}
		s.bound = make([]value.Value, len(s.regs))
		launch.Begun.Add(1)
		return p.stage(k, out)
	}
	moved := s.moved(p.Reg)
	for i := range s.rects {
		r := &s.rects[i]
		if moved || r.worker == nil || !r.worker.Direct() {
			fits, err := r.bind(p.Reg, out, p.turned)
			switch {
			case errors.Is(err, launch.ErrOutside) && s.form == 0:
				for k := range s.rects {
					s.rects[k].free()
				}
				s.form, s.rects, s.regs = 1, nil, nil
				return p.stage(k, out)
			case err != nil:
				s.off = true
				return false, nil
			case !fits:
				clear(s.bound)
				return false, nil
			}
		}
		if r.Loop == nil {
			window.CopyRect(out, r.Rect, p.Reg[r.From].(*value.Dense), r.I, r.J)
			continue
		}
		if s.number != nil {
			r.worker.Forget()
		}
		flagged, err := r.worker.Window(0, r.Rows, 0, r.Cols, p.stopped)
		switch {
		case errors.Is(err, launch.ErrStopped):
			return false, op.ErrStopped
		case flagged || err != nil:
			s.flags++
			s.off = s.flags > mostFlags
			return false, nil
		}
	}
	s.flags = 0
	if s.number != nil {
		first := s.rects[0].worker
		for i := range s.rects[1:] {
			first.Merge(s.rects[1+i].worker)
		}
		first.Finish()
	}
	return true, nil
}

// mostFlags is the number of consecutive failed checks of a stage after which its actions always run one by
// one.
const mostFlags = 8

// note adds the registers that a loop reads.
func (s *stageRun) note(code *SpaceRect) {
	for _, o := range code.Operands {
		for _, r := range []int{o.Register, o.RowBy - 1, o.ColBy - 1} {
			if r >= 0 && !slices.Contains(s.regs, r) {
				s.regs = append(s.regs, r)
			}
		}
	}
}

// moved reports that a register holds another matrix or number than before.
func (s *stageRun) moved(regs []value.Value) (moved bool) {
	for i, r := range s.regs {
		if v := regs[r]; v != s.bound[i] {
			s.bound[i], moved = v, true
		}
	}
	return moved
}

// worthwhile counts a run of a stage, and reports that it is to run as loops.
func (s *Stages) worthwhile(k int, from int64) bool {
	ops := stageCall
	for _, i := range s.members[k] {
		ops += stageCall + s.body.Acts[i].Type.Count()*max(1, int(s.cost(i)))
	}
	return s.code[k].seen.Add(int64(ops)) >= 10*from
}

func (r *stageRect) begin(code *SpaceRect) {
	r.SpaceRect, r.out = code, []*value.Dense{&r.view}
	r.run.Varies = 2 // the size stays
	r.in = []value.Value{value.I64(int64(r.Rows)), value.I64(int64(r.Cols))}
	r.in = append(r.in, make([]value.Value, len(r.Operands))...)
	r.from = make([]*value.Dense, len(r.Operands))
	r.at = make([][2]int, len(r.Operands))
	r.views = make([]value.Dense, len(r.Operands))
}

// bind tells the loop its operands. turned has transposed copies of some. fits is false where a
// subscript is out of range, or negative.
func (r *stageRect) bind(regs []value.Value, out *value.Dense, turned map[*value.Dense]*value.Dense) (fits bool, err error) {
	if r.Loop == nil {
		return true, nil
	}
	anew := r.worker == nil || !r.worker.Direct()
	if whole := out.Rows == 1 && out.Cols == 1; anew && whole {
		r.view = *out
	} else if anew {
		out.Window(&r.view, r.Row, r.Col, r.Rows, r.Cols)
	}
	for k := range r.Operands {
		o := &r.Operands[k]
		d, is := regs[o.Register].(*value.Dense)
		if !is {
			r.in[2+k] = regs[o.Register]
			if !anew {
				r.worker.Scalar(2+k, regs[o.Register].(value.Scalar))
			}
			continue
		}
		if o.Turned {
			if turned[d] == nil {
				t := value.New(d.Elem, d.Cols, d.Rows)
				dense.Turn(t, d)
				turned[d] = t
			}
			d = turned[d]
		}
		at, fits := o.begin(regs, d)
		if !fits {
			return false, nil
		}
		if d == r.from[k] && at == r.at[k] && !anew {
			continue
		}
		was := r.views[k]
		d.Window(&r.views[k], at[0], at[1], o.size(0, d.Rows-at[0]), o.size(1, d.Cols-at[1]))
		r.in[2+k], r.from[k], r.at[k] = &r.views[k], d, at
		if now := &r.views[k]; !anew && (now.Stride != was.Stride || now.Rows != was.Rows || now.Cols != was.Cols) {
			r.free()
			return r.bind(regs, out, turned)
		} else if !anew {
			r.worker.Move(2+k, now)
		}
	}
	if anew {
		r.free()
		if err := r.Loop.Bind(&r.run, r.in, r.out); err != nil {
			return false, err
		}
		r.worker = r.run.Worker()
	}
	return true, nil
}

// begin is where an operand's view begins.
func (o *Operand) begin(regs []value.Value, d *value.Dense) (at [2]int, fits bool) {
	at = [2]int{o.Row, o.Col}
	for axis, by := range [2]int{o.RowBy, o.ColBy} {
		if by == 0 {
			continue
		}
		n, limit := regs[by-1].(value.Scalar).I, [2]int{d.Rows, d.Cols}[axis]
		if n < -int64(limit) || n > int64(limit) {
			return at, false
		}
		at[axis] += int(n)
		if at[axis] < 0 || at[axis]+o.size(axis, 0) > limit {
			return at, false
		}
	}
	return at, true
}

// size is how many rows or columns a view has that would have rest without a number that the run
// tells.
func (o *Operand) size(axis, rest int) int {
	switch {
	case axis == 0 && o.RowBy > 0:
		return o.Rows
	case axis == 1 && o.ColBy > 0:
		return o.Cols
	}
	return rest
}

func (r *stageRect) free() {
	if r.worker != nil {
		r.worker.Free()
		r.worker = nil
	}
}

// Free gives the memory of the stages back. The interpreter is not used after it.
func (p *Interpreter) Free() {
	for k := range p.runs {
		for i := range p.runs[k].rects {
			p.runs[k].rects[i].free()
		}
	}
	for k := range p.inner {
		in := &p.inner[k]
		for _, q := range []*Interpreter{in.body[0], in.body[1], in.cond} {
			if q != nil {
				q.Free()
			}
		}
	}
}
