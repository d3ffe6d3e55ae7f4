package plan

import (
	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
	"flow/lang/source"
)

// This file defines halos: which rows of other ranks a gather brings.

// Reach is the attribute of a gather that brings only some rows of other ranks. Rank by rank it lists
// the number of ranges of rows that the readers need there, then From and To of each range. The ranges
// ascend and do not touch. The rows that the gather neither brings nor finds on this rank are not
// valid.
const Reach = "reach"

// Fetch is the attribute of a gather that brings a rank the rows that its entries of a sparse matrix
// touch, or the rows whose numbers are in a column. Its value is about how many rows all ranks get,
// and 1. Its second and third inputs are lists (op sp.touched): row r of the second one has the rows
// that this rank needs of rank r, and row r of the third one those that rank r needs of this one. The
// other rows of other ranks are not valid.
//
// If the second input is dense (op order.cuts), it is the only one. Each rank then gets one range of
// rows from each other rank: rank q gets rows a[r,q]..a[r,q+1]-1 from rank r.
//
// A gather of a sparse matrix (op sp.collect) with Fetch has only one list, as its second input: row r
// has the rows that rank r needs of this one.
const Fetch = "fetch"

// Packed is an attribute of a gather with lists. It is 1 if the readers number the rows of other ranks
// by the lists (op sp.own). The listed rows of a rank then follow each other from the place of that
// rank's first row on, and are read there. A rank that sends all of its rows sends them to their
// places.
const Packed = "packed"

// Pick is the attribute of a gather that brings all ranks the same consecutive rows: their number. The
// second input is the number of the first row, which the run computes. It counts from the end if it is
// negative. Each further input is the first of as many rows that an earlier gather has brought; they
// are not sent again. The other rows of other ranks are not valid.
//
// With the attribute Reach there is no further input. A rank needs the rows of its range in Reach,
// moved by the second input. Numbers below 0 and beyond the last row continue at the other end of the
// matrix.
const Pick = "pick"

// Within is an attribute of a gather with Pick and Reach: two numbers From and To. A number outside of
// From..To-1 becomes the nearest one of these.
const Within = "within"

// Picked returns which of rank owner's rows of a matrix a gather with Pick brings another rank. at
// holds the values of its inputs after the matrix, a its attributes. A row that does not exist is not
// brought; the node that reads it fails.
func Picked(at []int64, a *op.Attrs, owner, to, ranks, rows int) Range {
	size := a.Int(Pick)
	lo, hi := WindowOf(owner, ranks, rows, a.Val(Unit))
	if needs, some := Needs(a); some {
		if len(needs[to]) == 0 {
			return Range{lo, lo}
		}
		return moved(at[0], size, needs[to][0], a.Ints(Within), rows, Range{lo, hi})
	}
	first := func(i int64) int {
		if i < 0 {
			i += int64(rows)
		}
		return int(max(-1, min(i, int64(rows))))
	}
	from := first(at[0])
	if from < 0 || from > rows-size {
		return Range{lo, lo}
	}
	r := Range{max(from, lo), min(from+size, hi)}
	for _, x := range at[1:] { // all are of one size, so what is left of r is one range
		if k := first(x); k <= r.From {
			r.From = max(r.From, min(k+size, r.To))
		} else {
			r.To = max(r.From, min(k, r.To))
		}
	}
	if r.From >= r.To {
		return Range{lo, lo}
	}
	return r
}

// farNumber is a bound of numbers that are added without overflow.
const farNumber = 1 << 62

// moved returns a range of own that has all rows of r moved by at. Each number of r is the first of
// size rows. If within is not empty, moved numbers outside of it become its nearest one.
func moved(at int64, size int, r Range, within []int64, rows int, own Range) (out Range) {
	if at > farNumber || at < -farNumber || rows == 0 {
		return own
	}
	first, last := at+int64(r.From), at+int64(r.To-size)
	if len(within) > 0 {
		first, last = max(within[0], min(first, within[1]-1)), max(within[0], min(last, within[1]-1))
	}
	n := last + int64(size) - first
	if n >= int64(rows) {
		return own
	}
	from := int((first%int64(rows) + int64(rows)) % int64(rows))
	out = Range{own.To, own.From}
	for _, part := range []Range{{from, min(from+int(n), rows)}, {0, from + int(n) - rows}} {
		if lo, hi := max(part.From, own.From), min(part.To, own.To); lo < hi {
			out = Range{min(out.From, lo), max(out.To, hi)}
		}
	}
	if out.From >= out.To {
		return Range{own.From, own.From}
	}
	return out
}

// Only is the attribute of a gather that brings a sparse matrix to one rank alone: the number of that
// rank plus 1.
const Only = "only"

// movedShare is the assumption for a range that the run moves: other ranks have 1/movedShare of the
// rows that a rank needs.
const movedShare = 8

// Range is rows From..To-1.
type Range struct{ From, To int }

// Needs returns the ranges of rows of the attribute Reach, by rank. ok is false if there is none: then
// all rows are needed.
func Needs(a *op.Attrs) (rows [][]Range, ok bool) {
	if _, ok = a.Get(Reach); !ok {
		return nil, false
	}
	for v := a.Ints(Reach); len(v) > 0; {
		var list []Range
		n := 2*int(v[0]) + 1
		for k := 1; k < n; k += 2 {
			list = append(list, Range{int(v[k]), int(v[k+1])})
		}
		rows, v = append(rows, list), v[n:]
	}
	return rows, true
}

// ReachOf returns the value of the attribute Reach for these ranges of rows, by rank.
func ReachOf(rows [][]Range) op.Val {
	var v []int
	for _, list := range rows {
		v = append(v, len(list))
		for _, r := range list {
			v = append(v, r.From, r.To)
		}
	}
	return op.Ints(v...)
}

// Gathered describes one gather: of a matrix, or of a stack of states.
type Gathered struct {
	Type  types.Type
	needs [][]Range // of the readers by rank, unless all
	all   bool      // every rank gets all rows
	fetch int       // about how many rows all ranks get by lists; 0: without lists
	pick  int       // how many rows each rank gets that the run chooses; 0: others
	unit  op.Val    // in which ranks share the rows
	// Own: each rank has entries of a sparse matrix in any row, and gets those in its own rows.
	// Otherwise each rank has the entries of its own rows.
	Own bool
	// Read: the value is what was read of a file.
	Read bool
	// Span is the place in the text of the value that is gathered.
	Span source.Span
	// Node of the plan's graph is the gather, or the loop or branch that contains it.
	Node ir.ID
}

// Whole reports whether every rank gets all rows.
func (x *Gathered) Whole() bool { return x.all && !x.Own }

// gatheredBy describes a gather with these attributes of values of type t.
func gatheredBy(a *op.Attrs, t types.Type) Gathered {
	if t.IsSparse() {
		return Gathered{Type: t, all: true, Own: a.Int(SharedRows) > 0, unit: a.Val(Unit)}
	}
	if n := a.Int(Fetch); n > 0 {
		return Gathered{Type: t, fetch: n}
	}
	list, some := Needs(a)
	if n := a.Int(Pick); n > 0 && some {
		rows := 0
		for _, l := range list {
			for _, r := range l {
				rows += r.To - r.From
			}
		}
		return Gathered{Type: t, fetch: 1 + rows/movedShare}
	} else if n > 0 {
		return Gathered{Type: t, pick: n}
	}
	t.Rows *= max(1, a.Int(Stacked))
	return Gathered{Type: t, needs: list, all: !some, unit: a.Val(Unit)}
}

// ByList reports a gather of rows that only the run knows.
func (g *Gathered) ByList() bool { return g.fetch+g.pick > 0 }

// Rows returns the rows that one rank sends another one, ascending: each range is a message. A rank
// that receives rows also sends a message, if only an empty one. So no rank is more than a round ahead
// of one that needs its rows, and a transport holds a bounded number of messages.
func (g *Gathered) Rows(from, to, ranks int) []Range {
	out := g.rows(from, to, ranks)
	if len(out) == 0 && len(g.rows(to, from, ranks)) > 0 {
		lo, _ := g.Window(from, ranks)
		return []Range{{lo, lo}}
	}
	return out
}

// Window returns the rows lo..hi-1 of a rank.
func (g *Gathered) Window(rank, ranks int) (lo, hi int) {
	return WindowOf(rank, ranks, g.Type.Rows, g.unit)
}

// rows returns the rows that the rank from has and the rank to needs.
func (g *Gathered) rows(from, to, ranks int) (out []Range) {
	lo, hi := g.Window(from, ranks)
	if g.all && lo < hi {
		return []Range{{lo, hi}}
	} else if g.all {
		return nil
	}
	for _, r := range g.needs[to] {
		if r = (Range{max(r.From, lo), min(r.To, hi)}); r.From < r.To {
			out = append(out, r)
		}
	}
	return out
}

// Bytes returns the size of the rows of a range.
func (g *Gathered) Bytes(r Range) int { return (r.To - r.From) * g.Type.Cols * g.Type.Elem.Size() }

// traffic is the number and the size of messages between ranks.
type traffic struct{ messages, bytes float64 }

// traffic returns what all ranks send in a round.
func (g *Gathered) traffic(ranks int) (sum traffic) {
	if g.pick > 0 { // from one rank, to which the others send empty ones
		others := float64(ranks - 1)
		return traffic{2 * others, others * float64(g.Bytes(Range{0, g.pick}))}
	}
	if g.ByList() {
		return traffic{float64(ranks * (ranks - 1)), float64(g.Bytes(Range{0, g.fetch}))}
	}
	for from := range ranks {
		for to := range ranks {
			if from == to {
				continue
			}
			for _, r := range g.Rows(from, to, ranks) {
				sum.messages++
				sum.bytes += float64(g.Bytes(r))
			}
		}
	}
	return sum
}
