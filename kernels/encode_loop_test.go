package kernels

import (
	"math/rand/v2"
	"testing"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/rowtest"
	"flow/kernels/window"
)

// A table whose size the codes tell is that of the kernel and of the definition where workers count
// it: small, too large for each to have one, of integers and floats, with the size of one side
// given; and so are failures.
func TestPairsOfUnknownSize(t *testing.T) {
	table, err := Table("")
	if err != nil {
		t.Fatal(err)
	}
	d := table.Must("ctable")
	r := rand.New(rand.NewPCG(91, 92))
	rows := 2*window.LeafElements + 77
	column := func(e types.Elem, below int) *value.Dense {
		x := value.New(e, rows, 1)
		for i := range rows {
			x.Set(i, 0, value.I64(int64(r.IntN(below))).Convert(e))
		}
		return x
	}
	for _, c := range []struct {
		name  string
		n, m  int // 0: the codes tell
		a, b  *value.Dense
		wrong bool
	}{
		{"small", 0, 0, column(types.I64, 7), column(types.F64, 3), false},
		{"large", 0, 0, column(types.I64, 700), column(types.I64, 300), false},
		{"one given", 9, 0, column(types.I64, 9), column(types.I64, 5), false},
		{"other given", 0, 6, column(types.F64, 9), column(types.I64, 5), false},
		{"beyond the given one", 8, 0, column(types.I64, 9), column(types.I64, 5), true},
		{"truths", 0, 0, column(types.Bool, 2), column(types.I64, 5), false},
		{"negative", 0, 0, column(types.I64, 9), column(types.I64, 5), true},
		{"no code", 0, 0, column(types.F64, 9), column(types.I64, 5), true},
		{"one code", 0, 0, column(types.I64, 1), column(types.I64, 1), false},
	} {
		switch c.name {
		case "negative":
			c.b.I64[rows-3] = -1
		case "no code":
			c.a.F64[rows/2] = 2.5
		}
		var given []op.Attr
		if c.n > 0 {
			given = append(given, rowtest.Attr("n", op.Int(c.n)))
		}
		if c.m > 0 {
			given = append(given, rowtest.Attr("m", op.Int(c.m)))
		}
		attrs := op.MakeAttrs(given...)
		in := []value.Value{c.a, c.b}
		typ, err := d.Type(&op.Sig{Def: d, Attrs: attrs, In: []types.Type{c.a.Type(), c.b.Type()}})
		if err != nil {
			t.Fatal(err)
		}
		want, wantErr := d.Ref(&op.Call{Def: d, Attrs: attrs, In: in, Type: typ})
		if (wantErr != nil) != c.wrong {
			t.Fatalf("%s: %v", c.name, wantErr)
		}
		for workers := range 4 {
			call := &op.Call{Def: d, Attrs: attrs, In: in, Type: typ}
			if workers == 0 {
				err = d.Kernel(call)
			} else {
				if n, leaf := d.Loop.Space(call); n <= leaf {
					t.Fatalf("%s is no loop", c.name)
				}
				err = claimed(call, workers)
			}
			switch {
			case c.wrong && (err == nil || err.Error() != wantErr.Error()):
				t.Errorf("%s, %d workers: %v, not %v", c.name, workers, err, wantErr)
			case !c.wrong && (err != nil || !value.Same(call.Out, want)):
				t.Errorf("%s, %d workers: another table, or %v", c.name, workers, err)
			}
		}
	}
}
