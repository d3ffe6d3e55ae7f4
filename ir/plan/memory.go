package plan

import (
	"cmp"
	"slices"

	"flow/ir"
	"flow/ir/op"
	"flow/lang/source"
)

// This file predicts how much memory the values of a plan take at one time.

// Memory is the prediction of the memory for the values of a run, in bytes. It follows the greedy order
// of the runtime and its rules for views and for results made in the memory of an operand. Sizes of
// sparse matrices are estimates. The private memory of kernels (packed tiles, buffers of sorts) and the
// texts of files are not counted.
type Memory struct {
	Peak []int64 `json:"peak_bytes_by_rank"`
	// Largest tells what the rank with the largest peak holds at that time, by place in the text, largest
	// first, at most three.
	Largest []Held `json:"largest,omitempty"`
}

// Most is the largest peak of a rank.
func (m *Memory) Most() int64 { return slices.Max(m.Peak) }

// On returns what so many ranks on one machine take at most: the sum of the largest peaks.
func (m *Memory) On(ranks int) (sum int64) {
	peaks := slices.Sorted(slices.Values(m.Peak))
	for _, b := range peaks[max(0, len(peaks)-ranks):] {
		sum += b
	}
	return sum
}

// Held is the values with one origin in the text that a rank holds.
type Held struct {
	Node   ir.ID `json:"node"` // the first of them
	Values int   `json:"values"`
	Bytes  int64 `json:"bytes"`
}

// mostHeld is the length of Memory.Largest.
const mostHeld = 3

// LeastMemory predicts the memory of a run with one worker a rank that takes the smaller of two branches.
// More workers have more tasks at work at a time. A loop counts with at least one round. Measured rates
// have no part in it, so that all ranks get the same.
func LeastMemory(p *Plan) *Memory {
	cost := Costs(p.Graph, nil)
	m, _ := simulateMemory(p, cost, Critical(p.Graph, cost), messageBytes(p.Graph, SparseEdges(p.Graph)), 1, true)
	return m
}

// simulateMemory is simulate with the memory that the run takes. least is as in LeastMemory; otherwise a
// branch counts as the larger one.
func simulateMemory(p *Plan, cost, tail []float64, bytes func(ir.ID) float64, workers int, least bool) (out *Memory, makespan float64) {
	m := newHolding(p, least)
	makespan = simulate(p, cost, tail, bytes, workers, m)
	out = &Memory{Peak: make([]int64, p.Ranks)}
	for r, b := range m.peak {
		out.Peak[r] = int64(b)
	}
	again := newHolding(p, least) // to see what is held at the peak
	again.stopRank = slices.Index(out.Peak, out.Most())
	again.stopAt = m.at[again.stopRank]
	simulate(p, cost, tail, bytes, workers, again)
	out.Largest = again.largest
	return out, makespan
}

// FitsIn reports whether all values of a plan together take at most that many bytes on one rank. It is
// far cheaper than LeastMemory, and false for many plans that fit.
func FitsIn(p *Plan, limit int64) bool {
	g := p.Graph
	s := newSizes(p, true)
	size, root := make([]float64, g.Len()), make([]ir.ID, g.Len())
	s.graph(g, p.Rank, s.l.locate(g, p.Rank, nil), size, root)
	sum := 0.0
	for i, b := range size {
		if sum += b; controls(&g.Nodes[i]) {
			sum += s.inside(g, ir.ID(i), p.Rank(ir.ID(i)))
		}
	}
	return sum <= float64(limit)
}

// Stored returns the bytes of every node's value on a rank that makes it: 0 for one that is unknown before
// the run, sparse, or in the memory of another value.
func Stored(p *Plan) []float64 {
	g := p.Graph
	s := newSizes(p, true)
	size, root := make([]float64, g.Len()), make([]ir.ID, g.Len())
	s.graph(g, p.Rank, s.l.locate(g, p.Rank, nil), size, root)
	for i := range g.Nodes {
		if g.Nodes[i].Op.Look != nil || g.Type(ir.ID(i)).IsSparse() {
			size[i] = 0
		}
	}
	return size
}

// holding follows which values ranks hold while a plan is simulated.
type holding struct {
	p    *Plan
	size []float64 // bytes of a node's value on a rank that makes it; 0 for a view or another name
	root []ir.ID   // the node whose memory a node's value is in
	uses []int32   // by root: readers that have not ended, and messages
	held []float64 // by root: bytes held now, on each rank that makes it
	got  map[int64]*received
	in   map[ir.ID]float64 // bytes inside a loop or branch, beside its operands
	now  []float64         // by rank
	peak []float64
	step int
	at   []int // by rank: the step of the peak

	stopRank, stopAt int
	largest          []Held
}

// received is a value that a rank has from another one.
type received struct {
	id   ir.ID
	rank int
	uses int32
	held float64
}

func newHolding(p *Plan, least bool) *holding {
	g := p.Graph
	n := g.Len()
	m := &holding{p: p, size: make([]float64, n), root: make([]ir.ID, n), uses: make([]int32, n), held: make([]float64, n),
		got: map[int64]*received{}, in: map[ir.ID]float64{}, now: make([]float64, p.Ranks), peak: make([]float64, p.Ranks), at: make([]int, p.Ranks), stopRank: -1}
	s := newSizes(p, least)
	owner := p.Rank
	s.graph(g, owner, s.l.locate(g, owner, nil), m.size, m.root)
	for i := range g.Nodes {
		id := ir.ID(i)
		if to, ok := p.Exchange(id); ok {
			m.uses[m.root[id]]++ // the message
			for _, r := range to {
				m.got[m.key(id, int(r))] = &received{id: id, rank: int(r)}
			}
			continue
		}
		for _, x := range g.In(id) {
			m.each(id, x, func(r *received) { r.uses++ }, func(root ir.ID) { m.uses[root]++ })
		}
		switch n := &g.Nodes[i]; {
		case controls(n):
			m.in[id] = s.inside(g, id, owner(id))
		case n.Op.Control == op.Part && !controls(&g.Nodes[g.In(id)[0]]):
			m.in[g.In(id)[0]] += m.size[id]
		}
	}
	return m
}

func (m *holding) key(id ir.ID, rank int) int64 { return int64(id)*int64(m.p.Ranks) + int64(rank) }

// each calls got for the received values that node id reads as its input x, or own for one that its
// rank has made.
func (m *holding) each(id, x ir.ID, got func(*received), own func(root ir.ID)) {
	if _, ok := m.p.Exchange(x); ok && m.p.Rank(x) != m.p.Rank(id) {
		if rank := m.p.Rank(id); rank != Everywhere {
			got(m.got[m.key(x, rank)])
			return
		}
		for rank := range m.p.Ranks {
			if r := m.got[m.key(x, rank)]; r != nil {
				got(r)
			}
		}
	}
	own(m.root[x])
}

// add changes what the ranks of a node hold.
func (m *holding) add(id ir.ID, bytes float64) {
	if r := m.p.Rank(id); r != Everywhere {
		m.addOn(r, bytes)
		return
	}
	for r := range m.now {
		m.addOn(r, bytes)
	}
}

func (m *holding) addOn(rank int, bytes float64) {
	if bytes == 0 {
		return
	}
	m.step++
	m.now[rank] += bytes
	if m.now[rank] > m.peak[rank] {
		m.peak[rank], m.at[rank] = m.now[rank], m.step
	}
	if rank == m.stopRank && m.step == m.stopAt {
		m.note()
	}
}

// note lists the largest of what a rank holds.
func (m *holding) note() {
	at := map[source.Span]*Held{}
	hold := func(id ir.ID, bytes float64) {
		span := m.p.Graph.Nodes[id].Span
		if at[span] == nil {
			at[span] = &Held{Node: id}
		}
		at[span].Node = min(at[span].Node, id)
		at[span].Values++
		at[span].Bytes += int64(bytes)
	}
	for i, b := range m.held {
		if r := m.p.Rank(ir.ID(i)); b > 0 && (r == m.stopRank || r == Everywhere) {
			hold(ir.ID(i), b)
		}
	}
	for _, r := range m.got {
		if r.held > 0 && r.rank == m.stopRank {
			hold(r.id, r.held)
		}
	}
	for _, h := range at {
		m.largest = append(m.largest, *h)
	}
	slices.SortFunc(m.largest, func(a, b Held) int { return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Node, b.Node)) })
	m.largest = m.largest[:min(len(m.largest), mostHeld)]
}

// begin gives the results of a task their memory.
func (m *holding) begin(id ir.ID) {
	g := m.p.Graph
	n := &g.Nodes[id]
	if n.Op.Control == op.Iterate { // the first round takes over initial values that nothing else reads
		for _, x := range g.In(id)[:n.Carried()] {
			if from := m.root[x]; m.uses[from] == 1 && m.held[from] > 0 {
				m.add(from, -m.held[from])
				m.held[from] = 0
			}
		}
	}
	m.add(id, m.in[id])
	if m.size[id] == 0 || m.root[id] != id || n.Op.Control == op.Part {
		return
	}
	for j, x := range g.In(id) {
		from := m.root[x]
		if TakesOver(n, j) && m.uses[from] == 1 && m.held[from] == m.size[id] && m.p.Rank(from) == m.p.Rank(id) && g.Type(x).Equal(g.Type(id)) {
			m.held[id], m.held[from] = m.held[from], 0
			return
		}
	}
	m.held[id] = m.size[id]
	m.add(id, m.size[id])
}

// end gives back what only the task has read. Parts of several results are held from the end of the
// task that makes them.
func (m *holding) end(id ir.ID) {
	g := m.p.Graph
	if to, ok := m.p.Exchange(id); ok {
		for _, rank := range to {
			r := m.got[m.key(id, int(rank))]
			if r.uses > 0 {
				r.held = m.size[sender(g, id)]
				m.addOn(r.rank, r.held)
			}
		}
		m.release(m.root[id])
		return
	}
	if g.Nodes[id].Op.Control == op.Part && m.root[id] == id && m.uses[id] > 0 {
		m.held[id] = m.size[id]
		m.add(id, m.size[id])
	}
	m.add(id, -m.in[id])
	for _, x := range g.In(id) {
		m.each(id, x, func(r *received) {
			if r.uses--; r.uses == 0 {
				m.addOn(r.rank, -r.held)
				r.held = 0
			}
		}, m.release)
	}
	if m.uses[id] == 0 && m.held[id] > 0 && m.root[id] == id {
		m.add(id, -m.held[id])
		m.held[id] = 0
	}
}

// release ends a use of a root.
func (m *holding) release(root ir.ID) {
	if m.uses[root]--; m.uses[root] == 0 && m.held[root] > 0 {
		m.add(root, -m.held[root])
		m.held[root] = 0
	}
}
