package flow

import (
	"context"
	"fmt"
)

// This file gives a Go program the values that a program emits.

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
