package amd64

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"flow/ir/loop"
)

// TestSplitValues splits the values of random programs and follows each program twice: through every
// step that a jump may pass, and past all of them. Each step must read the value that it read before
// the split.
func TestSplitValues(t *testing.T) {
	loads := 0
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 2))
		p, through := drawnProgram(r)
		for range 4 {
			insertPassed(p, r, through)
		}
		old := slices.Clone(p.steps)
		n, places := virt(len(p.values)), int32(0)
		p.splits(4+r.IntN(6), func() int32 { places += slotBytes; return places })
		for _, enter := range []bool{true, false} {
			stood := map[virt]virt{} // the original of a reload; -1: it was not loaded
			held, stored := map[virt]bool{}, map[int32]virt{}
			at, skip := 0, false
			for k := range p.steps {
				s := &p.steps[k]
				skip = !enter && s.part == passedPart
				load, store := s.dst >= n, s.Op == VMOVUPDStore
				if load {
					loads++
				}
				switch {
				case load && skip:
					stood[s.dst] = -1
				case load:
					stood[s.dst] = stored[s.Mem.Disp]
				case store && !skip:
					stored[s.Mem.Disp] = s.a
				}
				if load || store {
					continue
				}
				var want, got []virt
				old[at].reads(func(v virt) { want = append(want, v) })
				s.reads(func(v virt) {
					if v >= n {
						v = stood[v]
					} else if !held[v] && !skip {
						t.Fatalf("seed %d, step %d reads value %d, which is not made", seed, k, v)
					}
					got = append(got, v)
				})
				for i := range want {
					if !skip && (len(got) != len(want) || got[i] != want[i]) {
						t.Fatalf("seed %d, step %d reads %v, not %v", seed, k, got, want)
					}
				}
				if at++; s.dst != 0 && !skip {
					held[s.dst] = true
					if home := p.values[s.dst].home; home != 0 {
						stored[home] = s.dst
					}
				}
			}
			if at != len(old) {
				t.Fatalf("seed %d: %d steps of %d are left", seed, at, len(old))
			}
		}
	}
	if loads < 1000 {
		t.Errorf("%d loads", loads)
	}
}

// drawnProgram has six values that live to its end, and two blocks that a jump may pass. They make many
// short-lived values.
func drawnProgram(r *rand.Rand) (p *program, through []virt) {
	p = &program{shop: &workshop{}}
	fresh := func() virt { return p.fresh(vectorClass) }
	emit := func(s step) { p.steps = append(p.steps, s) }
	for range 6 {
		v := fresh()
		through = append(through, v)
		emit(step{dst: v})
	}
	for range 2 {
		var inside []virt
		for range 30 {
			s := step{dst: fresh(), part: passedPart}
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
		emit(step{dst: through[0], keeps: true, effect: true, b: inside[len(inside)-1], part: passedPart})
		emit(step{jumps: true, scalar: func(*maker, Reg, regs) {}})
		emit(step{dst: fresh(), a: through[1], b: through[2]})
	}
	for _, v := range through {
		emit(step{a: v, dst: fresh()})
	}
	return p, through
}

// passedPart marks steps that a jump may pass.
const passedPart = 9

// insertPassed inserts steps at a random place that a jump may pass. They read some of the values.
func insertPassed(p *program, r *rand.Rand, values []virt) {
	at := len(values) + r.IntN(len(p.steps)-len(values))
	var list []step
	for range 3 {
		list = append(list, step{a: values[r.IntN(len(values))], dst: p.fresh(vectorClass), part: passedPart})
	}
	list = append(list, step{jumps: true, scalar: func(*maker, Reg, regs) {}})
	p.steps = slices.Insert(p.steps, at, list...)
}

// TestSplitCode compiles a formula of functions for AVX2. A value that is read long after it was made
// goes through memory once, so fewer than an eighth of the instructions touch scratch memory.
func TestSplitCode(t *testing.T) {
	n, err := loop.Parse(`nest(%0: f64[], %1: f64[]) (i: 0..%0.rows) {
  v0 = load %0[i, 0]
  v1 = load %1[i, 0]
  v2 = div v0, v1
  v3 = call log(v2)
  v4 = call normcdf(v3)
  v5 = mul v0, v4
  v6 = call exp(v1)
  v7 = sub v3, v1
  v8 = call normcdf(v7)
  v9 = mul v6, v8
  v10 = sub v5, v9
  store out0[i, 0] v10
} : (f64[%0.rows, 1])`, loop.Standard{})
	if err != nil {
		t.Fatal(err)
	}
	list, err := List(AVX2, n, []Layout{{Unit: true}, {Unit: true}}, []Layout{{Unit: true}}, Schedule{})
	if err != nil {
		t.Fatal(err)
	}
	scratch, all := strings.Count(list.Text, "(BX)"), strings.Count(list.Text, "\n")
	if scratch > all/8 {
		t.Errorf("%d of %d instructions touch scratch memory", scratch, all)
	}
}

// TestIntervalsAfterReadInPlace: if an instruction reads the memory of a load, the address lives until
// there. The intervals are then those of the new steps.
func TestIntervalsAfterReadInPlace(t *testing.T) {
	p := &program{shop: &workshop{}}
	base, other, x, y := p.fresh(generalClass), p.fresh(vectorClass), p.fresh(vectorClass), p.fresh(vectorClass)
	code := func(*maker, Reg, regs) {}
	load := memoryRead{at: At(0, 8), reg: base, size: 8, len: L256}
	p.steps = []step{
		{dst: base, pure: true, scalar: code},
		{dst: other, pure: true, scalar: code},
		{dst: x, a: base, pure: true, scalar: code, loads: &load},
		{a: other, jumps: true, scalar: code},
		{Inst: Inst{Op: VADDPD, Len: L256}, a: other, b: x, dst: y},
		{a: y, scalar: code},
	}
	lives := p.live()
	p.readInPlace(avx2, lives)
	if p.values[x].inPlace == nil {
		t.Fatal("the load stays")
	}
	all := p.live()
	for _, v := range all.order {
		if all.of[v] != lives.of[v] {
			t.Errorf("value %d: %+v, want %+v", v, lives.of[v], all.of[v])
		}
	}
	if a := p.allocate(registers{vectors: 2, general: generalRegs}, lives); a.reg[x] != NoReg || a.reg[base] == NoReg || a.reg[y] == NoReg {
		t.Errorf("registers %v: the value in memory has none, the others one each", a.reg)
	}
}
