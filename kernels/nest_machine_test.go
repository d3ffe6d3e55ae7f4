package kernels

import (
	"math"
	"math/rand/v2"
	"testing"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/loop/launch"
	"flow/kernels/rowtest"
	"flow/kernels/vec"
)

// onNests runs a check twice: where programs are too little work to be compiled, and where nests run
// from their first element on. Operands, and the definition's result, are made once for both.
func onNests(t *testing.T, check func()) {
	t.Helper()
	defer func(from int64, fixed int) { launch.PaysFrom, launch.FixedFrom = from, fixed }(launch.PaysFrom, launch.FixedFrom)
	how := "batches"
	defer func() {
		if t.Failed() {
			t.Logf("of %s", how)
		}
	}()
	launch.PaysFrom = math.MaxInt64
	check()
	how, launch.PaysFrom, launch.FixedFrom = "nests", 0, 1
	check()
}

// needCode skips a test of nests where no machine code runs.
func needCode(t *testing.T) {
	t.Helper()
	if target, err := launch.Target(); err != nil || target == launch.Interp {
		t.Skip("no machine code here")
	}
}

// TestNestsRun: however the operands of a chain lie, a nest runs, once enough work has been seen.
func TestNestsRun(t *testing.T) {
	needCode(t)
	defer func(from int64) { launch.PaysFrom = from }(launch.PaysFrom)
	add := rowtest.RowNamed(t, elementwiseRows(), "add")
	f := types.F64
	for _, c := range []struct {
		name       string
		rows, cols int
		mode       op.Mode
		tall       bool
	}{
		{"in one piece", 30, 40, op.Full, false},
		{"few columns in one piece", 300, 3, op.Full, false},
		{"rows", 30, 40, op.RowVec, false},
		{"columns", 30, 40, op.ColVec, false},
		{"side by side", 300, 3, op.RowVec, false},
		{"tall", 300, 3, op.ColVec, true},
		{"square", 10, 10, op.RowVec, false},
		{"transposed", 30, 40, op.Trans, false},
		{"transposed, tall", 300, 3, op.Trans, true},
		{"transposed, few columns", 12, 9, op.Trans, false},
		{"a number", 30, 40, op.Single, false},
	} {
		counted = &define.Made[string, *launch.Steps]{Most: 512} // others have run such programs
		p := &op.Program{In: []op.Operand{{Elem: f}, {Elem: f, Mode: c.mode}}, Steps: []op.Step{{Def: add, Args: []int{0, 1}, Elem: f}}}
		n, k := operandShape(c.mode, c.rows, c.cols)
		in := []value.Value{value.New(f, c.rows, c.cols), value.New(f, n, k)}
		for _, x := range in {
			for i := range x.(*value.Dense).F64 {
				x.(*value.Dense).F64[i] = float64(i)
			}
		}
		out := value.New(f, c.rows, c.cols)
		m := &machine{}
		calls := 0
		for launch.PaysFrom = 10000; ; calls++ {
			x := &execution{job: job{p: p, in: in, rows: c.rows, cols: c.cols, out: out}}
			m.prepare(x)
			b := &m.nest.grid
			if err := m.area(area{0, c.rows, 0, c.cols}, target{d: x.out}); err != nil {
				t.Fatal(err)
			}
			if b.worker != nil && b.last {
				if b.shape.tall != c.tall {
					t.Errorf("%s: tall is %v", c.name, b.shape.tall)
				}
				rounds := b.worker.Rounds()
				if err := m.area(area{0, c.rows, 0, c.cols}, target{d: x.out}); err != nil {
					t.Fatal(err)
				}
				if n := b.worker.Rounds() - rounds; c.mode == op.Full && n > int64(c.rows*c.cols/launch.Lanes()) {
					t.Errorf("%s: %d rounds for %d rows in one piece", c.name, n, c.rows)
				}
				break
			}
			if calls > 10000/(c.rows*c.cols)+1 {
				t.Errorf("%s: no nest ran", c.name)
				break
			}
		}
		apart := value.New(f, c.rows, c.cols+3).View(0, 2, c.rows, c.cols)
		apart.CopyFrom(in[0].(*value.Dense))
		for _, first := range []value.Value{in[0], apart} { // the bound nest serves both, unless rows are one
			x := &execution{job: job{p: p, in: []value.Value{first, in[1]}, rows: c.rows, cols: c.cols, out: out}}
			m.prepare(x)
			clear(out.F64)
			if err := m.area(area{0, c.rows, 0, c.cols}, target{d: x.out}); err != nil {
				t.Fatal(err)
			}
			if msg := rowtest.Differ(out, oneByOne(t, p, in, c.rows, c.cols)); msg != "" {
				t.Errorf("%s: %s", c.name, msg)
			}
		}
		if calls == 0 {
			t.Errorf("%s: compiled for %d elements", c.name, c.rows*c.cols)
		}
	}
}

// TestMapsOverOperands: a nest knows of each call whether its result lies in the memory of an operand,
// also where it was bound for the other case. Large results are stored past the caches only if not.
func TestMapsOverOperands(t *testing.T) {
	needCode(t)
	defer func(from int64) { launch.PaysFrom = from }(launch.PaysFrom)
	launch.PaysFrom = 0
	f := types.F64
	p := &op.Program{In: []op.Operand{{Elem: f}, {Elem: f}}, Steps: []op.Step{{Def: rowtest.RowNamed(t, elementwiseRows(), "add"), Args: []int{0, 1}, Elem: f}}}
	m := &machine{}
	for _, over := range []bool{false, true, false} {
		x, y := value.New(f, 30, 40), value.New(f, 30, 40)
		for i := range x.F64 {
			x.F64[i], y.F64[i] = float64(i), 0.5
		}
		in, out := []value.Value{x, y}, value.New(f, 30, 40)
		want := oneByOne(t, p, in, 30, 40)
		if over {
			out = x
		}
		m.prepare(&execution{job: job{p: p, in: in, rows: 30, cols: 40, out: out, alias: sharesMemory(in, out)}})
		if err := m.area(area{0, 30, 0, 40}, target{d: out}); err != nil {
			t.Fatal(err)
		}
		if b := &m.nest.grid; b.worker == nil || b.run.Overwrites != over {
			t.Errorf("in the memory of an operand %v: the nest is told %v", over, b.run.Overwrites)
		}
		if msg := rowtest.Differ(out, want); msg != "" {
			t.Errorf("in the memory of an operand %v: %s", over, msg)
		}
	}
}

// TestNestFails: a nest that has no value of an element says of which one, also where the result
// goes to the operand's memory.
func TestNestFails(t *testing.T) {
	needCode(t)
	defer func(from int64) { launch.PaysFrom = from }(launch.PaysFrom)
	launch.PaysFrom = 0
	idiv, mapRow := rowtest.RowNamed(t, elementwiseRows(), "idiv"), fused()[0]
	for _, mode := range []op.Mode{op.Full, op.RowVec} {
		p := &op.Program{In: []op.Operand{{Elem: types.I64}, {Elem: types.I64, Mode: mode}},
			Steps: []op.Step{{Def: idiv, Args: []int{0, 1}, Elem: types.I64}, {Def: rowtest.RowNamed(t, elementwiseRows(), "add"), Args: []int{2, 0}, Elem: types.I64}}}
		for _, inPlace := range []bool{false, true} {
			n, k := operandShape(mode, 50, 700)
			x, y := value.New(types.I64, 50, 700), value.New(types.I64, n, k)
			for i := range x.I64 {
				x.I64[i] = int64(i)
			}
			for i := range y.I64 {
				y.I64[i] = int64(i%7 - 8)
			}
			c := &op.Call{Def: mapRow, In: []value.Value{x, y}, Body: p, Type: x.Type(), Out: value.New(types.I64, 50, 700)}
			if inPlace {
				c.Out = x
			}
			want, err := mapRow.Ref(c)
			if err != nil {
				t.Fatal(err)
			}
			if err := mapRow.Kernel(c); err != nil {
				t.Fatal(err)
			}
			if msg := rowtest.Differ(c.Out, want); msg != "" {
				t.Errorf("%v, in place %v: %s", mode, inPlace, msg)
			}
			y.I64[len(y.I64)-3] = 0
			_, want2 := mapRow.Ref(c)
			got := mapRow.Kernel(c)
			if want2 == nil || got == nil || got.Error() != want2.Error() {
				t.Errorf("%v, in place %v: fails with %v, want %v", mode, inPlace, got, want2)
			}
		}
	}
}

// TestSinglesStay: the program of one operator is the same from call to call, so that what was
// compiled for it stays.
func TestSinglesStay(t *testing.T) {
	e := &engine{}
	add := rowtest.RowNamed(t, elementwiseRows(), "add")
	x, v := value.New(types.F64, 4, 5), value.New(types.F64, 1, 5)
	program := func(in ...value.Value) *op.Program {
		p, err := e.single(&op.Call{Def: add, In: in, Type: x.Type(), Out: value.New(types.F64, 4, 5)})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	first, again, other := program(x, v), program(x, v), program(x, x)
	if first != again || first == other {
		t.Error("programs of single operators are not kept by the way in which their operands lie")
	}
}

// TestSpecialNests: the special functions that have bodies give the bits of package vec on every
// way through them.
func TestSpecialNests(t *testing.T) {
	needCode(t)
	defer func(from int64) { launch.PaysFrom = from }(launch.PaysFrom)
	launch.PaysFrom = 0
	r := rand.New(rand.NewPCG(71, 72))
	x := value.New(types.F64, 1, 20000)
	for i := range x.F64 {
		switch i % 5 {
		case 0:
			x.F64[i] = r.Float64()
		case 1:
			x.F64[i] = r.NormFloat64()
		case 2:
			x.F64[i] = 60 * (r.Float64() - 0.5)
		case 3:
			x.F64[i] = math.Ldexp(r.Float64(), -r.IntN(1080)) // tails of the quantile
		default:
			x.F64[i] = special[r.IntN(len(special))]
		}
	}
	ran := 0
	for _, f := range vec.Special {
		if (loop.Standard{}).Function(f.Name) == nil {
			continue
		}
		ran++
		d := rowtest.RowNamed(t, elementwiseRows(), f.Name)
		c := &op.Call{Def: d, In: []value.Value{x}, Type: x.Type(), Out: value.New(types.F64, 1, 20000)}
		if err := d.Kernel(c); err != nil {
			t.Fatal(err)
		}
		for i, v := range x.F64 {
			if got, want := c.Result().F64[i], f.F(v); math.Float64bits(got) != math.Float64bits(want) && (got == got || want == want) {
				t.Fatalf("%s(%v) is %v, want %v", f.Name, v, got, want)
			}
		}
	}
	if ran != 4 {
		t.Errorf("%d special functions have bodies", ran)
	}
}

// TestNestScalars: the scalars of a call are its own, also where they are equal to those of the
// call before, as -0 is to 0.
func TestNestScalars(t *testing.T) {
	needCode(t)
	defer func(from int64) { launch.PaysFrom = from }(launch.PaysFrom)
	launch.PaysFrom = 0
	f := types.F64
	p := &op.Program{In: []op.Operand{{Elem: f}, {Elem: f, Mode: op.Single}}, Steps: []op.Step{{Def: rowtest.RowNamed(t, elementwiseRows(), "ew.min"), Args: []int{0, 1}, Elem: f}}}
	m := &machine{}
	for k, x := range []float64{0, math.Copysign(0, -1), 0, 1, -1} {
		cols := 20 + k // each is bound anew
		out := value.New(f, 1, cols)
		m.prepare(&execution{job: job{p: p, in: []value.Value{value.New(f, 1, cols), value.F64(x)}, rows: 1, cols: cols}})
		if err := m.area(area{0, 1, 0, cols}, target{d: out}); err != nil {
			t.Fatal(err)
		}
		want := define.Lesser(0, x)
		if got := out.F64[7]; math.Float64bits(got) != math.Float64bits(want) {
			t.Errorf("call %d: min(0, %v) is %v, want %v", k, x, got, want)
		}
	}
}

// TestManyOperands: a chain of many operands, numbers and rows among them, is a nest, and one of more
// than a nest has room for runs in batches; both have the bits of the definition.
func TestManyOperands(t *testing.T) {
	needCode(t)
	defer func(from int64) { launch.PaysFrom = from }(launch.PaysFrom)
	launch.PaysFrom = 0
	add, f := rowtest.RowNamed(t, elementwiseRows(), "add"), types.F64
	const rows, cols = 9, 70
	for _, n := range []int{mostIn / 2, mostIn, mostIn + 1} {
		p, last := &op.Program{}, 0
		var in []value.Value
		for k := range n {
			mode := []op.Mode{op.Full, op.RowVec, op.Single, op.ColVec}[k%4]
			r, c := operandShape(mode, rows, cols)
			x := value.New(f, r, c)
			for i := range x.F64 {
				x.F64[i] = 1 / float64(3+5*k+i)
			}
			p.In, in = append(p.In, op.Operand{Elem: f, Mode: mode}), append(in, x)
		}
		for k := 1; k < n; k++ {
			p.Steps = append(p.Steps, op.Step{Def: add, Args: []int{last, k}, Elem: f})
			last = n + k - 1
		}
		m, out := &machine{}, value.New(f, rows, cols)
		m.prepare(&execution{job: job{p: p, in: in, rows: rows, cols: cols}})
		if err := m.area(area{0, rows, 0, cols}, target{d: out}); err != nil {
			t.Fatal(err)
		}
		if got := m.nest.grid.worker != nil; got != (n <= mostIn) {
			t.Errorf("%d operands: a nest ran: %v", n, got)
		}
		if msg := rowtest.Differ(out, oneByOne(t, p, in, rows, cols)); msg != "" {
			t.Errorf("%d operands: %s", n, msg)
		}
	}
}
