package order

import (
	"math"
	"math/rand/v2"
	"testing"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
)

// TestClassesOfKeys: sort and argsort of several workers and of one are those of the definition to the
// bit, for keys whose classes are found in each of the ways that Sorter has: one key a class, ranges of
// keys, keys outside of the range of the sample, and classes of uneven keys.
func TestClassesOfKeys(t *testing.T) {
	r := rand.New(rand.NewPCG(71, 72))
	draws := map[string]func(i int) float64{
		"few":       func(int) float64 { return float64(r.IntN(200)) },
		"even":      func(int) float64 { return float64(r.IntN(1 << 30)) },
		"uneven":    func(int) float64 { return math.Floor(math.Exp(r.Float64() * 30)) },
		"one above": func(i int) float64 { return []float64{float64(r.IntN(100)), 300}[max(0, 1-i)] },
		"one below": func(i int) float64 { return []float64{float64(r.IntN(100)), -300}[max(0, 1-i)] },
		"zeros":     func(int) float64 { return math.Copysign(float64(r.IntN(3)), r.NormFloat64()) },
		"one nan":   func(i int) float64 { return []float64{r.NormFloat64(), math.NaN()}[max(0, 1-i)] },
	}
	ways := map[string]int{}
	var rows [2]*op.Def
	for _, d := range Rows() {
		if d.Name == "sort" {
			rows[0] = d
		} else if d.Name == "argsort" {
			rows[1] = d
		}
	}
	for name, draw := range draws {
		for turn := range 6 {
			e := []types.Elem{types.F64, types.I64, types.F32}[turn%3]
			if name == "one nan" && e == types.I64 {
				continue
			}
			x := value.New(e, SortLeast+r.IntN(5000), 1+turn/3)
			for i := range x.Rows {
				x.Set(i, x.Cols-1, value.F64(draw(i)).Convert(e))
			}
			a := op.MakeAttrs(op.Attr{Name: "by", Val: op.Int(-1)}, op.Attr{Name: "desc", Val: op.Bool(turn%2 == 0)})
			for k, d := range rows {
				typ, err := d.Type(&op.Sig{Def: d, In: []types.Type{x.Type()}, Attrs: a})
				if err != nil {
					t.Fatal(err)
				}
				want, err := d.Ref(&op.Call{In: []value.Value{x}, Attrs: a, Type: typ})
				if err != nil {
					t.Fatal(err)
				}
				workers := 1 + r.IntN(3)
				out := value.New(typ.Elem, typ.Rows, typ.Cols)
				body, err := d.Loop.Begin(&op.Call{In: []value.Value{x}, Attrs: a, Type: typ, Out: out}, workers)
				if err != nil {
					t.Fatal(err)
				}
				s := body.(*Sorter)
				for again := true; again; {
					for _, u := range r.Perm(SortUnits) {
						if err := s.Chunk(r.IntN(workers), u, u+1); err != nil {
							t.Fatal(err)
						}
					}
					if again, err = s.Next(); err != nil {
						t.Fatal(err)
					}
				}
				switch {
				case s.single:
					ways["single"]++
				case s.even:
					ways["even"]++
				case s.alone:
					ways["alone"]++
				default:
					ways["uneven"]++
				}
				if s.untold.Load() {
					ways["untold"]++
				}
				for i := range x.Rows {
					for j := range out.Cols {
						if got, want := out.At(i, j), want.(*value.Dense).At(i, j); got.I != want.I || math.Float64bits(got.F) != math.Float64bits(want.F) {
							t.Fatalf("%s of %s, row %d of %v, %d workers: element %d, %d is %v, want %v", name, d.Name, k, x.Type(), workers, i, j, got, want)
						}
					}
				}
			}
		}
	}
	for _, way := range []string{"single", "even", "uneven", "alone", "untold"} {
		if ways[way] == 0 {
			t.Errorf("no sort was %s: %v", way, ways)
		}
	}
}
