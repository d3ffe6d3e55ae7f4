package main

import (
	"fmt"
	"slices"
)

// This file defines the section about the default tile size.

// triedTiles are the tile sizes beside the default: powers of two, which users choose, and
// multiples of the kernels' panels.
var triedTiles = [...]int{128, 192, 256, 336, 384, 464, 512, 640, 768, 1024}

// hopeless is how far behind the best a size must be, by the better of two runs, to be dropped:
// more than twice the 5 % in question.
const hopeless = 1.12

// tile runs all sizes twice in turn, and those near the best -reps times.
func tile(b *bench) error {
	return b.matrices(func(n int, elem string) error {
		field := []contestant{b.flowCholesky("default", n, elem, 0)}
		for _, t := range triedTiles {
			field = append(field, b.flowCholesky(fmt.Sprintf("tile %d", t), n, elem, t))
		}
		results := race(b.reps, field)
		b.table(fmt.Sprintf("n = %d, %s, two threads", n, elem), choleskyWork(n), results)
		if results[0].err != nil {
			return results[0].err
		}
		b.verdict(results)
		return nil
	})
}

// race runs all twice in turn, then those that are not hopeless, and always the first, reps times
// in turn. A dropped one's result holds its two runs, the others' only later ones. Each run counts
// its second factorisation, so no warm-up is needed.
func race(reps int, list []contestant) []*result {
	results := entered(list)
	takeTurns(2, list, results)
	best := 0.0
	for _, r := range results {
		if r.err == nil && (best == 0 || slices.Min(r.seconds) < best) {
			best = slices.Min(r.seconds)
		}
	}
	var near []contestant
	var again []*result
	for i, r := range results {
		switch {
		case r.err != nil:
		case i == 0 || slices.Min(r.seconds) <= hopeless*best:
			near, again = append(near, list[i]), append(again, r)
			r.seconds = nil
		default:
			r.name += ", two runs"
		}
	}
	takeTurns(reps, near, again)
	return results
}

// verdict prints how far the default, the first, is behind the best, by medians and by minima.
func (b *bench) verdict(results []*result) {
	least := func(figure func(*result) float64) (float64, string) {
		best := results[0]
		for _, r := range results[1:] {
			if r.err == nil && figure(r) < figure(best) {
				best = r
			}
		}
		return 100 * (figure(results[0])/figure(best) - 1), best.name
	}
	median, which := least((*result).median)
	minimum, whose := least(func(r *result) float64 { return slices.Min(r.seconds) })
	fmt.Fprintf(b.out, "The default is %.1f %% behind the best median (%s) and %.1f %% behind the best minimum (%s); target: 5 %%.\n\n", median, which, minimum, whose)
}
