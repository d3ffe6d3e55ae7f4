package local

// This file runs gathers with lists (plan.Fetch): each rank gets only the rows that its lists name.
// Listed rows are scattered, so the sender packs them into a message. The receiver copies them to their
// places, unless its readers number rows in the order of arrival (plan.Packed). If a list names almost
// all rows of a rank, all of them are sent without packing.

import (
	"unsafe"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/plan"
	"flow/ir/value"
	"flow/memory"
)

// Inputs of a gather with lists, behind the matrix.
const (
	takeLists = 1
	giveLists = 2
)

// byList reports whether gather id has lists.
func (e *Engine) byList(id ir.ID) bool {
	return e.g.Nodes[id].Attrs.Int(plan.Fetch) > 0 && e.g.Type(e.g.In(id)[takeLists]).IsSparse()
}

// startFetch starts the transfers of gather g of the rows of d.
func (e *Engine) startFetch(g *gather, d *value.Dense, finished func()) {
	f, n := &g.fetch, e.p.Ranks
	if f.Give == nil {
		f.Parts, f.landed = newParts(n), make([][]byte, n)
		f.sent, f.received = make([]resending, n), make([]resending, n)
	}
	for r := range n {
		all, rows := e.listed(g, d, takeLists, r)
		switch {
		case all != nil:
			f.Take[r] = all
		case e.packed(g):
			lo, _ := plan.WindowOf(r, n, d.Rows, e.g.Nodes[g.id].Attrs.Val(plan.Unit))
			f.Take[r] = d.View(lo, 0, len(rows), d.Cols).Bytes()
		default:
			f.Take[r] = room(&f.landed[r], len(rows)*rowBytes(d))
		}
		f.TakeSome[r] = e.inRounds(g) && f.received[r].begin(len(f.Take[r]))
		from, rows := e.listed(g, d, giveLists, r)
		whole := from != nil
		if !whole {
			from = d.Bytes()
		}
		f.Give[r], f.GiveSome[r] = f.sent[r].message(from, rows, whole, rowBytes(d), e.inRounds(g))
	}
	e.o.Remote.Fetch(e.g.Nodes[g.id].Attrs.Int("key"), &f.Parts, finished)
}

// startRanges starts the transfers of a gather g of rows of d whose places the run finds. A rank sends
// at most one range to another. Rows are sent from their place in d and arrive at the same place.
func (e *Engine) startRanges(g *gather, d *value.Dense, finished func()) {
	f, n, a := &g.fetch, e.p.Ranks, e.g.Nodes[g.id].Attrs
	if f.Give == nil {
		f.Parts = newParts(n)
	}
	chosen := e.picked(g, d)
	if a.Int(plan.Fetch) > 0 {
		cuts := e.slot[e.at(e.g.In(g.id)[1])].(*value.Dense)
		chosen = func(owner, to int) plan.Range {
			return plan.Range{From: int(cuts.At(owner, to).I), To: int(cuts.At(owner, to+1).I)}
		}
	}
	rows := func(owner, to int) []byte {
		r := chosen(owner, to)
		return d.View(r.From, 0, r.To-r.From, d.Cols).Bytes()
	}
	for r := range n {
		if f.Give[r], f.Take[r] = nil, nil; r != e.o.Rank {
			f.Give[r], f.Take[r] = rows(e.o.Rank, r), rows(r, e.o.Rank)
		}
	}
	e.o.Remote.Fetch(a.Int("key"), &f.Parts, finished)
}

// picked returns which rows of a rank gather g with plan.Pick brings another one.
func (e *Engine) picked(g *gather, d *value.Dense) func(owner, to int) plan.Range {
	a := e.g.Nodes[g.id].Attrs
	if a.Int(plan.Pick) == 0 {
		return nil
	}
	var at []int64
	for _, x := range e.g.In(g.id)[1:] {
		at = append(at, e.slot[e.at(x)].(value.Scalar).I)
	}
	return func(owner, to int) plan.Range { return plan.Picked(at, a, owner, to, e.p.Ranks, d.Rows) }
}

// listed returns which rows of d the lists of input k name for rank r, or the memory of all rows that
// their owner has, if these are to be sent in place.
func (e *Engine) listed(g *gather, d *value.Dense, k, r int) (all []byte, rows []int32) {
	m := e.slot[e.at(e.g.In(g.id)[k])].(*value.CSR)
	rows, _ = m.Row(r)
	owner := r
	if k == giveLists {
		owner = e.o.Rank
	}
	lo, hi := plan.WindowOf(owner, e.p.Ranks, d.Rows, e.g.Nodes[g.id].Attrs.Val(plan.Unit))
	if len(rows) > 0 && op.SendsAll(len(rows), hi-lo) {
		return d.View(lo, 0, hi-lo, d.Cols).Bytes(), rows
	}
	return nil, rows
}

// packed reports whether rows stay where they arrive for gather g.
func (e *Engine) packed(g *gather) bool { return e.g.Nodes[g.id].Attrs.Int(plan.Packed) > 0 }

// land copies the rows that have arrived for gather g to their places.
func (e *Engine) land(g *gather, d *value.Dense) {
	packed := e.packed(g)
	if e.inRounds(g) {
		g.fetch.complete(rowBytes(d), func(r int) bool {
			all, _ := e.listed(g, d, takeLists, r)
			return all == nil && !packed
		})
	}
	if packed {
		return
	}
	for r := range e.p.Ranks {
		if all, rows := e.listed(g, d, takeLists, r); all == nil {
			unpack(d.Bytes(), g.fetch.Take[r], rows, rowBytes(d))
		}
	}
}

// room makes *b n bytes long, and returns it. Its memory is kept if it suffices.
func room(b *[]byte, n int) []byte {
	if cap(*b) < n {
		*b = memory.Huge(make([]byte, n))
	}
	*b = (*b)[:n]
	return *b
}

// rowBytes returns the size of a row.
func rowBytes(d *value.Dense) int { return d.Cols * d.Elem.Size() }

// pack copies rows of a matrix to dst, one after the other. Each has so many bytes.
func pack(dst, matrix []byte, rows []int32, size int) {
	if size == 8 && len(rows) > 0 { // a loop over numbers takes a third of the time
		to, from := numbers(dst)[:len(rows)], numbers(matrix)
		for k, j := range rows {
			to[k] = from[j]
		}
		return
	}
	for k, j := range rows {
		copy(dst[k*size:(k+1)*size], matrix[int(j)*size:])
	}
}

// unpack is the inverse of pack.
func unpack(matrix, src []byte, rows []int32, size int) {
	if size == 8 && len(rows) > 0 {
		to, from := numbers(matrix), numbers(src)[:len(rows)]
		for k, j := range rows {
			to[j] = from[k]
		}
		return
	}
	for k, j := range rows {
		copy(matrix[int(j)*size:(int(j)+1)*size], src[k*size:(k+1)*size])
	}
}

// numbers returns aligned memory as numbers of 8 bytes. b holds at least one.
func numbers(b []byte) []uint64 { return unsafe.Slice((*uint64)(unsafe.Pointer(&b[0])), len(b)/8) }
