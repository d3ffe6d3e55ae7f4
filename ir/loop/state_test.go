package loop

import (
	"math"
	"math/rand/v2"
	"testing"

	"flow/ir/types"
)

// drawWord is a number of e: of all sizes if wide, else of similar ones.
func drawWord(r *rand.Rand, e types.Elem, wide bool) Word {
	switch {
	case e == types.Bool:
		return Word(r.IntN(2))
	case e == types.I64 && wide:
		return r.Uint64()
	case e == types.I64:
		return Word(int64(r.IntN(20) - 10))
	case !wide:
		return fromFloat(e, float64(r.IntN(2000)-1000)/64)
	}
	special := []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), 5e-324, 1e-45}
	if r.IntN(20) == 0 {
		return fromFloat(e, special[r.IntN(len(special))])
	}
	scale := 200
	if e == types.F32 {
		scale = 60
	}
	return fromFloat(e, math.Ldexp(r.NormFloat64(), r.IntN(scale)-scale/2))
}

// TestStates: contributions dealt to several states that are merged, or finished together, give
// what the class says; a state that lost something says so, and what is of similar size loses
// nothing.
func TestStates(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 5))
	tried, lost, rounded := 0, 0, 0
	for _, class := range []Class{Sum, Mean, Norm, Var, Stddev, Least, Greatest, Any, All, Count, ArgLeast, ArgGreatest, Chain, Product} {
		for _, e := range class.Info().On {
			for _, levels := range Levels {
				st := StateOf(class, e, levels)
				if st == nil {
					if e.IsFloat() {
						t.Errorf("%s of %v has no state", class.Info().Name, e)
					}
					continue
				}
				if err := st.Add().Verify(); err != nil {
					t.Fatal(err)
				}
				for trial := range 60 {
					wide := trial%2 == 1
					states := make([][]Word, 1+r.IntN(4))
					if st.Ordered {
						states = states[:1]
					}
					for k := range states {
						states[k] = append([]Word{}, st.Empty...)
					}
					in := make([][]Word, class.Info().Args)
					for n := range r.IntN(30) {
						one := []Word{drawWord(r, e, wide), Word(n)}[:len(in)]
						if class == Chain {
							one[1] = drawWord(r, e, wide)
						}
						for k := range in {
							in[k] = append(in[k], one[k])
						}
						to := r.IntN(len(states))
						states[to] = st.Add().Eval(append(append([]Word{}, states[to]...), one...)...)
					}
					want := class.Fold(e, in)
					var merged []Word
					if !st.Ordered {
						merged = states[0]
						for _, s := range states[1:] {
							merged = st.Merge().Eval(append(append([]Word{}, merged...), s...)...)
						}
						states = append(states, merged)
					}
					tried++
					exact := true
					for _, s := range states {
						exact = exact && st.Exact(s)
					}
					if !exact {
						if lost++; !wide || levels == DeepLevels {
							t.Errorf("%s of %v, %d levels: lost %v", class.Info().Name, e, levels, states)
						}
						continue
					}
					if merged != nil {
						if got := st.Finish([][]Word{merged}); !sameWord(class.Gives(e), got, want) {
							t.Errorf("%s of %v, %d levels: merged %x, want %x", class.Info().Name, e, levels, got, want)
						}
						states = states[:len(states)-1]
						if x, n, ok := st.Rounded(merged, 1, 0); ok && e != types.F32 {
							rounded++
							if class == Mean {
								x /= float64(n)
							}
							if got := math.Float64bits(x); !sameWord(types.F64, got, want) {
								t.Errorf("%s of %v: rounded %x, want %x", class.Info().Name, e, got, want)
							}
						}
					}
					if got := st.Finish(states); !sameWord(class.Gives(e), got, want) {
						t.Errorf("%s of %v, %d levels: %x, want %x", class.Info().Name, e, levels, got, want)
					}
				}
			}
		}
	}
	if tried < 2000 || lost == 0 || rounded == 0 {
		t.Errorf("%d states, %d that lost something, %d that are rounded", tried, lost, rounded)
	}
}

// sameWord reports equal words, all nans being one.
func sameWord(e types.Elem, a, b Word) bool {
	return a == b || e.IsFloat() && toFloat(e, a) != toFloat(e, a) && toFloat(e, b) != toFloat(e, b)
}

// TestStateNames: functions of states that differ have different names, as nests are compared by
// their texts.
func TestStateNames(t *testing.T) {
	named := map[string]*State{}
	for c := Sum; c < lastClass; c++ {
		for _, e := range c.Info().On {
			for _, levels := range append([]int{NearLevels, NearLevels - 1}, Levels...) {
				st := StateOf(c, e, levels)
				if st == nil {
					continue
				}
				name := st.Add().Name
				if old := named[name]; old != nil && (old.class != c || old.elem != e || old.near != st.near || len(old.Types) != len(st.Types)) {
					t.Errorf("%s of %v and %s of %v are both %s", old.class.Info().Name, old.elem, c.Info().Name, e, name)
				}
				named[name] = st
			}
		}
	}
	if len(named) < int(lastClass) {
		t.Errorf("%d names of states for %d classes", len(named), lastClass)
	}
}
