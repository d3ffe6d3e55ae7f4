package schedule

import "testing"

// BenchmarkCostRestart is what COST does between two executions of a loop whose costs it keeps in as many parts as it ever does; nobody works meanwhile.
func BenchmarkCostRestart(b *testing.B) {
	const n, p = maxBins, 8
	calc, err := mustLookup("COST").New(Params{N: n, P: p})
	if err != nil {
		b.Fatal(err)
	}
	c := NewClaimer(calc)
	for b.Loop() {
		b.StopTimer()
		for w, at := 0, 0; at < n; w = (w + 1) % p {
			start, size, _ := c.Claim(w)
			c.Report(w, start, size, float64(size)*(1+float64(start%7)), 1e-7)
			at = start + size
		}
		b.StartTimer()
		c.Reset()
	}
}
