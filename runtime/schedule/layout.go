package schedule

import (
	"fmt"
	"slices"
	"strings"

	"flow/lang/source"
)

// This file defines the queues of a loop's chunks, and the order in which a worker with an empty
// queue searches the others.

// Layout says how many queues there are, with DAPHNE's names.
type Layout uint8

// The layouts.
const (
	Centralized Layout = iota // one queue
	// a queue for each group of workers with shared memory (a NUMA node, else a socket)
	PerGroup
	PerCPU // a queue for each worker
)

var layoutNames = []string{"CENTRALIZED", "PERGROUP", "PERCPU"}

func (l Layout) String() string { return layoutNames[l] }

// Victim is the order in which a worker with an empty queue searches the others. It empties each it
// finds, so every order ends with nothing left to claim.
type Victim uint8

// The orders.
const (
	Seq       Victim = iota // one after the other, from the worker's own queue on
	SeqPri                  // likewise, the queues of the worker's group first
	Random                  // in a random order
	RandomPri               // in a random order, the queues of the worker's group first
)

var victimNames = []string{"SEQ", "SEQPRI", "RANDOM", "RANDOMPRI"}

func (v Victim) String() string { return victimNames[v] }

// Layouts lists the names, for help.
func Layouts() []string { return slices.Clone(layoutNames) }

// Victims lists the names of the orders.
func Victims() []string { return slices.Clone(victimNames) }

// ParseLayout returns the layout of a name. The error is an *UnknownError.
func ParseLayout(name string) (Layout, error) {
	i, err := named("queue layout", layoutNames, name)
	return Layout(i), err
}

// ParseVictim returns the order of a name. The error is an *UnknownError.
func ParseVictim(name string) (Victim, error) {
	i, err := named("victim selection", victimNames, name)
	return Victim(i), err
}

func named(what string, names []string, name string) (int, error) {
	if i := slices.IndexFunc(names, func(n string) bool { return plain(n) == plain(name) }); i >= 0 {
		return i, nil
	}
	e := &UnknownError{What: what, Name: name, Known: names}
	e.Suggest, _ = source.Suggest(strings.ToUpper(name), names)
	return 0, e
}

// Plan says how the loops of a run are handed out.
type Plan struct {
	Technique *Technique // nil: the default, Default()
	Override  bool       // Technique overrides the one that a node of the program names
	// chooses for each loop if the technique is Auto; nil: the runtime has its own
	Selector     *Selector
	Layout       Layout
	Victim       Victim
	Grain        int    // the smallest chunk, in units; 0: 1
	PrePartition bool   // each queue gets its share of the loop before it is cut, see NewQueues
	Groups       []int  // the group number of each worker, from 0 on; nil: all in one
	Seed         uint64 // of random victims
}

// queues returns how many queues a plan makes for this many workers.
func (p *Plan) queues(workers int) int {
	switch p.Layout {
	case PerCPU:
		return workers
	case PerGroup:
		n := 1
		for _, g := range p.Groups[:min(len(p.Groups), workers)] {
			n = max(n, g+1)
		}
		return n
	}
	return 1
}

func (p *Plan) group(worker int) int {
	if worker < len(p.Groups) {
		return p.Groups[worker]
	}
	return 0
}

func (p *Plan) home(worker int) int {
	switch p.Layout {
	case PerCPU:
		return worker
	case PerGroup:
		return p.group(worker)
	}
	return 0
}

// check refuses groups that are not numbered from 0 on.
func (p *Plan) check() error {
	for i, g := range p.Groups {
		if g < 0 || g >= max(1, len(p.Groups)) {
			return fmt.Errorf("BUG: worker %d is in group %d of at most %d", i, g, len(p.Groups))
		}
	}
	return nil
}
