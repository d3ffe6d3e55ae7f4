package kernels

// This file defines the rows that hold programs together and compute nothing: arg, the parameter of
// a region, and those whose meaning is the engines' own (op.Control).

import (
	"flow/ir/op"
	"flow/ir/types"
	"flow/kernels/define"
)

// controls is the rows of the graph itself.
func controls() []*op.Def {
	return []*op.Def{{
		Name:   "arg",
		Role:   op.Argument,
		Hidden: true,
		Doc:    "arg is a parameter of a region (the body of a map, a loop or a branch): the region's node gives its value.",
		Laws:   op.Pure | op.Total, // it is there before the region runs
	}, {
		Name:    "iterate",
		Hidden:  true,
		Doc:     "iterate runs its region round by round on carried values; the statement `iterate` makes it.",
		Type:    define.OwnType,
		Laws:    op.Pure,
		Control: op.Iterate,
	}, {
		Name:    "select",
		Hidden:  true,
		Doc:     "select runs one of two regions; an `if` on a value of the run makes it.",
		Type:    define.OwnType,
		Laws:    op.Pure,
		Control: op.Select,
	}, {
		Name:    "part",
		Hidden:  true,
		Doc:     "part is one of the results of an iterate or a select.",
		Args:    []op.Arg{{Name: "x"}, {Name: "at", Attr: true, Kind: op.IntVal}},
		Type:    partType,
		Laws:    op.Pure | op.View,
		Control: op.Part,
	}}
}

func partType(s *op.Sig) (types.Type, error) {
	if len(s.In) != 1 || s.In[0].Kind != types.Tuple {
		return types.Type{}, op.Faultf(0, define.CodeKind, "part takes a tuple")
	}
	f, at := s.In[0].Ext.Fields, s.Attrs.Int("at")
	if at < 0 || at >= len(f) {
		return types.Type{}, op.Faultf(-1, define.CodeKind, "part %d of a tuple of %d", at, len(f))
	}
	return f[at].Type, nil
}
