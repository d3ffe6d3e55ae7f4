package kernels

// This file sorts the actions of a loop's body: what is the same in every iteration is computed once, the rest by lanes
// where it is all scalars, or else one iteration after the other.

import (
	"slices"

	"flow/ir/op"
	"flow/ir/types"
)

// bodyCode is a compiled body of a parfor. It is read-only.
type bodyCode struct {
	uniform []int      // actions whose values are the same in every iteration, in order
	cells   []keepCell // what nested bodies compute the same in every iteration
	keep    *keepMap
	lanes   *laneCode
	inner   *innerCode // if lanes is nil
	each    *eachCode  // if inner is nil, too
}

func (c *bodyCode) worker(r *parforRun, number int) iterations {
	if c.lanes != nil {
		return c.lanes.worker(r, number)
	}
	if c.inner != nil {
		return c.inner.worker(r, number)
	}
	return c.each.worker(r, number)
}

// compileBody compiles a body whose first dims arguments are the indices.
func compileBody(b *op.Body, dims int) *bodyCode {
	c := &bodyCode{uniform: []int{}}
	varies := make([]bool, len(b.Args)+len(b.Acts))
	for d := range dims {
		varies[d] = true
	}
	for k := range b.Acts {
		v := false
		for _, x := range b.Acts[k].Args {
			v = v || varies[x]
		}
		if varies[len(b.Args)+k] = v; !v {
			c.uniform = append(c.uniform, k)
		}
	}
	c.cells, c.keep = keptIn(b, varies)
	if c.lanes = compileLanes(b, varies, dims, c.keep); c.lanes == nil && dims == 1 {
		c.inner = compileInner(b, varies)
	}
	if c.lanes != nil && len(c.lanes.draws) > 0 {
		c.uniform = slices.DeleteFunc(c.uniform, func(k int) bool { return b.Acts[k].Attrs.Bool("drawn") })
	}
	if c.lanes == nil && c.inner == nil {
		c.each = compileEach(b, varies)
	}
	return c
}

// isNumber reports a scalar that a lane can hold.
func isNumber(t types.Type) bool { return t.IsScalar() && t.Elem.Size() > 0 }
