package amd64

import (
	"math/rand/v2"
	"testing"
)

// TestSlots: values without registers that live at the same time have different slots, and others
// share some.
func TestSlots(t *testing.T) {
	values, slots := 0, 0
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 3))
		p, _ := drawnProgram(r)
		a := p.allocate(registers{vectors: 1 + r.IntN(4), masks: 1}, intervals{})
		var stored []virt
		for _, v := range a.lives.order {
			if a.reg[v] != NoReg {
				continue
			}
			x := a.lives.of[v]
			for _, w := range stored {
				if y := a.lives.of[w]; a.slot[v] == a.slot[w] && x.from <= y.to && y.from <= x.to {
					t.Fatalf("seed %d: values %d and %d are in slot %d, and live from %d to %d and from %d to %d", seed, v, w, a.slot[v], x.from, x.to, y.from, y.to)
				}
			}
			if stored = append(stored, v); a.slot[v] >= a.slots {
				t.Fatalf("seed %d: value %d is in slot %d of %d", seed, v, a.slot[v], a.slots)
			}
		}
		values, slots = values+len(stored), slots+a.slots
	}
	if slots == 0 || 2*slots > values {
		t.Errorf("%d slots of %d values", slots, values)
	}
}
