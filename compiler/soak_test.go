package compiler_test

import (
	"os"
	"strconv"
	"testing"
	"time"

	"flow/kernels"
)

// TestSoakPrograms draws random programs of every kind for FLOW_SOAK seconds (make soak), other
// ones than the tests do.
func TestSoakPrograms(t *testing.T) {
	seconds, err := strconv.Atoi(os.Getenv("FLOW_SOAK"))
	if err != nil {
		t.Skip("FLOW_SOAK is not set to a number of seconds")
	}
	tiny := tinyTable(t)
	whole, err := kernels.Table("")
	if err != nil {
		t.Fatal(err)
	}
	all, sound := corpus(t)
	first := uint64(time.Now().UnixNano())
	rounds := uint64(0)
	for stop := time.Now().Add(time.Duration(seconds) * time.Second); time.Now().Before(stop) && !t.Failed(); rounds++ {
		seed := first + rounds
		drawnAgrees(t, tiny, seed)
		mutantEnds(t, whole, all, sound, seed)
		contractionIsExact(t, tiny, seed, true)
		parforAgrees(t, tiny, seed)
		keepAgrees(t, tiny, seed)
		slicesAgree(t, tiny, seed)
		sparseLoopsAgree(t, tiny, seed)
		statesAgree(t, tiny, seed)
		kindsAgree(t, tiny, seed)
	}
	t.Logf("%d programs of each kind from seed %d on", rounds, first)
}

// A loop of a few numbers that asserts after something else has asserted is no task of its own: this
// draw, in a round of a larger loop, was a graph with an effect that its reader does not declare.
func TestLoopThatAssertsInOrder(t *testing.T) { drawnAgrees(t, tinyTable(t), 1795507574228752008) }

// TestRandomRowsFromAPlace: where random numbers are made in a loop over the rows of a block, they are
// those of the block's place in the whole matrix. Each block of this program began with the numbers of
// row 0.
func TestRandomRowsFromAPlace(t *testing.T) {
	rs := runs{{1, 1, nil, false, ""}, {1, 3, nil, true, ""}, {3, 1, nil, false, ""}}
	if _, err := rs.differ(tinyTable(t), `
X = rand(29, 2, seed = 49) - 0.25
E = exp(-abs(X - rowmin(X)))
S = E / rowmax(E)
assert min(S @ t(S)) >= -1e300, "no"
emit S
emit rowargmax(exp(-abs(S - rowmin(S))))
`); err != nil {
		t.Error(err)
	}
}
