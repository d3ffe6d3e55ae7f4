package schedule

import (
	"math/rand/v2"
	"testing"
)

// A bitset finds the next of its numbers as a search through all does.
func TestBitset(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 63, 64, 65, 4096, 4097, 300000} {
		s, has := newBitset(n), make([]bool, n)
		for range 2000 {
			i := r.IntN(n)
			if has[i] = r.IntN(3) > 0; has[i] {
				s.add(i)
			} else {
				s.remove(i)
			}
			from := max(0, i-r.IntN(200))
			want := from
			for want < n && !has[want] {
				want++
			}
			if want == n {
				want = -1
			}
			if got := s.from(from); got != want {
				t.Fatalf("%d numbers: from %d on there is %d, and it says %d", n, from, want, got)
			}
		}
		s.clear()
		if got := s.from(0); got != -1 {
			t.Errorf("%d numbers: it is empty, and has %d", n, got)
		}
	}
}

// Sums by groups are those over all workers, after a report of each.
func TestGroupSums(t *testing.T) {
	for _, n := range []int{1, 64, 65, 5000} {
		values := make([]float64, n)
		s := newSums(n)
		of := func(lo, hi int) (sum [3]float64) {
			for _, v := range values[lo:hi] {
				sum[0] += v
				sum[2]++
			}
			return sum
		}
		for w := 0; w < n; w += groupSize {
			s.renew(w, of)
		}
		r := rand.New(rand.NewPCG(1, 2))
		total := 0.0
		for range 1000 {
			w, v := r.IntN(n), float64(r.IntN(1000))
			total += v - values[w]
			values[w] = v
			if got := s.renew(w, of); got != [3]float64{total, 0, float64(n)} {
				t.Fatalf("%d workers: %v, want %g and %d", n, got, total, n)
			}
		}
	}
}

// Many workers that find nothing to steal end a simulation with few events. Looking at every block
// would take minutes.
func TestManyThieves(t *testing.T) {
	if testing.Short() {
		t.Skip("a simulation has one goroutine")
	}
	const p = 50000
	tr := NewTrace(make([]float64, 4*p))
	for i := range tr.costs {
		tr.costs[i] = float64(1 + i%7)
	}
	tr = NewTrace(tr.costs)
	for _, name := range []string{"StaticSteal", "COST"} {
		s, err := NewSimulation(tr, mustLookup(name), Params{}, Machine{P: p, Serial: 1e-9})
		if err != nil {
			t.Fatal(err)
		}
		out, err := s.Run()
		if err != nil {
			t.Fatal(err)
		}
		if out.Busy != tr.Total() {
			t.Errorf("%s: busy for %g, want %g", name, out.Busy, tr.Total())
		}
	}
}
