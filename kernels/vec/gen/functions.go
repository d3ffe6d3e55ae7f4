package main

// This file lists the functions.

import "slices"

// functions are those of one number, in the order of their links.
var functions = slices.Concat(expFunctions, logFunctions, trigFunctions, arcFunctions, rootFunctions, reciprocalFunctions)
