// Package compiler compiles a program's text to a plan: parse, elaborate, passes. It never imports
// kernels or a runtime: the operator table is an argument and the plan the result. pipeline.go
// lists the passes with the reasons for their order. compile.go runs, dumps, times and verifies
// them, and blames a failing pass by name.
package compiler
