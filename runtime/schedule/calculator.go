package schedule

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// This file defines Params, the input of a technique, and the kinds of calculators.

// MaxN and MaxP bound a loop. Below MaxN every count is exact as a float64, and no formula
// overflows an int.
const (
	MaxN = 1 << 53
	MaxP = 1 << 20
)

// Params describe one loop to a technique. All techniques read N and P, and the other fields if
// their row says so. A field of 0 has the default given here. Slices are read and not kept.
type Params struct {
	N, P     int // iterations and workers
	MinChunk int // least size of all chunks but the last; default 1, or StaticSteal's choice

	// Processors is how many workers can run at a time, from 1 to P: COST cuts for that many.
	// Default P.
	Processors int

	// H is the time of one scheduling operation, Mu and Sigma are mean and standard deviation
	// of the time of an iteration, in one unit. All 0 means that nothing was measured; then Mu
	// = 1 and Sigma = H = 0.5, as in the golden lists.
	H, Mu, Sigma float64

	Alpha       float64   // TAP: deviations of head room; default 1.3
	Seed        uint64    // RAND, PSS_SEEDED: default 42
	Weights     []float64 // relative speed of each worker; default equal, scaled to sum P
	SWR         float64   // PLS: static part of the loop, 0 < SWR <= 1; default 0.5
	First, Last int       // TSS, TFSS: first and last chunk; default ceil(N/2P) and 1
	Stages      int       // FISS: number of stages; default 3
	Divisor     int       // VISS: the first stage is N/(Divisor*P); default 4
	Idle        float64   // PSS: mean number of workers that ask at a time; default P

	// Profile is the cost that COST expects: element b is the time of the iterations from
	// b*N/len to (b+1)*N/len, at speed 1. Default: unknown.
	Profile []float64

	// Bins is the least number of bins of the profile that COST learns, if there are as many iterations.
	// Default: as many as cutting the loop needs.
	Bins int

	// Aside runs a lesson of COST, which one worker learns beside the next executions, and
	// returns at once; seconds is its estimated cost. A simulation runs it in virtual time.
	// Default: the last worker learns when it claims, or a goroutine does.
	Aside func(seconds float64, learn func())

	// Now is the clock of BOLD, in the unit of Mu; default the greatest time that a worker has
	// reported. It is called under a lock.
	Now func() float64

	unsized bool // MinChunk was not given
}

// checked refuses impossible params and sets the defaults.
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

// normalised returns the weights of p workers scaled to mean 1; all 1 if there are none.
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

// Calculator is a technique's computation for one loop. It is Stepped, Stealing or Adaptive, except
// COST, which is Learning and claims for itself. Loop returns the params with their defaults.
type Calculator interface {
	Loop() Params
}

// Stepped is a calculator whose chunks depend on the step alone: any process finds its chunk from a
// shared step counter. All methods are safe for concurrent use.
type Stepped interface {
	Calculator
	// Chunk returns the range of step i >= 0. ok is false from the end of the loop on. The
	// ranges of ascending steps are consecutive and nonempty and cover [0, N).
	Chunk(i int) (start, size int, ok bool)
	// Err says why Chunk ended before N. Only an expression can fail, after its first steps.
	Err() error
}

// Adaptive is a calculator whose chunks depend on the asking worker and on reports. The caller
// keeps two counters, steps and iterations, and adds the size from Next to the second. Ranges are
// disjoint and cover [0, N) whatever the sizes, so stale reports are harmless.
type Adaptive interface {
	Learning
	// Next returns the size of worker's next chunk, from 1 to remaining, after step requests
	// and with remaining >= 1 unclaimed iterations. It is safe for concurrent use.
	Next(worker, step, remaining int) int
}

// Learning is a calculator that learns from reports.
type Learning interface {
	Calculator
	// Report says that worker executed the n iterations from start in this many seconds,
	// without the overhead of claiming them. Calls for one worker must not overlap; calls for
	// different workers, and claims, may.
	Report(worker, start, n int, seconds, overhead float64)
	// Restart begins the next execution of the same loop and keeps what was learned. It must
	// not overlap with other calls.
	Restart()
}

// Stealing is a calculator under which every worker owns a block of consecutive units, takes pieces
// from its front, and steals from the back of others when its own is empty.
type Stealing interface {
	Calculator
	Unit() int // iterations in a unit; N/Unit() is below 2^31
	// units that a worker owns at the start; together all units or none
	Initial(worker int) (lo, hi int)
	// units that the worker takes of its lo..hi, from 1 to hi-lo
	Piece(worker, lo, hi int) int
	Steal(lo, hi int) int // units that a thief takes of lo..hi, from 1 to hi-lo
}

// packedUnits is the most iterations or units of a packed counter, and the most steps.
const packedUnits = 1<<32 - 1

// loop is embedded by all calculators.
type loop struct{ Params }

// Loop returns the params with their defaults.
func (l *loop) Loop() Params { return l.Params }

// clip returns k limited to [MinChunk, r].
func (l *loop) clip(k, r int) int { return min(max(k, l.MinChunk), r) }

// ceilDiv returns ceil(a/b) for a >= 0, b > 0.
func ceilDiv(a, b int) int {
	q := a / b
	if a%b != 0 {
		q++
	}
	return q
}

// divisor divides by a constant through a multiplication, in a fourth of the time.
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

// ceil rounds a computed size up. Products of weights and counts have rounding errors, so a value
// above an integer by less than 1e-12 of itself, and by less than a thousandth, is that integer.
// NaN and negative numbers are 0, which clip makes a chunk.
func ceil(x float64) int {
	switch {
	case !(x > 0):
		return 0
	case x >= MaxN:
		return MaxN
	}
	return int(math.Ceil(x - min(x*1e-12, 1e-3)))
}
