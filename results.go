package flow

import (
	"context"
	"fmt"

	"flow/ir/value"
)

// This file defines what a program gives back to a Go program.

// Result is a value that a program has emitted.
type Result struct {
	Label string // of `emit x as "label"`; "" without one
	// Value is a float64, float32, int64, bool or string, a Matrix of these but the last, or a
	// Sparse, whose entries are all widened to float64. A picture is the string that would be
	// printed. It is the receiver's own.
	Value any
}

// Results are the values that a program has emitted, in the order of its text.
type Results []Result

// Values runs the program as Run does and returns what it emits in place of printing it; what it
// emits to files is written to files. After a failure it returns also what was emitted above it.
func (p *Program) Values(ctx context.Context, o RunOptions) (Results, error) {
	var all Results
	o.Take = func(r Result) { all = append(all, r) }
	_, err := p.Run(ctx, o)
	return all, err
}

// Get is the first value under a label; V is its type, as Result.Value says it. The error says what
// there is instead.
func Get[V any](rs Results, label string) (V, error) {
	var none V
	for _, r := range rs {
		if r.Label != label {
			continue
		}
		if v, ok := r.Value.(V); ok {
			return v, nil
		}
		return none, fmt.Errorf("%s is a %T, not a %T", label, r.Value, none)
	}
	return none, fmt.Errorf("nothing was emitted as %q", label)
}

// Take hands a value to whoever has asked for values in place of text, and reports that somebody
// has.
func (o *Output) Take(label string, v value.Value) bool {
	if o.take == nil {
		return false
	}
	o.take(Result{label, goValue(v)})
	return true
}
