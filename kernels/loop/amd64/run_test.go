//go:build linux && amd64

package amd64

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/cpu"

	"flow/ir/loop"
	"flow/ir/loop/looptest"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/loop/code"
)

// base is where the elements of a matrix lie.
func base(d *value.Dense) unsafe.Pointer {
	switch d.Elem {
	case types.F64:
		return unsafe.Pointer(unsafe.SliceData(d.F64))
	case types.F32:
		return unsafe.Pointer(unsafe.SliceData(d.F32))
	case types.Bool:
		return unsafe.Pointer(unsafe.SliceData(d.Bool))
	}
	return unsafe.Pointer(unsafe.SliceData(d.I64))
}

func needAVX512(t testing.TB) *code.Memory {
	t.Helper()
	if x := cpu.X86; !x.HasAVX512F || !x.HasAVX512BW || !x.HasAVX512CD || !x.HasAVX512DQ || !x.HasAVX512VL {
		t.Skip("the processor has no AVX-512")
	}
	m, err := code.New()
	if err != nil {
		t.Skip(err)
	}
	return m
}

func unit(d *value.Dense) Layout { return Layout{Unit: d.Stride == 1} }

// compiled is a nest that can be called.
type compiled struct {
	*code.Func
	args    []uint64
	scratch []byte
	pin     []any
	fuel    uint64 // of a call; 0: as much as it needs
	calls   int
}

// compile makes code for these operands and results.
func compile(m *code.Memory, target *target, n *loop.Nest, in []value.Value, out []*value.Dense) (*compiled, error) {
	var params, results []Layout
	for _, v := range in {
		l := Layout{}
		if d, ok := v.(*value.Dense); ok {
			l = unit(d)
		}
		params = append(params, l)
	}
	for _, d := range out {
		results = append(results, unit(d))
	}
	c, err := compileFor(target, n, params, results)
	if err != nil {
		return nil, err
	}
	f, err := m.Add(c.Text)
	if err != nil {
		return nil, err
	}
	x := &compiled{Func: f, args: make([]uint64, c.Words), scratch: make([]byte, c.Scratch+64)}
	x.args[argScratch] = uint64((uintptr(unsafe.Pointer(&x.scratch[0])) + 63) &^ 63)
	matrix := func(at int, d *value.Dense) {
		x.args[at] = uint64(uintptr(base(d)))
		x.args[at+1] = uint64(d.Stride * d.Elem.Size())
		x.args[at+2], x.args[at+3] = uint64(d.Rows), uint64(d.Cols)
		x.pin = append(x.pin, d)
	}
	at := argMemory
	for _, v := range in {
		switch v := v.(type) {
		case *value.Dense:
			matrix(at, v)
		case value.Scalar:
			switch {
			case v.Elem == types.F64:
				x.args[at] = math.Float64bits(v.F)
			case v.Elem == types.F32:
				x.args[at] = uint64(math.Float32bits(float32(v.F)))
			default:
				x.args[at] = uint64(v.I)
			}
		}
		at += memoryWords
	}
	for _, d := range out {
		matrix(at, d)
		at += memoryWords
	}
	return x, nil
}

// run evaluates rows r0 to r1-1 and lanes l0 to l1-1; it reports whether a check failed. The code is called until the window
// is ended, with so much fuel a call.
func (x *compiled) run(r0, r1, l0, l1 int) bool {
	x.args[argRow], x.args[argRowEnd], x.args[argLane], x.args[argLaneEnd] = uint64(r0), uint64(r1), uint64(l0), uint64(l1)
	x.args[argFlags], x.args[argResume] = 0, 0
	fuel := x.fuel
	if fuel == 0 {
		fuel = 1 << 40
	}
	for {
		x.args[argFuel] = fuel
		x.Call(unsafe.Pointer(&x.args[0]))
		if x.calls++; x.args[argResume] == 0 {
			return x.args[argFlags] != 0
		}
	}
}

// same reports equal bits, all nans being one.
func same(a, b *value.Dense) error {
	if a.Rows != b.Rows || a.Cols != b.Cols || a.Elem != b.Elem {
		return fmt.Errorf("%v and %v", a.Type(), b.Type())
	}
	for i := range a.Rows {
		for j := range a.Cols {
			if x, y := a.At(i, j), b.At(i, j); !x.Same(y) {
				return fmt.Errorf("element (%d, %d) is %v, want %v", i, j, x, y)
			}
		}
	}
	return nil
}

// starved is AVX-512 with so few registers that most values pass through scratch memory.
func starved() *target {
	t := *avx512
	t.registers = registers{vectors: 3, masks: 2}
	return &t
}

// TestAgainstDefinition compares the code of random nests with the evaluator, on the whole window and on parts of it, and
// looks that nothing beside the window is written.
func TestAgainstDefinition(t *testing.T) {
	t.Run("avx512", func(t *testing.T) { againstDefinition(t, avx512) })
	t.Run("starved", func(t *testing.T) { againstDefinition(t, starved()) })
}

func againstDefinition(t *testing.T, target *target) {
	m := needAVX512(t)
	cases := 1500
	if testing.Short() {
		cases = 200
	}
	made, failed, resumed, refused := 0, 0, 0, map[string]int{}
	for seed := range cases {
		x := looptest.Draw(uint64(seed))
		out := x.Results()
		f, err := compile(m, target, x.Nest, x.In, out)
		if err != nil {
			refused[err.Error()]++
			continue
		}
		made++
		want, err := x.Nest.Eval(x.In, loop.Env{})
		f.fuel = []uint64{0, 1, 3, 50}[seed%4]
		rows, lanes := x.Rows, x.Lanes
		var flagged bool
		if seed%3 == 0 && rows > 0 { // in four parts
			r, l := rows/2, lanes/3
			for _, w := range [][4]int{{0, r, 0, l}, {r, rows, 0, l}, {0, r, l, lanes}, {r, rows, l, lanes}} {
				flagged = f.run(w[0], w[1], w[2], w[3]) || flagged
			}
		} else {
			flagged = f.run(0, rows, 0, lanes)
		}
		if f.calls > 4 {
			resumed++
		}
		if flagged && err == nil {
			_, err = loop.ExpandFolds(x.Nest).Eval(x.In, loop.Env{}) // an exact sum of numbers that are too far apart
		}
		if flagged != (err != nil) {
			t.Fatalf("seed %d: the code says failed = %v, the definition %v\n%s", seed, flagged, err, x.Nest)
		}
		if flagged {
			failed++
			continue
		}
		for k, d := range out {
			if err := same(d, want[k].(*value.Dense)); err != nil {
				t.Fatalf("seed %d, result %d: %v\n%s", seed, k, err, x.Nest)
			}
			if err := x.Untouched(k, d); err != nil {
				t.Fatalf("seed %d, result %d: %v\n%s", seed, k, err, x.Nest)
			}
		}
	}
	if made < cases*2/3 || failed == 0 || resumed < cases/8 {
		t.Errorf("%d of %d nests have code, %d failed, %d were resumed; refused: %v", made, cases, failed, resumed, refused)
	}
}

// TestFunctions compares all functions of the library with the evaluator.
func TestFunctions(t *testing.T) {
	m := needAVX512(t)
	for _, name := range (loop.Standard{}).Names() {
		f := loop.Standard{}.Function(name)
		args := []string{"v0", "v1"}[:len(f.Params)]
		n, err := loop.Parse(`
nest(%0: f64[], %1: f64[]) (i: 0..%0.rows) {
  v0 = load %0[i, 0]
  v1 = load %1[i, 0]
  v2 = call `+name+`(`+strings.Join(args, ", ")+`)
  store out0[i, 0] v2
} : (f64[%0.rows, 1])`, loop.Standard{})
		if err != nil {
			t.Fatal(err)
		}
		x, y := looptest.Numbers(211, uint64(len(name))), looptest.Numbers(211, 99)
		if strings.HasSuffix(name, "32") { // what they take are f32 that are no subnormal ones
			for _, d := range []*value.Dense{x, y} {
				for k, v := range d.F64 {
					if d.F64[k] = float64(float32(v)); math.Abs(d.F64[k]) < 0x1p-126 {
						d.F64[k] = 0
					}
				}
			}
		}
		out := value.New(types.F64, 211, 1)
		c, err := compile(m, avx512, n, []value.Value{x, y}, []*value.Dense{out})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		c.run(0, 1, 0, 211)
		want, err := n.Eval([]value.Value{x, y}, loop.Env{})
		if err != nil {
			t.Fatal(err)
		}
		if err := same(out, want[0].(*value.Dense)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
