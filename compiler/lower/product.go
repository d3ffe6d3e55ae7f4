package lower

import (
	"slices"

	"flow/compiler/rule"
	"flow/ir"
	"flow/ir/sparsity"
	"flow/ir/types"
	"flow/lang/ast"
	"flow/lang/source"
)

// This file elaborates products. `A @ B @ C @ v` without parentheses is a chain in its cheapest
// order (rule order-chain). Parentheses, names and calls end a chain: `(A @ B) @ v` is computed as
// written.

// product elaborates a product of two factors, or a chain.
func (l *lowerer) product(e *ast.Binary) val {
	// two factors, as in a million tasks: without lists
	if x, ok := e.X.(*ast.Binary); !ok || x.Op != "@" {
		v := l.apply(l.table.Infix("@"), nil, e.OpAt, []val{l.expr(e.X), l.expr(e.Y)}, []source.Span{e.X.Span(), e.Y.Span()})
		v.product = v.kind == edge
		return v
	}
	var factors []ast.Expr
	var signs []source.Span // signs[k] is between factors k and k + 1
	left := e
	for {
		factors, signs = append(factors, left.Y), append(signs, left.OpAt)
		x, ok := left.X.(*ast.Binary)
		if !ok || x.Op != "@" {
			break
		}
		left = x
	}
	factors = append(factors, left.X)
	slices.Reverse(factors)
	slices.Reverse(signs)
	c := chain{l: l, signs: signs, vals: l.exprs(factors)}
	for _, f := range factors {
		c.spans = append(c.spans, f.Span())
	}
	out, _ := c.build(c.order())
	out.product = out.kind == edge
	return out
}

// chain is a product of several factors.
type chain struct {
	l     *lowerer
	vals  []val
	spans []source.Span
	signs []source.Span
}

// order returns the cheapest order if rules are enabled, all shapes are known and agree, and all
// factors have one element type, so that conversions do not depend on the order. Else it is left to
// right, which gives the best messages.
func (c *chain) order() *rule.Split {
	plain := &rule.Split{}
	for k := range c.vals[1:] {
		plain = &rule.Split{Left: plain, Right: &rule.Split{Factor: k + 1}}
	}
	if len(c.vals) < 3 || c.l.in.Rules == nil {
		return plain
	}
	es := make([]sparsity.Estimate, len(c.vals))
	last := types.Type{}
	for k, v := range c.vals {
		if v.kind != edge {
			return plain
		}
		t := c.l.typeOf(v)
		if !t.IsMatrix() || !t.Known() || t.Elem != c.l.typeOf(c.vals[0]).Elem || k > 0 && t.Rows != last.Cols {
			return plain
		}
		es[k], last = c.estimate(k), t
	}
	return rule.Chain(es)
}

// estimate returns what is known of the nonzeros of factor k before the run: counts from a file's
// head or graph, a generator's arguments, and what operators make of those.
func (c *chain) estimate(k int) sparsity.Estimate {
	v, t := c.vals[k], c.l.typeOf(c.vals[k])
	if !t.IsSparse() {
		return sparsity.Dense(t.Rows, t.Cols)
	}
	g, r := c.l.g, c.l.region
	for r != nil && r.level > v.level { // an outer value, which will be captured
		g, r = r.above, r.up
	}
	return ir.ToldEstimator(g).Of(v.id)
}

// build makes the products of an order. last is the index of its last factor.
func (c *chain) build(s *rule.Split) (v val, last int) {
	if s.Left == nil {
		return c.vals[s.Factor], s.Factor
	}
	x, k := c.build(s.Left)
	y, last := c.build(s.Right)
	first := s
	for first.Left != nil {
		first = first.Left
	}
	spans := []source.Span{c.spans[first.Factor].Join(c.spans[k]), c.spans[k+1].Join(c.spans[last])}
	return c.l.apply(c.l.table.Infix("@"), nil, c.signs[k], []val{x, y}, spans), last
}
