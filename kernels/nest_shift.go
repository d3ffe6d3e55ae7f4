package kernels

// This file reuses the bindings of a nest for an execution that differs from the last one only in
// the addresses of matrices.

import (
	"flow/ir/value"
	"flow/kernels/loop/launch"
)

// alike stores the words of operands and results in x.next. It reports whether only addresses of
// matrices differ from x.was. It reports false for loops with reduced results, since these are
// allocated for each execution.
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

// shift adds to each address in the bindings of the loops the distance that its matrix has moved.
// It is legal if alike reports true. It changes nothing and reports false if Bind may find better
// code for the value of a number.
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

// rest drops all references to values. It keeps the shapes of matrices, which the interpreter reads
// if shift binds the next execution.
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
