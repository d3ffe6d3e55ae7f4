package loop

// This file makes functions of scalars (form.go) and finds them by name.

import "flow/ir/types"

// NewFunction makes a function with parameters of these types. body writes its statements for the
// parameters v and returns its results.
func NewFunction(name string, params []types.Elem, body func(b *Builder, v []Val) []Val) *Function {
	b := New()
	n := b.Nest
	n.Body.Yield = body(b, consecutive(b.fresh(params...), len(params)))
	return &Function{Name: name, Params: params, Tables: n.Tables, Body: n.Body, Types: n.Types, Names: n.Names}
}

// Results returns the element types of the results.
func (f *Function) Results() []types.Elem {
	return each(f.Body.Yield, func(v Val) types.Elem { return f.Types[v] })
}

// Library finds functions by name.
type Library interface {
	// Function returns the function of that name, or nil.
	Function(name string) *Function
}

// Functions is a library that has been parsed.
type Functions map[string]*Function

// Function returns the function of that name, or nil.
func (l Functions) Function(name string) *Function { return l[name] }
