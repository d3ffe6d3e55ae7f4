package local

import "testing"

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
