package main

import (
	"encoding/json"
	"fmt"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"flow"
)

// This file defines --timing: where the seconds of a command went, as one line of JSON on standard
// error.

func timingFlag() cli.Flag {
	return &cli.BoolFlag{Name: "timing", DisableDefaultText: true, Usage: "print startup, parsing, compilation, execution and total seconds as one JSON line on stderr"}
}

// times is that line. Total exceeds the sum of the others by the time between them. A rank that has
// compiled while MPI started counts that in Startup, too.
type times struct {
	Startup     float64 `json:"startup_seconds"`
	Parsing     float64 `json:"parsing_seconds"`
	Compilation float64 `json:"compilation_seconds"`
	Execution   float64 `json:"execution_seconds"`
	Total       float64 `json:"total_seconds"`
}

// beforeMain returns the process's CPU time. At the start of main that is the time of the loader
// and the Go runtime, except waiting.
func beforeMain() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// timing prints the line for a program whose execution took this long. Startup is the time before
// the compiler: what is left of the time until compilation ended.
func (s *session) timing(p *flow.Program, execution float64) {
	t := times{Parsing: p.Compiled().ParseSeconds, Compilation: p.Compiled().CompileSeconds, Execution: execution}
	t.Total = (time.Since(s.began) + s.loaded).Seconds()
	t.Startup = (s.compiling.Sub(s.began) + s.loaded).Seconds()
	line, err := json.Marshal(t)
	if err != nil {
		panic(err) // five finite numbers
	}
	fmt.Fprintf(s.err, "%s\n", line)
}
