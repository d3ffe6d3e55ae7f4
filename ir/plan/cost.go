package plan

import (
	"flow/ir"
	"flow/ir/op"
)

// Rates turns work into seconds on this machine: measured once per kernel set, or
// guessed. They steer order and predictions, never what is computed.
type Rates interface {
	// Seconds is the time of one call of that rate class (Def.Rate, or its name).
	Seconds(rate string, w op.Work) float64
}

// Guess is rates of a middling core, for when nothing has been measured: 20 GFLOP/s
// in products, a quarter of that in factorisations, 5 GB/s in memory.
type Guess struct{}

// Seconds is the larger of the time to compute and the time to move, and 1 us at least.
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

// Costs is the predicted seconds of every task. A loop takes the longest path of a round as often as it has rounds, as if there
// were workers enough.
func Costs(g *ir.Graph, r Rates) []float64 {
	if r == nil {
		r = Guess{}
	}
	// Tiled programs have a million tasks of a few shapes.
	type key struct {
		d     *op.Def
		attrs *op.Attrs
		t     uint32 // of types; a type itself is five times the size to hash
		n     int
		in    [3]uint32
	}
	known := map[key]float64{}
	out := make([]float64, g.Len())
	sig := op.Sig{}
	for i := range g.Nodes {
		id := ir.ID(i)
		n := &g.Nodes[i]
		if controls(n) {
			rounds, _ := roundsOf(n)
			out[i] = float64(rounds) * roundOf(n, r).Critical
		}
		if n.Op.Cost == nil {
			continue
		}
		in := g.In(id)
		k := key{d: n.Op, attrs: n.Attrs, t: g.TypeIndex(id), n: len(in)}
		short := len(in) <= len(k.in)
		if short {
			for j, x := range in {
				k.in[j] = g.TypeIndex(x)
			}
			if s, ok := known[k]; ok {
				out[i] = s
				continue
			}
		}
		sig.Def, sig.Attrs, sig.In = n.Op, n.Attrs, sig.In[:0]
		for _, x := range in {
			sig.In = append(sig.In, g.Type(x))
		}
		rate := n.Op.Rate
		if rate == "" {
			rate = n.Op.Name
		}
		out[i] = r.Seconds(rate, n.Op.Cost(&sig, g.Type(id)))
		if short {
			known[k] = out[i]
		}
	}
	return out
}

// Critical is, for every task, the longest path in seconds from its start to the end
// of the program (its own cost included). The largest is the critical path.
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
