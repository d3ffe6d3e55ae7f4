package order

import "testing"

// TestNetwork: the network sorts all lists of zeros and ones, and so all lists.
func TestNetwork(t *testing.T) {
	for n := 1; n <= 15; n++ {
		list := Network(n)
		for bits := range 1 << n {
			x := bits
			for _, c := range list {
				if c.Lo >= c.Hi {
					t.Fatalf("%d wires: %v", n, c)
				}
				if lo, hi := x>>c.Lo&1, x>>c.Hi&1; lo > hi {
					x ^= 1<<c.Lo | 1<<c.Hi
				}
			}
			for k := 1; k < n; k++ {
				if x>>(k-1)&1 > x>>k&1 {
					t.Fatalf("%d wires: %b becomes %b", n, bits, x)
				}
			}
		}
	}
}
