package lower

import (
	"strings"

	"flow/lang/source"
)

// This file lists the words of the language without a row, so that their use reports a limit and
// not an unknown name.

// unbuilt lists families of words with the code of their limit and what is missing.
var unbuilt = [...]struct {
	code    source.Code
	what    string
	words   string
	instead string
}{
	{"L001", "streams are", "lines tail files each batches ticks now generate map scan enumerate tap filter distinct flat_map parse window " +
		"fold collect first last zip concat merge latest deal partition buffer pmap",
		"a file of numbers is read whole by `read(path)`; a list is gone over by [for v in xs => e], and operators go over all elements of a matrix"},
	{"L002", "frames are", "where derive join group head to_matrix from_matrix",
		"a table of numbers is a matrix: `read(path)`, columns by number X[:, j], rows by number take(X, rows) or by condition X[X[:, j] > 0, :], groups by encode and onehot"},
	{"L002", "frames are", "select", "element by element `ifelse(c, a, b)` chooses; columns of a matrix are X[:, [0, 2]]"},
	{"L005", "the parameter server is", "paramserver", "one program on many ranks shares its work by itself: `flowrun --distributed`"},
	{"L010", "operators on text are", "split len", "texts are compared, joined by `+` and made by fmt"},
}

// notBuilt returns the limit that a word meets.
func notBuilt(word string, at source.Span) (d source.Diagnostic, ok bool) {
	for _, u := range unbuilt {
		for _, w := range strings.Fields(u.words) {
			if w == word {
				return source.Errorf(u.code, at, "%s not built yet (%s)", u.what, word).WithHelp("%s", u.instead), true
			}
		}
	}
	return source.Diagnostic{}, false
}
