package kernels

// This file tells people what loop a chain or one elementwise operator runs as, before it runs:
// `flowrun explain --pass=loops`.

import (
	"fmt"
	"slices"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/kernels/define"
	"flow/kernels/reduce"
)

// told gives the rows that write loops of elementwise operators their Nests.
func told(rows []*op.Def) []*op.Def {
	for _, d := range rows {
		if d.Laws.Has(op.Elementwise) && d.Elt != nil && d.Nests == nil {
			d.Nests = singleNests
		}
	}
	return rows
}

// singleNests is the loop of an elementwise operator alone.
func singleNests(c *op.Call, in []types.Type) ([]*loop.Nest, string) {
	if len(in) > mostArgs {
		return nil, fmt.Sprintf("more than %d operands", mostArgs)
	}
	for _, t := range in {
		if !t.IsDense() && !t.IsScalar() {
			return nil, "an operand of " + t.String()
		}
	}
	k := singleOf(c.Def, c.Type, len(in), func(k int) types.Type { return in[k] })
	return toldNests(k.program(), c.Type)
}

// toldNests is the loop of a program with a result of type t.
func toldNests(p *op.Program, t types.Type) ([]*loop.Nest, string) {
	if !t.IsDense() {
		return nil, ""
	}
	apart := slices.ContainsFunc(p.In, func(o op.Operand) bool { // see machine.joins
		return o.Mode != op.Single && o.Mode != op.RowVec && o.Mode != op.Full
	})
	return shapedNests(p, nestShape{tall: apart && t.Known() && t.Cols < tallBelow && t.Rows >= 2*t.Cols})
}

// shapedNests is the loop of a program in a shape whose modes follow.
func shapedNests(p *op.Program, s nestShape) ([]*loop.Nest, string) {
	if len(p.In) > mostIn {
		return nil, fmt.Sprintf("more than %d operands", mostIn)
	}
	for k := range p.Steps {
		if d := p.Steps[k].Def; d.Body == nil {
			return nil, "`" + define.SourceName(d) + "`"
		}
	}
	for k, o := range p.In {
		mode := o.Mode
		if mode == op.Trans && !s.tall { // a block of it is written first, and read as it lies there
			mode = op.Full
		}
		s.modes.set(k, mode)
	}
	nest := writeNest(p, s)
	if nest == nil {
		return nil, "an operator of these types"
	}
	return []*loop.Nest{nest}, ""
}

// pipeNests returns the loop of a pipe. The reductions are part of the loop, unless kernels reduce
// blocks of the chain's elements.
func pipeNests(c *op.Call, _ []types.Type) ([]*loop.Nest, string) {
	s, rows := nestShape{fold: c.Attrs.Str("fold")}, false
	folds, _ := foldsNamed(s.fold)
	for _, f := range folds {
		rows = rows || f != nil && f.Axis == reduce.OverRows
		if f != nil && f.Axis == reduce.OverCols {
			s.levels = loop.FastLevels
		}
	}
	if parts, _, _ := foldParts(s.fold, c.Body.Elem(), s.levels); rows || len(parts) == 0 {
		if s = (nestShape{}); len(c.Body.Steps) == 0 {
			return nil, ""
		}
	}
	return shapedNests(c.Body, s)
}
