package kernels

// This file tells people what loops a parfor or a nest runs as, before it runs: `flowrun explain
// --pass=loops`.

import (
	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/kernels/nest"
)

// parforNests is the loop of a parfor: with subscripts that the launch proves.
func parforNests(c *op.Call, _ []types.Type) ([]*loop.Nest, string) {
	by := c.Attrs.Ints("by")
	b := c.Bodies[0]
	code := b.Compiled(func(b *op.Body) any { return compileBody(b, len(by)) }).(*bodyCode)
	key := nestKey{Form: nest.Form{Affine: true, Words: code.sums()}, dims: len(by)}
	for d := range by {
		key.by[d] = int(by[d])
	}
	phases := func(long bool) []*loop.Nest {
		return code.rowForm(nestKey{Form: nest.Form{Affine: true}, dims: 1, by: key.by, long: long}, c.Attrs.Str("names")).nests()
	}
	if list := phases(false); len(list) > 0 {
		return list, ""
	}
	m := code.form(key, c.Attrs.Str("names"))
	if m.body == nil {
		if list := phases(true); len(list) > 0 {
			return list, ""
		}
		// Operators without a form in loops are called between nests.
		list, why := code.callNests(len(by), key.by)
		if len(list) == 0 && why == "" {
			why = m.why
		}
		return list, why
	}
	last, tables := tabulated(m.body, len(by), code.cells)
	var list []*loop.Nest
	for _, t := range tables {
		list = append(list, t.Nest)
	}
	return append(list, last), ""
}

// spaceNests is the loops of a nest, one for each rectangle that is no copy.
func spaceNests(c *op.Call, _ []types.Type) (list []*loop.Nest, why string) {
	code := c.Bodies[0].Compiled(func(b *op.Body) any { return spaceCodeOf(b) }).(*spaceCode)
	for _, r := range code.written() {
		if r.Loop != nil {
			list = append(list, r.Loop.Nest())
		}
	}
	return list, code.why
}
