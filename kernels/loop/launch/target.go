package launch

// This file chooses the target that loops run on.

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"flow/kernels/loop/amd64"
)

// Variable is the environment variable that names the target of all loops of the process, for tests
// and comparisons.
const Variable = "FLOW_TARGET"

// Interp is the target without machine code, which every machine has.
const Interp = "interp"

// Targets lists what loops can run on here, the fastest first: machine code for the processor's
// instruction sets, where the system lets a process execute what it wrote, and Interp.
var Targets = sync.OnceValue(func() []string { return append(machineTargets(), Interp) })

// Target is what loops run on: the first of Targets, or what the environment names. It fails if
// this is no target of the machine.
var Target = sync.OnceValues(func() (string, error) { return chosen(os.Getenv(Variable), Targets()) })

func chosen(name string, have []string) (string, error) {
	switch {
	case name == "":
		return have[0], nil
	case slices.Contains(have, name):
		return name, nil
	}
	return "", fmt.Errorf("%s=%s is no target of this machine, which has %s", Variable, name, strings.Join(have, ", "))
}

// Lanes is how many points take about as long as one: those of a vector of f64, or a small batch of the
// interpreter.
var Lanes = sync.OnceValue(func() int {
	switch target, _ := Target(); target {
	case string(amd64.AVX512):
		return 8
	case string(amd64.AVX2):
		return 4
	}
	return 16
})
