package kernels

import (
	"math/rand/v2"
	"testing"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/rowtest"
)

// The states of rows that are joined in any order give the columns' reductions, and those of sparse
// matrices, as they are defined.
func TestStatesOfRows(t *testing.T) {
	r, tried, columns := rand.New(rand.NewPCG(75, 76)), map[bool]int{}, 0
	for _, d := range rows(t) {
		if d.Shard.Partial == "" || d.Shard.Finish == "" || d.Shard.Kind != op.ShardCols && d.For == "" {
			continue
		}
		tried[d.For != ""]++
		for range 12 {
			e := elemsUnderTest[r.IntN(len(elemsUnderTest))]
			x := anyDense(r, e, 1+r.IntN(30), 1+r.IntN(9))
			if r.IntN(2) == 0 {
				calm(x)
			}
			n, in := x.Rows, value.Value(x)
			if d.Turned != "" {
				in = define.KeptRef(x)
			} else if d.For != "" {
				n, in = x.Rows*x.Cols, define.KeptRef(x)
			}
			if _, err := d.Type(&op.Sig{Def: d, In: []types.Type{in.Type()}}); err != nil {
				continue
			}
			if part := row(t, d.Shard.Partial); d.Turned != "" {
				if _, err := part.Type(&op.Sig{Def: part, In: []types.Type{in.Type()}}); err != nil {
					continue
				}
				columns++
			}
			var states []value.Value
			at := cuts(r, x.Rows)
			for k := 1; k < len(at); k++ {
				part := value.Value(x.View(at[k-1], 0, at[k]-at[k-1], x.Cols))
				if m, is := in.(*value.CSR); is {
					part = m.View(at[k-1], at[k]-at[k-1])
				}
				state := made(t, d.Shard.Partial, nil, part)
				if acc := state.(*value.Dense); acc.Cols == 2 { // a loop of a rank knows the places in the whole
					for j := range acc.Rows {
						acc.Set(j, 1, value.I64(acc.At(j, 1).I+int64(at[k-1])))
					}
				}
				states = append(states, state)
			}
			r.Shuffle(len(states), func(i, j int) { states[i], states[j] = states[j], states[i] })
			all := made(t, d.Shard.Combine, nil, states...)
			got := made(t, d.Shard.Finish, op.MakeAttrs(op.Attr{Name: "n", Val: op.Int(n)}, op.Attr{Name: "elem", Val: op.Str(e.String())}), all)
			if msg := rowtest.Differ(got, rowtest.Defined(t, called(t, d, nil, in))); msg != "" {
				t.Fatalf("%s of %v in %d parts: %s", d.Name, in.Type(), len(states), msg)
			}
		}
	}
	if tried[false] < 8 || tried[true] < 8 || columns < 12 {
		t.Errorf("%d dense rows and %d sparse ones, %d times states of sparse columns", tried[false], tried[true], columns)
	}
}

// Rows that reduce the columns of a dense matrix return what others return for the rows of its
// transpose (op.Def.Turned).
func TestColumnsAreRowsOfTheTranspose(t *testing.T) {
	r, tried := rand.New(rand.NewPCG(79, 80)), 0
	for _, d := range rows(t) {
		for range 12 {
			if d.Turned == "" || d.For != "" {
				continue
			}
			x := anyDense(r, elemsUnderTest[r.IntN(len(elemsUnderTest))], 1+r.IntN(30), 1+r.IntN(9))
			attrs := op.MakeAttrs(op.Attr{Name: "q", Val: op.Float(r.Float64())})
			if _, err := d.Type(&op.Sig{Def: d, Attrs: attrs, In: []types.Type{x.Type()}}); err != nil {
				continue
			}
			got := made(t, "t", nil, made(t, d.Turned, attrs, made(t, "t", nil, x)))
			if msg := rowtest.Differ(got, rowtest.Defined(t, called(t, d, attrs, x))); msg != "" {
				t.Fatalf("%s of %v: %s", d.Name, x.Type(), msg)
			}
			tried++
		}
	}
	if tried < 30 {
		t.Errorf("only %d calls", tried)
	}
}

// Panels one below the other are added to what the products define, and counts of some rows to those of
// all.
func TestStacksAndCounts(t *testing.T) {
	r := rand.New(rand.NewPCG(77, 78))
	for range 60 {
		n, k := 1+r.IntN(60), 1+r.IntN(5)
		codes := value.New(types.I64, n, 1)
		for i := range n {
			codes.I64[i] = r.Int64N(int64(k))
		}
		panel := op.Attr{Name: "panel", Val: op.Int(1 + r.IntN(2*n))}
		b := anyDense(r, types.F64, n, 1+r.IntN(4))
		of := op.MakeAttrs(panel, op.Attr{Name: "k", Val: op.Int(k)})
		turned := op.MakeAttrs(panel, op.Attr{Name: "ta", Val: op.Bool(true)})
		for name, attrs := range map[string]*op.Attrs{"onehot.sums": of, "matmul.panels": turned} {
			d, in := row(t, name), []value.Value{codes, b}
			if name == "matmul.panels" {
				in[0] = anyDense(r, types.F64, n, k)
			}
			stack := made(t, d.Shard.Partial, attrs, in...)
			got := made(t, d.Shard.Finish, op.MakeAttrs(op.Attr{Name: "rows", Val: op.Int(k)}), stack)
			if msg := rowtest.Differ(got, rowtest.Defined(t, called(t, d, attrs, in...))); msg != "" {
				t.Fatalf("%s%v of %d rows: %s", name, attrs, n, msg)
			}
		}
		table := op.MakeAttrs(op.Attr{Name: "n", Val: op.Int(k)}, op.Attr{Name: "m", Val: op.Int(k)})
		for name, attrs := range map[string]*op.Attrs{"onehot.counts": of, "ctable": table} {
			d, in := row(t, name), []*value.Dense{codes}
			if name == "ctable" {
				in = append(in, codes)
			}
			rowsOf := func(lo, hi int) (part []value.Value) {
				for _, x := range in {
					part = append(part, x.View(lo, 0, hi-lo, 1))
				}
				return part
			}
			var counts []value.Value
			at := cuts(r, n)
			for k := 1; k < len(at); k++ {
				counts = append(counts, made(t, d.Shard.Partial, attrs, rowsOf(at[k-1], at[k])...))
			}
			got := made(t, d.Shard.Combine, nil, counts...)
			if msg := rowtest.Differ(got, rowtest.Defined(t, called(t, d, attrs, rowsOf(0, n)...))); msg != "" {
				t.Fatalf("%s of %d rows in %d parts: %s", name, n, len(counts), msg)
			}
		}
	}
}
