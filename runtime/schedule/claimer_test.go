package schedule

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// This file checks that each iteration is handed out exactly once whatever the workers do, and what
// a claim costs.

func claimer(tb testing.TB, name string, p Params) *Claimer {
	tb.Helper()
	tech, err := Lookup(name)
	if err != nil {
		tb.Fatal(err)
	}
	calc, err := tech.New(p)
	if err != nil {
		tb.Fatal(err)
	}
	return NewClaimer(calc)
}

// TestExactlyOnce lets all workers claim as fast as they can, execution after execution.
func TestExactlyOnce(t *testing.T) {
	names := []string{"expr: max(1, R/(2*P) - i % 3)"}
	for _, row := range techniques() {
		names = append(names, row.Name)
	}
	for _, name := range names {
		for _, p := range []Params{{N: 20011, P: 8}, {N: 3, P: 8}, {N: 4099, P: 3, MinChunk: 7, Weights: []float64{1, 5, 2}}} {
			c := claimer(t, name, p)
			if pss, ok := c.own.(*pssMeasured); ok && p.P == 3 {
				pss.locked = true // as if the counters did not fit into a word
			}
			did := make([]atomic.Int32, p.N)
			for execution := range 4 {
				var wg sync.WaitGroup
				for w := range p.P {
					wg.Go(func() {
						for {
							start, size, ok := c.Claim(w)
							if !ok {
								return
							}
							for i := start; i < start+size; i++ {
								did[i].Add(1)
							}
							if size%5 == 0 {
								runtime.Gosched() // let thieves in
							}
							c.Report(w, start, size, float64(size)*float64(1+w), 0.1)
						}
					})
				}
				wg.Wait()
				if err := c.Err(); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				for i := range did {
					if got := int(did[i].Load()); got != execution+1 {
						t.Fatalf("%s N=%d P=%d execution %d: iteration %d was done %d times", name, p.N, p.P, execution, i, got)
					}
				}
				c.Reset()
			}
		}
	}
}

// TestSharedCalculator: one stepped calculator serves many processes' claims at once; all see the
// same ranges.
func TestSharedCalculator(t *testing.T) {
	for _, name := range []string{"GSS", "PSS_SEEDED", "RAND", "FAC"} {
		tech, err := Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		p := Params{N: 1_000_000, P: 64}
		calc, err := tech.New(p)
		if err != nil {
			t.Fatal(err)
		}
		alone, err := tech.New(p)
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for g := range 4 {
			wg.Go(func() {
				for i := range 3000 {
					step := (i*7 + g*501) % 3000
					start, size, ok := calc.(Stepped).Chunk(step)
					if ok && (start < 0 || size <= 0 || start+size > p.N) || !ok && size != 0 {
						t.Errorf("%s step %d: %d %d %v", name, step, start, size, ok)
					}
				}
			})
		}
		wg.Wait()
		for i, at := 0, 0; ; i++ {
			start, size, ok := calc.(Stepped).Chunk(i)
			if s, k, o := alone.(Stepped).Chunk(i); s != start || k != size || o != ok {
				t.Fatalf("%s step %d: %d %d %v computed by many, %d %d %v by one", name, i, start, size, ok, s, k, o)
			}
			if start != at {
				t.Fatalf("%s step %d begins at %d, want %d", name, i, start, at)
			}
			if at += size; !ok {
				break
			}
		}
	}
}

// TestClaimAllocates demands that claiming from a known table does not.
func TestClaimAllocates(t *testing.T) {
	for _, name := range []string{"STATIC", "SS", "GSS", "FAC2", "WF2", "AWF-C", "AF_CAP", "StaticSteal", "PSS_MEASURED", "BOLD", "AWF", "AWF-B", "COST"} {
		c := claimer(t, name, Params{N: 100000, P: 4})
		for c.drained(0) {
		}
		c.Reset()
		for c.drained(1) { // what is kept from one execution for the next is there
		}
		if got := testing.AllocsPerRun(100, func() { c.Reset(); c.Claim(0); c.Claim(1) }); got != 0 {
			t.Errorf("%s: %g allocations a claim", name, got)
		}
	}
}

// overtaken is a technique in which, while the first worker's chunk is computed, another one claims
// nearly all.
type overtaken struct {
	loop
	c *Claimer
}

func (o *overtaken) Next(worker, _, remaining int) int {
	if worker == 0 {
		o.c.Claim(1)
		return 40
	}
	return remaining - 10
}
func (o *overtaken) stepless() bool                   { return true }
func (o *overtaken) Report(_, _, _ int, _, _ float64) {}
func (o *overtaken) Restart()                         {}

// TestOvertaken: a size that was computed from what is out of date does not reach beyond the end.
func TestOvertaken(t *testing.T) {
	o := &overtaken{loop: loop{Params{N: 100, P: 2}}}
	o.c = NewClaimer(o)
	if start, size, ok := o.c.Claim(0); start != 90 || size != 10 || !ok {
		t.Errorf("%d iterations from %d on, %v; want 10 from 90", size, start, ok)
	}
	if _, _, ok := o.c.Claim(0); ok {
		t.Error("there is more than all")
	}
}

// drained claims once and says whether there was something.
func (c *Claimer) drained(worker int) bool {
	_, _, ok := c.Claim(worker)
	return ok
}

// BenchmarkClaim is one uncontended claim; a loop of 2^20 iterations is claimed again and again by
// one worker of 8.
func BenchmarkClaim(b *testing.B) {
	for _, name := range []string{"STATIC", "SS", "MFSC", "GSS", "FAC2", "TSS", "RAND", "WF2", "AWF-B", "AWF-C", "AF_CAP", "StaticSteal", "COST", "expr: R/(1.5*P)"} {
		b.Run(name, func(b *testing.B) {
			c := claimer(b, name, Params{N: 1 << 20, P: 8})
			for b.Loop() {
				if !c.drained(0) {
					c.step.Store(0)
					c.next.Store(0)
					if c.stealing != nil {
						c.deal()
					}
					if c.cost != nil {
						c.cost.begin()
					}
				}
			}
		})
	}
}

// BenchmarkClaimCost is a claim from a loop whose costs are known in as many parts as COST keeps.
func BenchmarkClaimCost(b *testing.B) {
	tech, err := Lookup("COST")
	if err != nil {
		b.Fatal(err)
	}
	profile := make([]float64, maxBins)
	for i := range profile {
		profile[i] = float64(1 + i%7)
	}
	calc, err := tech.New(Params{N: 1 << 20, P: 8, Profile: profile})
	if err != nil {
		b.Fatal(err)
	}
	c := NewClaimer(calc)
	for i := 0; b.Loop(); i++ {
		if !c.drained(i % 8) {
			c.cost.begin()
		}
	}
}

// BenchmarkContended is a claim while all processors claim from the same loop.
func BenchmarkContended(b *testing.B) {
	for _, name := range []string{"SS", "GSS", "StaticSteal"} {
		b.Run(name, func(b *testing.B) {
			c := claimer(b, name, Params{N: 1 << 50, P: 64, MinChunk: 1})
			var workers atomic.Int32
			b.RunParallel(func(pb *testing.PB) {
				w := int(workers.Add(1)-1) % 64
				for pb.Next() {
					if !c.drained(w) {
						c.step.Store(0) // GSS is at its end after some thousand chunks
					}
				}
			})
		})
	}
}
