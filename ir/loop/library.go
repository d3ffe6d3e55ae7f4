package loop

// This file holds the library of elementary functions, which is text.

import (
	_ "embed" // the text of the library
	"strings"
	"sync"
)

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

//go:embed functions.txt
var standardText string

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
