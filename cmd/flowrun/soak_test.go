package main

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// This file repeats the scripts that are about ends (signals; with -tags mpi killed ranks as well) for FLOW_SOAK seconds.

func TestSoakEnds(t *testing.T) {
	seconds, err := strconv.Atoi(os.Getenv("FLOW_SOAK"))
	if err != nil {
		t.Skip("FLOW_SOAK is not set to a number of seconds")
	}
	for stop := time.Now().Add(time.Duration(seconds) * time.Second); time.Now().Before(stop) && !t.Failed(); {
		for _, script := range soakScripts() {
			// Scripts run in parallel once their parent has returned, so each has a parent of its own.
			t.Run("round", func(t *testing.T) {
				p := params("")
				p.Files = []string{filepath.Join("testdata", script)}
				for name, cmd := range mpiCommands() {
					p.Cmds[name] = cmd
				}
				testscript.Run(t, p)
			})
		}
	}
}
