package vec

import "testing"

// The plain loops give what the strips give.
func TestSparseLinesInPlainGo(t *testing.T) {
	defer func(have bool) { haveGather = have }(haveGather)
	haveGather = false
	TestSparseLines(t)
}
