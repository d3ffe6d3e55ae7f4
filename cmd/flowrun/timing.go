package main

import (
	"encoding/json"
	"fmt"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"flow"
)

// This file defines --timing: where the seconds of an invocation went, as one line of JSON on standard error.

func timingFlag() cli.Flag {
	return &cli.BoolFlag{Name: "timing", DisableDefaultText: true, Usage: "print startup, parsing, compilation, execution and total seconds as one JSON line on stderr"}
}

// times is that line. Total is more than the sum of the others by what lies between them.
type times struct {
	Startup     float64 `json:"startup_seconds"`
	Parsing     float64 `json:"parsing_seconds"`
	Compilation float64 `json:"compilation_seconds"`
	Execution   float64 `json:"execution_seconds"`
	Total       float64 `json:"total_seconds"`
}

// beforeMain is the processor time that the process had used when it was asked: called first in main it is, but for
// waiting, how long the loader and the Go runtime took.
func beforeMain() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// timing prints the line for a program whose execution took so long. Startup is what went before the compiler: it is
// what is left of the time until compilation ended.
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
