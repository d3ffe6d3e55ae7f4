package layout

import (
	"math/rand/v2"
	"slices"
	"testing"

	"flow/ir/loop"
)

// TestRamps draws expressions of an index and of another number that has several values for each index.
// It computes them for each pair, and finds each value among those of the ramps for that index. A value
// that counts from the end does so, too.
func TestRamps(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	const rows, others, below = 60, 4, 40
	type number struct {
		at     []ramp
		values [rows * others]int
		text   string
	}
	codes := []loop.Code{loop.Add, loop.Sub, loop.Mul, loop.IDiv, loop.IDiv, loop.Mod, loop.Mod, loop.Min, loop.Max}
	followed, divided := 0, 0
	for range 60000 {
		i, k := number{text: "i"}, number{text: "k"}
		i.at, k.at = ramped(ramp{to: rows, by: 1}), ramped(ramp{to: rows, c: -1, more: others - 1})
		for p := range i.values {
			i.values[p], k.values[p] = p/others, p%others-1
		}
		list := []number{i, k}
		for step := range 5 {
			x, y := list[r.IntN(len(list))], list[r.IntN(len(list))]
			code := codes[r.IntN(len(codes))]
			divides := code == loop.IDiv || code == loop.Mod
			if r.IntN(3) > 0 || divides {
				c := r.IntN(12) - 4
				if divides {
					c = r.IntN(9) + 1
				}
				y = number{at: ramped(ramp{to: rows, c: c})}
				for p := range y.values {
					y.values[p] = c
				}
				if r.IntN(4) == 0 && !divides {
					x, y = y, x
				}
			}
			z := number{at: paired(code, x.at, y.at)}
			for p := range z.values {
				z.values[p] = eval(code, x.values[p], y.values[p])
			}
			if len(z.at) == 0 {
				continue
			}
			list = append(list, z)
			followed++
			for _, at := range [][]ramp{z.at, fromEnd(z.at, below)} {
				for p, v := range z.values {
					end := len(at) > 0 && &at[0] != &z.at[0] && v < 0
					if end {
						v += below
					}
					if len(at) > 0 && !slices.ContainsFunc(at, func(r ramp) bool { return r.has(p/others, v) }) {
						t.Fatalf("step %d: %v of %+v and %+v gives %+v without %d at %d", step, code, x.at, y.at, at, v, p/others)
					}
				}
			}
			if z.at[0].per > 1 {
				divided++
			}
		}
	}
	if followed < 220000 || divided < 35000 {
		t.Errorf("%d ramps were followed, %d of them divided", followed, divided)
	}
}

// has reports whether v is a value of the ramp for index i.
func (r ramp) has(i, v int) bool {
	first, per := r.by*i+r.c, int64(max(1, r.per))
	return i >= r.from && i < r.to && v >= int(loop.FloorDiv(int64(first), per)) && v <= int(loop.FloorDiv(int64(first+r.more), per))
}

// eval computes an operation of two integers.
func eval(code loop.Code, a, b int) int {
	switch code {
	case loop.Add:
		return a + b
	case loop.Sub:
		return a - b
	case loop.Mul:
		return a * b
	case loop.Min:
		return min(a, b)
	case loop.Max:
		return max(a, b)
	}
	q := int(loop.FloorDiv(int64(a), int64(b)))
	if code == loop.IDiv {
		return q
	}
	return a - q*b
}
