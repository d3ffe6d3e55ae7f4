package plan

import (
	"sort"

	"flow/ir"
	"flow/ir/op"
)

// Summary predicts what a plan will do.
type Summary struct {
	Ranks        int           `json:"ranks"`
	Workers      int           `json:"workers_per_rank"`
	Tasks        int           `json:"tasks"`
	Edges        int           `json:"edges"`
	Kernels      []KernelCount `json:"kernels"`
	TotalSeconds float64       `json:"total_seconds"` // work of all tasks, one after the other
	CriticalPath float64       `json:"critical_path_seconds"`
	CriticalLen  int           `json:"critical_path_tasks"`
	Parallelism  float64       `json:"mean_parallelism"` // total / critical path
	Makespan     float64       `json:"predicted_makespan_seconds"`
	// max(critical path, total / workers): a lower bound of any schedule
	Bound     float64      `json:"bound_seconds"`
	Bytes     int64        `json:"bytes_between_ranks"`
	Messages  int          `json:"messages"`
	Load      []float64    `json:"load_seconds_by_rank"`
	LoadRatio float64      `json:"load_max_over_mean"`
	BusyRanks int          `json:"ranks_with_work"`
	Loops     []LoopCount  `json:"loops,omitempty"`
	Sparse    []SparseEdge `json:"sparse,omitempty"`
	Layouts   []Layout     `json:"layouts,omitempty"` // on several ranks
	Shares    string       `json:"shares,omitempty"`  // how ranks share matrices, and why
	Memory    *Memory      `json:"memory"`
}

// KernelCount counts the tasks of one kernel.
type KernelCount struct {
	Name    string  `json:"name"`
	Tasks   int     `json:"tasks"`
	Seconds float64 `json:"seconds"`
	Flops   float64 `json:"-"`
}

// LoopCount describes a loop at the top of a program. Its tasks are not counted in the Summary: the
// loop is one task.
type LoopCount struct {
	Node    ir.ID   `json:"node"`
	Rounds  int64   `json:"rounds"`
	Assumed bool    `json:"rounds_assumed"` // the run decides; Rounds is assumedRounds
	Tasks   int     `json:"tasks_per_round"`
	Seconds float64 `json:"seconds_per_round"` // of all its tasks
}

// latency and bandwidth of a message between ranks of one machine, for the prediction.
const (
	latency   = 2e-6
	bandwidth = 4e9
)

// Summarise predicts a run with that many workers a rank. The makespan is that of the runtime's
// rule, greedy by priority, on the predicted costs.
func Summarise(p *Plan, r Rates, workers int) Summary {
	g := p.Graph
	cost := costs(g, r, roundsOf)
	tail := Critical(g, cost)
	s := Summary{Ranks: p.Ranks, Workers: workers, Edges: g.NumEdges(), Load: make([]float64, p.Ranks), Sparse: SparseEdges(g)}
	bytes := messageBytes(g, ir.NewEstimator(g))
	byName := map[string]*KernelCount{}
	for id, n := range g.All() {
		if _, ok := p.Exchange(id); ok {
			cost[id] = 0
			continue
		}
		if n.Op.Control == op.Part {
			continue
		}
		s.Tasks++
		work := s.loop(p, id, r, workers, cost)
		if p.Rank(id) == Everywhere {
			for r := range s.Load {
				s.Load[r] += work
			}
			work *= float64(p.Ranks)
		} else {
			s.Load[p.Rank(id)] += work
		}
		s.TotalSeconds += work
		k := byName[n.Op.Name]
		if k == nil {
			k = &KernelCount{Name: n.Op.Name}
			byName[k.Name] = k
		}
		k.Tasks++
		k.Seconds += work
		s.CriticalPath = max(s.CriticalPath, tail[id])
	}
	for _, k := range byName {
		s.Kernels = append(s.Kernels, *k)
	}
	sort.Slice(s.Kernels, func(i, j int) bool {
		a, b := s.Kernels[i], s.Kernels[j]
		return a.Tasks > b.Tasks || a.Tasks == b.Tasks && a.Name < b.Name
	})
	s.CriticalLen = pathLength(g, cost, tail)
	if s.CriticalPath > 0 {
		s.Parallelism = s.TotalSeconds / s.CriticalPath
	}
	s.Bound = max(s.CriticalPath, s.TotalSeconds/float64(workers*p.Ranks))
	var sum, most float64
	for _, l := range s.Load {
		sum += l
		most = max(most, l)
		if l > 0 {
			s.BusyRanks++
		}
	}
	if sum > 0 {
		s.LoadRatio = most * float64(p.Ranks) / sum
	}
	if p.Ordered {
		tail = asFloats(p.Prio)
	}
	s.Memory, s.Makespan = simulateMemory(p, cost, tail, bytes, workers)
	if p.Ranks > 1 {
		s.Layouts, s.Shares = Layouts(p), p.Shares
	}
	var sent float64
	for _, x := range s.Layouts {
		s.Messages += int(x.Messages)
		sent += x.Bytes
	}
	s.Bytes = int64(sent)
	return s
}

// loop returns the work of a node. A loop or branch is added to the list of loops, and its cost
// becomes the time that the workers need.
func (s *Summary) loop(p *Plan, id ir.ID, r Rates, workers int, cost []float64) float64 {
	n := &p.Graph.Nodes[id]
	if !controls(n) {
		return cost[id]
	}
	rounds, known := roundsOf(p.Graph, id)
	x := roundOf(p.Graph, id, r, roundsOf)
	if n.Op.Control == op.Iterate {
		s.Loops = append(s.Loops, LoopCount{id, rounds, !known, x.Tasks, x.Total})
	}
	work := float64(rounds) * x.Total
	cost[id] = max(float64(rounds)*x.Critical, work/float64(workers))
	return work
}

// pathLength returns the number of tasks on the critical path.
func pathLength(g *ir.Graph, cost, tail []float64) int {
	at, best := -1, -1.0
	for i := range tail {
		if tail[i] > best {
			at, best = i, tail[i]
		}
	}
	if at < 0 {
		return 0
	}
	succ := make([]int32, len(tail)) // the reader on the longest path
	for i := range succ {
		succ[i] = -1
	}
	for i := range g.Nodes {
		for _, in := range g.In(ir.ID(i)) {
			if succ[in] < 0 || tail[i] > tail[succ[in]] {
				succ[in] = int32(i)
			}
		}
	}
	n := 0
	for ; at >= 0; at = int(succ[at]) {
		n++
	}
	return n
}

// event is the end of a task, or a ready task in a queue.
type event struct {
	key  float64
	task int32
}

type events []event

// before orders the events of a heap. No two are equal, so the order in which they leave it is unique.
func (e event) before(x event) bool { return e.key < x.key || e.key == x.key && e.task < x.task }

func (e *events) push(x event) {
	l := append(*e, x)
	k := len(l) - 1
	for k > 0 && x.before(l[(k-1)/2]) {
		l[k] = l[(k-1)/2]
		k = (k - 1) / 2
	}
	l[k], *e = x, l
}

// pop removes the first event.
func (e *events) pop() event {
	l := *e
	n := len(l) - 1
	first, x := l[0], l[n]
	k := 0
	for c := 1; c < n; c = 2*k + 1 {
		if c+1 < n && l[c+1].before(l[c]) {
			c++
		}
		if !l[c].before(x) {
			break
		}
		l[k], k = l[c], c
	}
	l[k], *e = x, l[:n]
	return first
}

// dependencies returns the number of nodes that each node waits for, and the nodes that wait for each.
// Those of node i are succ[off[i]:off[i+1]]: once for each input that reads it, and what shows
// something only after i has succeeded.
func dependencies(g *ir.Graph) (waits, off, succ []int32) {
	n := g.Len()
	waits, off = make([]int32, n), make([]int32, n+1)
	guards := ir.Guards(g, 0, ir.ID(n))
	each := func(f func(from, to ir.ID)) {
		for i := range g.Nodes {
			for _, in := range g.In(ir.ID(i)) {
				f(in, ir.ID(i))
			}
		}
		for _, x := range guards {
			f(x.By, x.Shown)
		}
	}
	each(func(from, to ir.ID) { waits[to]++; off[from+1]++ })
	for i := range n {
		off[i+1] += off[i]
	}
	succ = make([]int32, off[n])
	fill := append([]int32(nil), off[:n]...)
	each(func(from, to ir.ID) {
		succ[fill[from]] = int32(to)
		fill[from]++
	})
	return waits, off, succ
}

// simulate performs greedy list scheduling: a free worker of a rank takes the ready task with the
// longest path to the end. An exchange ends after its latency and transfer and occupies no worker.
// held is told when tasks begin and end.
func simulate(p *Plan, cost, tail []float64, bytes func(ir.ID) float64, workers int, held *holding) float64 {
	g := p.Graph
	waits, off, succ := dependencies(g)
	ready := make([]events, p.Ranks)
	free := make([]int, p.Ranks)
	for r := range free {
		free[r] = workers
	}
	var running events
	now := 0.0
	enable := func(t int32) {
		if to, ok := p.exchange(ir.ID(t)); ok && len(to) > 0 {
			running.push(event{now + latency + bytes(ir.ID(t))/bandwidth, t})
			return
		}
		ready[p.Home(ir.ID(t))].push(event{-tail[t], t})
	}
	start := func(r int) {
		for free[r] > 0 && len(ready[r]) > 0 {
			e := ready[r].pop()
			free[r]--
			held.begin(ir.ID(e.task))
			running.push(event{now + cost[e.task], e.task})
		}
	}
	for i, n := range waits {
		if n == 0 {
			enable(int32(i))
		}
	}
	for r := range ready {
		start(r)
	}
	// ended ends a task and appends the tasks that can begin to list. A part of several results is no task
	// and ends with them.
	var ended func(task int32, list []int32) (enabled []int32)
	ended = func(task int32, list []int32) []int32 {
		held.end(ir.ID(task))
		for _, t := range succ[off[task]:off[task+1]] {
			if waits[t]--; waits[t] > 0 {
				continue
			}
			if g.Nodes[t].Op.Control == op.Part {
				held.begin(ir.ID(t))
				list = ended(t, list)
			} else {
				list = append(list, t)
			}
		}
		return list
	}
	var enabled []int32
	for len(running) > 0 {
		e := running.pop()
		now = e.key
		enabled = ended(e.task, enabled[:0])
		if to, ok := p.exchange(ir.ID(e.task)); !ok || len(to) == 0 {
			free[p.Home(ir.ID(e.task))]++
		}
		for _, t := range enabled {
			enable(t)
		}
		for _, t := range enabled {
			start(p.Home(ir.ID(t)))
		}
		start(p.Home(ir.ID(e.task)))
	}
	return now
}
