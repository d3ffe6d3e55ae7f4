package kernels

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/rowtest"
)

func rows(t *testing.T) []*op.Def {
	table, err := Table("")
	if err != nil {
		t.Fatal(err)
	}
	return table.Rows()
}

// Every row says what a row must say.
func TestRowsAreComplete(t *testing.T) {
	for _, d := range rows(t) {
		word := d.Source()
		if !strings.HasPrefix(d.Doc, word+" ") && !strings.HasPrefix(d.Doc, d.Name+" ") {
			t.Errorf("%s: the manual does not begin with the word: %q", d.Name, d.Doc)
		}
		switch {
		case !d.Hidden && len(d.Eg) == 0:
			t.Errorf("%s has no example", d.Name)
		case d.Type == nil && d.Kernel == nil && d.Ref == nil: // a manual entry: the compiler expands it
		case d.Type == nil:
			t.Errorf("%s has no type rule", d.Name)
		case d.Kernel != nil && d.Ref == nil && !d.Laws.Has(op.Effectful):
			t.Errorf("%s has a kernel and no definition", d.Name)
		case d.Cost == nil && (d.Kernel != nil || d.Shape != nil):
			t.Errorf("%s has no cost", d.Name)
		}
		for i, a := range d.Args {
			if i > 0 && d.Args[i-1].Attr && !a.Attr {
				t.Errorf("%s: value argument %s stands after attributes", d.Name, a.Name)
			}
		}
	}
}

// Sharding names rows that are there.
func TestShardRowsExist(t *testing.T) {
	table, err := Table("")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range table.Rows() {
		for _, name := range []string{d.Shard.Partial, d.Shard.Combine, d.Shard.Finish, d.Shard.Accum, d.Narrow} {
			if name != "" && table.Named(name) == nil {
				t.Errorf("%s is cut by %s, which is no row", d.Name, name)
			}
		}
		if d.Shard.Kind == op.ShardReduce && (d.Shard.Partial == "" || d.Shard.Combine == "") {
			t.Errorf("%s: a reduction without partials", d.Name)
		}
	}
}

// TestPlacesHaveLoops: operators that keep or reduce elements at their places have a loop. Workers
// share it, so a matrix that only such operators make and read is not cut into blocks
// (compiler/pass/whole.go).
func TestPlacesHaveLoops(t *testing.T) {
	kinds := []op.ShardKind{op.ShardAligned, op.ShardTranspose, op.ShardTriangle, op.ShardReduce, op.ShardRows, op.ShardCols}
	for _, d := range rows(t) {
		if slices.Contains(kinds, d.Shard.Kind) && d.Loop == nil {
			t.Errorf("%s has no loop", d.Name)
		}
	}
}

var elemsUnderTest = []types.Elem{types.F64, types.F32, types.I64, types.Bool}

// operands are the shape classes of elementwise arguments: equal, scalar, row, column, 1 x 1,
// empty, ragged.
func operands(r *rand.Rand, e types.Elem, rows, cols int) value.Value {
	switch r.IntN(8) {
	case 0:
		return anyScalar(r, e)
	case 1:
		return anyDense(r, e, 1, cols)
	case 2:
		return anyDense(r, e, rows, 1)
	case 3:
		return anyDense(r, e, 1, 1)
	}
	return anyDense(r, e, rows, cols)
}

// Elementwise kernels equal their definitions for every combination of element types that the type
// rule accepts.
func TestElementwiseKernels(t *testing.T) { onNests(t, func() { testElementwiseKernels(t) }) }

func testElementwiseKernels(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, d := range rows(t) {
		if d.Elt == nil {
			continue
		}
		accepted := 0
		for range 60 * len(d.Args) {
			n, m := r.IntN(6), r.IntN(9)
			switch r.IntN(12) {
			case 0:
				n, m = 3, 700
			case 1:
				n, m = 700, 3
			}
			var in []value.Value
			e := elemsUnderTest[r.IntN(4)]
			for k := range d.Args {
				if r.IntN(3) == 0 || k == 0 && d.Operands == op.AsChosen {
					e = elemsUnderTest[r.IntN(4)]
				}
				if k == 0 && d.Operands == op.AsChosen && r.IntN(4) > 0 {
					in = append(in, operands(r, types.Bool, n, m))
					continue
				}
				in = append(in, operands(r, e, n, m))
			}
			if _, ok := rowtest.Check(t, d, nil, in); ok {
				accepted++
			}
		}
		if accepted < 3 {
			t.Errorf("%s: only %d random calls were accepted", d.Name, accepted)
		}
	}
}

// Reductions equal their definitions, and so does every way of cutting them.
func TestReductions(t *testing.T) {
	table, err := Table("")
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(3, 4))
	for _, d := range table.Rows() {
		k := d.Shard.Kind
		if k != op.ShardReduce && k != op.ShardRows && k != op.ShardCols || d.Name == "identical" {
			continue
		}
		for _, e := range elemsUnderTest {
			for range 12 {
				a := anyDense(r, e, r.IntN(20), r.IntN(20))
				if r.IntN(6) == 0 {
					a = anyDense(r, e, 150, 70)
				}
				if r.IntN(2) == 0 {
					calm(a)
				}
				whole, ok := rowtest.Check(t, d, nil, []value.Value{a})
				if !ok {
					continue
				}
				switch k {
				case op.ShardReduce:
					if msg := rowtest.Differ(cutReduce(t, r, table, d, a), whole); msg != "" {
						t.Fatalf("%s of %v in blocks: %s", d.Name, a.Type(), msg)
					}
				default:
					cutLines(t, r, d, a, whole.(*value.Dense))
				}
			}
			if k == op.ShardReduce {
				rowtest.Check(t, d, nil, []value.Value{anyScalar(r, e)})
			}
		}
	}
}

// calm replaces what is no ordinary number, so that the sums themselves are under test.
func calm(a *value.Dense) {
	for i := range a.Rows {
		for j := range a.Cols {
			if x := a.At(i, j); x.Elem.IsFloat() && !(x.F > -1e6 && x.F < 1e6) {
				a.Set(i, j, value.F64(float64(i)-float64(j)/3))
			}
		}
	}
}

// cuts is a random partition of 0..n into pieces.
func cuts(r *rand.Rand, n int) []int {
	at := []int{0}
	for at[len(at)-1] < n {
		at = append(at, min(n, at[len(at)-1]+1+r.IntN(n)))
	}
	return at
}

// cutReduce computes d through its hidden rows: random blocks, joined in random order and grouping.
func cutReduce(t *testing.T, r *rand.Rand, table *op.Table, d *op.Def, a *value.Dense) value.Value {
	t.Helper()
	part, join := table.Must(d.Shard.Partial), table.Must(d.Shard.Combine)
	var accs []value.Value
	rowCuts, colCuts := cuts(r, a.Rows), cuts(r, a.Cols)
	for i := 1; i < len(rowCuts); i++ {
		for j := 1; j < len(colCuts); j++ {
			b := a.View(rowCuts[i-1], colCuts[j-1], rowCuts[i]-rowCuts[i-1], colCuts[j]-colCuts[j-1])
			acc, ok := rowtest.Check(t, part, nil, []value.Value{b})
			if !ok {
				t.Fatalf("%s refuses %v", part.Name, b.Type())
			}
			accs = append(accs, acc)
		}
	}
	if len(accs) == 0 {
		acc, _ := rowtest.Check(t, part, nil, []value.Value{a})
		accs = append(accs, acc)
	}
	for len(accs) > 1 {
		r.Shuffle(len(accs), func(i, j int) { accs[i], accs[j] = accs[j], accs[i] })
		n := 1 + r.IntN(len(accs))
		acc, ok := rowtest.Check(t, join, nil, accs[:n])
		if !ok {
			t.Fatalf("%s refuses its accumulators", join.Name)
		}
		accs = append(accs[n:], acc)
	}
	attrs := op.MakeAttrs(op.Attr{Name: "elem", Val: op.Str(a.Elem.String())}, op.Attr{Name: "n", Val: op.Int(a.Rows * a.Cols)})
	out, ok := rowtest.Check(t, table.Must(d.Shard.Finish), attrs, accs)
	if !ok {
		t.Fatalf("%s refuses", d.Shard.Finish)
	}
	return out
}

// cutLines checks a reduction by rows (columns) on random stripes.
func cutLines(t *testing.T, r *rand.Rand, d *op.Def, a, whole *value.Dense) {
	t.Helper()
	byRow := d.Shard.Kind == op.ShardRows
	n := a.Cols
	if byRow {
		n = a.Rows
	}
	at := cuts(r, n)
	for i := 1; i < len(at); i++ {
		lo, size := at[i-1], at[i]-at[i-1]
		var stripe, want *value.Dense
		if byRow {
			stripe, want = a.View(lo, 0, size, a.Cols), whole.View(lo, 0, size, 1)
		} else {
			stripe, want = a.View(0, lo, a.Rows, size), whole.View(0, lo, 1, size)
		}
		got, ok := rowtest.Check(t, d, nil, []value.Value{stripe})
		if !ok {
			t.Fatalf("%s refuses a stripe", d.Name)
		}
		if msg := rowtest.Differ(got, want); msg != "" {
			t.Fatalf("%s in stripes: %s", d.Name, msg)
		}
	}
}

// A partial row that compares blocks: identical, joined by all.join.
func TestIdenticalInBlocks(t *testing.T) {
	table, err := Table("")
	if err != nil {
		t.Fatal(err)
	}
	d := table.Must("identical")
	r := rand.New(rand.NewPCG(5, 6))
	for round := range 30 {
		a := anyDense(r, types.F64, 1+r.IntN(9), 1+r.IntN(9))
		b := a.Clone()
		if round%2 == 0 {
			b.F64[r.IntN(len(b.F64))] = 12345
		}
		whole, _ := rowtest.Check(t, d, nil, []value.Value{a, b})
		if whole.(value.Scalar).True() != (round%2 != 0) {
			t.Fatal("identical is wrong")
		}
		var parts []value.Value
		at := cuts(r, a.Rows)
		for i := 1; i < len(at); i++ {
			n := at[i] - at[i-1]
			p, _ := rowtest.Check(t, d, nil, []value.Value{a.View(at[i-1], 0, n, a.Cols), b.View(at[i-1], 0, n, a.Cols)})
			parts = append(parts, p)
		}
		all, ok := rowtest.Check(t, table.Must(d.Shard.Combine), nil, parts)
		if !ok || rowtest.Differ(all, whole) != "" {
			t.Fatalf("joined %v, whole %v", all, whole)
		}
	}
	if v, _ := rowtest.Check(t, d, nil, []value.Value{value.F64(1), value.I64(1)}); v.(value.Scalar).True() {
		t.Error("1.0 and 1 are not identical")
	}
}

// constructors are calls of every ShardGenerate row.
var constructors = map[string][]op.Attr{
	"zeros": {{Name: "n", Val: op.Int(13)}, {Name: "m", Val: op.Int(9)}}, "ones": {{Name: "n", Val: op.Int(13)}},
	"fill": {{Name: "x", Val: op.Int(7)}, {Name: "n", Val: op.Int(5)}, {Name: "m", Val: op.Int(6)}}, "eye": {{Name: "n", Val: op.Int(11)}},
	"seq":     {{Name: "a", Val: op.Float(1)}, {Name: "b", Val: op.Int(9)}, {Name: "step", Val: op.Float(0.3)}},
	"rand":    {{Name: "n", Val: op.Int(13)}, {Name: "m", Val: op.Int(9)}, {Name: "seed", Val: op.Int(3)}},
	"randn":   {{Name: "n", Val: op.Int(13)}, {Name: "m", Val: op.Int(9)}, {Name: "seed", Val: op.Int(3)}},
	"randexp": {{Name: "n", Val: op.Int(13)}, {Name: "m", Val: op.Int(9)}, {Name: "seed", Val: op.Int(3)}},
	"randint": {{Name: "n", Val: op.Int(13)}, {Name: "m", Val: op.Int(9)}, {Name: "lo", Val: op.Int(-3)}, {Name: "hi", Val: op.Int(1 << 40)},
		{Name: "seed", Val: op.Int(3)}},
	"rand_spd":     {{Name: "n", Val: op.Int(14)}, {Name: "seed", Val: op.Int(7)}},
	"sample":       {{Name: "n", Val: op.Int(40)}, {Name: "k", Val: op.Int(17)}, {Name: "seed", Val: op.Int(3)}},
	"synth_linear": {{Name: "n", Val: op.Int(12)}, {Name: "d", Val: op.Int(5)}, {Name: "noise", Val: op.Float(.1)}, {Name: "seed", Val: op.Int(5)}},
}

// Every block of a constructor is that window of the whole.
func TestConstructorsInBlocks(t *testing.T) {
	r, made := rand.New(rand.NewPCG(7, 8)), 0
	for _, d := range rows(t) {
		if d.Shard.Kind != op.ShardGenerate || d.Name == "read" { // read's window needs a file: see the tests of kernels/inout
			continue
		}
		attrs := op.MakeAttrs(constructors[d.Name]...)
		v, ok := rowtest.Check(t, d, attrs, nil)
		if !ok {
			t.Errorf("%s: no call in the test, or it is refused", d.Name)
			continue
		}
		whole := v.(*value.Dense)
		made++
		for range 40 {
			r0, c0 := r.IntN(whole.Rows+1), r.IntN(whole.Cols+1)
			n, m := r.IntN(whole.Rows-r0+1), r.IntN(whole.Cols-c0+1)
			b, ok := rowtest.Check(t, d, attrs.With("at", op.Ints(r0, c0, n, m)), nil)
			if !ok {
				t.Fatalf("%s refuses the block %d %d %d %d", d.Name, r0, c0, n, m)
			}
			if msg := rowtest.Differ(b, whole.View(r0, c0, n, m)); msg != "" {
				t.Fatalf("%s, block at %d %d: %s", d.Name, r0, c0, msg)
			}
		}
		if _, ok := rowtest.Check(t, d, attrs.With("at", op.Ints(0, 0, whole.Rows+1, 1)), nil); ok {
			t.Errorf("%s makes a block outside itself", d.Name)
		}
	}
	if made < 5 {
		t.Errorf("only %d rows make blocks", made)
	}
}
