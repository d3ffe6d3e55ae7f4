package kernels

// This file binds the loops of a nest again that differs from its last execution only in where matrices lie.

import (
	"flow/ir/value"
	"flow/kernels/loop/launch"
)

// alike notes the words of operands and results in x.next. It reports whether they differ from x.was
// only in where matrices lie. Loops with reduced results, which are made anew, are not alike.
func (x *nestSpace) alike() bool {
	x.next = x.next[:0]
	alike := len(x.was) > 0
	for _, v := range x.c.In {
		w, ok := launch.Words(v)
		if alike = alike && ok && [3]uint64(w[1:]) == [3]uint64(x.was[len(x.next)][1:]); alike {
			_, number := v.(value.Scalar)
			alike = !number || w[0] == x.was[len(x.next)][0]
		}
		x.next = append(x.next, w)
	}
	for k := range x.code.results {
		if x.code.results[k].Total != nil {
			return false
		}
		w, _ := launch.Words(x.c.Lent(k))
		alike = alike && [3]uint64(w[1:]) == [3]uint64(x.was[len(x.next)][1:])
		x.next = append(x.next, w)
	}
	return alike
}

// shift binds all loops to operands and results that are alike: what they read and write lies as far from
// the beginnings of these as before. It reports false if the value of a number may have better code now.
func (x *nestSpace) shift() bool {
	for k := range x.rects {
		r := &x.rects[k]
		if r.Loop == nil {
			continue
		}
		for k, o := range r.Operands {
			if v, number := x.c.In[o.Register].(value.Scalar); number && !r.run.MadeFor(2+k, v) {
				return false
			}
		}
	}
	for k := range x.rects {
		r := &x.rects[k]
		if r.Loop == nil {
			continue
		}
		for k, o := range r.Operands {
			if _, number := x.c.In[o.Register].(value.Scalar); !number {
				r.run.Shift(2+k, x.next[o.Register][0]-x.was[o.Register][0])
			}
		}
		for k := range r.out {
			at := len(x.c.In) + k
			r.run.Shift(len(r.in)+k, x.next[at][0]-x.was[at][0])
		}
	}
	x.was, x.next = x.next, x.was
	return true
}

// rest keeps no value alive. It keeps the shapes of matrices, which the interpreter reads if the next
// execution is bound by shift.
func (r *spaceRun) rest() {
	shape := func(d *value.Dense) {
		*d = value.Dense{Elem: d.Elem, Rows: d.Rows, Cols: d.Cols, Stride: d.Stride}
	}
	for k := range r.made {
		shape(&r.made[k])
	}
	if r.Loop == nil {
		return
	}
	for k, v := range r.in {
		switch d := v.(type) {
		case *value.Dense:
			shape(d)
		case value.Scalar:
		default:
			r.in[k] = nil
		}
	}
}
