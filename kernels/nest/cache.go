package nest

// This file keeps loops by their text, so that a body that is written twice is compiled once.

import (
	"sync"

	"flow/ir/loop"
	"flow/kernels/loop/launch"
)

// mostLoops is how many loops are kept; more begin anew.
const mostLoops = 512

var loopsByText = struct {
	sync.Mutex
	by map[string]*launch.Loop
}{by: map[string]*launch.Loop{}}

// LoopOf is a nest, which has been verified, as a loop that can be run.
func LoopOf(n *loop.Nest) *launch.Loop {
	text := n.String()
	c := &loopsByText
	c.Lock()
	defer c.Unlock()
	l := c.by[text]
	if l == nil {
		if len(c.by) >= mostLoops {
			clear(c.by)
		}
		l = launch.New(n)
		c.by[text] = l
	}
	return l
}
