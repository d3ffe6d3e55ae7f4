package lang

// elsewhere returns help for a word that starts a statement in other languages.
func elsewhere(word string) string {
	switch word {
	case "let", "var", "const", "val", "auto", "local", "global":
		return "a binding needs no word"
	case "def", "func", "function", "fun", "proc":
		return "a function is declared by `fn name(x) = ..`"
	case "while", "loop", "repeat", "do":
		return "a loop whose end the values decide is `iterate x = start until condition { next x = .. }`; one that is counted is `for i in a..b { .. }`"
	case "return":
		return "the last expression of a block is its value"
	case "print", "println", "output", "echo", "display", "cout", "show":
		return "output is `emit e`"
	case "switch", "match", "case":
		return "a choice is `if c { a } else if d { b } else { e }`"
	case "try", "except", "catch", "raise", "throw":
		return "nothing is caught: a run that fails stops, with what went wrong; `assert condition, \"message\"` stops it"
	case "class", "struct", "object", "record", "interface":
		return "values are scalars and matrices: a type has only a name, `type V = f64[3]`"
	case "del", "delete", "clear", "free", "rm":
		return "leave it out: a value lives as long as something needs it"
	case "begin", "end":
		return "a body stands between `{` and `}`"
	case "elif", "elsif", "elseif":
		return "a choice goes on with `else if`"
	case "assume", "require", "ensure", "check":
		return "a condition is demanded by `assert condition, \"message\"`"
	case "input", "parameter", "argument":
		return "what a run is given is a `param name = default`"
	}
	return ""
}
