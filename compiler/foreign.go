package compiler

import "flow/compiler/lower"

// Foreign returns what a name of another language or library is in Flow, as a sentence; "" for all
// other names.
func Foreign(name string) string { return lower.Foreign(name) }
