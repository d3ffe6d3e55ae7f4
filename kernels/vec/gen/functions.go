package main

// This file lists the functions.

import "slices"

// functions are those of one number, functions2 those of two, in the order of their links.
var functions = slices.Concat(expFunctions, logFunctions, trigFunctions, arcFunctions, rootFunctions, reciprocalFunctions)

var functions2 = slices.Concat(powFunctions, angleFunctions, divideFunctions)

// allFunctions is these, those of float32 and the special ones, in the order of their links.
var allFunctions = slices.Concat(functions, functions2, functions32, functions232, specialFunctions)
