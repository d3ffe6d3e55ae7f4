package kernels

// This file sorts the actions of a loop's body: what is the same in every iteration is computed
// once, the rest by a nest, or one iteration after the other.

import (
	"flow/ir/op"
	"flow/kernels/nest"
)

// bodyCode is a compiled body. It is safe for concurrent use.
type bodyCode struct {
	uniform []int           // actions whose values are the same in every iteration, in order, but for those that are drawn
	acts    []int           // those that are not
	drawn   []int           // constructors of which every iteration reads its own row
	cells   []nest.MemoCell // what nested bodies compute the same in every iteration
	keep    *nest.MemoMap
	nest    *nestCode
}

// compileBody compiles a body whose first dims arguments are the indices.
func compileBody(b *op.Body, dims int) *bodyCode {
	c := &bodyCode{uniform: []int{}, acts: []int{}}
	varies := make([]bool, len(b.Args)+len(b.Acts))
	for d := range dims {
		varies[d] = true
	}
	for k := range b.Acts {
		v := false
		for _, x := range b.Acts[k].Args {
			v = v || varies[x]
		}
		switch varies[len(b.Args)+k] = v; {
		case v:
			c.acts = append(c.acts, k)
		case b.Acts[k].Attrs.Bool("drawn"):
			c.drawn = append(c.drawn, k)
		default:
			c.uniform = append(c.uniform, k)
		}
	}
	c.cells, c.keep = nest.FindMemos(b, varies)
	c.nest = compileNest(b, varies, c.cells, c.keep, dims)
	return c
}
