package scan

import (
	"math"
	"math/rand/v2"
	"testing"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/loop/launch"
	"flow/kernels/rowtest"
)

// TestScans: running reductions of matrices of all shapes, in one piece and as parts of others, are
// what the definition gives, in loops and without.
func TestScans(t *testing.T) {
	family := define.Resolved(Rows())
	target, err := launch.Target()
	if err != nil {
		t.Fatal(err)
	}
	defer func(from int64) { launch.PaysFrom = from }(launch.PaysFrom)
	rng := rand.New(rand.NewPCG(1, 2))
	special := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), 1e300}
	for _, launch.PaysFrom = range []int64{0, math.MaxInt64} {
		for _, d := range family {
			if d.Rate != "cumulative" || d.Hidden {
				continue
			}
			begun := launch.Begun.Load()
			for _, e := range []types.Elem{types.F64, types.F32, types.I64, types.Bool} {
				for _, n := range [][2]int{{1, 1}, {2, 1}, {9, 1}, {1000, 1}, {40, 2}, {17, 3}, {30, 8}, {5, 70}, {90, 41}, {7, 150}, {3, 2000}, {8, 5}, {16, 101}, {1, 30}, {3, 6}} {
					rows, cols := n[0], n[1]
					a := value.New(e, rows+1, cols+rng.IntN(2)).View(rng.IntN(2), 0, rows, cols)
					for i := range rows {
						for j := range cols {
							x := rng.NormFloat64()
							if rng.IntN(40) == 0 {
								x = special[rng.IntN(len(special))]
							}
							a.Set(i, j, value.F64(x).Convert(e))
						}
					}
					typ, err := d.Type(&op.Sig{Def: d, In: []types.Type{a.Type()}})
					if err != nil {
						t.Fatal(err)
					}
					call := &op.Call{Def: d, In: []value.Value{a}, Type: typ, Attrs: op.MakeAttrs()}
					want, err := d.Ref(call)
					if err != nil {
						t.Fatal(err)
					}
					call.Out = value.New(typ.Elem, rows+2, cols+3).View(1, 2, rows, cols)
					if err := d.Kernel(call); err != nil {
						t.Fatal(err)
					}
					if s := rowtest.Differ(call.Out, want); s != "" {
						t.Errorf("%s of %v: %s", d.Name, a.Type(), s)
					}
				}
			}
			if ran := launch.Begun.Load() > begun; ran != (launch.PaysFrom == 0 && target != launch.Interp && d.Down) { // rows are computed in Go
				t.Errorf("%s: loops ran: %v", d.Name, ran)
			}
		}
	}
}

// TestWindows makes running reductions window by window, in order. The results are those of all rows at
// once, and what the operators define.
func TestWindows(t *testing.T) {
	rows := map[string]*op.Def{}
	for _, d := range define.Resolved(Rows()) {
		rows[d.Name] = d
	}
	rng := rand.New(rand.NewPCG(3, 4))
	special := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), 1e300}
	tried := 0
	for _, d := range rows {
		if d.Scan == nil {
			continue
		}
		for _, e := range []types.Elem{types.F64, types.F32, types.I64, types.Bool} {
			for _, n := range [][4]int{{1, 1, 1, 1}, {2, 3, 2, 1}, {5, 1, 3, 0}, {40, 2, 3, 8}, {37, 140, 4, 5}, {1000, 1, 16, 1}, {9, 600, 3, 2}, {6, 2, 5, 1}, {0, 2, 1, 1}, {6, 0, 2, 1}} {
				x := value.New(e, n[0], n[1])
				for i := range n[0] {
					for j := range n[1] {
						v := rng.NormFloat64()
						if rng.IntN(40) == 0 {
							v = special[rng.IntN(len(special))]
						}
						x.Set(i, j, value.F64(v).Convert(e))
					}
				}
				tried++
				alikeInWindows(t, rows, d, x, n[2], n[3])
			}
		}
	}
	if tried == 0 {
		t.Error("no row has windows")
	}
}

// alikeInWindows compares what so many ranks make, which share rows in units, with the definition.
func alikeInWindows(t *testing.T, rows map[string]*op.Def, d *op.Def, x *value.Dense, ranks, unit int) {
	t.Helper()
	call := func(d *op.Def, attrs *op.Attrs, in ...value.Value) *op.Call {
		c := &op.Call{Def: d, In: in, Attrs: attrs}
		if err := c.Settle(); err != nil {
			t.Fatal(err)
		}
		c.Type, _ = d.Type(&op.Sig{Def: d, In: typesOf(in), Attrs: attrs})
		c.Out = value.New(c.Type.Elem, c.Type.Rows, c.Type.Cols)
		return c
	}
	run := func(c *op.Call) *value.Dense {
		if want, err := c.Def.Ref(c); err != nil {
			t.Fatal(err)
		} else if err := c.Def.Kernel(c); err != nil || rowtest.Differ(c.Out, want) != "" {
			t.Errorf("%s of %v in %d windows: %v, %s", c.Def.Name, x.Type(), ranks, err, rowtest.Differ(c.Out, want))
		}
		return c.Result()
	}
	in := []value.Value{x}
	windows := op.Attr{Name: "ranks", Val: op.Int(ranks)}
	end := func(at int, in ...value.Value) *value.Dense {
		attrs := op.MakeAttrs(windows, op.Attr{Name: "by", Val: op.Int(unit)}, op.Attr{Name: "turn", Val: op.Int(at + 1)})
		return run(call(rows[d.Scan.End], attrs, in...))
	}
	if d.Scan.Joins(x.Elem) {
		in = append(in, end(-1, x))
	} else {
		for r := range ranks - 1 {
			in = append(in, end(r, append([]value.Value{x}, in[1:][max(0, r-1):r]...)...))
		}
	}
	want, err := d.Ref(call(d, nil, x))
	if err != nil {
		t.Fatal(err)
	}
	from := call(rows[d.Scan.From], op.MakeAttrs(windows, op.Attr{Name: "units", Val: op.Int(unit)}), in...)
	if s := rowtest.Differ(run(from), want); s != "" {
		t.Errorf("%s of %v in %d windows: %s", d.Name, x.Type(), ranks, s)
	}
	from.Out, from.Part = value.New(from.Type.Elem, x.Rows, x.Cols), true
	for r := range ranks {
		lo, hi := op.WindowOf(r, ranks, x.Rows, op.Int(unit))
		if from.From = lo; lo == hi {
			continue
		}
		body, err := from.Def.Loop.Begin(from, 1)
		if err != nil {
			t.Fatal(err)
		}
		for at := lo; at < hi; at += 3 {
			if err := body.Chunk(0, at, min(at+3, hi)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if s := rowtest.Differ(from.Out, want); s != "" {
		t.Errorf("%s of %v in chunks of %d windows: %s", d.Name, x.Type(), ranks, s)
	}
}

func typesOf(in []value.Value) (out []types.Type) {
	for _, v := range in {
		out = append(out, v.Type())
	}
	return out
}
