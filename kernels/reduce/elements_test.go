package reduce

import "testing"

// TestNetwork: the network sorts all lists of zeros and ones, and so all lists.
func TestNetwork(t *testing.T) {
	for n := 1; n <= 15; n++ {
		list := network(n)
		for bits := range 1 << n {
			x := bits
			for _, c := range list {
				if c.lo >= c.hi {
					t.Fatalf("%d wires: %v", n, c)
				}
				if lo, hi := x>>c.lo&1, x>>c.hi&1; lo > hi {
					x ^= 1<<c.lo | 1<<c.hi
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
