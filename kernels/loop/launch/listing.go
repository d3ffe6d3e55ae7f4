package launch

// This file tells users how a nest is scheduled and what machine code it becomes, and tells the
// profiler perf where the code lies.

import (
	"fmt"

	"flow/ir/loop"
	"flow/kernels/loop/amd64"
)

// Listing is the schedule of a nest, a line, and its machine code as text, for operands and results
// that are matrices of several columns. The interpreter has no code. It fails for a nest that no
// code is made for.
func Listing(n *loop.Nest) (schedule, text string, err error) {
	target, err := Target()
	if err != nil {
		return "", "", err
	}
	if target == Interp {
		return "interp: batches of points, in Go", "", nil
	}
	n, _ = prepared(n)
	params, results := layouts(n, 0)
	l, err := amd64.List(amd64.Target(target), n, params, results, amd64.Schedule{})
	switch {
	case err != nil:
		return "", "", err
	case l.Index == "":
		return target + ": one point", l.Text, nil
	}
	schedule = fmt.Sprintf("%s: %d lanes along %s, %d at a time", target, l.Lanes, l.Index, l.Together*l.Lanes)
	if loop.Refill(n) != nil {
		schedule += "; a lane that has ended takes the next point if samples say that this pays"
	}
	if coreOf(n).borders != nil {
		schedule += "; most points have code without conditions on the indices, if that pays"
	}
	return schedule, l.Text, nil
}
