package check

import "strings"

// AxisArgument is how other systems say whether a reduction goes over rows or columns.
const AxisArgument = "axis"

// foreignArguments says what named arguments of other systems are in Flow. $f is the function that
// is called. A row applies where the word that it needs exists, and the function takes the argument
// that it names.
var foreignArguments = map[string]struct{ help, needs, takes string }{
	"dtype":        {help: "the result converts: f32($f(..)), i64($f(..))"},
	AxisArgument:   {help: "by rows it is row$f(x), by columns col$f(x)", needs: "row$f"},
	"reverse":      {help: "the greatest come first with `desc = true`", takes: "desc"},
	"descending":   {help: "write `desc`", takes: "desc"},
	"ascending":    {help: "the least come first; the greatest do with `desc = true`", takes: "desc"},
	"key":          {help: "rows are ordered by a column of theirs: `by = 0`", takes: "by"},
	"delimiter":    {help: "write `sep`", takes: "sep"},
	"random_state": {help: "write `seed`", takes: "seed"},
}

// ForeignArgument returns what an argument of another system is in Flow, in a call of f; "" for all
// other arguments. known reports the names of operators, takes those of the arguments of f.
func ForeignArgument(name, f string, known, takes func(word string) bool) string {
	row, ok := foreignArguments[name]
	if !ok || row.needs != "" && !known(strings.ReplaceAll(row.needs, "$f", f)) || row.takes != "" && !takes(row.takes) {
		return ""
	}
	return strings.ReplaceAll(row.help, "$f", f)
}
