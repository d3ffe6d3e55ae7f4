package amd64

import (
	"math/rand/v2"
	"testing"
)

// TestAsideRegisters walks drawn programs with blocks aside, once into every block and once past
// them all: each read finds the value that it names, in its register or in memory. What lives
// inside takes no register from what passes through.
func TestAsideRegisters(t *testing.T) {
	gave := 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		p, through := drawnProgram(r, 2)
		a := p.allocate(registers{vectors: 8, masks: 0}, intervals{})
		for _, v := range through {
			if a.reg[v] == NoReg {
				t.Fatalf("seed %d: value %d of %v passes through and has no register", seed, v, through)
			}
		}
		for _, kept := range a.kept {
			gave += len(kept)
		}
		for _, enter := range []bool{true, false} {
			walk(t, seed, p, a, enter)
		}
	}
	if gave < 100 {
		t.Errorf("%d registers were given away in 300 programs", gave)
	}
}

// TestAsideMemory: a program with many blocks aside takes no memory of its own length for each.
func TestAsideMemory(t *testing.T) {
	room := func(blocks int) int {
		p, _ := drawnProgram(rand.New(rand.NewPCG(1, 1)), blocks)
		before := p.shop.virts.asked
		p.allocate(registers{vectors: 8, masks: 0}, intervals{})
		return p.shop.virts.asked - before
	}
	if few, many := room(16), room(64); few == 0 || many > 5*few {
		t.Errorf("16 blocks take room for %d values, and 64 for %d", few, many)
	}
}

// drawnProgram has six values that live to its end, and a number of blocks aside that make many
// short-lived ones.
func drawnProgram(r *rand.Rand, blocks int) (p *program, through []virt) {
	p = &program{shop: &workshop{}, asides: blocks}
	fresh := func() virt { return p.fresh(vectorClass) }
	emit := func(s step) { p.steps = append(p.steps, s) }
	for range 6 {
		v := fresh()
		through = append(through, v)
		emit(step{dst: v})
	}
	nothing := func(*maker, Reg, regs) {}
	for id := 1; id <= blocks; id++ {
		emit(step{aside: int32(id), scalar: nothing})
		var inside []virt
		for range 30 {
			s := step{dst: fresh()}
			if len(inside) > 0 {
				s.a = inside[max(0, len(inside)-1-r.IntN(5))]
				s.b = inside[len(inside)-1-r.IntN(min(3, len(inside)))]
			}
			if r.IntN(6) == 0 {
				s.b = through[r.IntN(3)]
			}
			inside = append(inside, s.dst)
			emit(s)
		}
		emit(step{dst: through[0], keeps: true, effect: true, b: inside[len(inside)-1]})
		emit(step{aside: -int32(id), scalar: nothing})
		emit(step{dst: fresh(), a: through[1], b: through[2]})
	}
	for _, v := range through {
		emit(step{a: v, dst: fresh()})
	}
	return p, through
}

// walk runs a program in which every register holds the number of a value.
func walk(t *testing.T, seed uint64, p *program, a assignment, enter bool) {
	held, stored := map[Reg]virt{}, map[int]virt{}
	skip := false
	for k := range p.steps {
		s := &p.steps[k]
		switch {
		case s.aside > 0 && !enter:
			skip = true
		case s.aside > 0:
			for _, v := range a.kept[s.aside-1] {
				if held[a.reg[v]] != v {
					t.Fatalf("seed %d, step %d: register %d does not hold value %d, which is stored", seed, k, a.reg[v], v)
				}
				stored[a.slot[v]] = v
			}
		case s.aside < 0 && !enter:
			skip = false
		case s.aside < 0:
			for _, v := range a.kept[-s.aside-1] {
				if stored[a.slot[v]] != v {
					t.Fatalf("seed %d, step %d: memory does not hold value %d", seed, k, v)
				}
				held[a.reg[v]] = v
			}
		}
		if skip {
			continue
		}
		s.reads(func(v virt) {
			if r := a.reg[v]; r != NoReg && held[r] != v || r == NoReg && stored[a.slot[v]] != v {
				t.Fatalf("seed %d, step %d: value %d is read where value %d is", seed, k, v, held[r])
			}
		})
		if r := a.reg[s.dst]; s.dst != 0 && r != NoReg {
			held[r] = s.dst
		} else if s.dst != 0 {
			stored[a.slot[s.dst]] = s.dst
		}
	}
}
