package main

import (
	"fmt"

	"flow"
)

// This file defines what programs read that can be read once: standard input, pipes.

// input is the streams of this command. A stream without a writer is told, so that the command
// does not hang in silence.
func (s *session) input() *flow.Input {
	stderr := s.err
	return &flow.Input{Stdin: s.in, Waiting: func(name string) {
		fmt.Fprintf(stderr, "flowrun: waiting for data from %s\n", name)
	}}
}

// noStreams is why ranks that are processes of their own read no stream: one of them would get all
// of it.
const noStreams = "ranks are processes of their own and cannot share it (--backend=mem runs them in one)"
