package kernels

// This file defines the rows that hold programs together and compute nothing: arg, the parameter of a region.

import "flow/ir/op"

// control is the rows of the graph itself.
func control() []*op.Def {
	return []*op.Def{{
		Name:   "arg",
		Hidden: true,
		Doc:    "arg is a parameter of a region (the body of a map, a loop or a branch): the region's node gives its value.",
		Laws:   op.Pure,
	}}
}
