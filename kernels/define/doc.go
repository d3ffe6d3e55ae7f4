// Package define holds what rows of every family are defined with: codes of faults, type rules,
// costs, definitions on scalars, bodies of one element, and the wrappers that all rows get.
//
//	type.go     type rules, arguments, faults with their codes, and costs that rows share
//	element.go  elementwise rows on scalars, elements of values
//	scalar.go   element rules, and definitions on scalars
//	body.go     bodies of elementwise rows in the loop form, and small matrices in loops
//	engine.go   what rows that run loops share
//	resolve.go  makes rows take matrices whose size only the run tells
//
// Nothing here is a row: a name that one family alone needs belongs to that family.
package define
