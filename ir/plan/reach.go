package plan

import (
	"slices"

	"flow/ir/op"
	"flow/ir/types"
)

// Reach is the attribute of a gather that brings not all rows: what its readers need, as a list of
// Needs of six numbers each. The other rows of its result are those of this rank, or are not valid.
const Reach = "reach"

// Need says which rows of a matrix a rank needs that makes its window of another one: of Rows rows,
// for its row i in From..To-1 the rows By i + Lo .. By i + Hi - 1, in so far as the matrix has them.
// By is not negative; with 0 the rows are the same for all i. From one i to the next no row is left
// out. So a stencil of three rows is one Need, and a border that reaches the other end another one.
type Need struct{ Rows, From, To, By, Lo, Hi int }

// needInts is how many numbers a Need is in an attribute.
const needInts = 6

// Needs reads the attribute Reach. ok is false where there is none: all rows are needed.
func Needs(a *op.Attrs) (list []Need, ok bool) {
	if _, ok = a.Get(Reach); !ok {
		return nil, false
	}
	v := a.Ints(Reach)
	for ; len(v) >= needInts; v = v[needInts:] {
		list = append(list, Need{int(v[0]), int(v[1]), int(v[2]), int(v[3]), int(v[4]), int(v[5])})
	}
	return list, true
}

// ReachOf is the attribute.
func ReachOf(list []Need) op.Val {
	var v []int
	for _, n := range list {
		v = append(v, n.Rows, n.From, n.To, n.By, n.Lo, n.Hi)
	}
	return op.Ints(v...)
}

// Range is rows From..To-1.
type Range struct{ From, To int }

// Needed returns the rows, of so many, that list names for a rank: ascending ranges, of which no two
// touch.
func Needed(list []Need, rank, ranks, rows int) (out []Range) {
	for _, n := range list {
		a, b := Window(rank, ranks, n.Rows)
		if a, b = max(a, n.From), min(b, n.To); a >= b {
			continue
		}
		if r := (Range{max(0, n.By*a+n.Lo), min(rows, n.By*(b-1)+n.Hi)}); r.From < r.To {
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

// Within reports that no rank needs other rows than its own.
func Within(list []Need, ranks, rows int) bool {
	for rank := range ranks {
		lo, hi := Window(rank, ranks, rows)
		for _, r := range Needed(list, rank, ranks, rows) {
			if r.From < lo || r.To > hi {
				return false
			}
		}
	}
	return true
}

// Gathered is what one gather brings together: a matrix, or a stack of states.
type Gathered struct {
	Type  types.Type
	needs []Need
	all   bool
	// Own: of a sparse matrix, of which each rank may have entries in any row, every rank gets those of
	// its own rows. Else each rank has its own rows.
	Own bool
}

// gatheredBy returns what a gather with these attributes brings together, of values of type t.
func gatheredBy(a *op.Attrs, t types.Type) Gathered {
	if t.IsSparse() {
		return Gathered{Type: t, all: true, Own: a.Int(SharedRows) > 0}
	}
	t.Rows *= max(1, a.Int(Stacked))
	list, some := Needs(a)
	return Gathered{Type: t, needs: list, all: !some}
}

// Rows returns the rows that one rank sends another one, ascending: each range is a message. Who
// takes also gives, if only no rows: so no rank is more than a round ahead of one that needs its rows,
// and what waits in a transport is bounded.
func (g *Gathered) Rows(from, to, ranks int) []Range {
	out := g.rows(from, to, ranks)
	if len(out) == 0 && len(g.rows(to, from, ranks)) > 0 {
		lo, _ := Window(from, ranks, g.Type.Rows)
		return []Range{{lo, lo}}
	}
	return out
}

func (g *Gathered) rows(from, to, ranks int) (out []Range) {
	lo, hi := Window(from, ranks, g.Type.Rows)
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

// Bytes is how many a range has.
func (g *Gathered) Bytes(r Range) int { return (r.To - r.From) * g.Type.Cols * g.Type.Elem.Size() }

// Received is about how many bytes of values of type t a gather with these attributes brings a rank.
func Received(a *op.Attrs, t types.Type, ranks int) float64 {
	g := gatheredBy(a, t)
	return g.traffic(ranks).bytes / float64(ranks)
}

// traffic is what all ranks send in a round.
func (g *Gathered) traffic(ranks int) (sum traffic) {
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
