package plan

import (
	"slices"

	"flow/ir"
	"flow/ir/op"
)

// Rates converts work to seconds on this machine, measured once per kernel set or guessed. They
// affect order and predictions, never results.
type Rates interface {
	// Seconds returns the time of one call of that rate class (Def.Rate, or its name).
	Seconds(rate string, w op.Work) float64
}

// StoredRate is the rate class of operators with a sparse result. Each entry takes a search for its
// place.
const StoredRate = "stored"

// Guess is the rates of an average core, used without measurements: 20 GFLOP/s in products, a
// quarter of that in factorisations, 5 GB/s in memory.
type Guess struct{}

// Seconds returns the larger of compute and transfer time, at least 1 us.
func (Guess) Seconds(rate string, w op.Work) float64 {
	flops := 2e9
	switch rate {
	case "gemm", "matmul", "syrk":
		flops = 20e9
	case "trsm":
		flops = 12e9
	case "potrf", "getrf":
		flops = 6e9
	}
	return max(1e-6, w.Flops/flops, w.Bytes/5e9)
}

// Costs returns the predicted seconds of every task. A loop costs the longest path of a round times
// its rounds, as if there were enough workers.
func Costs(g *ir.Graph, r Rates) []float64 { return costs(g, r, Rounds) }

// costs is Costs with the rounds that loops have by of.
func costs(g *ir.Graph, r Rates, of rounding) []float64 {
	if r == nil {
		r = Guess{}
	}
	// Tiled programs have a million tasks of a few shapes.
	type key struct {
		d     *op.Def
		attrs *op.Attrs
		body  *ir.Region
		t     uint32 // type number; a type is five times as large to hash
		n     int
		in    [3]uint32
	}
	known := map[key]float64{}
	out := make([]float64, g.Len())
	sig := op.Sig{}
	estimates := ir.NewEstimator(g)
	for id, n := range g.All() {
		if controls(n) {
			rounds, _ := of(g, id)
			out[id] = float64(rounds) * roundOf(g, id, r, of).Critical
		}
		if n.Op.Cost == nil {
			continue
		}
		in := g.In(id)
		k := key{d: n.Op, attrs: n.Attrs, body: n.Region, t: g.TypeIndex(id), n: len(in)}
		stored := slices.ContainsFunc(in, func(x ir.ID) bool {
			t := g.Type(x)
			return t.IsSparse() || t.IsMatrix() && !t.Known() // of another size elsewhere
		})
		short := len(in) <= len(k.in) && !stored
		if short {
			for j, x := range in {
				k.in[j] = g.TypeIndex(x)
			}
			if s, ok := known[k]; ok {
				out[id] = s
				continue
			}
		}
		sig.Def, sig.Attrs, sig.In = n.Op, n.Attrs, sig.In[:0]
		for _, x := range in {
			sig.In = append(sig.In, estimates.Most(x))
		}
		if sig.Stored = nil; stored {
			sig.Stored = estimates.Inputs(id)
		}
		share := max(1, n.Attrs.Int(Shared))
		if n.Attrs.Int(Turn) > 0 {
			share = 1
		}
		rate := n.Op.Rate
		switch {
		case g.Type(id).IsSparse():
			rate = StoredRate
		case rate == "":
			rate = n.Op.Name
		}
		w := n.Op.Cost(&sig, estimates.Most(id))
		if n.Region != nil && !controls(n) {
			w.Flops = flopsWithin(g, id, w.Flops)
		}
		out[id] = r.Seconds(rate, w) / float64(share)
		if short {
			known[k] = out[id]
		}
	}
	return out
}

// Critical returns for every task the longest path in seconds from its start to the end of the
// program, its own cost included. The maximum is the critical path.
func Critical(g *ir.Graph, cost []float64) []float64 {
	tail := make([]float64, g.Len())
	for i := g.Len() - 1; i >= 0; i-- {
		tail[i] += cost[i]
		for _, in := range g.In(ir.ID(i)) {
			tail[in] = max(tail[in], tail[i])
		}
	}
	return tail
}

// Urgency is Critical with the time of all tasks of the graph added for each gather on a path. A rank
// that starts its part of a gather early keeps no other rank waiting, and has tasks to run while
// messages are under way:
//
//	%1 = pipe(%0); %2 = max.join(%1); %3 = map(%0)   ->   %1 before %3, however long %3 takes
func Urgency(g *ir.Graph, cost []float64) []float64 {
	all := 0.0
	for _, c := range cost {
		all += c
	}
	with := slices.Clone(cost)
	for i := range g.Nodes {
		if meets(&g.Nodes[i]) {
			with[i] += all
		}
	}
	return Critical(g, with)
}

// meets reports a gather, or a loop or branch with one.
func meets(n *ir.Node) bool {
	if controls(n) {
		for r := n.Region; r != nil; r = r.Next {
			for i := range r.Graph.Nodes {
				if meets(&r.Graph.Nodes[i]) {
					return true
				}
			}
		}
	}
	return IsGather(n)
}
