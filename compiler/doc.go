// Package compiler turns a program's text into a plan: parse, elaborate, passes. It
// never imports kernels or a runtime; the operator table is an argument and the plan
// is the result. pipeline.go is the ordered list of passes with the reasons for the
// order; compile.go drives them: run, dump, verify and blame the pass by name, time.
package compiler
