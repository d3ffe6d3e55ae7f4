package rule

import (
	"slices"
	"sync"
)

// This file joins the rules of all families into the table.

// Rules returns every rule in the order in which they are tried, exact ones first. The caller must not
// change them.
func Rules() []Rule { return rules() }

var rules = sync.OnceValue(func() []Rule {
	return slices.Concat(elementwise(), choices(), moves(), reductions(), products(), canonical())
})

// Elsewhere lists the rules that do not apply. shared tells whether ranks share the rows of matrices,
// and upright whether matrices of one row are made columns.
func Elsewhere(shared, upright bool) (names []string) {
	for _, r := range Rules() {
		if shared && r.Alone || !shared && r.Shared || !upright && r.Upright {
			names = append(names, r.Name)
		}
	}
	return names
}
