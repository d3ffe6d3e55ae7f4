package local

// This file defines what an execution of a loop leaves to the next one of the same node: the
// queues, whose techniques learn; the moments of its iterations, for techniques that need them; and
// the choice of the technique.

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/bits"

	"flow/ir"
	"flow/ir/op"
	"flow/runtime/schedule"
)

func (m *moments) add(units int, seconds, claiming float64) {
	m.n += float64(units)
	m.t += seconds
	m.q += seconds * seconds / float64(units)
	m.claiming += claiming
	m.chunks++
}

// params returns N and P, mean and deviation of the time of a unit and the mean time of claiming,
// as the last execution measured them. The deviation is estimated from chunk totals, as in AF.
func (l *nodeLoop) params(workers int) schedule.Params {
	p := schedule.Params{N: l.cut.units, P: workers, MinChunk: l.cut.least, Processors: l.e.processors}
	if l.cut.ranks > 1 {
		p.Bins = movedBins
	}
	var sum moments
	for i := range l.did {
		m := &l.did[i]
		sum.n += m.n
		sum.t += m.t
		sum.q += m.q
		sum.claiming += m.claiming
		sum.chunks += m.chunks
		*m = moments{}
	}
	if sum.t > 0 {
		p.Mu, p.H = sum.t/sum.n, sum.claiming/sum.chunks
		if sum.chunks > 1 {
			p.Sigma = math.Sqrt(max(0, sum.q-sum.t*p.Mu) / (sum.chunks - 1))
		}
	}
	return p
}

// movedBins is in how many parts COST knows the costs of a rank's rows where ranks help each other.
// What moves from rank to rank (schedule.Parts) is chosen among them. Learning as many takes 80 us.
const movedBins = 1 << 12

const (
	// pace is the least time of a chunk in ns, for a loop in rounds under the default technique. A worker
	// spends 0.2 to 0.4 us between two chunks.
	pace = 6000
	// pacedChunks is the least number of chunks for each worker of such a loop.
	pacedChunks = 4
)

// leastOf returns the least units of a chunk of the loop of task t, predicted from the time of its last
// execution. It returns 0 for a loop outside rounds, for a first execution, and where the program or
// the run states a grain or a technique.
func (e *Engine) leastOf(t int32, c *cut) int {
	i := int(t) - e.dag.counted()
	if i < 0 || e.took[i] == 0 || c.grain > 0 || c.technique != "" || e.o.Schedule.Technique != nil {
		return 0
	}
	workers := len(e.scratch)
	least := min(c.units*pace/(int(e.took[i])*workers), c.units/(pacedChunks*workers))
	return 1 << bits.Len(uint(least)) >> 1 // few values, so that states of executions are found again
}

// noChunk is the failure of a technique that cannot cut the loop of n. Its advice is to change what
// chose the technique.
func noChunk(plan *schedule.Plan, n *ir.Node, err error) *op.Failure {
	f := &op.Failure{Code: codeNoChunk, Msg: err.Error(), Help: "choose another technique with --partitioning"}
	if own(plan, n) != "" {
		f.Help = "choose another technique with (schedule = ..) of the parfor"
	}
	return f
}

// codeNoChunk is the code of a technique that hands out no chunk.
const codeNoChunk = "E609"

// prepare readies the queues for an execution.
func (l *nodeLoop) prepare() (err error) {
	if l.auto != nil {
		l.plan.Technique, l.record = l.auto.Choose(l.key)
		l.queues = l.by[l.plan.Technique]
	}
	// with measured parameters each execution makes new queues
	if l.queues != nil && l.auto == nil && l.did == nil {
		l.queues.Reset()
		return nil
	}
	workers := len(l.e.scratch)
	measured := l.plan.Technique != nil && l.plan.Technique.Measured()
	if l.did == nil && (measured || l.auto != nil) {
		l.did = make([]moments, workers)
	}
	if l.queues != nil && !measured {
		l.queues.Reset()
		return nil
	}
	if l.queues, err = schedule.NewQueues(&l.plan, l.params(workers*l.cut.ranks)); err == nil && l.auto != nil {
		if l.by == nil {
			l.by = map[*schedule.Technique]*schedule.Queues{}
		}
		l.by[l.plan.Technique] = l.queues
	}
	return err
}

// choose sets what chooses the technique of the loops of n, if anything.
func (l *nodeLoop) choose(n *ir.Node) {
	if l.plan.Technique != schedule.Auto {
		return
	}
	if l.auto = l.plan.Selector; l.auto == nil {
		l.auto = l.e.selector
	}
	l.key = schedule.KeyOf(nameOf(n), l.cut.units, len(l.e.scratch))
}

// own returns the technique that the node asks for and gets, or "".
func own(plan *schedule.Plan, n *ir.Node) string {
	if plan.Override {
		return ""
	}
	return n.Attrs.Str("schedule")
}

// nameOf identifies operators whose loops are alike. Those with a body are identified by its hash.
func nameOf(n *ir.Node) string {
	if n.Region == nil {
		return n.Op.Name
	}
	h := fnv.New32a()
	for r := n.Region; r != nil; r = r.Next {
		_, _ = h.Write([]byte(r.Graph.String())) // never fails
	}
	return fmt.Sprintf("%s-%08x", n.Op.Name, h.Sum32())
}

// learn tells the selector how long the loop took, from start to end in nanoseconds.
func (l *nodeLoop) learn(start, end int64) {
	if l.auto == nil {
		return
	}
	var chunks []schedule.Executed
	if l.record {
		chunks = []schedule.Executed{}
		for k := range l.chunks {
			for _, c := range l.chunks[k].list {
				lo, hi := int(c.Lo)/l.leaf, (int(c.Hi)+l.leaf-1)/l.leaf
				chunks = append(chunks, schedule.Executed{Start: lo, N: hi - lo, Worker: int(c.Worker), Seconds: float64(c.End-c.Start) / 1e9})
			}
		}
	}
	l.auto.Done(l.key, l.plan.Technique, l.cut.units, float64(end-start)/1e9, chunks, l.params(len(l.did)).H)
}
