package main

import (
	"fmt"

	"flow"
)

// This file defines --tune: the fastest tile of each kernel on this machine.

// tune measures, prints a table on standard error and stores the costs for later runs. It changes
// no default: the tile of a program depends on shape and element type, so that its bytes do not
// depend on the machine.
func (s *session) tune(kernels string) (*flow.Rates, error) {
	speeds, err := flow.TuneTiles(kernels)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(s.err, "%-8s %-5s %9s   GFLOP/s by tile\n", "kernel", "type", "best tile")
	for _, k := range speeds {
		best, line := 0, ""
		for i, t := range k.Tiles {
			if k.Gflops[i] > k.Gflops[best] {
				best = i
			}
			line += fmt.Sprintf("  %d: %.1f", t, k.Gflops[i])
		}
		fmt.Fprintf(s.err, "%-8s %-5s %9d %s\n", k.Kernel, k.Elem, k.Tiles[best], line)
	}
	r, err := flow.MeasureRates(kernels)
	if err != nil {
		return nil, err
	}
	if err := r.Save(); err != nil {
		fmt.Fprintf(s.err, "flowrun: the measured costs cannot be kept: %v\n", err)
	}
	return r, nil
}
