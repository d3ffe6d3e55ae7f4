package inout

// This file defines the rows that put several pictures into one.

import (
	"flow/figure"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
)

// joinRow is a row over pictures; join makes one of at least one.
func joinRow(d op.Def, join func(a *op.Attrs, list []*figure.Picture) (*figure.Picture, error)) *op.Def {
	build := func(c *op.Call) (value.Value, error) {
		var list []*figure.Picture
		for i := range c.In {
			p, err := figure.Decode(c.Scalar(i).S)
			if err != nil {
				return nil, err
			}
			list = append(list, p)
		}
		p, err := join(c.Attrs, list)
		if err != nil {
			return nil, err
		}
		return pictureValue(p), nil
	}
	d.Type = func(s *op.Sig) (types.Type, error) {
		for i, t := range s.In {
			if t != types.ScalarOf(types.Picture) {
				return types.Type{}, op.Faultf(i, define.CodeKind, "`%s` takes pictures, not %v", s.Def.Source(), t).WithHelp("plot(x, y) is a picture of y over x")
			}
		}
		if n, ok := s.Attrs.Get("columns"); ok && (n.I < 1 || n.I > 100) {
			return types.Type{}, op.Faultf(-1, define.CodeAttr, "columns = %v", n)
		}
		return types.ScalarOf(types.Picture), nil
	}
	d.Ref, d.Laws, d.Cost = build, op.Pure, define.CopyWork
	d.Kernel = func(c *op.Call) (err error) { c.Out, err = build(c); return err }
	return &d
}

func figureRow() *op.Def {
	return joinRow(op.Def{
		Name: "figure",
		Doc: "figure draws several pictures over each other on the same axes, each with a colour of its own; their labels are the legend. " +
			"Titles of its own come before theirs.",
		Args: append(append([]op.Arg{{Name: "pictures", Rest: true, Doc: "plot(..), scatter(..) and so on"}}, titles()...), logAttr()),
		Eg: []op.Example{{Program: "x = seq(0, 10)\ny = 2 * x + randn(10, 1, seed = 1)\n" +
			"emit figure(scatter(x, y, label = \"data\"), plot(x, 2 * x, label = \"model\"), title = \"a fit\") to \"fit.svg\""}},
	}, func(a *op.Attrs, list []*figure.Picture) (*figure.Picture, error) {
		p, at, ok := figure.Overlay(list)
		if !ok {
			return nil, op.Failf(define.CodeData, "figure: argument %d is panels, and figure has one pair of axes", at+1).
				WithHelp("panels(..) puts pictures beside each other")
		}
		titled(&p.Fields[0], a)
		return p, nil
	})
}

func panelsRow() *op.Def {
	return joinRow(op.Def{
		Name: "panels",
		Doc:  "panels puts pictures beside and below each other, each with its own axes.",
		Args: []op.Arg{{Name: "pictures", Rest: true, Doc: "plot(..), figure(..) and so on"}, textAttr("title", "above all"),
			{Name: "columns", Attr: true, Kind: op.IntVal, Optional: true, Doc: "how many beside each other; about as many as there are rows unless given"}},
		Eg: []op.Example{{Program: "x = randn(500, 1, seed = 1)\nemit panels(plot(x), hist(x), columns = 2, title = \"noise\") to \"noise.html\""}},
	}, func(a *op.Attrs, list []*figure.Picture) (*figure.Picture, error) {
		p := figure.Beside(list, a.Int("columns"))
		p.Title = printable(a.Str("title"))
		return p, nil
	})
}
