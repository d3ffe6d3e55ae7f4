package schedule

import (
	"fmt"
	"testing"
	"time"
)

// BenchmarkCostRestart is what COST does between two executions of a loop, during which nobody
// works: the first time it learns, and later, beside what it takes to learn by its price list.
func BenchmarkCostRestart(b *testing.B) {
	for _, size := range []struct{ n, p int }{{512, 2}, {5000, 2}, {maxBins, 8}, {maxBins, 64}} {
		calc, err := mustLookup("COST").New(Params{N: size.n, P: size.p})
		if err != nil {
			b.Fatal(err)
		}
		c := NewClaimer(calc)
		var times, price [2]float64
		var chunks, learned [2]int
		execution := 0
		b.Run(fmt.Sprintf("n=%d/p=%d", size.n, size.p), func(b *testing.B) {
			for range b.N {
				late := min(execution, 1)
				for w, done := 0, 0; done < size.n; w = (w + 1) % size.p {
					start, n, ok := c.Claim(w)
					if ok {
						c.Report(w, start, n, float64(n)*(1+float64(start%7)), 1e-7)
						chunks[late]++
					}
					done += n
				}
				begin := time.Now()
				c.Reset()
				times[late] += time.Since(begin).Seconds()
				price[late] += c.cost.learning()
				learned[late]++
				execution++
			}
			for i, name := range []string{"first", "later"} {
				if k := float64(max(learned[i], 1)); learned[i] > 0 {
					b.ReportMetric(times[i]/k*1e6, name+"-us")
					b.ReportMetric(price[i]/k*1e6, name+"-priced-us")
					b.ReportMetric(float64(chunks[i])/k, name+"-chunks")
				}
			}
		})
	}
}
