package plan

import (
	"cmp"
	"slices"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
	"flow/lang/source"
)

// This file predicts how much memory the values of a plan take at one time.

// Memory is the prediction of the memory for the values of a run, in bytes. It follows the greedy order
// of the runtime and its rules for views and for results made in the memory of an operand. Sizes of
// sparse matrices are estimates, and rows that the run chooses count as the most that there may be.
// Rows that ranks keep to find what has changed are counted, and entries of sparse files that they have
// parsed before the run. Of the private memory of kernels only op.Def.Beside is counted (keys of sorts,
// but no packed tiles); the texts of files are not.
type Memory struct {
	Peak []int64 `json:"peak_bytes_by_rank"`
	// Largest tells what the rank with the largest peak holds at that time, by place in the text, largest
	// first, at most three.
	Largest []Held `json:"largest,omitempty"`
	// Smaller is the largest peak of a run that takes the smaller branches.
	Smaller int64 `json:"peak_bytes_with_smaller_branches"`
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

// LeastMemory predicts the memory of a run with one worker a rank that takes the smaller of two
// branches. Rows that the run chooses, and entries of sparse matrices that follow from them or are a
// guess, take none. More workers have more tasks at work at a time. A loop counts with at least one
// round. Measured rates have no part in it, so that all ranks get the same.
func LeastMemory(p *Plan) *Memory {
	cost := Costs(p.Graph, nil)
	m, _ := leastMemory(p, cost, Critical(p.Graph, cost), true)
	return m
}

// leastMemory is LeastMemory where the ready task with the largest urgency comes first. A branch counts
// as the larger one unless small. It also returns the tasks in that order.
func leastMemory(p *Plan, cost, urgency []float64, small bool) (*Memory, []ir.ID) {
	m := newHolding(p, true, small)
	simulate(p, cost, urgency, messageBytes(p.Graph, ir.NewEstimator(p.Graph)), 1, m)
	return m.prediction(), m.order
}

// Sparing makes one worker a rank run the tasks in the order of a prediction, which it returns. That is
// the first that fits in limit bytes by the memory of so many ranks on one machine: the order of
// LeastMemory or that of urgency where all branches fit (all), or else where the smaller ones do.
// Otherwise it is the one that takes least. urgency is larger for tasks that come first.
func (p *Plan) Sparing(urgency []int32, ranks int, limit int64) (m *Memory, all bool) {
	cost := Costs(p.Graph, nil)
	orders := [...][]float64{Critical(p.Graph, cost), asFloats(urgency)}
	var order []ir.ID
	for k := 0; k < 4 && (m == nil || m.On(ranks) > limit); k++ {
		all = k < 2
		if x, by := leastMemory(p, cost, orders[k%2], !all); m == nil || x.On(ranks) < m.On(ranks) {
			m, order = x, by
		}
	}
	p.Ordered, p.Prio = true, make([]int32, p.Graph.Len())
	for k, id := range order {
		p.Prio[id] = int32(float64(len(order)-k) / float64(len(order)) * (1 << 30))
	}
	return m, all
}

func asFloats(list []int32) []float64 {
	out := make([]float64, len(list))
	for i, x := range list {
		out[i] = float64(x)
	}
	return out
}

// simulateMemory is simulate with the memory that the run takes.
func simulateMemory(p *Plan, cost, tail []float64, bytes func(ir.ID) float64, workers int) (out *Memory, makespan float64) {
	m := newHolding(p, false, false)
	makespan = simulate(p, cost, tail, bytes, workers, m)
	out = m.prediction()
	if m.differ {
		small := newHolding(p, false, true)
		simulate(p, cost, tail, bytes, workers, small)
		out.Smaller = small.prediction().Most()
	}
	return out, makespan
}

// prediction returns the memory of a simulation that has ended.
func (m *holding) prediction() *Memory {
	out := &Memory{Peak: make([]int64, m.p.Ranks)}
	for r, b := range m.peak {
		out.Peak[r] = int64(b)
	}
	out.Smaller = out.Most()
	out.Largest = m.largest(slices.Index(out.Peak, out.Most()))
	return out
}

// FitsIn reports whether all values of a plan together take at most limit bytes on one rank. A result
// in the memory of an operand that nothing else reads takes none. FitsIn is far cheaper than
// LeastMemory, and returns false for many plans that fit.
func FitsIn(p *Plan, limit int64) bool {
	g := p.Graph
	s := newSizes(p, true, false)
	size, root := make([]float64, g.Len()), make([]ir.ID, g.Len())
	s.graph(g, p.Rank, s.l.locate(g, p.Rank, nil), size, root)
	uses := readersOf(g, root)
	sum := 0.0
	for i, b := range size {
		id := ir.ID(i)
		if _, over := taken(g, id, id, root, uses, size); over && root[id] == id && g.Nodes[i].Op.Control != op.Part {
			b = 0
		}
		sum += s.keptEntries(g, id)
		most := 0.0
		for _, b := range reachedBytes(p, id, size[root[id]]) {
			most = max(most, b)
		}
		sum += most
		if sum += b + s.beside(g, id, p.Rank(id)); g.Type(id).Kind == types.Tuple && !controls(&g.Nodes[i]) {
			sum += resultBytes(g.Type(id))
		}
	}
	return sum <= float64(limit)
}

// Stored returns the bytes of every node's value on a rank that makes it: 0 for one that is unknown
// before the run, sparse, or in the memory of another value.
func Stored(p *Plan) []float64 {
	g := p.Graph
	s := newSizes(p, true, false)
	s.bare = true
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
	p      *Plan
	values []stored // by node
	got    map[int64]*received
	in     map[ir.ID]*lasts      // what a task holds while it runs, beside operands and result
	kept   map[ir.ID]*lasts      // what is held from the start of the run to the end of a task
	near   map[ir.ID][]*received // by root: the rows of other ranks that gathers bring into its memory
	now    []float64             // by rank
	peak   []float64
	step   int
	order  []ir.ID // tasks, in the order in which they begin
	at     []int   // by rank: the step of the peak
	differ bool    // a branch takes more than the other one
}

// stored is the value of a node on each rank that makes it.
type stored struct {
	lasts
	root ir.ID // the node whose memory the value is in
	uses int32 // of a root: readers that have not ended, and messages
}

// lasts is the time that a value is held.
type lasts struct {
	size         float64 // bytes; 0 for a view or another name
	since, until int     // the first step and the last; 0 before they are known
}

func (l *lasts) held() bool { return l.since > 0 && l.until == 0 }

// received is a value that a rank has from another one.
type received struct {
	lasts
	id   ir.ID
	rank int
	uses int32
}

func newHolding(p *Plan, least, small bool) *holding {
	g := p.Graph
	n := g.Len()
	m := &holding{p: p, values: make([]stored, n), got: map[int64]*received{}, in: map[ir.ID]*lasts{}, kept: map[ir.ID]*lasts{}, near: map[ir.ID][]*received{},
		now: make([]float64, p.Ranks), peak: make([]float64, p.Ranks), at: make([]int, p.Ranks)}
	s := newSizes(p, least, small)
	owner := p.Rank
	size, root := make([]float64, n), make([]ir.ID, n)
	s.graph(g, owner, s.l.locate(g, owner, nil), size, root)
	for i := range m.values {
		m.values[i] = stored{lasts: lasts{size: size[i]}, root: root[i]}
		if kept := s.keptEntries(g, ir.ID(i)); kept > 0 {
			m.kept[ir.ID(i)] = &lasts{size: kept}
			m.hold(m.kept[ir.ID(i)], owner(ir.ID(i)))
		}
	}
	for id := range g.All() {
		if to, ok := p.exchange(id); ok {
			m.values[root[id]].uses++ // the message
			for _, r := range to {
				m.got[m.key(id, int(r))] = &received{id: id, rank: int(r)}
			}
			continue
		}
		for _, x := range g.In(id) {
			m.each(id, x, func(r *received) { r.uses++ }, func(root ir.ID) { m.values[root].uses++ })
		}
		switch n, beside := &g.Nodes[id], s.beside(g, id, owner(id)); {
		case controls(n) || beside > 0:
			m.in[id] = &lasts{size: beside}
		case g.Type(id).Kind == types.Tuple: // also what has no reader is there while the task runs
			m.in[id] = &lasts{size: resultBytes(g.Type(id))}
		case n.Op.Control == op.Part && !controls(&g.Nodes[g.In(id)[0]]):
			if l := m.in[g.In(id)[0]]; l != nil {
				l.size += size[id] - resultBytes(g.Type(id))
			}
		}
	}
	m.differ = s.differ
	return m
}

// resultBytes returns the bytes of a dense result of a known size, or of all of several results.
func resultBytes(t types.Type) (bytes float64) {
	switch {
	case t.Kind == types.Tuple:
		for _, f := range t.Ext.Fields {
			bytes += resultBytes(f.Type)
		}
	case t.IsDense() && t.Known():
		bytes = float64(t.Bytes())
	}
	return bytes
}

func (m *holding) key(id ir.ID, rank int) int64 { return int64(id)*int64(m.p.Ranks) + int64(rank) }

// each calls got for the received values that node id reads as its input x, or own for one that its
// rank has made.
func (m *holding) each(id, x ir.ID, got func(*received), own func(root ir.ID)) {
	if _, ok := m.p.exchange(x); ok && m.p.Rank(x) != m.p.Rank(id) {
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
	own(m.values[x].root)
}

// add changes what a rank holds, or, where rank is Everywhere, what all hold.
func (m *holding) add(rank int, bytes float64) {
	if rank != Everywhere {
		m.addOn(rank, bytes)
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
}

// hold begins to hold a value on a rank, or, where rank is Everywhere, on all. l is nil if there is
// none.
func (m *holding) hold(l *lasts, rank int) {
	if l != nil && l.size > 0 {
		l.since = m.step + 1
		m.add(rank, l.size)
	}
}

// drop ends to hold a value.
func (m *holding) drop(l *lasts, rank int) {
	if l != nil && l.held() {
		l.until = m.step
		m.add(rank, -l.size)
	}
}

// largest lists the largest of what a rank holds at its peak.
func (m *holding) largest(rank int) (list []Held) {
	at := map[source.Span]*Held{}
	note := func(id ir.ID, l *lasts) {
		if t := m.at[rank]; l == nil || l.since == 0 || l.since > t || l.until > 0 && l.until < t {
			return
		}
		span := m.p.Graph.Nodes[id].Span
		if at[span] == nil {
			at[span] = &Held{Node: id}
		}
		at[span].Node = min(at[span].Node, id)
		at[span].Values++
		at[span].Bytes += int64(l.size)
	}
	for i := range m.values {
		id := ir.ID(i)
		if r := m.p.Rank(id); r == rank || r == Everywhere {
			for _, l := range []*lasts{&m.values[i].lasts, m.in[id], m.kept[id]} {
				note(id, l)
			}
		}
	}
	for _, r := range m.got {
		if r.rank == rank {
			note(r.id, &r.lasts)
		}
	}
	for _, h := range at {
		list = append(list, *h)
	}
	slices.SortFunc(list, func(a, b Held) int { return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Node, b.Node)) })
	return list[:min(len(list), mostHeld)]
}

// begin gives the results of a task their memory.
func (m *holding) begin(id ir.ID) {
	m.order = append(m.order, id)
	g := m.p.Graph
	n := &g.Nodes[id]
	rank := m.p.Rank(id)
	if n.Op.Control == op.Iterate { // the first round takes over initial values that nothing else reads
		for _, x := range g.In(id)[:n.Carried()] {
			root := m.values[x].root
			if m.values[root].uses == 1 {
				m.dropValue(root)
			}
		}
	}
	m.hold(m.in[id], rank)
	v := &m.values[id]
	for r, bytes := range reachedBytes(m.p, id, m.values[v.root].size) {
		if bytes > 0 {
			x := &received{lasts: lasts{size: bytes}, id: id, rank: r}
			m.got[m.key(id, r)], m.near[v.root] = x, append(m.near[v.root], x)
			m.hold(&x.lasts, r)
		}
	}
	if v.size == 0 || v.root != id || n.Op.Control == op.Part {
		return
	}
	for j, x := range g.In(id) {
		root := m.values[x].root
		from := &m.values[root]
		if TakesOver(g, id, j) && from.uses == 1 && from.held() && from.size == v.size && m.p.Rank(root) == rank && g.Type(x).Equal(g.Type(id)) {
			from.until, v.since = m.step, m.step+1
			m.near[id] = m.near[root]
			delete(m.near, root)
			return
		}
	}
	m.hold(&v.lasts, rank)
}

// end gives back what only the task has read. Parts of several results are held from the end of the
// task that makes them.
func (m *holding) end(id ir.ID) {
	g := m.p.Graph
	v := &m.values[id]
	if to, ok := m.p.exchange(id); ok {
		for _, rank := range to {
			if r := m.got[m.key(id, int(rank))]; r.uses > 0 {
				r.size = m.values[sender(g, id)].size
				m.hold(&r.lasts, r.rank)
			}
		}
		m.release(v.root)
		return
	}
	rank := m.p.Rank(id)
	if g.Nodes[id].Op.Control == op.Part && v.root == id && v.uses > 0 {
		m.hold(&v.lasts, rank)
	}
	m.drop(m.in[id], rank)
	m.drop(m.kept[id], rank)
	for _, x := range g.In(id) {
		m.each(id, x, func(r *received) {
			if r.uses--; r.uses == 0 {
				m.drop(&r.lasts, r.rank)
			}
		}, m.release)
	}
	if v.uses == 0 && v.root == id {
		m.dropValue(id)
	}
}

// release ends a use of a root.
func (m *holding) release(root ir.ID) {
	v := &m.values[root]
	if v.uses--; v.uses == 0 {
		m.dropValue(root)
	}
}

// dropValue releases the value of a root, and the rows that gathers have brought into its memory.
func (m *holding) dropValue(root ir.ID) {
	m.drop(&m.values[root].lasts, m.p.Rank(root))
	for _, x := range m.near[root] {
		m.drop(&x.lasts, x.rank)
	}
	delete(m.near, root)
}

// reachedBytes returns, by rank, the bytes of the rows of other ranks that gather id brings (Reach):
// rank 0 may get all of a matrix that it writes to a file. size is the memory of the matrix on a rank.
// reachedBytes returns nil for another node, and if size is that of the whole matrix. A second gather
// of the same rows counts again, which is too much.
func reachedBytes(p *Plan, id ir.ID, size float64) (out []float64) {
	n, t := &p.Graph.Nodes[id], p.Graph.Type(id)
	if n.Op.Role != op.Gathers || !t.IsDense() || !t.Known() || size >= float64(t.Bytes()) {
		return nil
	}
	g := gatheredBy(n.Attrs, t)
	if g.needs == nil {
		return nil
	}
	out = make([]float64, p.Ranks)
	for to := range p.Ranks {
		for from := range p.Ranks {
			if from == to {
				continue
			}
			for _, r := range g.rows(from, to, p.Ranks) {
				out[to] += float64(g.Bytes(r))
			}
		}
	}
	return out
}
