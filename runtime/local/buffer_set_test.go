package local

import (
	"math/rand/v2"
	"testing"

	"flow/ir/plan"
)

// TestAddressSet compares with a map, over sets that stay small and sets that grow, of addresses
// that lie close together and of some that begin their search at the same place.
func TestAddressSet(t *testing.T) {
	for _, most := range []int{3, 6, 50, 3000} {
		r := rand.New(rand.NewPCG(uint64(most), 1))
		var s addressSet
		want := map[uintptr]bool{}
		var list []uintptr
		for range 40 * most {
			a := (1 + uintptr(r.IntN(2*most))) * plan.SizeAlign
			if r.IntN(4) == 0 {
				a <<= 20
			}
			switch {
			case want[a]:
				if !s.remove(a) {
					t.Fatalf("%x is not there", a)
				}
				delete(want, a)
			case len(want) < most:
				s.add(a)
				want[a] = true
				list = append(list, a)
			}
			if s.remove(a + plan.SizeAlign<<40) {
				t.Fatalf("%x was there", a)
			}
			if s.n != len(want) {
				t.Fatalf("%d addresses, want %d", s.n, len(want))
			}
		}
		for _, a := range list { // each as often as it was put in
			if s.remove(a) != want[a] {
				t.Fatalf("%x: there %v", a, !want[a])
			}
			delete(want, a)
		}
		for _, a := range s.slots {
			if a != 0 {
				t.Fatalf("%x is left", a)
			}
		}
	}
}
