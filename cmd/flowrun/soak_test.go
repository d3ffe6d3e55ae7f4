package main

import (
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// This file repeats the scripts that are about ends (signals; with -tags mpi killed ranks as well)
// for FLOW_SOAK seconds.

func TestSoakEnds(t *testing.T) {
	seconds, err := strconv.Atoi(os.Getenv("FLOW_SOAK"))
	if err != nil {
		t.Skip("FLOW_SOAK is not set to a number of seconds")
	}
	for stop := time.Now().Add(time.Duration(seconds) * time.Second); time.Now().Before(stop) && !t.Failed(); {
		for _, script := range soakScripts() {
			again(t, script)
		}
	}
}

// again runs a script once more. Scripts run in parallel once their parent has returned, so each
// has a parent of its own.
func again(t *testing.T, script string) {
	t.Run("round", func(t *testing.T) {
		p := params("")
		p.Files = []string{filepath.Join("testdata", script)}
		maps.Copy(p.Cmds, mpiCommands())
		testscript.Run(t, p)
	})
}

// TestSoakFaults makes every fault FLOW_SOAK_TIMES times, soon after the ranks have begun.
func TestSoakFaults(t *testing.T) {
	times, err := strconv.Atoi(os.Getenv("FLOW_SOAK_TIMES"))
	if err != nil {
		t.Skip("FLOW_SOAK_TIMES is not set to a number")
	}
	defer func(d time.Duration) { midway = d }(midway)
	for k := 0; k < times && !t.Failed(); k++ {
		midway = time.Duration(k%10) * 50 * time.Millisecond
		for _, script := range faultScripts() {
			again(t, script)
		}
	}
}
