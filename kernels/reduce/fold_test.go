package reduce

import (
	"testing"

	"flow/ir/op"
)

// The compiler ends chains with every row that says what it goes over; Folds lists those, and the place
// of an extreme in a whole matrix.
func TestFoldsAreTheRowsThatFold(t *testing.T) {
	axes := map[op.Fold]Axis{op.FoldAll: OverAll, op.FoldRows: OverRows, op.FoldCols: OverCols}
	for _, d := range append(Rows(), Statistics()...) {
		if d.Fold == op.NoFold {
			continue
		}
		f := Named(d.Name)
		if f == nil {
			t.Errorf("%s is not listed", d.Name)
			continue
		}
		if f.Def.Name != d.Name || f.Axis != axes[d.Fold] || f.Whole.Class == 0 || !f.Arg() && !f.Part && f.Whole.Class != d.Class {
			t.Errorf("%s is listed as %+v", d.Name, *f)
		}
	}
	for name, f := range Folds() {
		if f.Def.Fold == op.NoFold {
			t.Errorf("%s is listed and does not fold", name)
		}
	}
}
