//go:build linux && amd64

package amd64

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/loop/code"
)

// TestOperations compares every scalar operation on every element type with its meaning: on pairs
// of special values, and on random ones of all sizes, once and in a loop that lanes leave.
func TestOperations(t *testing.T) {
	for _, target := range []*target{avx512, avx2} {
		t.Run(string(target.name), func(t *testing.T) { operations(t, target) })
	}
}

func operations(t *testing.T, target *target) {
	m := need(t, target)
	for c := loop.Add; c.IsOp(); c++ {
		if c == loop.Select {
			continue // its operands have two types; the random nests draw it
		}
		for _, e := range c.Operation().On {
			in := operandsOf(c, e)
			operation(t, m, target, c, e, in, once)
			operation(t, m, target, c, e, in, made)
			if o := c.Operation(); c != loop.Scale && (o.Gives == types.NoElem || o.Gives == e) {
				operation(t, m, target, c, e, in, carried)
			}
		}
	}
}

// How an operation is tested: once, or in a loop of up to three rounds that lanes leave, which
// hands its result out, or back to it as the first operand.
const (
	once = iota
	made
	carried
)

// operation compares one operation.
func operation(t *testing.T, m *code.Memory, target *target, c loop.Code, e types.Elem, in []value.Value, how int) {
	o := c.Operation()
	var params, body, args []string
	line := func(format string, args ...any) { body = append(body, fmt.Sprintf(format, args...)) }
	for k := range in {
		params = append(params, fmt.Sprintf("%%%d: %v[]", k, e))
		line("v%d = load %%%d[i, 0]", k, k)
		args = append(args, fmt.Sprintf("v%d", k))
	}
	gives := e
	if o.Gives != types.NoElem {
		gives = o.Gives
	}
	rows, n := in[0].(*value.Dense).Rows, len(in)
	if how != once {
		last := value.New(types.I64, rows, 1)
		for i := range last.I64 {
			last.I64[i] = int64(i % 5)
		}
		in = append(in[:n:n], last)
		params = append(params, fmt.Sprintf("%%%d: i64[]", n))
		line("v%d = load %%%d[i, 0]", n, n)
		zero := "0"
		if gives == types.Bool {
			zero = "false"
		}
		line("v%d = %v %s", n+1, gives, zero)
		line("v%d, v%d = for q: 0..3 (v%d = v0, v%d = v%d) {", n+2, n+3, n+4, n+5, n+1)
		line("v%d = index q", n+6)
		line("v%d = eq v%d, v%d", n+7, n+6, n)
		line("break v%d", n+7)
		args[0] = fmt.Sprintf("v%d", n+4)
		line("v%d = %s %s", n+8, o.Name, strings.Join(args, ", "))
		same := "max" // the operand once more, which no compiler sees
		if e == types.Bool {
			same = "and"
		}
		line("v%d = %s v%d, v%d", n+9, same, n+4, n+4)
		if how == carried {
			line("next v%d, v%d", n+8, n+8)
		} else {
			line("next v%d, v%d", n+9, n+8)
		}
		line("}")
		n += 3
	} else {
		line("v%d = %s %s", n, o.Name, strings.Join(args, ", "))
	}
	text := fmt.Sprintf("nest(%s) (i: 0..%%0.rows) {\n%s\nstore out0[i, 0] v%d\n} : (%v[%%0.rows, 1])", strings.Join(params, ", "), strings.Join(body, "\n"), n, gives)
	nest, err := loop.Parse(text, loop.Standard{})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	out := value.New(gives, rows, 1)
	f, err := compile(m, target, nest, in, []*value.Dense{out})
	if err != nil {
		t.Fatalf("%s of %v: %v", o.Name, e, err)
	}
	f.run(0, 1, 0, rows)
	want, err := nest.Eval(in, loop.Env{})
	if err != nil {
		t.Fatal(err)
	}
	wrong := 0
	for i := range rows {
		if x, y := out.At(i, 0), want[0].(*value.Dense).At(i, 0); !x.Same(y) {
			var of []string
			for _, v := range in {
				of = append(of, fmt.Sprint(v.(*value.Dense).At(i, 0)))
			}
			t.Errorf("%s of %v, way %d: (%s) gives %v, want %v", o.Name, e, how, strings.Join(of, ", "), x, y)
			if wrong++; wrong == 5 {
				break
			}
		}
	}
}

// edges are numbers at which conversions, shifts and scalings change their ways.
var edges = []float64{0, math.Copysign(0, -1), 1, -1, 2, 3, 0.5, -0.5, 1.5, 2.5, math.Inf(1), math.Inf(-1), math.NaN(), 5e-324, -5e-324, 0x1.8p-1073, 0x1p-1022,
	0x1.fffffffffffffp-1023, -0x1.123456789abcdp-1000, 0x1.fffffffffffffp-970, 0x1.0000000000001p-53, math.MaxFloat64, -math.MaxFloat64, 0x1.fffffffffffffp1000,
	31, 32, 33, 63, 64, 65, -63, 127, 53, -53, 54, -54, 969, -969, -970, 1021, 1022, 1023, 1024, -1021, -1022, -1023, -1024, -1074, -1075, -1076,
	2046, 2047, -1938, -1939, 2098, 2099, -2098, -2099, -2100, -2200, -3000, 4096, -4097, 1e9, -1e9,
	0x1p31, -0x1p31, 0x1p32, 0x1p32 - 1, 0x1p52, 0x1p52 + 1, 0x1p53, -0x1p53, 0x1p62, 0x1.fffffffffffffp62, -0x1p63, 0x1p63,
	0x1.fffffep127, 0x1p-126, 0x1.fffffcp-127, 0x1p-149}

// wholeEdges are integers at which rounding and signs change.
var wholeEdges = []int64{0, 1, -1, 2, 3, 31, 32, 33, 62, 63, 64, 65, 1000, -64, 1<<31 - 1, 1 << 31, -1 << 31, 1<<32 - 1, 1 << 32, 1<<52 + 1, 1<<53 - 1, 1 << 53, 1<<53 + 1,
	-1<<53 - 1, 1<<54 + 2, 1<<54 + 3, 1<<60 + 1<<36, 1<<60 + 1<<36 + 1, 1<<60 + 1<<36 - 1, -1<<60 - 1<<36 - 1, 1<<62 + 1<<9, 1<<62 + 1<<9 + 1, math.MaxInt64, math.MinInt64, math.MinInt64 + 1,
	math.MaxInt64 - 1<<10, math.MaxInt64 - 1<<39, 0x5555555555555555}

// operandsOf makes columns of operands for which the operation is defined.
func operandsOf(c loop.Code, e types.Elem) []value.Value {
	r := rand.New(rand.NewPCG(uint64(c), 17))
	var list []value.Scalar
	switch e {
	case types.I64:
		for _, x := range wholeEdges {
			list = append(list, value.I64(x))
		}
	case types.Bool:
		list = []value.Scalar{value.Bool(false), value.Bool(true)}
	default:
		for _, x := range edges {
			list = append(list, value.F64(x).Convert(e))
		}
	}
	random := func() value.Scalar {
		switch e {
		case types.I64:
			return value.I64(int64(r.Uint64()) >> r.IntN(64))
		case types.Bool:
			return value.Bool(r.IntN(2) == 0)
		}
		return value.F64(math.Ldexp(r.NormFloat64(), r.IntN(2200)-1100)).Convert(e)
	}
	args := c.Operation().Args
	var rows [][]value.Scalar
	for _, x := range list {
		for _, y := range list {
			rows = append(rows, []value.Scalar{x, y, list[r.IntN(len(list))]}[:args])
			if args == 1 {
				break
			}
		}
	}
	for range 2000 {
		row := make([]value.Scalar, args)
		for k := range row {
			row[k] = random()
		}
		if c == loop.Scale {
			row[1] = value.F64(float64(r.IntN(4400) - 2200))
			if r.IntN(4) > 0 { // a product that is subnormal, which a second rounding would change
				x := math.Ldexp(r.NormFloat64(), r.IntN(80)-60)
				_, exp := math.Frexp(x)
				row[0].F, row[1].F = x, float64(-1022-exp-r.IntN(60))
			}
		}
		rows = append(rows, row)
	}
	columns := make([]value.Value, args)
	kept := rows[:0]
	for _, row := range rows {
		if definedOn(c, e, row) {
			kept = append(kept, row)
		}
	}
	for k := range columns {
		d := value.New(e, len(kept), 1)
		for i, row := range kept {
			d.Set(i, 0, row[k])
		}
		columns[k] = d
	}
	return columns
}

// definedOn says whether the meaning of an operation covers the operands.
func definedOn(c loop.Code, e types.Elem, in []value.Scalar) bool {
	switch c {
	case loop.IDiv, loop.Mod:
		return in[1].I != 0
	case loop.ToI64:
		return e == types.Bool || in[0].F >= -0x1p63 && in[0].F < 0x1p63
	case loop.Bits:
		return in[0].F == in[0].F
	case loop.Scale: // of a nan scaled by an infinite n processors make infinity or 0
		n := in[1].F
		return n != n || n == math.Trunc(n) && (in[0].F == in[0].F || !math.IsInf(n, 0))
	}
	return true
}

// TestVexOnly: an instruction that AVX2 lacks is refused where it is written.
func TestVexOnly(t *testing.T) {
	for _, i := range []Inst{{Op: VPMULLQ, Len: L256}, {Op: VADDPD, Len: L512}, {Op: VADDPD, Len: L256, Mask: K(1)}, {Op: VADDPD, Len: L256, B: V(17)},
		{Op: VADDPD, Len: L256, InMem: true, Mem: Mem{Base: RAX, Index: NoReg, Broadcast: true}}, {Op: KANDW, Dst: K(1), A: K(1), B: K(1)}} {
		func() {
			defer func() {
				if v := recover(); v == nil || !strings.Contains(fmt.Sprint(v), "AVX-512") {
					t.Errorf("%s: %v", forms[i.Op].name, v)
				}
			}()
			a := Asm{vexOnly: true}
			a.Emit(i)
		}()
	}
	a := Asm{vexOnly: true}
	a.Emit(Inst{Op: VADDPD, Len: L256})
}
