package lower

import (
	"strings"
	"testing"

	"flow/kernels"
)

// A word that has a row is built: it must leave the list of those that are not.
func TestUnbuiltWordsHaveNoRow(t *testing.T) {
	table, err := kernels.Table("")
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range unbuilt {
		for _, w := range strings.Fields(u.words) {
			if len(table.Word(w)) > 0 {
				t.Errorf("%s has a row and is listed as not built", w)
			}
		}
	}
}
