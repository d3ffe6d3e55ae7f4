package launch

// This file chooses the target that loops run on, and tells when machine code pays.

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"flow/ir/loop"
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

// PaysFrom is how many operations on elements the interpreter executes in the time, about 0.1 ms, that
// it takes to make machine code of a loop with few operations. An operation on an element takes 1 ns.
// Each operation of the body adds 4 us, so PaysFrom / bodyPays, to the time of making code. Tests set
// it.
var PaysFrom int64 = 1 << 17

// bodyPays is how many operations a body has that takes twice as long as an empty one to compile.
const bodyPays = 32

// Steps counts the elements that a program has been run on. It is safe for concurrent use.
type Steps struct{ n atomic.Int64 }

// Pay adds elements and reports whether there have been enough for machine code of a body with so many
// operations: whether interpreting them takes as long as making code. So a program takes at most twice
// as long as if it had been known before how many elements there will be.
func (s *Steps) Pay(elements int64, operations func() int) bool {
	least := PaysFrom / bodyPays
	n := s.n.Load()
	if n < PaysFrom { // else there are enough of any body
		n = s.n.Add(elements)
	}
	return n >= PaysFrom || n >= least && n-least >= PaysFrom/int64(max(1, operations()))
}

// reduceOperations is how many operations a reduction counts for: an exact sum takes some nanoseconds.
const reduceOperations = 4

// Operations is how many operations a body has, inner loops counted once.
func Operations(n *loop.Nest) (count int) {
	loop.EachStmt(&n.Body, func(s *loop.Stmt) {
		if count++; s.Code == loop.Reduce {
			count += reduceOperations - 1
		}
	})
	return count
}

// Begun counts the executions that ran as loops instead of by operators, for tests.
var Begun atomic.Int64
