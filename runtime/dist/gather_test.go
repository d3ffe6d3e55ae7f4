package dist

import (
	"slices"
	"testing"
	"time"

	"flow/ir/plan"
	"flow/ir/types"
	"flow/ir/value"
	"flow/runtime/dist/transport/mem"
)

// A rank that others are ahead of fills a later round while messages of its own round are still to be
// received: the columns of its round must not arrive as row pointers of the other.
func TestFillBehindASparseRound(t *testing.T) {
	const n = 8
	m := value.NewCSR(types.F64, n, n, n*n)
	for i := range n * n {
		m.Col[i], m.F64[i] = int32(i%n), float64(i)
	}
	for i := range m.Ptr {
		m.Ptr[i] = int64(n * i)
	}
	var ranks [2]*rank
	for k, c := range mem.New(2, mem.Options{}) {
		r := newRank(c, &plan.Plan{Ranks: 2}, Options{})
		r.gathers = []gathers{{Gathered: plan.Gathered{Type: m.Type()}, pointers: make([]*sparseGathering, 2)}}
		ranks[k] = r
		defer c.Close()
	}
	late, ahead := ranks[0], ranks[1]
	until := func(what string, done func() bool, polled ...*rank) {
		for start := time.Now(); !done(); {
			for _, r := range polled {
				if r.poll(); r.bad != nil {
					t.Fatalf("%s: rank %d: %v", what, r.me, r.bad)
				}
			}
			if time.Since(start) > 10*time.Second {
				t.Fatalf("%s: still under way", what)
			}
		}
	}
	half := func(rank int) []*value.CSR {
		mine := m.View(rank*n/2, n/2)
		return []*value.CSR{mine, mine}
	}
	var got []*value.CSR
	first := false
	late.gatherSparse(0, half(0), func(parts []*value.CSR) { got = parts })
	ahead.gatherSparse(0, half(1), func([]*value.CSR) { first = true })
	until("first round", func() bool { return first }, ahead)
	ahead.gatherSparse(0, half(1), func([]*value.CSR) {})
	late.pollMu.Lock()
	late.mu.Lock()
	late.fillGathers(1, &drain{Gathers: []int32{2}})
	late.mu.Unlock()
	late.pollMu.Unlock()
	until("end", func() bool { return late.quiet() && ahead.quiet() }, late, ahead)
	if want := m.F64[n*n/2:]; len(got) != 2 || !slices.Equal(got[1].F64, want) {
		t.Errorf("the late rank has received %v", got)
	}
}
