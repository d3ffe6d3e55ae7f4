// Package check finds mistakes that need no values: names that nothing binds, names
// bound twice, used above their binding, functions that call themselves. Elaboration
// finds them too, but only in what it comes by; a function that is never called, a
// branch not taken and a loop of no rounds are checked here.
package check
