package flow

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/vec"
)

// TestFunctionBodies: the bodies of ir/loop give the bytes of the functions that run today, on
// numbers of every size, at the ends, and where functions change their way.
func TestFunctionBodies(t *testing.T) {
	one := map[string]func(float64) float64{
		"exp": vec.Exp, "expm1": vec.Expm1, "tanh": vec.Tanh, "sinh": vec.Sinh, "cosh": vec.Cosh, "sigmoid": vec.Sigmoid, "log": vec.Log,
		"log2": vec.Log2, "log10": vec.Log10, "log1p": vec.Log1p, "sin": vec.Sin, "cos": vec.Cos, "tan": vec.Tan, "asin": vec.Asin, "acos": vec.Acos,
		"atan": vec.Atan, "cbrt": vec.Cbrt, "rsqrt": vec.Rsqrt, "exp32": vec.Exp32, "expm132": vec.Expm132, "tanh32": vec.Tanh32,
		"sinh32": vec.Sinh32, "cosh32": vec.Cosh32, "sigmoid32": vec.Sigmoid32, "log32": vec.Log32, "log232": vec.Log232, "log1032": vec.Log1032,
		"log1p32": vec.Log1p32, "sin32": vec.Sin32, "cos32": vec.Cos32, "tan32": vec.Tan32, "asin32": vec.Asin32, "acos32": vec.Acos32,
		"atan32": vec.Atan32, "cbrt32": vec.Cbrt32, "erf": vec.Erf, "erfc": vec.Erfc, "normcdf": vec.Normcdf, "normquantile": vec.Normquantile,
	}
	two := map[string]func(x, y float64) float64{"pow": vec.Pow, "atan2": vec.Atan2, "floorDiv": vec.FloorDiv, "mod": vec.Mod, "pow32": vec.Pow32,
		"atan232": vec.Atan232}
	random := rand.New(rand.NewPCG(17, 4))
	numbers := []float64{0, math.Copysign(0, -1), 1, -1, 0.5, math.Inf(1), math.Inf(-1), math.NaN(), 5e-324, math.MaxFloat64, 710, -745.2, 0x1p30, 1e22, math.Pi}
	for range 150 {
		numbers = append(numbers, (random.Float64()-.5)*math.Ldexp(1, random.IntN(100)-50), float64(random.IntN(40)-20)/4, random.NormFloat64())
	}
	for _, name := range (loop.Standard{}).Names() {
		f1, f2 := one[name], two[name]
		if f1 == nil && f2 == nil {
			t.Errorf("%s has no other definition to be compared with", name)
			continue
		}
		x, y := slices.Clone(numbers), slices.Clone(numbers)
		if name[len(name)-2:] == "32" { // what they take are f32
			for k := range x {
				if x[k] = float64(float32(x[k])); math.Abs(x[k]) < 0x1p-126 {
					x[k] = 0
				}
			}
			y = slices.Clone(x)
		}
		random.Shuffle(len(y), func(i, j int) { y[i], y[j] = y[j], y[i] })
		text := "nest(%0: f64[], %1: f64[]) (i: 0..%0.rows) {\n v0 = load %0[i, 0]\n v1 = load %1[i, 0]\n v2 = call " + name + "(v0"
		if f2 != nil {
			text += ", v1"
		}
		n, err := loop.Parse(text+")\n store out0[i, 0] v2\n} : (f64[%0.rows, 1])", loop.Standard{})
		if err != nil {
			t.Fatal(err)
		}
		out, err := n.Eval([]value.Value{column(x), column(y)}, loop.Env{})
		if err != nil {
			t.Fatal(err)
		}
		for k, got := range out[0].(*value.Dense).F64 {
			var want float64
			if f1 != nil {
				want = f1(x[k])
			} else {
				want = f2(x[k], y[k])
			}
			if math.Float64bits(got) != math.Float64bits(want) && (got == got || want == want) {
				t.Errorf("%s of %v, %v is %v, want %v", name, x[k], y[k], got, want)
				break
			}
		}
	}
}

// column is numbers as a matrix of one column.
func column(x []float64) *value.Dense {
	return &value.Dense{Elem: types.F64, Rows: len(x), Cols: 1, Stride: 1, F64: x}
}
