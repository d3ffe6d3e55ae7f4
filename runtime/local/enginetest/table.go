// Package enginetest holds what the tests of all engines share: a small operator table with one row
// for each thing that an engine must get right, and random plans over it. Tests compare an engine's
// values with ir/eval.
package enginetest

import (
	"fmt"
	"math"
	"time"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
)

// Table returns the operator table of the tests: rows.
func Table() *op.Table {
	t, err := op.NewTable(rows())
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return t
}

func rows() []*op.Def {
	elt := func(f func(x []value.Scalar) value.Scalar) func(c *op.Call) (value.Value, error) {
		return func(c *op.Call) (value.Value, error) {
			out := value.New(c.Type.Elem, c.Type.Rows, c.Type.Cols)
			for i := range out.Rows {
				for j := range out.Cols {
					x := make([]value.Scalar, len(c.In))
					for k := range x {
						x[k] = c.Dense(k).At(i, j)
					}
					out.Set(i, j, f(x))
				}
			}
			return out, nil
		}
	}
	return []*op.Def{
		{Name: "fill", Kernel: fill, Ref: func(c *op.Call) (value.Value, error) {
			out := value.New(c.Type.Elem, c.Type.Rows, c.Type.Cols)
			for i := range out.Rows * out.Cols {
				out.Set(i/out.Cols, i%out.Cols, value.F64(c.Attrs.Float("v")+float64(i)))
			}
			return out, nil
		}},
		{Name: "add", Laws: op.Pure | op.Elementwise, Alias: true, Kernel: func(c *op.Call) error {
			out, a, b := c.Result().F64, c.Dense(0).F64, c.Dense(1).F64
			for i := range out {
				out[i] = a[i] + b[i]
			}
			return nil
		}, Elt: add, Ref: elt(add), Loop: elements(func(c *op.Call, lo, hi int) error {
			out, a, b := c.Result().F64, c.Dense(0).F64, c.Dense(1).F64
			for i := lo; i < hi; i++ {
				out[i] = a[i] + b[i]
			}
			return nil
		})},
		// no kernel: engines use the definition
		{Name: "neg", Laws: op.Pure | op.Elementwise, Elt: neg, Ref: elt(neg)},
		{Name: "mac", Accum: 1, Kernel: func(c *op.Call) error {
			out, a, b := c.Result().F64, c.Dense(1).F64, c.Dense(2).F64
			for i := range out {
				out[i] = math.FMA(a[i], b[len(b)-1-i], out[i])
			}
			return nil
		}, Loop: elements(func(c *op.Call, lo, hi int) error {
			out, a, b := c.Result().F64, c.Dense(1).F64, c.Dense(2).F64
			for i := lo; i < hi; i++ {
				out[i] = math.FMA(a[i], b[len(b)-1-i], out[i])
			}
			return nil
		}), Ref: func(c *op.Call) (value.Value, error) {
			out, a, b := c.Dense(0).Clone(), c.Dense(1), c.Dense(2)
			for i := range out.F64 {
				out.F64[i] = math.FMA(a.F64[i], b.F64[len(b.F64)-1-i], out.F64[i])
			}
			return out, nil
		}},
		{Name: "total", Kernel: set(total), Ref: total, Loop: summing()},
		{Name: "scale", Alias: true, Kernel: func(c *op.Call) error {
			out, a, s := c.Result().F64, c.Dense(0).F64, c.Scalar(1).F
			for i := range out {
				out[i] = math.Mod(a[i]*s, 1000)
			}
			return nil
		}, Ref: func(c *op.Call) (value.Value, error) {
			return elt(func(x []value.Scalar) value.Scalar { return value.F64(math.Mod(x[0].F*c.Scalar(1).F, 1000)) })(
				&op.Call{In: c.In[:1], Type: c.Type})
		}},
		{Name: "evens", Kernel: set(evens), Ref: evens},
		{Name: "count", Kernel: set(count), Ref: count},
		{Name: "self", Kernel: set(self), Ref: self},
		{Name: "label", Kernel: set(label), Ref: label},
		{Name: "less", Kernel: func(c *op.Call) error {
			out, a, b := c.Result().Bool, c.Dense(0).F64, c.Dense(1).F64
			for i := range out {
				out[i] = uint8(value.Bool(a[i] < b[i]).I)
			}
			return nil
		}, Ref: elt(func(x []value.Scalar) value.Scalar { return value.Bool(x[0].F < x[1].F) })},
		{Name: "check", Alias: true, Kernel: func(c *op.Call) error {
			if err := fail(c); err != nil {
				return err
			}
			c.Result().CopyFrom(c.Dense(0))
			return nil
		}, Ref: func(c *op.Call) (value.Value, error) { return c.In[0], fail(c) }},
		{Name: "picky", Alias: true, Loop: elements(picky), Kernel: func(c *op.Call) error { return picky(c, 0, c.Type.Count()) },
			Ref: func(c *op.Call) (value.Value, error) { return c.In[0], nil }},
		{Name: "look", Kernel: func(c *op.Call) error {
			c.Result().CopyFrom(c.Dense(0))
			return nil
		}, Ref: func(c *op.Call) (value.Value, error) { return c.In[0], nil }, Look: func(c *op.Call) (*value.Dense, error) {
			a := c.Dense(0)
			return a.View(0, 0, a.Rows, a.Cols), nil
		}},
		// the first column, which engines may keep as a view
		{Name: "lead", Laws: op.Pure | op.View, Kernel: func(c *op.Call) error {
			c.Result().CopyFrom(lead(c))
			return nil
		}, Ref: func(c *op.Call) (value.Value, error) { return lead(c).Clone(), nil },
			Look: func(c *op.Call) (*value.Dense, error) { return lead(c), nil }},
		{Name: "shift", Laws: op.Pure | op.Elementwise, Alias: true, Kernel: func(c *op.Call) error {
			c.Result().CopyFrom(shift(c)) // reads the column before it writes
			return nil
		}, Ref: func(c *op.Call) (value.Value, error) { return shift(c), nil }},
		{Name: "print", Laws: op.Effectful, Kernel: set(print), Ref: print, Shows: func(*op.Attrs) bool { return true }},
		{Name: "map", Alias: true, Kernel: mapKernel, Ref: func(c *op.Call) (value.Value, error) {
			out := value.New(c.Type.Elem, c.Type.Rows, c.Type.Cols)
			runBody(c, out, func(in, i, j int) value.Scalar { return c.Dense(in).At(i, j) })
			return out, nil
		}},
		{Name: "arg", Role: op.Argument},
		{Name: "iterate", Control: op.Iterate},
		{Name: "select", Control: op.Select},
		{Name: "part", Control: op.Part},
		{Name: "one", Kernel: set(one), Ref: one},
		{Name: "next", Kernel: set(next), Ref: next},
		{Name: "atleast", Kernel: set(atLeast), Ref: atLeast},
		{Name: "first", Kernel: set(first), Ref: first},
		{Name: "exchange", Role: op.Exchange, Ref: func(c *op.Call) (value.Value, error) { return c.In[0], nil }},
		{Name: "gather", Role: op.Gathers, Ref: func(c *op.Call) (value.Value, error) { return c.In[0], nil }},
		{Name: "crash", Kernel: func(c *op.Call) error { var none *value.Dense; none.Rows++; return nil },
			Ref: func(c *op.Call) (value.Value, error) { return nil, fmt.Errorf("crash") }},
		{Name: "quit", Kernel: set(quit), Ref: quit},
		{Name: "starve", Kernel: set(starve), Ref: starve},
		{Name: "known", Laws: op.Pure | op.Total, Kernel: set(known), Ref: known},
		{Name: "sleep", Kernel: set(sleep), Ref: sleep, Cost: func(*op.Sig, types.Type) op.Work { return op.Work{Flops: 10} }},
	}
}

// quit gives up although nothing has stopped it.
func quit(*op.Call) (value.Value, error) { return nil, op.ErrStopped }

// starve asks for more memory than any machine has.
func starve(*op.Call) (value.Value, error) { return value.New(types.F64, 1<<20, 1<<36), nil }

// set makes a kernel of a function that allocates its result.
func set(f func(c *op.Call) (value.Value, error)) func(c *op.Call) error {
	return func(c *op.Call) (err error) { c.Out, err = f(c); return err }
}

func lead(c *op.Call) *value.Dense { return c.Dense(0).View(0, 0, c.Type.Rows, 1) }

func shift(c *op.Call) *value.Dense {
	out := c.Dense(0).Clone()
	for i := range out.Rows {
		for j := range out.Cols {
			out.Set(i, j, value.F64(2*out.At(i, j).F-c.Dense(1).At(i, 0).F))
		}
	}
	return out
}

func add(x []value.Scalar) value.Scalar { return value.F64(x[0].F + x[1].F) }
func neg(x []value.Scalar) value.Scalar { return value.F64(-x[0].F) }

func fill(c *op.Call) error {
	out := c.Result()
	for i := range out.F64 {
		out.F64[i] = c.Attrs.Float("v") + float64(i)
	}
	return nil
}

func total(c *op.Call) (value.Value, error) {
	s := 0.0
	for _, x := range c.Dense(0).F64 {
		s += x
	}
	return value.F64(math.Mod(s, 1000)), nil
}

// evens has a shape that only the run knows.
func evens(c *op.Call) (value.Value, error) {
	var keep []float64
	for _, x := range c.Dense(0).F64 {
		if int64(x)%2 == 0 {
			keep = append(keep, x)
		}
	}
	out := value.New(types.F64, len(keep), 1)
	copy(out.F64, keep)
	return out, nil
}

func count(c *op.Call) (value.Value, error) { return value.I64(int64(c.Dense(0).Rows)), nil }

// self returns its input, which must not get two owners.
func self(c *op.Call) (value.Value, error) { return c.In[0], nil }

func label(c *op.Call) (value.Value, error) {
	s := "<"
	for _, x := range c.In {
		s += fmt.Sprint(x)
	}
	return value.Str(s[max(0, len(s)-40):] + ">"), nil
}

func one(*op.Call) (value.Value, error) { return value.I64(1), nil }

func next(c *op.Call) (value.Value, error) { return value.I64(c.Scalar(0).I + 1), nil }

// atLeast compares with attribute v and fails beyond attribute `until`.
func atLeast(c *op.Call) (value.Value, error) {
	x := c.Scalar(0).Float()
	if end, ok := c.Attrs.Get("until"); ok && x >= float64(end.I) {
		return nil, op.Failf("E603", "%v is too much", x)
	}
	return value.Bool(x >= c.Attrs.Float("v")), nil
}

// first returns an element as a scalar, or fails at attribute `until`.
func first(c *op.Call) (value.Value, error) {
	x := c.Dense(0).At(0, 0)
	if end, ok := c.Attrs.Get("until"); ok && x.F >= float64(end.I) {
		return nil, op.Failf("E603", "%v is too much", x)
	}
	return x, nil
}

// fail fails if attribute `bad` is set, after sleeping `ms` milliseconds.
func fail(c *op.Call) error {
	time.Sleep(time.Duration(c.Attrs.Int("ms")) * time.Millisecond)
	if c.Attrs.Bool("bad") {
		return op.Failf("E603", "check of %v failed", c.Dense(0).At(0, 0))
	}
	return nil
}

func print(c *op.Call) (value.Value, error) {
	for _, x := range c.In {
		if s, ok := x.(value.Scalar); ok {
			fmt.Fprintln(c.Env.Stdout(), s)
		}
	}
	return nil, nil
}

func sleep(c *op.Call) (value.Value, error) {
	time.Sleep(time.Duration(c.Attrs.Int("us")) * time.Microsecond)
	return value.I64(1), nil
}

func mapKernel(c *op.Call) error {
	out := c.Result()
	// Operands that are read elsewhere than written reveal memory that was taken over wrongly.
	runBody(c, out, func(in, i, j int) value.Scalar { return c.Dense(in).At(i, j) })
	return nil
}

func runBody(c *op.Call, out *value.Dense, at func(in, i, j int) value.Scalar) {
	for i := range out.Rows {
		for j := range out.Cols {
			reg := make([]value.Scalar, 0, len(c.In)+len(c.Body.Steps))
			for k := range c.In {
				if c.Body.In[k].Mode == op.Trans {
					reg = append(reg, at(k, j, i))
				} else {
					reg = append(reg, at(k, i, j))
				}
			}
			for _, s := range c.Body.Steps {
				var x []value.Scalar
				for _, a := range s.Args {
					x = append(x, reg[a])
				}
				reg = append(reg, s.Def.Elt(x))
			}
			out.Set(i, j, reg[len(reg)-1])
		}
	}
}

// known is a constant.
func known(*op.Call) (value.Value, error) { return value.I64(1), nil }
