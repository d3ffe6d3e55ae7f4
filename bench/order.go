package main

import (
	"fmt"
	"path/filepath"
)

// order measures operators on long lists, each in a process of its own on either side.
func order(b *bench) error {
	const n = 5_000_000
	fmt.Fprintf(b.out, "%d numbers, or as many in 50 columns; Flow on two threads, NumPy sorts on one.\n\n", n)
	fmt.Fprintf(b.out, "| operator | Flow, ms | NumPy, ms | NumPy's over Flow's |\n|---|---|---|---|\n")
	for _, what := range []string{"sort", "argsort", "unique", "median", "take", "colmedian", "rowmedian", "cumsum"} {
		results := contest(b.reps, []contestant{
			b.flowWork("Flow", "order.flow", "--set=what="+what, fmt.Sprintf("--set=n=%d", n)),
			{name: "NumPy", run: func() (float64, error) {
				return peerSeconds(peerEnv(), "/usr/bin/python3", filepath.Join(b.root, "bench", "order.py"), what, fmt.Sprint(n))
			}},
		})
		flow, numpy := results[0], results[1]
		switch {
		case flow.err != nil:
			return flow.err
		case numpy.err != nil:
			fmt.Fprintf(b.out, "| %s | %.1f | %v | |\n", what, 1e3*flow.median(), numpy.err)
		default:
			fmt.Fprintf(b.out, "| %s | %.1f | %.1f | %.2f |\n", what, 1e3*flow.median(), 1e3*numpy.median(), numpy.median()/flow.median())
		}
	}
	fmt.Fprintln(b.out)
	return nil
}
