package flow

import (
	"context"
	"fmt"

	"flow/ir/value"
)

// This file defines what a program returns to a Go program.

// Result is a value that a program has emitted.
type Result struct {
	Label string // of `emit x as "label"`; "" without one
	// Value is a float64, float32, int64, bool or string, a Matrix of these except string, or a
	// Sparse, whose entries are widened to float64. A picture is the string that would be
	// printed. The receiver owns it.
	Value any
}

// Results are the emitted values, in textual order.
type Results []Result

// Values runs the program as Run does and returns what it emits instead of printing it. Emits to
// files write files. After a failure it returns what was emitted above it, too.
func (p *Program) Values(ctx context.Context, o RunOptions) (Results, error) {
	var all Results
	o.Take = func(r Result) { all = append(all, r) }
	_, err := p.Run(ctx, o)
	return all, err
}

// Get returns the first value under a label. V is its type, as in Result.Value. The error says what
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

// Take passes a value to the receiver of values, if there is one.
func (o *Output) Take(label string, v value.Value) bool {
	if o.take == nil {
		return false
	}
	o.take(Result{label, goValue(v)})
	return true
}
