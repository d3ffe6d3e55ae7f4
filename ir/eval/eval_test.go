package eval_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"

	"flow/ir"
	"flow/ir/eval"
	"flow/ir/op"
	"flow/ir/value"
)

func number(name string, args int, f func(x []value.Scalar) value.Scalar) *op.Def {
	return &op.Def{Name: name, Laws: op.Pure | op.Elementwise, Elt: f, Args: make([]op.Arg, args),
		Ref: func(c *op.Call) (value.Value, error) {
			x := make([]value.Scalar, len(c.In))
			for i := range x {
				x[i] = c.Scalar(i)
			}
			return f(x), nil
		}}
}

func table(t *testing.T) *op.Table {
	t.Helper()
	tab, err := op.NewTable([]*op.Def{
		{Name: "const", Role: op.Constant, Ref: func(c *op.Call) (value.Value, error) { return value.F64(c.Attrs.Float("v")), nil }},
		number("add", 2, func(x []value.Scalar) value.Scalar { return value.F64(x[0].F + x[1].F) }),
		number("half", 1, func(x []value.Scalar) value.Scalar { return value.F64(x[0].F / 2) }),
		{Name: "print", Laws: op.Effectful, Ref: func(c *op.Call) (value.Value, error) {
			_, err := fmt.Fprintln(c.Env.Stdout(), c.Scalar(0))
			return nil, err
		}},
		{Name: "fail", Ref: func(*op.Call) (value.Value, error) { return nil, op.Failf("E606", "no") }},
		{Name: "starve", Ref: func(*op.Call) (value.Value, error) { return value.New(value.F64(0).Elem, 1<<20, 1<<36), nil }},
		{Name: "map", Ref: func(c *op.Call) (value.Value, error) {
			reg := make([]value.Scalar, 0, 8)
			for i := range c.In {
				reg = append(reg, c.Scalar(i))
			}
			for _, s := range c.Body.Steps {
				var x []value.Scalar
				for _, a := range s.Args {
					x = append(x, reg[a])
				}
				reg = append(reg, s.Def.Elt(x))
			}
			return reg[len(reg)-1], nil
		}},
		{Name: "arg", Role: op.Argument},
		{Name: "undefined"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

type env struct{ out bytes.Buffer }

func (e *env) Stdout() io.Writer                          { return &e.out }
func (e *env) Create(path string) (io.WriteCloser, error) { return nil, errors.New("no files") }
func (e *env) Path(path string) string                    { return path }

func run(t *testing.T, text string) ([]value.Value, string, error) {
	t.Helper()
	g, err := ir.Parse(text, table(t))
	if err != nil {
		t.Fatal(err)
	}
	e := &env{}
	vals, err := eval.Run(g, e)
	return vals, e.out.String(), err
}

func TestRun(t *testing.T) {
	vals, out, err := run(t, `%0 = const() {v=3.0} : f64
%1 = add(%0, %0) : f64
%2 = print(%1) : effect
%3 = map(%1, %0) {modes=[4,4]} : f64
  region {
    %0 = arg() : f64
    %1 = arg() : f64
    %2 = half(%1) : f64
    %3 = add(%0, %2) : f64
    args %0 %1
    yield %3
  }
%4 = print(%3, %2) : effect
`)
	if err != nil || out != "6\n7.5\n" || len(vals) != 5 || vals[3] != value.Value(value.F64(7.5)) {
		t.Errorf("%v, %q, %v", vals, out, err)
	}
}

// The first failure ends it, and says where; what came before has happened, what comes after has
// not.
func TestFailure(t *testing.T) {
	_, out, err := run(t, "%0 = const() {v=1.0} : f64\n%1 = print(%0) : effect\n%2 = fail(%0) : f64\n%3 = print(%0) : effect\n")
	var at *eval.Error
	var f *op.Failure
	if !errors.As(err, &at) || at.Node != 2 || !errors.As(err, &f) || f.Code != "E606" || err.Error() != "no" || out != "1\n" {
		t.Errorf("%v, %q", err, out)
	}
	if _, _, err := run(t, "%0 = undefined() : f64\n"); err == nil || err.Error() != "BUG: undefined has no definition" {
		t.Errorf("an operator without a definition gives %v", err)
	}
	if _, _, err := run(t, "%0 = const() : f64\n%1 = map(%0) {modes=[4]} : f64\n  region {\n    %0 = arg() : f64\n    %1 = const() : f64\n    args %0\n    yield %1\n  }\n"); err == nil {
		t.Error("a region that is not elementwise passes")
	}
}

// A definition that finds no memory fails as a kernel does.
func TestNoMemory(t *testing.T) {
	g, err := ir.Parse("%0 = starve() : f64[2,2]\n", table(t))
	if err != nil {
		t.Fatal(err)
	}
	_, err = eval.Run(g, nil)
	var e *eval.Error
	var f *op.Failure
	if !errors.As(err, &e) || e.Node != 0 || !errors.As(err, &f) || f.Code != "E605" {
		t.Errorf("%v, want an E605 of node 0", err)
	}
}
