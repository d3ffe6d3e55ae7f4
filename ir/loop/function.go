package loop

// This file defines functions: bodies that a statement applies to scalars, and the library of them.

import (
	_ "embed" // the text of the library
	"strings"
	"sync"

	"flow/ir/types"
)

// Function is a function of scalars, such as exp. Its values are numbered on their own: the
// parameters come first.
type Function struct {
	Name string
	// Doc begins with the name and says what the function is.
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
type Library interface {
	// Function is the function of that name, or nil.
	Function(name string) *Function
}

// Functions is a library that has been read.
type Functions map[string]*Function

// Function is the function of that name, or nil.
func (l Functions) Function(name string) *Function { return l[name] }

//go:embed functions.txt
var standardText string

// standard is the text of each function of the library, and what has been read of it. Reading a
// function takes some hundred microseconds, so each is read when it is first needed.
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

// Standard is the library of elementary functions: exp, log, sin and the like on f64; those whose
// names end in 32 take an f32 as an f64 and are exact enough to be rounded to f32. None applies
// another.
type Standard struct{}

// Function is the function of that name, or nil.
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
