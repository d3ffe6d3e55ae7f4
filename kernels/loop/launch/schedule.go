package launch

// This file chooses how the index space of a run is scheduled.

import (
	"slices"

	"github.com/klauspost/cpuid/v2"

	"flow/ir/loop"
	"flow/ir/value"
	"flow/kernels/loop/amd64"
)

// Bits of a layout: the lanes are the first index of the space, results are stored past the caches,
// loads prefetch, and results in the memory of operands are stored where they differ.
const (
	lanesFirst = layout(1) << most
	streamed   = lanesFirst << 1
	fetched    = streamed << 1
	keeping    = fetched << 1
)

// streamFrom is the size of results that are stored past the caches: they would not stay there.
const streamFrom = 32 << 20

// Streams reports a result that is stored past the caches by loops that can.
func Streams(d *value.Dense) bool { return d.Rows*d.Cols*d.Elem.Size() >= streamFrom }

// streams returns the bit of a layout for results that are stored past the caches, or 0. Such results
// are large, or parts of large ones (Run.Past). A result in the memory of an operand has its lines in a
// cache: stores past the caches would first throw them out (a map of 80 MB took 2.6 times as long on an
// Emerald Rapids). An inner loop stores no whole lines. wide: rows are one row of memory.
func (l *Loop) streams(r *Run, out []*value.Dense, wide bool) layout {
	large := r.Past
	if l.inner || r.Overwrites {
		return 0
	}
	for k, d := range out {
		if l.nest.Results[k].Over >= 0 || !wide && cutsLines(d) {
			return 0
		}
		large = large || l.nest.Results[k].Class == loop.NoClass && Streams(d)
	}
	if large {
		return streamed
	}
	return 0
}

// longRow is the size of a row from which a line that it shares with the next row does not count. Such
// a line is written in parts. The part that goes past the caches takes the time of some 20 whole lines:
// a matrix of 20 columns took 15 times as long as one of 24.
const longRow = 16 << 10

// cutsLines reports whether lines of a cache have the end of a short row and more.
func cutsLines(d *value.Dense) bool {
	size := d.Elem.Size()
	return d.Rows > 1 && d.Cols*size < longRow && (d.Stride*size%64 != 0 || d.Cols*size%64 != 0)
}

// fetches says that the hardware prefetchers of this processor do not suffice for consecutive memory.
// With two cores of an Emerald Rapids, sums and maps of 80 MB take 0.65 to 0.95 of the time if loads
// prefetch.
var fetches = cpuid.CPU.VendorID == cpuid.Intel

// fetchFrom is the size in bytes from which an operand is prefetched. Smaller ones fit into a cache of
// the core: rounds on matrices of 2 MB take 1.09 times as long with prefetches.
const fetchFrom = 4 << 20

// fetching returns the bit of a layout for loads that prefetch, or 0.
func fetching(in []value.Value) layout {
	large := func(v value.Value) bool {
		d, ok := v.(*value.Dense)
		return ok && d.Rows*d.Cols*d.Elem.Size() >= fetchFrom
	}
	if fetches && slices.ContainsFunc(in, large) {
		return fetched
	}
	return 0
}

// extents returns the size of a space of one or two indices that begins at 0, and 0 for other spaces.
// ok reports two indices.
func extents(n *loop.Nest, in []value.Value) (rows, cols int, ok bool) {
	h := hull{nest: n, in: in} // a range that depends on another index is anything
	size := [2]int{1, 1}
	for k, x := range n.Space {
		r := h.rng(x.Range)
		if k > 1 || r.lo != 0 || r.empty() || r.hi >= wide {
			return 0, 0, false
		}
		size[k] = int(r.hi) + 1
	}
	return size[0], size[1], len(n.Space) == 2
}

// FewColumns is below how many columns a row may be too short for lanes.
const FewColumns = 64

// schedule says how a run is scheduled: wide is how many columns all rows have, if they are one row
// of memory and may be passed as one, else 0; lay gets the bit lanesFirst.
func (l *Loop) schedule(in []value.Value, out []*value.Dense, lay layout) (with layout, wide int) {
	rows, cols, ok := extents(l.nest, in)
	if !ok || rows < 2 {
		return lay, 0
	}
	switch piece := l.flat && inOnePiece(l.nest, in, l.across, cols); {
	case piece && l.across == 0 && l.onePiece(out, cols):
		return lay, cols
	case piece && l.across != 0 && rows*cols >= leastJoined:
	case cols < FewColumns:
		params, results := layouts(l.nest, lay)
		if amd64.LanesFirst(l.nest, params, results, rows, cols) {
			lay |= lanesFirst
		}
	}
	return lay, 0
}

// inOnePiece reports that all operands but those across have so many columns and no gap between their
// rows.
func inOnePiece(n *loop.Nest, in []value.Value, across uint64, cols int) bool {
	for k := range n.Params {
		if d, ok := in[k].(*value.Dense); ok && across>>k&1 == 0 && (d.Cols != cols || d.Stride != cols) {
			return false
		}
	}
	return true
}

// onePiece reports that results have so many columns and no gap between their rows. A reduced result
// is one element.
func (l *Loop) onePiece(out []*value.Dense, cols int) bool {
	for k, d := range out {
		if l.nest.Results[k].Class == loop.NoClass && (d.Cols != cols || d.Stride != cols) {
			return false
		}
	}
	return true
}

// layouts are those of the operands and results.
func layouts(n *loop.Nest, lay layout) (params, results []amd64.Layout) {
	for range n.Params {
		params, lay = append(params, amd64.Layout{Unit: lay&1 != 0}), lay>>1
	}
	for range n.Results {
		results, lay = append(results, amd64.Layout{Unit: lay&1 != 0}), lay>>1
	}
	return params, results
}

// storesInside reports whether an inner loop of the block stores to a result.
func storesInside(b *loop.Block) bool {
	stores := func(s *loop.Stmt) bool { return s.Code == loop.Store && s.Mem.Kind == loop.ResultMem }
	return loop.Some(b.Stmts, func(s *loop.Stmt) bool { return s.Loop != nil && loop.Some(s.Loop.Body.Stmts, stores) })
}
