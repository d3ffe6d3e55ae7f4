//go:build linux && amd64

package amd64

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
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

// has reports that the processor has the instructions of a target.
func has(target *target) bool {
	x := cpu.X86
	if target.vexOnly() {
		return x.HasAVX2 && x.HasFMA
	}
	return x.HasAVX512F && x.HasAVX512BW && x.HasAVX512CD && x.HasAVX512DQ && x.HasAVX512VL
}

// those returns the targets that the processor has. need in a loop over targets would skip all that
// come after the first one that it lacks.
func those(list ...*target) []*target {
	return slices.DeleteFunc(list, func(x *target) bool { return !has(x) })
}

// need skips the test if the processor does not have the instructions of a target.
func need(t testing.TB, target *target) *code.Memory {
	t.Helper()
	if !has(target) {
		t.Skipf("the processor has no %s", target.name)
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
	behind  []byte // the bytes behind what the code may use: guardBytes
	pin     []any
	reduced []reducedResult
	first   bool   // the lanes are the first index
	fuel    uint64 // of a call; 0: as much as it needs
	calls   int
	begun   []byte // scratch memory after the first call, if it is not nil before
}

// guardBytes is what lies behind scratch memory.
const guardBytes = "nothing is written behind scratch memory"

// compile makes code for these operands and results.
func compile(m *code.Memory, target *target, n *loop.Nest, in []value.Value, out []*value.Dense) (*compiled, error) {
	return compileAs(Schedule{}, m, target, n, in, out, loop.FastLevels)
}

// compileFor is Compile for a target that has perhaps fewer registers than the one of its name.
func compileFor(t *target, n *loop.Nest, params, results []Layout, levels int, plan Schedule) (code *Code, err error) {
	defer refused(&err)
	return lowered(t, n, params, results, levels, plan, &workshop{}).code()
}

// compileAs makes code with a schedule and states of so many levels.
func compileAs(plan Schedule, m *code.Memory, target *target, n *loop.Nest, in []value.Value, out []*value.Dense, levels int) (*compiled, error) {
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
	c, err := compileFor(target, n, params, results, levels, plan)
	if err != nil {
		return nil, err
	}
	f, err := m.Add(c.Text)
	if err != nil {
		return nil, err
	}
	x := &compiled{Func: f, args: make([]uint64, c.Words), first: plan.First}
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
	for k, d := range out {
		if matrix(at, d); n.Results[k].Class != loop.NoClass {
			if c.States[k] == nil { // nothing contributes
				fill(d, n.Results[k].Class.Fold(d.Elem, make([][]loop.Word, n.Results[k].Class.Info().Args)))
			} else {
				x.reduced = append(x.reduced, reducedResult{d, c.States[k], x.states(at, d, c.States[k])})
			}
		}
		at += memoryWords
	}
	room, err := c.ScratchFor(x.args[argMemory:])
	if err != nil {
		return nil, err
	}
	x.scratch = make([]byte, room+64+len(guardBytes))
	first := (uintptr(unsafe.Pointer(&x.scratch[0])) + 63) &^ 63
	x.args[argScratch] = uint64(first)
	x.behind = x.scratch[first-uintptr(unsafe.Pointer(&x.scratch[0]))+uintptr(room):][:len(guardBytes)]
	copy(x.behind, guardBytes)
	return x, nil
}

// reducedResult is a result and the memory of its states.
type reducedResult struct {
	to    *value.Dense
	state *loop.State
	words []uint64
}

// states makes memory for the states of a result, with a word behind it that nothing may change,
// and sets their words.
func (x *compiled) states(at int, d *value.Dense, st *loop.State) []uint64 {
	plane := d.Rows * d.Cols
	words := make([]uint64, plane*len(st.Types)+1)
	for k, w := range st.Empty {
		for i := range plane {
			words[k*plane+i] = w
		}
	}
	words[len(words)-1] = untouched
	x.args[at], x.args[at+1] = uint64(uintptr(unsafe.Pointer(&words[0]))), uint64(8*d.Cols)
	x.pin = append(x.pin, words)
	return words
}

const untouched = 0x5a5a5a5a5a5a5a5a

// scalarOf is a word as a scalar.
func scalarOf(e types.Elem, word loop.Word) value.Scalar {
	x := value.Scalar{Elem: e, I: int64(word)}
	switch e {
	case types.F64:
		x.F = math.Float64frombits(word)
	case types.F32:
		x.F = float64(math.Float32frombits(uint32(word)))
	}
	return x
}

// fill sets all elements.
func fill(d *value.Dense, word loop.Word) {
	for i := range d.Rows {
		for j := range d.Cols {
			d.Set(i, j, scalarOf(d.Elem, word))
		}
	}
}

// finish sets the reduced results; exact is false where a state lost something.
func (x *compiled) finish() (exact bool) {
	exact = true
	for _, r := range x.reduced {
		plane := r.to.Rows * r.to.Cols
		if r.words[len(r.words)-1] != untouched {
			panic("the code wrote behind the states")
		}
		for i := range plane {
			var words []uint64
			for k := range r.state.Types {
				words = append(words, r.words[k*plane+i])
			}
			exact = exact && r.state.Exact(words)
			word := r.state.Finish([][]loop.Word{words})
			r.to.Set(i/r.to.Cols, i%r.to.Cols, scalarOf(r.to.Elem, word))
		}
	}
	return exact
}

// run evaluates rows r0 to r1-1 and lanes l0 to l1-1; it reports whether a check failed. The code
// is called until the window is ended, with so much fuel a call.
func (x *compiled) run(r0, r1, l0, l1 int) bool {
	if x.first {
		r0, r1, l0, l1 = l0, l1, r0, r1
	}
	x.args[argRow], x.args[argRowEnd], x.args[argLane], x.args[argLaneEnd] = uint64(r0), uint64(r1), uint64(l0), uint64(l1)
	x.args[argFlags], x.args[argResume] = 0, 0
	fuel := x.fuel
	if fuel == 0 {
		fuel = 1 << 40
	}
	for {
		x.args[argFuel] = fuel
		x.Call(unsafe.Pointer(&x.args[0]))
		if x.calls++; x.calls == 1 && x.begun != nil {
			x.begun = bytes.Clone(x.scratch)
		}
		if x.args[argResume] == 0 {
			if string(x.behind) != guardBytes {
				panic("the code wrote behind scratch memory")
			}
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

// starved is a target with so few registers that most values pass through scratch memory.
func starved(of *target) *target {
	t := *of
	t.registers = registers{vectors: 3, masks: min(2, t.masks)}
	t.line = min(1, t.line)
	return &t
}

// TestAgainstDefinition compares the code of random nests with the evaluator, on the whole window
// and on parts of it, and looks that nothing beside the window is written.
func TestAgainstDefinition(t *testing.T) {
	for _, target := range []*target{avx512, avx2} {
		t.Run(string(target.name), func(t *testing.T) { againstDefinition(t, target) })
		t.Run(string(target.name)+" starved", func(t *testing.T) { againstDefinition(t, starved(target)) })
	}
}

// tally counts what became of nests.
type tally struct {
	made, failed, resumed, reduced, lost, deep int
	refused                                    map[string]int
}

func againstDefinition(t *testing.T, target *target) {
	m := need(t, target)
	cases := 1500
	if testing.Short() {
		cases = 200
	}
	n := tally{refused: map[string]int{}}
	for seed := range cases {
		n.compare(t, m, target, uint64(seed))
	}
	if n.made < cases*2/3 || n.failed == 0 || n.resumed < cases/8 || n.reduced < cases/4 || n.lost == 0 || n.deep > n.lost/4 {
		t.Errorf("%d of %d nests have code, %d failed, %d were resumed; %d results were reduced, %d with loss, %d of them in deep states too; refused: %v",
			n.made, cases, n.failed, n.resumed, n.reduced, n.lost, n.deep, n.refused)
	}
}

// TestPoints compares the code of random nests without indices with the evaluator. Half of them have
// matrices that inner loops change along rows and columns.
func TestPoints(t *testing.T) {
	for _, target := range those(avx512, avx2, starved(avx512), starved(avx2)) {
		m, n := need(t, target), tally{refused: map[string]int{}}
		const cases = 80
		along, loops := 0, 0
		for seed := range uint64(cases) {
			x := looptest.DrawRounds(seed)
			if seed%2 == 0 {
				x = looptest.Draw(seed).Point()
			}
			l := &lowering{nest: loop.Unroll(x.Nest, straight)}
			l.findAlong()
			along += len(l.alongBody)
			loop.EachStmt(&l.nest.Body, func(s *loop.Stmt) {
				if s.Code == loop.For {
					loops++
				}
			})
			n.compareCase(t, m, target, seed, x)
		}
		if n.made < cases*9/10 || n.failed < cases/20 || n.resumed < cases/8 || along < cases/2 || along > loops*2/3 {
			t.Errorf("%s: %d of %d nests have code, %d failed, %d were resumed, the rounds of %d loops of %d are lanes; refused: %v",
				target.name, n.made, cases, n.failed, n.resumed, along, loops, n.refused)
		}
	}
}

// TestPointWithoutValues: a nest of one point may compute nothing.
func TestPointWithoutValues(t *testing.T) {
	loweringOf(t, "nest() () {\n} : (f64[1, 1])", Schedule{})
}

// TestMaskOfASpilledVector: a bool in a vector without a register is loaded before it becomes a mask,
// because that instruction takes no operand in memory.
func TestMaskOfASpilledVector(t *testing.T) {
	n := tally{refused: map[string]int{}}
	n.compare(t, need(t, avx512), starved(avx512), 45549)
	if n.made != 1 {
		t.Errorf("the nest has no code: %v", n.refused)
	}
}

// TestSoakNests compares the code of nests that no other run has seen with the evaluator:
// FLOW_SOAK_CASES times (make soak: a million), a quarter for each target. One processor runs some 600
// a second.
func TestSoakNests(t *testing.T) {
	cases, err := strconv.Atoi(os.Getenv("FLOW_SOAK_CASES"))
	if err != nil {
		t.Skip("FLOW_SOAK_CASES is not set to a number")
	}
	first, workers := uint64(time.Now().UnixNano()), runtime.GOMAXPROCS(0)
	t.Logf("seeds from %d on", first)
	for w := range workers {
		t.Run(strconv.Itoa(w), func(t *testing.T) {
			t.Parallel()
			m, n := need(t, avx2), tally{refused: map[string]int{}}
			for seed := first + uint64(w); n.made < cases/workers && !t.Failed(); seed += uint64(workers) {
				for _, target := range []*target{avx512, avx2, starved(avx512), starved(avx2)} {
					if has(target) {
						n.compare(t, m, target, seed)
					}
				}
			}
			t.Logf("%d runs of nests", n.made)
		})
	}
}

// compare runs the nest of a seed and compares its results with those of the evaluator.
func (n *tally) compare(t *testing.T, m *code.Memory, target *target, seed uint64) {
	n.compareCase(t, m, target, seed, looptest.Draw(seed))
}

func (n *tally) compareCase(t *testing.T, m *code.Memory, target *target, seed uint64, x *looptest.Case) {
	out := x.Results()
	plan := Schedule{together: int(seed % (maxParts + 1))}
	f, err := compileAs(plan, m, target, x.Nest, x.In, out, loop.FastLevels)
	if err != nil {
		n.refused[err.Error()]++
		return
	}
	n.made++
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
		n.resumed++
	}
	if flagged != (err != nil) {
		t.Fatalf("seed %d: the code says failed = %v, the definition %v\n%s", seed, flagged, err, x.Nest)
	}
	if flagged {
		n.failed++
		return
	}
	n.reduced += len(f.reduced)
	if !f.finish() { // exact sums of numbers that are too far apart, or not finite
		n.lost++
		f, err = compileAs(plan, m, target, x.Nest, x.In, out, loop.DeepLevels)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		f.run(0, rows, 0, lanes)
		if !f.finish() {
			n.deep++
			return
		}
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

// TestFunctions compares all functions of the library with the evaluator.
func TestFunctions(t *testing.T) {
	for _, target := range []*target{avx512, avx2} {
		t.Run(string(target.name), func(t *testing.T) { functions(t, target) })
	}
}

func functions(t *testing.T, target *target) {
	m := need(t, target)
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
		c, err := compile(m, target, n, []value.Value{x, y}, []*value.Dense{out})
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
