package local

import (
	"slices"
	"testing"
	"time"

	"flow/ir/types"
	"flow/ir/value"
)

// TestGiftsTooLate: after rows that were given before the first chunk came back undone, a loop gives
// none in that way for a while. Rows that were given to a rank that had asked for them do not count.
func TestGiftsTooLate(t *testing.T) {
	e := &Engine{}
	e.helping.late = map[int32]int32{}
	l := &loopRun{e: e}
	l.ask = Ask{Loop: 3, Execution: 5}
	l.away, l.moved = []Chunk{{0, 20}, {40, 60}}, []Chunk{{40, 60}}
	next := func(execution int32) bool { return e.helping.tooLate(Ask{Loop: 3, Execution: execution}) }
	l.arrives(Chunk{0, 10}, 1, 0, false)
	l.arrives(Chunk{40, 45}, 1, 1, true)
	if next(6) {
		t.Error("rows that are done, or were asked for, count as too late")
	}
	l.arrives(Chunk{50, 60}, 1, 0, false)
	if !next(6) || !next(5+tryAgain) || next(6+tryAgain) || e.helping.tooLate(Ask{Loop: 2, Execution: 6}) {
		t.Error("the executions without such gifts are not the next ones of this loop")
	}
}

// TestGivesLater: 500 rows of 16 KB pay if they took 15 ms. A rank whose rows took a little less may
// give some later, because those that are left may take longer. If they took much less it gives none.
func TestGivesLater(t *testing.T) {
	for _, c := range []struct {
		took  time.Duration
		later bool
	}{{4 * time.Millisecond, true}, {500 * time.Microsecond, false}} {
		var got []Gift
		e := &Engine{scratch: make([]workerState, 1)}
		e.o.HelpFrom = DefaultHelpFrom
		e.o.Remote = &Remote{Give: func(_ Ask, g Gift) { got = append(got, g) }}
		e.helping.gone = make([]bool, 2)
		l := &loopRun{e: e, n: 1000, leaf: 1}
		l.perRow, l.out, l.since = 1, value.New(types.F64, 1000, 2000), time.Now().Add(-c.took)
		l.ask, l.asked = Ask{Loop: 1, Execution: 3}, []Ask{{Rank: 1, Loop: 1, Execution: 3}}
		l.left.Store(500)
		var rest Chunk
		var next claimed
		if l.gives(&Worker{}, &rest, &next); len(got) != 1 || got[0].Later != c.later || len(got[0].Lent) > 0 || got[0].Begun != 3 {
			t.Errorf("rows that took %v: %+v", c.took, got)
		}
	}
}

// TestAsksNowAndThen: a rank whose rows took no time, and that has asked in vain, asks now and then.
func TestAsksNowAndThen(t *testing.T) {
	e := &Engine{}
	e.o.HelpFrom = time.Hour
	e.helping.vain = map[int32]bool{1: true}
	var got []int32
	for k := int32(1); k < 70; k++ {
		l := &loopRun{e: e}
		if l.ask, l.since = (Ask{Loop: 1, Execution: k}), time.Now(); l.mayHelp() {
			got = append(got, k)
		}
	}
	if want := []int32{1, 2, 4, 8, 16, 33, 65}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
