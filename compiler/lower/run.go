package lower

// This file elaborates a whole program.

import (
	"context"

	"flow/lang/source"
)

// Run elaborates a program. Diagnostics are sorted. With an error among them the graph is nil.
func Run(ctx context.Context, in Input) (Output, source.Diagnostics) {
	l := newLowerer(ctx, in)
	l.noteFile(in.File)
	l.program(in.File)
	l.checkNames()
	ds := l.diags.Sort()
	out := Output{Params: l.params, Graph: l.g}
	if ds.HasErrors() {
		out.Graph = nil
		return out, ds
	}
	l.g.Clip()
	return out, ds
}

// Params evaluates only the program's params, for help.
func Params(in Input) ([]Param, source.Diagnostics) {
	l := newLowerer(context.Background(), in)
	l.onlyParams = true
	l.program(in.File)
	return l.params, l.diags.Sort()
}
