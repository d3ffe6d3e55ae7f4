package construct

// This file gives the constructors of random matrices rows of their own for a seed that is a value
// of the run, such as one that the body of a parfor computes of its index. The numbers are those
// that the constructor makes of that seed.

import (
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
)

// seedable is the row of g and its row for seeds of the run, to which it refers.
func (g generator) seedable() []*op.Def {
	plain := g.def()
	plain.Seeded = g.name + ".seeded"
	d := &op.Def{
		Name: plain.Seeded, Word: g.name, Hidden: true,
		Doc:  plain.Seeded + " is " + g.name + " of a seed that the run tells.",
		Args: []op.Arg{{Name: "seed", Doc: "the same seed makes the same numbers"}},
		Laws: op.Pure, Cost: plain.Cost,
	}
	for _, a := range g.args {
		if a.Name != "seed" {
			d.Args = append(d.Args, a)
		}
	}
	withSeed := func(c *op.Call) *op.Attrs { return c.Attrs.With("seed", op.Int(int(c.Scalar(0).I))) }
	d.Type = func(s *op.Sig) (types.Type, error) {
		if t := s.In[0]; t.Kind != types.Scalar || t.Elem != types.I64 && t.Elem != types.Bool {
			return t, op.Faultf(0, define.CodeKind, "the seed of `%s` is an i64, not %s", g.name, t).WithHelp("i64(x) makes an integer of it")
		}
		return g.typ(&op.Sig{Def: plain, Attrs: s.Attrs})
	}
	d.Ref = func(c *op.Call) (value.Value, error) {
		return plain.Ref(&op.Call{Attrs: withSeed(c), Type: c.Type})
	}
	d.Kernel = func(c *op.Call) error {
		x := *c
		x.Attrs, x.In = withSeed(c), nil
		return plain.Kernel(&x)
	}
	if g.draw != nil {
		d.Elements = g.elements
	}
	return []*op.Def{plain, d}
}
