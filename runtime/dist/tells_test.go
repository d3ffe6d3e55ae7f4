package dist

import (
	"testing"

	"flow/ir/plan"
	"flow/runtime/dist/transport/mem"
	"flow/runtime/local"
)

// TestTimesAreNotToldAtTheEnd: a rank whose tasks have ended passes no times of loops on. It may have
// reported its end, and a message to a rank that is gone would stay under way.
func TestTimesAreNotToldAtTheEnd(t *testing.T) {
	for _, ended := range []bool{false, true} {
		comms := mem.New(2, mem.Options{})
		r := newRank(comms[0], &plan.Plan{Ranks: 2}, Options{})
		r.mute = ended
		r.tellTimes(1, local.Ask{Loop: 1, Execution: 1}, []float64{1})
		if r.quiet() != ended {
			t.Errorf("tasks have ended: %v, and nothing is under way: %v", ended, !ended)
		}
		for _, c := range comms {
			c.Close()
		}
	}
}
