package define

// This file makes every row work on matrices whose size only the run tells (the result of unique,
// and all that is computed from it): the type rule that left a dimension open before the run is
// asked again with the values at hand.

import (
	"fmt"
	"math"
	"sync"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/memory"
)

// Resolved is a family of rows whose kernels and definitions settle open dimensions before they
// start. A kernel finds memory of the settled shape in c.Out, except where the shape follows from
// the data alone: then it sets c.Out. The kernel of a row with only a loop runs the loop.
func Resolved(rows []*op.Def) []*op.Def {
	for _, d := range rows {
		if d.Type == nil || d.Shape != nil {
			continue
		}
		if d.Kernel == nil && d.Loop != nil {
			d.Kernel = d.Loop.Alone
		}
		if kernel := d.Kernel; kernel != nil {
			d.Kernel = func(c *op.Call) error {
				if asks(d, c.Type) {
					if err := c.Settle(); err != nil {
						return err
					}
					if c.Type.Known() && c.Type.IsDense() {
						if err := Fits(c.Type); err != nil {
							return err
						}
						lendOwn(d, c)
					}
				}
				return kernel(c)
			}
		}
		if d.Loop != nil {
			d.Loop = ResolvedLoop(d)
		}
		if ref := d.Ref; ref != nil {
			d.Ref = func(c *op.Call) (value.Value, error) {
				if asks(d, c.Type) {
					if err := c.Settle(); err != nil {
						return nil, err
					}
					if err := Fits(c.Type); c.Type.IsDense() && err != nil {
						return nil, err
					}
				}
				return ref(c)
			}
		}
	}
	return rows
}

// ByDefinition makes the definition of a row its kernel and returns the row. It is for rows that take
// little time.
func ByDefinition(d *op.Def) *op.Def {
	ref := d.Ref
	d.Kernel = func(c *op.Call) error {
		v, err := ref(c)
		if err != nil {
			return err
		}
		if lent, is := c.Out.(*value.Dense); is {
			lent.CopyFrom(v.(*value.Dense))
		} else {
			c.Out = v
		}
		return nil
	}
	return d
}

// ByKernel makes the kernel of a row its definition, in memory of its own, and returns the row. It is
// for hidden rows that the compiler puts in the place of a whole operator: tests compare all of them
// together with the definition of the operator. It is also for decompositions, whose properties tests
// look at, because no obvious code gives the same bits. It would be wrong for other operators: their
// kernels would be their own oracles.
func ByKernel(d *op.Def) *op.Def {
	d.Ref = func(c *op.Call) (value.Value, error) {
		own, run := *c, d.Kernel
		if own.Out = nil; c.Type.IsDense() && c.Type.Known() {
			own.Out = value.New(c.Type.Elem, c.Type.Rows, c.Type.Cols)
		}
		if run == nil {
			run = d.Loop.Alone
		}
		err := run(&own)
		return own.Out, err
	}
	return d
}

// ResolvedLoop is the loop of a row, of calls whose open dimensions are settled as a kernel's are.
// Where they cannot be, or the result fits no memory, it is no loop: the kernel says why.
func ResolvedLoop(d *op.Def) *op.Loop {
	l := *d.Loop
	space, begin := l.Space, l.Begin
	l.Space = func(c *op.Call) (n, leaf int) {
		if !asks(d, c.Type) {
			return space(c)
		}
		settled := *c
		if settled.Settle() != nil || Open(c.Type) && settled.Type.Known() && Fits(settled.Type) != nil {
			return 0, 0
		}
		return space(&settled)
	}
	l.Begin = func(c *op.Call, workers int) (op.LoopBody, error) {
		if asks(d, c.Type) {
			if err := c.Settle(); err != nil {
				return nil, err
			}
			if c.Type.Known() && c.Type.IsDense() {
				lendOwn(d, c)
			}
		}
		return begin(c, workers)
	}
	return &l
}

// Open reports a dense matrix of which a dimension is not known.
func Open(t types.Type) bool { return t.Kind == types.Matrix && t.Repr == types.Dense && !t.Known() }

// asks reports whether the arguments of a call tell an unknown dimension of its result. A sparse result
// of a row without a dense form has its shape from the data.
func asks(d *op.Def, t types.Type) bool {
	return Open(t) || d.For != "" && t.IsSparse() && !t.Known()
}

// lendOwn does what a runtime does for results of known shape.
func lendOwn(d *op.Def, c *op.Call) {
	out := NewOut(c, c.Type.Rows, c.Type.Cols)
	if d.Accum > 0 {
		out.CopyFrom(c.Dense(d.Accum - 1))
	}
	c.Out = out
}

// NewOut returns memory for the result of a call that was lent none.
func NewOut(c *op.Call, rows, cols int) *value.Dense {
	if c.Spare == nil {
		return value.New(c.Type.Elem, rows, cols)
	}
	*c.Spare = value.Anew(*c.Spare, c.Type.Elem, rows, cols)
	return *c.Spare
}

var mostMemory = sync.OnceValue(memory.Most)

// Scarce reports that need bytes are more than this process can ever have, and gives the end of a
// message that says so.
func Scarce(need float64) (tell string, is bool) {
	have := mostMemory()
	if need <= float64(have.Bytes) {
		return "", false
	}
	return fmt.Sprintf("%s, more than there is (%v)", types.InBytes(need), have), true
}

// Fits refuses a result that is larger than all memory, before anything of it is allocated. What is
// smaller and finds no memory fails where it is allocated.
func Fits(t types.Type) error {
	if !t.Sized() {
		return nil
	}
	need := float64(t.Rows) * float64(t.Cols) * float64(t.Elem.Size())
	if err := memory.Within(int64(min(need, math.MaxInt64/2))); err != nil {
		return op.Failf(CodeMemory, "no memory for the result, %v: %v", t, err)
	}
	if tell, is := Scarce(need); is {
		return op.Failf(CodeMemory, "the result, %v, takes %s", t, tell)
	}
	return nil
}

// Bounded is rows whose definitions fail where their result fits no memory.
func Bounded(families ...[]*op.Def) [][]*op.Def {
	for _, rows := range families {
		for _, d := range rows {
			if ref := d.Ref; ref != nil {
				d.Ref = func(c *op.Call) (value.Value, error) {
					if err := Fits(c.Type); err != nil {
						return nil, err
					}
					return ref(c)
				}
			}
		}
	}
	return families
}
