package kernels

import (
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/elementwise"
	"flow/kernels/loop/launch"
	"flow/kernels/rowtest"
	"flow/kernels/vec"
)

// hardFloats are numbers at which functions change their way.
var hardFloats = []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), 5e-324, -5e-324, 1, -1, 0x1p-1022, math.MaxFloat64,
	-math.MaxFloat64, 1e22, 0x1p30, 709.782712893384, 710.4758600739439, -745.1332191019411, 0x1p-54, 0x1p-28, math.Sqrt2, -.29, 0x1.6ac5b262ca1ffp+849,
	.5, -.5, 2.5, 0x1p60, 0x1p61, .7, 2, 4, 3, -3, 1.5, math.Nextafter(1, 2), 0x1p53, 0x1p53 - 1, .1, -.1, 7, 1e-300, 1e300, -2.5}

// anyFloat is a number of any size, a hard one, or one of everyday size.
func anyFloat(r *rand.Rand, round int) float64 {
	switch round % 4 {
	case 0:
		return math.Float64frombits(r.Uint64())
	case 1:
		return hardFloats[r.IntN(len(hardFloats))]
	case 2:
		return math.Ldexp(r.NormFloat64(), r.IntN(120)-60)
	}
	return 8 * r.NormFloat64()
}

// function is the row of a function of package vec: the operator of that name, or what it stands for.
func functionRow(t *testing.T, name string) *op.Def {
	for _, d := range append(elementwiseRows(), elementwise.Shorthands()...) {
		if d.Name == name {
			return d
		}
	}
	t.Fatalf("no row %s", name)
	return nil
}

// TestFunctionNests: the compiled loops of functions give the bits of their definitions, for any
// number of elements, in place too, in f64 and in f32.
func TestFunctionNests(t *testing.T) {
	needCode(t)
	defer func(from int64) { launch.PaysFrom = from }(launch.PaysFrom)
	launch.PaysFrom = 0
	type function struct {
		name     string
		two      bool
		f64, f32 func(x, y float64) float64
	}
	var list []function
	for _, f := range vec.Functions {
		list = append(list, function{f.Name, false, func(x, _ float64) float64 { return f.F(x) }, func(x, _ float64) float64 { return f.F32(x) }})
	}
	for _, f := range vec.Functions2 {
		list = append(list, function{f.Name, true, f.F, f.F32})
	}
	mapRow := fused()[0]
	r := rand.New(rand.NewPCG(31, 32))
	for _, f := range list {
		d := functionRow(t, f.name)
		for _, e := range []types.Elem{types.F64, types.F32} {
			p := &op.Program{In: []op.Operand{{Elem: e}}, Steps: []op.Step{{Def: d, Args: []int{0}, Elem: e}}}
			if f.two {
				p.In, p.Steps[0].Args = append(p.In, p.In[0]), []int{0, 1}
			}
			for round := range 160 {
				n := 1 + r.IntN(300)
				var in []value.Value
				for range p.In {
					x := value.New(e, 1, n)
					for i := range n {
						x.Set(0, i, value.F64(anyFloat(r, round)).Convert(e))
					}
					in = append(in, x)
				}
				x := in[0].(*value.Dense)
				y := in[len(in)-1].(*value.Dense)
				want := value.New(e, 1, n)
				for i := range n {
					if e == types.F32 {
						want.F32[i] = float32(f.f32(float64(x.F32[i]), float64(y.F32[i])))
					} else {
						want.F64[i] = f.f64(x.F64[i], y.F64[i])
					}
				}
				c := &op.Call{Def: mapRow, In: in, Body: p, Type: x.Type(), Out: value.New(e, 1, n)}
				if round%2 == 0 {
					c.Out = in[round/2%len(in)]
				}
				if err := mapRow.Kernel(c); err != nil {
					t.Fatal(err)
				}
				if msg := rowtest.Differ(c.Out, want); msg != "" {
					t.Fatalf("%s of %v, round %d, %d elements: %s", f.name, e, round, n, msg)
				}
			}
		}
	}
}

// TestFunctionNestsOfEveryFloat32: the compiled loops of functions of one f32 give the bits of their
// definitions, for every argument if FLOW_EVERY_F32 is set (minutes), else for one of some
// ten thousand.
func TestFunctionNestsOfEveryFloat32(t *testing.T) {
	needCode(t)
	defer func(from int64) { launch.PaysFrom = from }(launch.PaysFrom)
	launch.PaysFrom = 0
	step := uint64(19973)
	if os.Getenv("FLOW_EVERY_F32") != "" {
		step = 1
	}
	const n = 1 << 12
	x, got := value.New(types.F32, 1, n), value.New(types.F32, 1, n)
	mapRow := fused()[0]
	for _, f := range vec.Functions {
		p := &op.Program{In: []op.Operand{{Elem: types.F32}}, Steps: []op.Step{{Def: functionRow(t, f.Name), Args: []int{0}, Elem: types.F32}}}
		c := &op.Call{Def: mapRow, In: []value.Value{x}, Body: p, Type: x.Type(), Out: got}
		for bits := uint64(0); bits < 1<<32; {
			for i := range x.F32 {
				x.F32[i] = math.Float32frombits(uint32(bits))
				bits += step
			}
			if err := mapRow.Kernel(c); err != nil {
				t.Fatal(err)
			}
			for i, v := range x.F32 {
				if want := float32(f.F32(float64(v))); got.F32[i] != want && (want == want || got.F32[i] == got.F32[i]) {
					t.Fatalf("%s(%v) = %v, want %v", f.Name, v, got.F32[i], want)
				}
			}
		}
	}
}
