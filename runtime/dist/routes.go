package dist

// This file derives all messages from a plan, identically on every rank: trees, numbers, order.

import (
	"math/bits"

	"flow/ir"
	"flow/ir/plan"
	"flow/ir/types"
)

// form is how a value is sent.
type form uint8

const (
	inPlace  form = iota // a dense matrix of known shape: its memory, no header
	fixed                // a scalar of fixed size: scalarBytes
	nothing              // an effect: no bytes, only the fact
	variable             // a string, or a shape that only the run knows: encoded, over Control
)

// scalarBytes is the size of a scalar that is not a string: its F and I.
const scalarBytes = 16

func formOf(t types.Type) (form, int) {
	switch {
	case t.Kind == types.Effect:
		return nothing, 0
	case t.Sized():
		return inPlace, t.Bytes()
	case t.IsScalar() && t.Elem.Size() > 0:
		return fixed, scalarBytes
	}
	return variable, 0
}

// send is one message of this rank: exchange to dst. num counts the messages from this rank to dst
// on Data; -1 for one over Control.
type send struct {
	exchange ir.ID
	dst, num int32
}

// receive is one message to this rank. pos is the first task, on any rank, that reads the exchange.
type receive struct {
	exchange ir.ID
	pos      ir.ID
	src, num int32
	form     form
	bytes    int
	// A dense matrix takes so much memory, and the message comes to this place of it: to that of this
	// rank's rows.
	memory, at int
}

// in returns the part of the memory of a matrix to which the message comes.
func (x *receive) in(b []byte) []byte { return b[x.at : x.at+x.bytes] }

// routes is one rank's part of all messages. It is read-only.
type routes struct {
	sends    []send    // by source, in order of sending
	sendOff  []int32   // of source i: sends[sendOff[i]:sendOff[i+1]]
	source   []int32   // node -> index of a source, -1: none
	receives []receive // in the order of posting
	vars     int       // receives over Control
	toCount  []int32   // messages on Data to each rank
}

// newRoutes finds the messages of rank, in time linear in the plan and the readers of exchanges.
func newRoutes(p *plan.Plan, rank int) *routes {
	g := p.Graph
	n := g.Len()
	r := &routes{source: make([]int32, n), toCount: make([]int32, p.Ranks)}
	for i := range r.source {
		r.source[i] = -1
	}
	order, pos := exchangesByReader(p)
	type found struct {
		source ir.ID
		send
	}
	var sends []found
	fromCount := make([]int32, p.Ranks)
	var members []int
	for k, id := range order {
		to, _ := p.Exchange(id)
		owner := p.Rank(id)
		members = treeMembers(members[:0], owner, to, k)
		f, size := formOf(g.Type(id))
		own := ownRows(p, id)
		for at, m := range members {
			if at > 0 && m == rank {
				src := members[parent(at)]
				if own {
					src = owner
				}
				x := receive{exchange: id, pos: pos[id], src: int32(src), num: -1, form: f, bytes: size, memory: size}
				if own && f == inPlace {
					x.at, x.bytes = partOf(p, id, rank)
				}
				if f == variable {
					r.vars++
				} else {
					x.num = fromCount[src]
					fromCount[src]++
				}
				r.receives = append(r.receives, x)
			}
			if m != rank {
				continue
			}
			from := id
			if at == 0 {
				from = sourceOf(p, id, rank)
			}
			below := func(j int) int { return members[at+1<<j] }
			last := lastChild(at, len(members))
			if own { // the owner sends to each rank, because a message has one rank's rows only
				below, last = func(j int) int { return members[1+j] }, len(members)-2
				if at > 0 {
					last = -1
				}
			}
			// The largest subtree first.
			for j := last; j >= 0; j-- {
				dst := below(j)
				s := send{exchange: id, dst: int32(dst), num: -1}
				if f != variable {
					s.num = r.toCount[dst]
					r.toCount[dst]++
				}
				sends = append(sends, found{from, s})
			}
		}
	}
	// Group by source, keeping the order.
	count := []int32{}
	for _, s := range sends {
		if r.source[s.source] < 0 {
			r.source[s.source] = int32(len(count))
			count = append(count, 0)
		}
		count[r.source[s.source]]++
	}
	r.sendOff = make([]int32, len(count)+1)
	for i, c := range count {
		r.sendOff[i+1] = r.sendOff[i] + c
	}
	fill := append([]int32(nil), r.sendOff...)
	r.sends = make([]send, len(sends))
	for _, s := range sends {
		i := r.source[s.source]
		r.sends[fill[i]] = s.send
		fill[i]++
	}
	return r
}

// partOf returns where the rows of a rank begin in the memory of the dense matrix of an exchange, and
// how many bytes they are.
func partOf(p *plan.Plan, id ir.ID, rank int) (at, bytes int) {
	t := p.Graph.Type(id)
	lo, hi := plan.WindowOf(rank, p.Ranks, t.Rows, p.Graph.Nodes[id].Attrs.Val(plan.Unit))
	row := t.Bytes() / t.Rows
	return lo * row, (hi - lo) * row
}

// ownRows reports whether exchange id sends every rank only that rank's rows of a matrix.
func ownRows(p *plan.Plan, id ir.ID) bool { return p.Graph.Nodes[id].Attrs.Int(plan.SharedRows) > 0 }

// of returns the messages that carry the value of node id, made or received by this rank.
func (r *routes) of(id ir.ID) []send {
	i := r.source[id]
	if i < 0 {
		return nil
	}
	return r.sends[r.sendOff[i]:r.sendOff[i+1]]
}

// sourceOf returns the node in whose slot the owner of exchange id holds its value, as in
// local.Engine.
func sourceOf(p *plan.Plan, id ir.ID, rank int) ir.ID {
	for {
		in := p.Graph.In(id)[0]
		if _, ok := p.Exchange(in); !ok || p.Rank(in) != rank {
			return in
		}
		id = in
	}
}

// exchangesByReader lists the exchanges by the first task that reads them, through other exchanges
// too, and then by number.
func exchangesByReader(p *plan.Plan) (order, pos []ir.ID) {
	g := p.Graph
	n := g.Len()
	pos = make([]ir.ID, n)
	for i := range pos {
		pos[i] = ir.ID(n)
	}
	head := make([]ir.ID, n+1) // exchanges with this position
	next := make([]ir.ID, n)
	for i := range head {
		head[i] = ir.None
	}
	count := 0
	for i := n - 1; i >= 0; i-- {
		reader := ir.ID(i)
		if _, ok := p.Exchange(ir.ID(i)); ok {
			reader = pos[i] // all its readers come after it
			next[i], head[reader] = head[reader], ir.ID(i)
			count++
		}
		for _, x := range g.In(ir.ID(i)) {
			pos[x] = min(pos[x], reader)
		}
	}
	order = make([]ir.ID, 0, count)
	for _, h := range head {
		for ; h != ir.None; h = next[h] {
			order = append(order, h)
		}
	}
	return order, pos
}

// treeMembers lists the ranks that move an exchange, the owner first. The start of the others
// rotates from exchange to exchange, so that forwarding is shared.
func treeMembers(buf []int, owner int, to []int64, turn int) []int {
	buf = append(buf, owner)
	for i := range to {
		if m := int(to[(i+turn)%len(to)]); m != owner {
			buf = append(buf, m)
		}
	}
	return buf
}

// parent returns the place above at > 0 in the binomial tree: the lowest set bit is cleared.
func parent(at int) int { return at & (at - 1) }

// lastChild returns the largest j such that at + 1<<j is below at in a tree of n places, or -1.
func lastChild(at, n int) int {
	most := 62
	if at > 0 {
		most = bits.TrailingZeros(uint(at)) - 1
	}
	return min(most, bits.Len(uint(n-1-at))-1)
}
