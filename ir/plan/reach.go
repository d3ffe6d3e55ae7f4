package plan

import (
	"slices"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
	"flow/lang/source"
)

// This file defines halos: which rows of other ranks a gather brings.

// Reach is the attribute of a gather that brings only some rows of other ranks: the Needs of its
// readers. The rows that it neither brings nor finds on this rank are not valid.
const Reach = "reach"

// Fetch is the attribute of a gather that brings a rank the rows that its entries of a sparse matrix
// touch, or the rows whose numbers are in a column. Its value is about how many rows all ranks get, and 1.
// Its second and third inputs are lists (op sp.touched): row r of the second one has the rows that this
// rank needs of rank r, and row r of the third one those that rank r needs of this one. The other rows
// of other ranks are not valid.
//
// If the second input is dense (op order.cuts), it is the only one. Each rank then gets one range of rows
// from each other rank: rank q gets rows a[r,q]..a[r,q+1]-1 from rank r.
//
// A gather of a sparse matrix (op sp.collect) with Fetch has only one list, as its second input: row r has
// the rows that rank r needs of this one.
const Fetch = "fetch"

// Packed is an attribute of a gather with lists. It is 1 if the readers number the rows of other ranks by the
// lists (op sp.own). The listed rows of a rank then follow each other from the place of that rank's first row
// on, and are read there. A rank that sends all of its rows sends them to their places.
const Packed = "packed"

// Pick is the attribute of a gather that brings all ranks the same consecutive rows: their number. The
// second input is the number of the first row, which the run computes. It counts from the end if it is
// negative. Each further input is the first of as many rows that an earlier gather has brought; they are
// not sent again. The other rows of other ranks are not valid.
const Pick = "pick"

// Picked returns which of rank owner's rows of a matrix a gather with Pick brings. at holds the values of
// its inputs after the matrix, size is its Pick and unit its Unit. A row that does not exist is not
// brought; the node that reads it fails.
func Picked(at []int64, size, owner, ranks, rows int, unit op.Val) Range {
	lo, hi := WindowOf(owner, ranks, rows, unit)
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

// Only is the attribute of a gather that brings a sparse matrix to one rank alone: the number of that rank
// plus 1.
const Only = "only"

// Need says which rows of a matrix are read to make rows of a result, whose Rows rows the ranks share: for
// each row i in From..To-1 of the result the rows By i + Lo .. By i + Hi - 1 of the matrix, as far as it has
// them. If By is 0, the rows are the same for all i. A rank brings the rows between its first and its last i
// without gaps, also those that a By above Hi - Lo leaves out. A negative By reverses the rows. If Per is
// above 1, By, Lo and Hi count elements, and a row of the matrix has Per of them (reshape).
//
// Unit says how ranks share the result (see WindowOf).
//
// A stencil of three rows is one Need, and a periodic border another one.
type Need struct {
	Rows, From, To, By, Lo, Hi int
	Unit                       op.Val
	Per                        int
}

// Plain reports whether n counts whole rows and keeps their order.
func (n Need) Plain() bool { return n.By >= 0 && n.Per <= 1 }

// needInts is the number of integers of a Need in an attribute. The last one is the unit. If it is -n, a list
// of n integers follows. If the first one is negative, Per follows.
const needInts = 7

// Needs reads the attribute Reach. ok is false if there is none: then all rows are needed.
func Needs(a *op.Attrs) (list []Need, ok bool) {
	if _, ok = a.Get(Reach); !ok {
		return nil, false
	}
	v := a.Ints(Reach)
	for len(v) >= needInts {
		n := Need{int(v[0]), int(v[1]), int(v[2]), int(v[3]), int(v[4]), int(v[5]), op.Int(int(v[6])), 0}
		if v = v[needInts:]; n.Unit.I < 0 {
			k := int(-n.Unit.I)
			n.Unit, v = op.Val{Kind: op.IntsVal, L: v[:k:k]}, v[k:]
		}
		if n.Rows < 0 && len(v) > 0 {
			n.Rows, n.Per, v = -n.Rows, int(v[0]), v[1:]
		}
		list = append(list, n)
	}
	return list, true
}

// ReachOf returns the value of the attribute Reach.
func ReachOf(list []Need) op.Val {
	var v []int
	for _, n := range list {
		rows := n.Rows
		if n.Per > 1 {
			rows = -rows
		}
		v = append(v, rows, n.From, n.To, n.By, n.Lo, n.Hi, int(n.Unit.I)-len(n.Unit.L))
		for _, at := range n.Unit.L {
			v = append(v, int(at))
		}
		if n.Per > 1 {
			v = append(v, n.Per)
		}
	}
	return op.Ints(v...)
}

// Range is rows From..To-1.
type Range struct{ From, To int }

// Needed returns the rows, of a matrix of so many, that a rank needs: ascending ranges that do not
// touch.
func Needed(list []Need, rank, ranks, rows int) (out []Range) {
	for _, n := range list {
		a, b := WindowOf(rank, ranks, n.Rows, n.Unit)
		if a, b = max(a, n.From), min(b, n.To); a >= b {
			continue
		}
		first, last, per := n.By*a+n.Lo, n.By*(b-1)+n.Hi, max(1, n.Per)
		if n.By < 0 {
			first, last = n.By*(b-1)+n.Lo, n.By*a+n.Hi
		}
		if r := (Range{max(0, first) / per, min(rows, (max(0, last)+per-1)/per)}); r.From < r.To {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b Range) int { return a.From - b.From })
	k := 0
	for _, r := range out {
		if k > 0 && r.From <= out[k-1].To {
			out[k-1].To = max(out[k-1].To, r.To)
			continue
		}
		out[k], k = r, k+1
	}
	return out[:k]
}

// Within reports whether no rank needs rows of another one, of a matrix of so many that ranks share
// in units.
func Within(list []Need, ranks, rows int, unit op.Val) bool {
	for rank := range ranks {
		lo, hi := WindowOf(rank, ranks, rows, unit)
		for _, r := range Needed(list, rank, ranks, rows) {
			if r.From < lo || r.To > hi {
				return false
			}
		}
	}
	return true
}

// Gathered describes one gather: of a matrix, or of a stack of states.
type Gathered struct {
	Type  types.Type
	needs []Need // of the readers, unless all
	all   bool   // every rank gets all rows
	fetch int    // about how many rows all ranks get by lists; 0: without lists
	pick  int    // how many rows each rank gets that the run chooses; 0: others
	unit  op.Val // in which ranks share the rows
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
	if n := a.Int(Pick); n > 0 {
		return Gathered{Type: t, pick: n}
	}
	t.Rows *= max(1, a.Int(Stacked))
	list, some := Needs(a)
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
	if g.all {
		return []Range{{lo, hi}}
	}
	for _, r := range Needed(g.needs, to, ranks, g.Type.Rows) {
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
