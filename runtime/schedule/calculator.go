package schedule

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// This file defines what a technique is given, Params, and the kinds of calculators it can make.

// MaxN and MaxP bound a loop. Below MaxN every count is exact as a float64, and no formula overflows an int.
const (
	MaxN = 1 << 53
	MaxP = 1 << 20
)

// Params describe one loop to a technique. N and P are always read, the rest by the techniques whose row says so; a
// field left 0 has the default given here. Slices are read and never kept.
type Params struct {
	N, P     int // iterations and workers
	MinChunk int // no chunk but the last is smaller; default 1, or what StaticSteal thinks best

	// Processors is how many workers can work at a time, from 1 to P: COST cuts for so many, whoever they are. Default
	// P.
	Processors int

	// H is the time of one scheduling operation, Mu and Sigma are mean and standard deviation of the time of an
	// iteration, all in one unit. All three 0 means that nothing was measured; then Mu = 1, Sigma = H = 0.5 is assumed,
	// with which the golden lists were made.
	H, Mu, Sigma float64

	Alpha       float64   // TAP: deviations of head room; default 1.3
	Seed        uint64    // RAND, PSS_SEEDED: default 42
	Weights     []float64 // relative speed of each worker; default equal, scaled to sum P
	SWR         float64   // PLS: part handed out as static workload, 0 < SWR <= 1; default 0.5
	First, Last int       // TSS, TFSS: first and last chunk; default ceil(N/2P) and 1
	Stages      int       // FISS: number of stages; default 3
	Divisor     int       // VISS: the first stage is N/(Divisor*P); default 4
	Idle        float64   // PSS: mean number of workers that ask at a time; default P

	// Profile is what COST expects the loop to cost: element b is the time of the iterations from b*N/len to
	// (b+1)*N/len, at speed 1. Default: unknown.
	Profile []float64

	// Aside runs what COST has one worker learn beside the executions that follow, so many seconds by its price list,
	// and returns at once: a simulation does so in its own time. Default: the last worker learns when it claims, or a
	// goroutine does.
	Aside func(seconds float64, learn func())

	// Now is the clock of BOLD, in the unit of Mu; default the time that the worker furthest on has reported. It is
	// called under a lock.
	Now func() float64

	unsized bool // MinChunk was not given
}

// checked refuses impossible params and fills in the defaults.
func (p Params) checked() (Params, error) {
	bad := func(format string, args ...any) (Params, error) { return p, fmt.Errorf(format, args...) }
	switch {
	case p.N < 0 || p.N > MaxN:
		return bad("n = %d: a loop has between 0 and 2^53 iterations", p.N)
	case p.P < 1 || p.P > MaxP:
		return bad("p = %d: there are between 1 and %d workers", p.P, MaxP)
	case p.MinChunk < 0:
		return bad("the smallest chunk is %d: it must be at least 1", p.MinChunk)
	case p.Processors < 0 || p.Processors > p.P:
		return bad("%d processors: there are between 1 and P = %d", p.Processors, p.P)
	case p.First < 0 || p.Last < 0 || p.First > 0 && p.Last > p.First:
		return bad("first chunk %d and last chunk %d: they must be positive and not grow", p.First, p.Last)
	case p.Stages < 0 || p.Stages > 1024:
		return bad("stages = %d: there are between 1 and 1024", p.Stages)
	case p.Divisor < 0 || p.Divisor > MaxP:
		return bad("divisor = %d: it must be between 1 and %d", p.Divisor, MaxP)
	case p.SWR < 0 || p.SWR > 1 || p.SWR != p.SWR:
		return bad("static workload ratio %g: it must be above 0 and at most 1", p.SWR)
	case p.Idle != 0 && !(p.Idle >= 1 && p.Idle <= float64(p.P)):
		return bad("idle = %g: between 1 and P = %d workers ask at a time", p.Idle, p.P)
	}
	for _, f := range []struct {
		name  string
		value float64
	}{{"h", p.H}, {"mu", p.Mu}, {"sigma", p.Sigma}, {"alpha", p.Alpha}} {
		if !(f.value >= 0) || math.IsInf(f.value, 0) {
			return bad("%s = %g: it must be finite and not negative", f.name, f.value)
		}
	}
	weights, err := normalised(p.Weights, p.P)
	if err != nil {
		return p, err
	}
	p.Weights = weights
	for i, c := range p.Profile {
		if !(c >= 0) || math.IsInf(c, 0) {
			return bad("cost %d of the profile is %g: it must be finite and not negative", i, c)
		}
	}
	if p.Mu == 0 && p.Sigma == 0 && p.H == 0 {
		p.Sigma, p.H = 0.5, 0.5
	}
	p.unsized = p.unsized || p.MinChunk == 0
	p.MinChunk = max(p.MinChunk, 1)
	orElse(&p.Processors, p.P)
	orElse(&p.Mu, 1)
	orElse(&p.Alpha, 1.3)
	orElse(&p.Seed, 42)
	orElse(&p.SWR, 0.5)
	orElse(&p.First, max(1, ceilDiv(p.N, 2*p.P)))
	orElse(&p.Last, 1)
	orElse(&p.Stages, 3)
	orElse(&p.Divisor, 4)
	orElse(&p.Idle, float64(p.P))
	return p, nil
}

// normalised is the weights of p workers, of which the mean is 1; all are 1 if there are none.
func normalised(weights []float64, p int) ([]float64, error) {
	if len(weights) == 0 {
		return slices.Repeat([]float64{1}, p), nil
	}
	if len(weights) != p {
		return nil, fmt.Errorf("%d weights for %d workers", len(weights), p)
	}
	sum := 0.0
	for i, w := range weights {
		if sum += w; !(w > 0) || math.IsInf(w, 0) {
			return nil, fmt.Errorf("weight %d is %g: it must be positive and finite", i, w)
		}
	}
	out := slices.Clone(weights)
	for i := range out {
		out[i] *= float64(p) / sum
	}
	return out, nil
}

func orElse[T int | uint64 | float64](x *T, d T) {
	if *x == 0 {
		*x = d
	}
}

// Calculator is what a technique computes for one loop. It is one of three kinds, and whoever hands out chunks asks
// which: Stepped, Stealing or Adaptive; but COST, which is Learning, has claims of its own. Loop returns the params
// with their defaults filled in.
type Calculator interface {
	Loop() Params
}

// Stepped is a calculator whose chunks are a function of the step alone: any process finds its chunk from one
// shared step counter. All methods may be called concurrently.
type Stepped interface {
	Calculator
	// Chunk is the range handed out at step i >= 0; ok is false from the end of the loop on. The ranges of
	// ascending steps lie one behind the other, none is empty, together they are [0, N).
	Chunk(i int) (start, size int, ok bool)
	// Err says why Chunk ended before N; only an expression can fail, after its first steps.
	Err() error
}

// Adaptive is a calculator whose chunks depend on the worker that asks and on what workers reported. Whoever hands out
// chunks keeps two counters, steps and iterations, and adds the size that Next returns to the second: ranges are
// disjoint and cover [0, N) whatever the sizes, so stale reports are harmless.
type Adaptive interface {
	Learning
	// Next is the size of worker's next chunk, from 1 to remaining, given that step chunks have been asked for before
	// and remaining >= 1 iterations have not been handed out. It may be called concurrently.
	Next(worker, step, remaining int) int
}

// Learning is a calculator that is told what workers did.
type Learning interface {
	Calculator
	// Report says that worker did the n iterations from start in so many seconds, without the overhead of claiming
	// them. Calls for one worker must not overlap; calls for different workers may, and chunks may be claimed beside
	// them.
	Report(worker, start, n int, seconds, overhead float64)
	// Restart begins the next execution of the same loop and keeps what was learned. Nothing else may run beside it.
	Restart()
	// Expected is the relative speed of every worker as known now; the sum is P.
	Expected() []float64
}

// Stealing is a calculator under which every worker owns a block of consecutive units, takes pieces from its front, and
// robs others from the back when nothing else is left.
type Stealing interface {
	Calculator
	Unit() int                       // iterations in a unit; N/Unit() is below 2^31
	Initial(worker int) (lo, hi int) // units that a worker owns at the start; together all units or none
	Piece(worker, lo, hi int) int    // units that the worker takes of its lo..hi, from 1 to hi-lo
	Loot(lo, hi int) int             // units that a thief takes of lo..hi, from 1 to hi-lo
}

// loop is embedded by all calculators.
type loop struct{ Params }

// Loop returns the params with their defaults filled in.
func (l *loop) Loop() Params { return l.Params }

// clip is a proposal within [MinChunk, r].
func (l *loop) clip(k, r int) int { return min(max(k, l.MinChunk), r) }

// ceilDiv is ceil(a/b) for a >= 0, b > 0.
func ceilDiv(a, b int) int {
	q := a / b
	if a%b != 0 {
		q++
	}
	return q
}

// divisor divides by a number that is known long before: by a multiplication, which takes a fourth of the time.
type divisor struct {
	d       int
	inverse uint64 // 2^64/d rounded down; 2^64 - 1 for 1
}

func newDivisor(d int) divisor {
	if d == 1 {
		return divisor{1, math.MaxUint64}
	}
	q, _ := bits.Div64(1, 0, uint64(d))
	return divisor{d, q}
}

// ceil is ceilDiv(a, d). The product is below a/d by less than 2, for a <= MaxN.
func (v divisor) ceil(a int) int {
	high, _ := bits.Mul64(uint64(a), v.inverse)
	q := int(high)
	if left := a - q*v.d; left > 0 {
		q++
		if left > v.d {
			q++
		}
	}
	return q
}

// ceil rounds a computed size up. The products of weights and counts carry rounding errors in both directions, so what
// lies above an integer by less than 1e-12 of itself, and by less than a thousandth, is that integer. Not a number and
// negative numbers are 0: clip makes them a chunk.
func ceil(x float64) int {
	switch {
	case !(x > 0):
		return 0
	case x >= MaxN:
		return MaxN
	}
	return int(math.Ceil(x - min(x*1e-12, 1e-3)))
}
