package loop

// This file defines functions of scalars and their library.

import (
	_ "embed" // the text of the library
	"strings"
	"sync"

	"flow/ir/types"
)

// Function is a function of scalars, such as exp. It numbers its own values, parameters first.
type Function struct {
	Name string
	// Doc begins with the name and describes the function.
	Doc    string
	Params []types.Elem
	Tables []Table
	Body   Block // Yield: the results
	Types  []types.Elem
	Names  []string // of the indices of its inner loops
	// Go is the function itself, of one of f64 that has no statements: only the evaluator and the
	// interpreter call it.
	Go func(x []float64) float64
}

// NewFunction makes a function with parameters of these types. body writes its statements for the parameters
// v and returns its results.
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

//go:embed functions.txt
var standardText string

// standard holds the text of each library function and its parsed form. Parsing one takes some
// hundred microseconds, so each is parsed when first needed.
var standard = struct {
	texts func() map[string]string
	read  sync.Map // *Function by name
}{texts: sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	for _, part := range strings.Split(standardText, "\nfunc ")[1:] {
		name, _, _ := strings.Cut(part, "(")
		out[name] = "func " + part
	}
	return out
})}

// Standard is the library of elementary functions: exp, log, sin and the like on f64. Those whose
// names end in 32 take an f32 as an f64 and are exact enough to be rounded to f32. None applies
// another.
type Standard struct{}

// Function returns the function of that name, or nil.
func (Standard) Function(name string) *Function {
	if f, ok := standard.read.Load(name); ok {
		return f.(*Function)
	}
	text, ok := standard.texts()[name]
	if !ok {
		return nil
	}
	lib, err := ParseLibrary(text)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	f, _ := standard.read.LoadOrStore(name, lib[name])
	return f.(*Function)
}

// Names lists the functions of the library.
func (Standard) Names() []string {
	var out []string
	for name := range standard.texts() {
		out = append(out, name)
	}
	return out
}
