package schedule

import (
	"fmt"
	"math"
	"sort"
	"strings"

	"flow/lang"
	"flow/lang/ast"
	"flow/lang/source"
)

// This file defines users' techniques: `expr: ceil(R/(1.5*P))`, the size of a chunk as an
// expression of the language over N, P, R (remaining), i (step), h, mu and sigma. All arithmetic is
// in float64; a fractional size is rounded up.

// exprPrefix starts the name of such a technique.
const exprPrefix = "expr:"

// variables are the names in an expression.
type variables struct{ n, p, r, i, h, mu, sigma float64 }

// formula evaluates a part of an expression.
type formula func(*variables) float64

// exprTechnique makes a row for one expression.
func exprTechnique(name string) (*Technique, error) {
	text := strings.TrimSpace(name[len(exprPrefix):])
	c := &exprCompiler{text: text}
	tree, diags := lang.ParseExpr(source.NewFileSet().Add("expr", text))
	var f formula
	switch {
	case text == "":
		c.err = fmt.Errorf("expr: there is no expression, as in %q", "expr: ceil(R/(1.5*P))")
	case tree == nil && len(diags) > 0:
		c.err = fmt.Errorf("expr: %s: %s", text, diags[0].Message)
	default:
		f = c.compile(tree)
	}
	if c.err != nil {
		return nil, c.err
	}
	needs := "N, P"
	if c.measured {
		needs += ", mu, sigma, h"
	}
	return &Technique{
		Name: exprPrefix + " " + text, Class: "expression", Needs: needs,
		Doc: "the size of a chunk is " + text, Source: "given by the user",
		build: func(p Params) (Calculator, error) { return c.calculator(p, f) },
	}, nil
}

// eager is how many steps of an expression are computed at set-up, so that most mistakes are
// reported before the loop begins.
const eager = 4096

func (c *exprCompiler) calculator(p Params, f formula) (Calculator, error) {
	v := variables{n: float64(p.N), p: float64(p.P), h: p.H, mu: p.Mu, sigma: p.Sigma}
	size := func(a at) (int, error) {
		v := v // for one step: prefix calls under its lock, but calculators may be shared
		v.r, v.i = float64(a.remaining), float64(a.step)
		k := f(&v)
		if !(k > 0) || math.IsInf(k, 0) {
			return 0, fmt.Errorf("expr: %s is %g at step %d (N = %d, P = %d, R = %d, i = %d): a chunk has at least one iteration and an end",
				c.text, k, a.step, p.N, p.P, a.remaining, a.step)
		}
		return ceil(k), nil
	}
	if !c.moves && p.N > 0 {
		k, err := size(at{remaining: p.N})
		if err != nil {
			return nil, err
		}
		return newFixed(p, k), nil
	}
	t := newPrefixErr(p, size)
	t.Chunk(eager)
	return t, t.Err()
}

// exprCompiler compiles a tree to closures.
type exprCompiler struct {
	text     string
	moves    bool // R or i occurs
	measured bool // h, mu or sigma occurs
	err      error
}

// exprFunctions have one argument.
var exprFunctions = map[string]func(float64) float64{
	"ceil": math.Ceil, "floor": math.Floor, "round": math.RoundToEven, "sqrt": math.Sqrt, "log": math.Log, "log2": math.Log2, "exp": math.Exp, "abs": math.Abs,
}

// exprOperators are the infix ones.
var exprOperators = map[string]func(x, y float64) float64{
	"+":  func(x, y float64) float64 { return x + y },
	"-":  func(x, y float64) float64 { return x - y },
	"*":  func(x, y float64) float64 { return x * y },
	"/":  func(x, y float64) float64 { return x / y },
	"//": func(x, y float64) float64 { return math.Floor(x / y) },
	"%":  func(x, y float64) float64 { return x - math.Floor(x/y)*y },
	"^":  math.Pow,
}

func (c *exprCompiler) fail(format string, args ...any) formula {
	if c.err == nil {
		c.err = fmt.Errorf("expr: %s: %s", c.text, fmt.Sprintf(format, args...))
	}
	return func(*variables) float64 { return math.NaN() }
}

func (c *exprCompiler) compile(e ast.Expr) formula {
	switch e := e.(type) {
	case *ast.Paren:
		return c.compile(e.X)
	case *ast.Int:
		v := float64(e.Value)
		return func(*variables) float64 { return v }
	case *ast.Float:
		v := e.Value
		return func(*variables) float64 { return v }
	case *ast.Name:
		return c.name(e.Name)
	case *ast.Unary:
		if x := c.compile(e.X); e.Op == "-" {
			return func(v *variables) float64 { return -x(v) }
		}
		return c.fail("%q is not arithmetic", e.Op)
	case *ast.Binary:
		op, ok := exprOperators[e.Op]
		if !ok {
			return c.fail("%q is not one of + - * / // %% ^", e.Op)
		}
		x, y := c.compile(e.X), c.compile(e.Y)
		return func(v *variables) float64 { return op(x(v), y(v)) }
	case *ast.Call:
		return c.call(e)
	}
	return c.fail("this is not an arithmetic expression")
}

func (c *exprCompiler) name(name string) formula {
	switch name {
	case "N":
		return func(v *variables) float64 { return v.n }
	case "P":
		return func(v *variables) float64 { return v.p }
	case "R":
		c.moves = true
		return func(v *variables) float64 { return v.r }
	case "i":
		c.moves = true
		return func(v *variables) float64 { return v.i }
	case "h", "mu", "sigma":
		c.measured = true
	}
	switch name {
	case "h":
		return func(v *variables) float64 { return v.h }
	case "mu":
		return func(v *variables) float64 { return v.mu }
	case "sigma":
		return func(v *variables) float64 { return v.sigma }
	}
	return c.fail("there is no %s; there are N, P, R (remaining), i (step), h, mu and sigma", name)
}

func (c *exprCompiler) call(e *ast.Call) formula {
	name, ok := e.Fun.(*ast.Name)
	if !ok {
		return c.fail("only functions can be called")
	}
	var args []formula
	for _, a := range e.Args {
		if a.Name != nil {
			return c.fail("%s has no named arguments", name.Name)
		}
		args = append(args, c.compile(a.Value))
	}
	pick := map[string]func(x, y float64) float64{"min": math.Min, "max": math.Max}[name.Name]
	f := exprFunctions[name.Name]
	switch {
	case pick != nil && len(args) >= 2:
		return func(v *variables) float64 {
			k := args[0](v)
			for _, a := range args[1:] {
				k = pick(k, a(v))
			}
			return k
		}
	case pick != nil:
		return c.fail("%s needs at least two arguments", name.Name)
	case f != nil && len(args) == 1:
		return func(v *variables) float64 { return f(args[0](v)) }
	case f != nil:
		return c.fail("%s has one argument, got %d", name.Name, len(args))
	}
	known := []string{"min", "max"}
	for k := range exprFunctions {
		known = append(known, k)
	}
	sort.Strings(known)
	if near, ok := source.Suggest(name.Name, known); ok {
		return c.fail("there is no function %s; did you mean %s?", name.Name, near)
	}
	return c.fail("there is no function %s; there are %s", name.Name, strings.Join(known, ", "))
}
