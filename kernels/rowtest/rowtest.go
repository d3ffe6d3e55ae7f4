package rowtest

// This file compares kernels, and their loops, with the definitions of their rows.

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
)

// RowNamed finds a row.
func RowNamed(t testing.TB, rows []*op.Def, name string) *op.Def {
	for _, d := range rows {
		if d.Name == name {
			return d
		}
	}
	t.Fatalf("no row %s", name)
	return nil
}

// RandomDense is a matrix with a wider stride than it has columns, so that kernels meet views too.
func RandomDense(r *rand.Rand, e types.Elem, rows, cols int) *value.Dense {
	if rows == 0 || cols == 0 {
		return value.New(e, rows, cols)
	}
	d := value.New(e, rows+2, cols+3).View(1, 2, rows, cols)
	for i := range rows {
		for j := range cols {
			x := value.F64(r.Float64()*2 - 1)
			if !e.IsFloat() {
				x = value.I64(r.Int64N(7) - 3)
			}
			d.Set(i, j, x)
		}
	}
	return d
}

// RunRow runs type rule and kernel of d as a runtime does, and the reference.
func RunRow(t testing.TB, d *op.Def, attrs *op.Attrs, in ...value.Value) (kernel, ref value.Value, err error) {
	t.Helper()
	sig := new(op.Sig).Of(&op.Call{Def: d, Attrs: attrs, In: in})
	typ, terr := d.Type(sig)
	if terr != nil {
		t.Fatalf("%s%v of %v: %v", d.Name, attrs, sig.In, terr)
	}
	c := &op.Call{Def: d, Attrs: attrs, In: in, Type: typ}
	ref, rerr := d.Ref(c)
	if typ.IsDense() {
		out := value.New(typ.Elem, typ.Rows, typ.Cols)
		for i := range typ.Rows { // the memory that a runtime lends is dirty
			for j := range typ.Cols {
				out.Set(i, j, value.I64(1))
			}
		}
		if d.Accum > 0 {
			out.CopyFrom(in[d.Accum-1].(*value.Dense))
		}
		c.Out = out
	}
	err = d.Kernel(c)
	if fmt.Sprint(err) != fmt.Sprint(rerr) {
		t.Fatalf("%s%v of %v: kernel fails with %v, reference with %v", d.Name, attrs, sig.In, err, rerr)
	}
	return c.Out, ref, err
}

// CheckRow demands the same bits of kernel and reference.
func CheckRow(t testing.TB, d *op.Def, attrs *op.Attrs, in ...value.Value) value.Value {
	t.Helper()
	got, want, err := RunRow(t, d, attrs, in...)
	if err == nil && !value.Same(got, want) {
		t.Fatalf("%s%v: kernel and reference differ\n%s\n%s", d.Name, attrs, ShowValue(got), ShowValue(want))
	}
	return got
}

// ShowValue prints small values for failures.
func ShowValue(v value.Value) string {
	d, ok := v.(*value.Dense)
	if !ok {
		return fmt.Sprint(v)
	}
	if d.Rows*d.Cols > 100 {
		return d.Type().String()
	}
	var b strings.Builder
	for i := range d.Rows {
		for j := range d.Cols {
			fmt.Fprintf(&b, " %v", d.At(i, j))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Attr is an attribute of a call.
func Attr(name string, v op.Val) op.Attr { return op.Attr{Name: name, Val: v} }

// Differ says where two values differ, "" if they do not: in bits, but that one NaN is as good as
// another. IEEE 754 leaves the payload of a NaN made from two open, and compilers swap the operands
// of an addition.
func Differ(a, b value.Value) string {
	if a != nil && b != nil && value.Same(a, b) {
		return ""
	}
	if a == nil || b == nil || !a.Type().Equal(b.Type()) {
		return fmt.Sprintf("%v against %v", a, b)
	}
	if x, ok := a.(value.Scalar); ok {
		if y := b.(value.Scalar); !sameScalar(x, y) {
			return fmt.Sprintf("%v against %v", x, y)
		}
		return ""
	}
	if x, ok := a.(*value.CSR); ok {
		y := b.(*value.CSR)
		if x.NNZ() != y.NNZ() {
			return fmt.Sprintf("%d entries against %d", x.NNZ(), y.NNZ())
		}
		a, b = define.EveryElement(x), define.EveryElement(y)
	}
	x, y := a.(*value.Dense), b.(*value.Dense)
	for i := range x.Rows {
		for j := range x.Cols {
			if u, v := x.At(i, j), y.At(i, j); !sameScalar(u, v) {
				return fmt.Sprintf("at (%d, %d): %v against %v", i, j, u, v)
			}
		}
	}
	return ""
}

// Defined is the definition's result of a call, which it must have.
func Defined(t testing.TB, c *op.Call) value.Value {
	t.Helper()
	want, err := c.Def.Ref(c)
	if err != nil {
		t.Fatal(err)
	}
	return want
}

// Check executes a row on in, by kernel and by definition, and compares. ok is false when the type
// rule refuses.
func Check(t *testing.T, d *op.Def, attrs *op.Attrs, in []value.Value) (out value.Value, ok bool) {
	t.Helper()
	sig := new(op.Sig).Of(&op.Call{Def: d, Attrs: attrs, In: in})
	typ, err := d.Type(sig)
	if err != nil {
		if _, is := err.(*op.Fault); !is {
			t.Fatalf("%s: the type rule fails with %T, not a fault: %v", d.Name, err, err)
		}
		return nil, false
	}
	c := &op.Call{Def: d, Attrs: attrs, In: in, Type: typ}
	want, refErr := d.Ref(c)
	if d.Kernel == nil {
		return want, refErr == nil
	}
	Lend(c)
	err = d.Kernel(c)
	if (err == nil) != (refErr == nil) {
		t.Fatalf("%s of %v: kernel says %v, definition %v", d.Name, sig.In, err, refErr)
	}
	if err != nil {
		if d.Laws.Has(op.Total) && typ.Known() {
			t.Fatalf("%s of %v claims never to fail: %v", d.Name, sig.In, err)
		}
		if err.Error() != refErr.Error() {
			t.Fatalf("%s: kernel says %v, definition %v", d.Name, err, refErr)
		}
		return nil, false
	}
	if got := c.Out.Type(); !got.Equal(typ) && !(!typ.Known() && got.Elem == typ.Elem && got.Repr == typ.Repr) {
		t.Fatalf("%s of %v: the result is %v, the type rule says %v", d.Name, sig.In, c.Out.Type(), typ)
	}
	if msg := Differ(c.Out, want); msg != "" {
		t.Fatalf("%s of %v: %s (kernel, definition)", d.Name, sig.In, msg)
	}
	CheckLoop(t, c, want)
	if d.Cost != nil {
		if w := d.Cost(sig, typ); w.Flops < 0 || w.Bytes < 0 {
			t.Fatalf("%s costs %v", d.Name, w)
		}
	}
	return c.Out, true
}

// Lend gives the call an output matrix full of rubbish, so that a kernel that leaves elements out
// shows.
func Lend(c *op.Call) {
	if !c.Type.IsDense() || !c.Type.Known() {
		return
	}
	out := value.New(c.Type.Elem, c.Type.Rows, c.Type.Cols)
	for i := range out.F64 {
		out.F64[i] = 1e99
	}
	for i := range out.F32 {
		out.F32[i] = 1e30
	}
	for i := range out.I64 {
		out.I64[i] = -99
	}
	for i := range out.Bool {
		out.Bool[i] = 77
	}
	c.Out = out
}

// CheckLoop runs a call as a loop, in random chunks on a random number of workers, and compares.
// Every table-driven test comes here.
func CheckLoop(t *testing.T, c *op.Call, want value.Value) {
	t.Helper()
	if c.Def.Loop == nil {
		return
	}
	n, leaf := c.Def.Loop.Space(c)
	if n == 0 {
		return
	}
	if leaf < 1 {
		t.Fatalf("%s: a leaf of %d iterations", c.Def.Name, leaf)
	}
	r := rand.New(rand.NewPCG(uint64(n), uint64(leaf)))
	for round := range 2 {
		own := *c
		own.Out = nil
		Lend(&own)
		if a := c.Def.Accum; a > 0 {
			own.Result().CopyFrom(c.Dense(a - 1))
		}
		workers := 1 + round*(1+r.IntN(5))
		got, err := Chunked(r, &own, n, leaf, workers)
		if err != nil {
			t.Fatalf("%s as a loop: %v", c.Def.Name, err)
		}
		if msg := Differ(got, want); msg != "" {
			t.Fatalf("%s to %v as a loop of %d iterations on %d workers: %s", c.Def.Name, c.Type, n, workers, msg)
		}
	}
	checkOpenLoop(t, c, want)
}

// checkOpenLoop runs the call as an engine does where only the run tells how many rows or columns
// an operand has, and so the result: no memory is lent before. Such a call is no loop, or one that
// makes its result.
func checkOpenLoop(t *testing.T, c *op.Call, want value.Value) {
	t.Helper()
	if c.Def.Type == nil || c.Body != nil || c.Bodies != nil {
		return
	}
	d := *c.Def
	d.Loop = define.ResolvedLoop(&d) // as in the table; some tests have rows from before that
	for k := range 3 * len(c.In) {
		sig := new(op.Sig).Of(c)
		in := &sig.In[k/3]
		if !in.IsDense() {
			continue
		}
		if k%3 != 1 {
			in.Rows = types.Unknown
		}
		if k%3 != 0 {
			in.Cols = types.Unknown
		}
		out, err := c.Def.Type(sig)
		if err != nil || !out.IsDense() || out.Known() {
			continue
		}
		own := *c
		own.Def, own.Out, own.Type = &d, nil, out
		n, leaf := d.Loop.Space(&own)
		if n <= leaf || leaf < 1 {
			continue // Kernel runs it
		}
		got, err := Chunked(rand.New(rand.NewPCG(uint64(n), 5)), &own, n, leaf, 2)
		if err != nil {
			t.Fatalf("%s as a loop to %v: %v", c.Def.Name, own.Type, err)
		}
		if msg := Differ(got, want); msg != "" {
			t.Fatalf("%s as a loop of %d iterations to %v, in fact %v: %s", c.Def.Name, n, own.Type, c.Type, msg)
		}
	}
}

// Chunked executes a loop in random chunks, in random order, on workers goroutines.
func Chunked(r *rand.Rand, c *op.Call, n, leaf, workers int) (value.Value, error) {
	body, err := c.Def.Loop.Begin(c, workers)
	if err != nil {
		return nil, err
	}
	var chunks [][2]int
	for lo, units := 0, (n+leaf-1)/leaf; lo < units; {
		hi := lo + 1 + r.IntN(max(1, units/3))
		chunks = append(chunks, [2]int{lo * leaf, min(hi*leaf, n)})
		lo = hi
	}
	for again := true; again; {
		r.Shuffle(len(chunks), func(i, j int) { chunks[i], chunks[j] = chunks[j], chunks[i] })
		var all sync.WaitGroup
		errs := make([]error, workers)
		for w := range workers {
			all.Go(func() {
				for k := w; k < len(chunks); k += workers {
					if err := body.Chunk(w, chunks[k][0], chunks[k][1]); err != nil {
						errs[w] = err
					}
				}
			})
		}
		all.Wait()
		for _, err := range errs {
			if err != nil {
				return nil, err
			}
		}
		again = false
		if p, has := body.(op.Passes); has {
			if again, err = p.Next(); err != nil {
				return nil, err
			}
		}
	}
	err = body.End() // it may set the result
	return c.Out, err
}

func sameScalar(a, b value.Scalar) bool {
	return a.Same(b) || a.Elem == b.Elem && math.IsNaN(a.F) && math.IsNaN(b.F)
}

// UnevenSparse is a matrix whose rows differ in length as those of graphs do: some are empty, few
// are nearly full. Of integers some are so that sums cancel.
func UnevenSparse(r *rand.Rand, e types.Elem, rows, cols int) *value.CSR {
	m := value.NewCSR(e, rows, cols, 0)
	for i := range rows {
		share := 0.004
		switch r.IntN(40) {
		case 0:
			share = 0.9
		case 1, 2, 3, 4:
			share = 0
		}
		for j := range cols {
			if r.Float64() >= share {
				continue
			}
			m.Col = append(m.Col, int32(j))
			switch e {
			case types.F64:
				m.F64 = append(m.F64, r.NormFloat64())
			case types.F32:
				m.F32 = append(m.F32, float32(r.IntN(7)-9)/2)
			case types.I64:
				m.I64 = append(m.I64, []int64{-1, 1, 2}[r.IntN(3)])
			}
		}
		m.Ptr[i+1] = int64(len(m.Col))
	}
	return m
}
