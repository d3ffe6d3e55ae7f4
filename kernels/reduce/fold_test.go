package reduce

import (
	"testing"

	"flow/ir/op"
)

// The compiler ends chains with every row that says what it goes over; Folds lists those and no
// others.
func TestFoldsAreTheRowsThatFold(t *testing.T) {
	axes := map[op.Fold]Axis{op.FoldAll: OverAll, op.FoldRows: OverRows, op.FoldCols: OverCols}
	n := 0
	for _, d := range append(Rows(), Statistics()...) {
		if d.Fold == op.NoFold {
			continue
		}
		n++
		f := Named(d.Name)
		if f == nil {
			t.Errorf("%s is not listed", d.Name)
			continue
		}
		if f.Def.Name != d.Name || f.Axis != axes[d.Fold] || !f.Arg && (f.Whole.Class == 0 || !f.Part && f.Whole.Class != d.Class) {
			t.Errorf("%s is listed as %+v", d.Name, *f)
		}
	}
	if n != len(Folds()) {
		t.Errorf("%d rows fold, and %d are listed", n, len(Folds()))
	}
}
