package schedule

import "testing"

// BenchmarkTaught is an uncontended claim under every technique as bench/claims.go measures it:
// eight workers in turn claim from loops that were executed twice before.
func BenchmarkTaught(b *testing.B) {
	const n, p, atLeast = 1 << 20, 8, 5000
	claim := func(c *Claimer, w int, report bool) bool {
		start, size, ok := c.Claim(w)
		if ok && report {
			c.Report(w, start, size, float64(size)*1e-6*(1+float64(w&3)/8), 1e-7)
		}
		return ok
	}
	for _, t := range techniques() {
		for _, name := range []string{t.Name, t.Name + "/reported"} {
			b.Run(name, func(b *testing.B) {
				var ready []*Claimer
				for claims := 0; claims < atLeast; {
					c := claimer(b, t.Name, Params{N: n, P: p, Mu: 1e-6, Sigma: 5e-7, H: 1e-7})
					for range 2 {
						for w := 0; claims < 2*atLeast && claim(c, w, true); w = (w + 1) % p {
							claims++
						}
						c.Reset()
					}
					ready = append(ready, c)
				}
				told := name != t.Name && ready[0].Learns()
				k, w := 0, 0
				for b.Loop() {
					if !claim(ready[k], w, told) {
						if k++; k == len(ready) {
							b.StopTimer()
							for _, c := range ready {
								c.Reset()
							}
							k = 0
							b.StartTimer()
						}
						w = 0
					}
					w = (w + 1) % p
				}
			})
		}
	}
}
