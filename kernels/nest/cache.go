package nest

// This file keeps loops by their text, so that a body that is written twice is compiled once.

import (
	"flow/ir/loop"
	"flow/kernels/define"
	"flow/kernels/loop/launch"
)

var loopsByText = define.Made[string, *launch.Loop]{Most: 512}

// LoopOf is a nest, which has been verified, as a loop that can be run.
func LoopOf(n *loop.Nest) *launch.Loop { return LoopAs("", n, launch.New) }

// LoopAs is LoopOf for loops that make compiles. Loops of the same nest with another make have another kind.
func LoopAs(kind string, n *loop.Nest, make func(*loop.Nest) *launch.Loop) *launch.Loop {
	return loopsByText.Of(kind+n.String(), func() *launch.Loop { return make(n) })
}
