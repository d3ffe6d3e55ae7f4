package loop

// This file defines functions: bodies that a statement applies to scalars.

import "flow/ir/types"

// Function is a function of scalars, such as exp. Its values are numbered on their own: the parameters come first.
type Function struct {
	Name string
	// Doc begins with the name and says what the function is and how exact it is.
	Doc    string
	Params []types.Elem
	Tables []Table
	Body   Block // Yield: the results
	Types  []types.Elem
	Names  []string // of the indices of its inner loops
}

// Results are the element types that the function gives.
func (f *Function) Results() []types.Elem {
	out := make([]types.Elem, len(f.Body.Yield))
	for i, v := range f.Body.Yield {
		out[i] = f.Types[v]
	}
	return out
}

// Library finds functions by name.
type Library map[string]*Function
