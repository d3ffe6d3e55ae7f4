package main

import (
	"fmt"

	"flow"
)

// This file defines input that can be read only once: standard input and pipes.

// input returns the streams of this command. It reports a stream without a writer, so that the
// command does not hang in silence.
func (s *session) input() *flow.Input {
	stderr := s.err
	return &flow.Input{Stdin: s.in, Waiting: func(name string) {
		fmt.Fprintf(stderr, "flowrun: waiting for data from %s\n", name)
	}}
}

// noStreams says why ranks in processes of their own read no stream: one of them would get all of
// it.
const noStreams = "ranks are processes of their own and cannot share it (--backend=mem runs them in one)"
