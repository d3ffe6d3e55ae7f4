package lower

import (
	"strings"

	"flow/lang/source"
)

// This file lists the words of the language that no row answers to yet, so that a
// program that uses one hears of a limit and not of an unknown name.

// unbuilt is, for families of words, the code of the limit and what is missing.
var unbuilt = [...]struct {
	code  source.Code
	what  string
	words string
}{
	{"L001", "streams are", "lines tail files each batches ticks now generate map scan enumerate tap filter distinct flat_map parse window " +
		"fold collect first last zip concat merge latest deal partition buffer pmap"},
	{"L002", "frames are", "where select derive join group head to_matrix from_matrix"},
	{"L005", "the parameter server is", "paramserver"},
	{"L010", "operators on text are", "split len"},
}

// notBuilt is the limit that a word meets.
func notBuilt(word string) (code source.Code, text string, ok bool) {
	for _, u := range unbuilt {
		for _, w := range strings.Fields(u.words) {
			if w == word {
				return u.code, u.what + " not built yet (" + word + ")", true
			}
		}
	}
	return "", "", false
}
