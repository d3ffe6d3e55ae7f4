package ir_test

import (
	"fmt"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
)

// table is a small operator table: the package knows no operator of its own.
var table = func() *op.Table {
	values := func(names ...string) (out []op.Arg) {
		for _, n := range names {
			out = append(out, op.Arg{Name: n})
		}
		return out
	}
	first := func(s *op.Sig) (types.Type, error) { return s.In[0], nil }
	same := func(s *op.Sig) (types.Type, error) {
		for _, t := range s.In {
			if t.Kind != types.Scalar && t.Kind != types.Matrix || !t.Equal(s.In[0]) {
				return t, fmt.Errorf("%v is not %v", t, s.In[0])
			}
		}
		return s.In[0], nil
	}
	add := func(x []value.Scalar) value.Scalar { return value.F64(x[0].F + x[1].F) }
	t, err := op.NewTable([]*op.Def{
		{Name: "fill", Args: []op.Arg{{Name: "v", Attr: true}}, Laws: op.Pure,
			Ref: func(c *op.Call) (value.Value, error) { return value.F64(c.Attrs.Float("v")), nil }},
		{Name: "add", Args: values("a", "b"), Type: same, Laws: op.Pure | op.Elementwise, Elt: add,
			Ref: func(c *op.Call) (value.Value, error) {
				return add([]value.Scalar{c.Scalar(0), c.Scalar(1)}), nil
			}},
		{Name: "fail", Args: values("a"), Type: first,
			Ref: func(*op.Call) (value.Value, error) { return nil, op.Failf("E606", "it failed") }},
		{Name: "emit", Args: append(values("x"), op.Arg{Name: "after", Rest: true}), Laws: op.Effectful,
			Type: func(*op.Sig) (types.Type, error) { return types.EffectType(), nil },
			Ref: func(c *op.Call) (value.Value, error) {
				fmt.Fprintln(c.Env.Stdout(), c.Scalar(0))
				return nil, nil
			}},
		{Name: "map", Args: []op.Arg{{Name: "x", Rest: true}}, Laws: op.Pure,
			Ref: func(c *op.Call) (value.Value, error) {
				x := c.Scalar(0)
				for range c.Body.Steps {
					x = add([]value.Scalar{x, x})
				}
				return x, nil
			}},
		{Name: "arg", Role: op.Argument},
		{Name: "iterate", Control: op.Iterate},
		{Name: "select", Control: op.Select},
		{Name: "part", Control: op.Part},
		{Name: "unbound", Args: values("a"), Type: first},
	})
	if err != nil {
		panic(err)
	}
	return t
}()

// everything is a graph with everything that a graph may have.
const everything = `scope 0 k
scope 1 k i
grid 0 L[4,4] @9:10
grid 1 c[2] @11:12
call 1 cholesky @40:55 in 0
call 2 step @60:65 in 1
%0 = fill() {name="a, b} \"q\"", on=true, v=0.5, xs=[1,-2,3]} : f64 @12:30
%1 = add(%0, %0) : f64 @40:50 loop 0(1) dest 0(0,3)v2 call 1
%2 = map(%1, %0) {modes=[4,4]} : f64 loop 1(2,3) dest 1(1)v1 call 2
  region {
    %0 = arg() : f64
    %1 = arg() : f64
    %2 = add(%0, %1) : f64 @12:13
    args %0 %1
    yield %2
  }
%3 = fill() {v=inf} : f32[0,7]
%4 = fill() {v=1e+300} : sparse bool[_,3]
%5 = fill() : frame {id: i64, city: str}
%6 = fill() {v=-3} : chan (ok: f64[2,3], str)
%7 = emit(%2) : effect
%8 = emit(%1, %7) : effect
`

func parse(text string) *ir.Graph {
	g, err := ir.Parse(text, table)
	if err != nil {
		panic(err)
	}
	return g
}
