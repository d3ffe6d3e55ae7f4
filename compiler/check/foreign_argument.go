package check

import "strings"

// AxisArgument is the argument of other systems that chooses between rows and columns.
const AxisArgument = "axis"

var byAxis = foreignArgument{help: "by rows it is row$f(x), by columns col$f(x)", needs: "row$f"}

type foreignArgument struct{ help, needs, takes string }

// foreignArguments maps named arguments of other systems to Flow. $f is the called function. A row
// applies if the word that it needs exists and the function takes the argument that it names.
var foreignArguments = map[string]foreignArgument{
	"dtype":        {help: "the result converts: f32($f(..)), i64($f(..))"},
	AxisArgument:   byAxis,
	"dim":          byAxis,
	"dims":         byAxis,
	"margin":       byAxis,
	"keepdims":     {help: "sums of rows and columns are matrices: rowsum(x) is n x 1, colsum(x) 1 x m"},
	"na_rm":        {help: "a nan is not left out: replace(x, nan, 0) puts another number there"},
	"skipna":       {help: "a nan is not left out: replace(x, nan, 0) puts another number there"},
	"reverse":      {help: "the greatest come first with `desc = true`", takes: "desc"},
	"descending":   {help: "write `desc`", takes: "desc"},
	"ascending":    {help: "the least come first; the greatest do with `desc = true`", takes: "desc"},
	"key":          {help: "rows are ordered by a column of theirs: `by = 0`", takes: "by"},
	"delimiter":    {help: "write `sep`", takes: "sep"},
	"usecols":      {help: "write `columns` as a text: columns = \"id, amount\" or columns = \"0, 2\"", takes: "columns"},
	"random_state": {help: "write `seed`", takes: "seed"},
}

// ExtraArguments maps functions to what is written instead of a further argument that they have
// elsewhere.
var ExtraArguments = map[string]string{
	"round": "it gives whole numbers: two digits are round(100 * x) / 100, or a text fmt(\"{:.2f}\", x)",
	"norm":  "it is the root of the sum of squares; other norms are sum(abs(x)) and max(abs(x)), and those of rows rownorm(x)",
}

// ForeignArgument returns the Flow form of a foreign argument in a call of f, or "". known reports
// operator names, takes the arguments of f.
func ForeignArgument(name, f string, known, takes func(word string) bool) string {
	row, ok := foreignArguments[name]
	if !ok || row.needs != "" && !known(strings.ReplaceAll(row.needs, "$f", f)) || row.takes != "" && !takes(row.takes) {
		return ""
	}
	return strings.ReplaceAll(row.help, "$f", f)
}
