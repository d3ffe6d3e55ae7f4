package replay

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"flow/runtime/schedule"
)

// This file reads cost files, the form in which papers publish costs of iterations: a number a
// line, in seconds. Empty lines and text after a "#" are ignored; a line "---" begins the next
// execution of the loop.

// maxCosts is the most costs of a file.
const maxCosts = 1 << 26

// ReadCosts reads a cost file as one operator. The error says what is wrong, with the line.
func ReadCosts(r io.Reader) (Operator, error) {
	o := Operator{Name: "loop"}
	var costs []float64
	end := func() {
		if len(costs) > 0 {
			o.Loops = append(o.Loops, costLoop(costs))
			costs = nil
		}
	}
	in := bufio.NewScanner(r)
	all := 0
	for line := 1; in.Scan(); line++ {
		text, _, _ := bytes.Cut(in.Bytes(), []byte("#"))
		if text = bytes.TrimSpace(text); len(text) == 0 {
			continue
		}
		if string(text) == "---" {
			end()
			continue
		}
		c, err := strconv.ParseFloat(string(text), 64)
		switch {
		case err != nil:
			return o, fmt.Errorf("line %d: %s is not a number", line, brief(string(text)))
		case !(c >= 0) || math.IsInf(c, 0):
			return o, fmt.Errorf("line %d: a cost is finite and not negative, not %s", line, text)
		case all == maxCosts:
			return o, fmt.Errorf("line %d: more than %d costs", line, maxCosts)
		}
		if len(costs) == cap(costs) {
			costs = slices.Grow(costs, max(len(costs), 1024)) // append grows large slices by a quarter, and copies more often
		}
		costs = append(costs, c)
		all++
	}
	end()
	switch err := in.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return o, errors.New("it has lines longer than any number")
	case err != nil:
		return o, err
	case len(o.Loops) == 0:
		return o, errors.New("it has no costs")
	}
	return o, nil
}

// Costs returns an operator with one execution of a loop with these costs, in seconds.
func Costs(costs []float64) Operator {
	return Operator{Name: "loop", Loops: []Loop{costLoop(costs)}}
}

// costLoop returns a loop with only costs: one worker executed it, without overhead.
func costLoop(costs []float64) Loop {
	tr := schedule.NewTrace(costs)
	return Loop{Costs: tr, Workers: 1,
		executed: schedule.Outcome{Makespan: tr.Total(), Busy: tr.Total(), Chunks: 1, Finish: []float64{tr.Total()}}}
}

// brief is a text in quotes, shortened.
func brief(s string) string {
	if len(s) > 20 {
		s = s[:20] + "..."
	}
	return strconv.Quote(s)
}
