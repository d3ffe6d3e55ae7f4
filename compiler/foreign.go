package compiler

import "flow/compiler/lower"

// Foreign returns the Flow form of a name of another language or library as a sentence, or "".
func Foreign(name string) string { return lower.Foreign(name) }
