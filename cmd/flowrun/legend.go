package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"flow/kernels"
)

// This file defines the legends below the tables of plan, --stats and simulate, which explain their
// terms.

// kernelLegend explains the kernels of a table that programs cannot name.
func kernelLegend(w io.Writer, names []string) {
	table, err := kernels.Table("")
	if err != nil {
		return // only a build with two rows of one name fails, and a test finds that
	}
	var lines []string
	parts := map[string][]string{} // of a reduction by blocks: norm -> part join done
	for _, name := range names {
		d := table.Named(name)
		if d == nil || !d.Hidden || name == "const" {
			continue
		}
		word, step, _ := strings.Cut(name, ".")
		if slices.Contains([]string{"part", "join", "done"}, step) {
			parts[word] = append(parts[word], name)
			continue
		}
		if of, sparse := strings.CutPrefix(name, "sp."); sparse && strings.HasSuffix(d.Doc, "with sparse arguments.") {
			lines = append(lines, fmt.Sprintf("%s: %s with sparse arguments", name, of))
			continue
		}
		lines = append(lines, name+": "+firstClause(strings.TrimPrefix(strings.TrimPrefix(d.Doc, name+" "), "is ")))
	}
	for _, word := range slices.Sorted(maps.Keys(parts)) {
		lines = append(lines, fmt.Sprintf("%s: %s of blocks, of several of those, and the result", strings.Join(parts[word], ", "), word))
	}
	for _, l := range lines {
		fmt.Fprintf(w, "  %s\n", l)
	}
}

// firstClause returns a text up to its first full stop or semicolon.
func firstClause(text string) string {
	for i, r := range text {
		if r == ';' || r == '.' && (i+1 == len(text) || text[i+1] == ' ' || text[i+1] == '\n') {
			return text[:i]
		}
	}
	return text
}

// planLegend explains the figures below the kernels of a plan.
const planLegend = `  critical path: the longest chain of tasks that wait for one another; mean parallelism: all work over it
  makespan: the time from the first task to the last; bound: no schedule is faster at these costs of kernels
  memory: the most that the values of a rank take at one time, and where the largest of them are made
`

// layoutLegend explains where values lie.
const layoutLegend = `  lies on: rows: each rank makes and has its own rows; replicated: each rank makes and has all of it; partial: each rank
  has reduced its rows; rank 0: only this rank has it; ranks 0 to 2: cut into pieces, each on one of them; rows from 0, 9: the
  rows of a sparse matrix differ in length, and for the same work rank 0 has rows from 0 on and rank 1 from 9 on; helped: a
  rank that has made its rows makes some of others, unless the technique is static
  why: why ranks do not share it, by the rules and costs that placed it; little work: each rank computes it
  in less time than a message takes
  sent: what depends on the entries of sparse matrices is estimated before the run, and rows that the run
  chooses count as the most that there may be, or an eighth of a range that it moves; --stats counts both
`

// rankLegend explains the ranks of a run.
const rankLegend = `  busy: in kernels, all workers; scheduling and waiting: claiming chunks of loops, and waiting for the last one; processor: of the
  process, messages included, or where ranks share a process, of the rank's workers; claims: chunks of loops; stolen: those from
  another worker's queue; helped: chunks run for other ranks; read: bytes of files, also before the run; sent on: the part of the
  sent bytes that was read from files
`

// loopLegend explains the account of a loop.
const loopLegend = `  T: wall time; ideal: no schedule is faster, the larger of area (the work divided by the workers) and the largest job
  LPT: a schedule that knows all costs, longest processing time first; best block: the best with one block of
  consecutive iterations a worker; oracle: the technique that is fastest in a simulation with these costs
  p.i.: percent imbalance of the workers' finish times; c.o.v.: their coefficient of variation (standard deviation over
  mean); other: workers that came late, and what they did between two chunks
`

// togetherLegend explains the account of a loop that ranks share.
const togetherLegend = `  together: all rows of the loop on the workers of all ranks; of one rank: its own rows on its own workers, although other
  ranks may have run some of them, which makes more than 100 % possible
`

// simulateLegend explains the rows of a simulation.
const simulateLegend = `  ideal: no schedule is faster, the larger of area (the work divided by the workers) and the largest job
  LPT: a schedule that knows all costs, longest processing time first; best block: the best with one block of
  consecutive iterations a worker
`

// ranksLegend explains the rows of a simulation on ranks.
const ranksLegend = `  ideal: no schedule is faster, the largest of the work divided by all threads, the longest iteration and one message
`

// runLegend explains the account of the whole run.
const runLegend = `  area: the busy time of all workers divided by their number; critical path: the longest chain of tasks that waited for
  one another, as they took; busy, scheduling and idle: shares of the time of all workers
`
