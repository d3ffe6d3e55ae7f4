package reduce

import (
	"slices"
	"sync"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/order"
	"flow/kernels/window"
)

// Rows returns the reductions of all elements, of rows and of columns.
func Rows() []*op.Def {
	var out []*op.Def
	for _, r := range Wholes() {
		out = append(out, r.Defs()...)
	}
	out = append(append(append(out, prod(), identical()), sharedRuns()...), groupRows()...)
	return append(out, axisRows()...)
}

// axisRows returns the forms by rows and by columns of each whole reduction, and of argmin and argmax.
func axisRows() []*op.Def {
	var out []*op.Def
	for _, w := range Wholes() {
		out = append(out, AxisRow(w, w.Name, true), AxisRow(w, w.Name, false))
		out = append(out, w.columnRows()...)
	}
	for _, byRow := range []bool{true, false} {
		for _, s := range argExtremes() {
			d := s.lineRow(byRow)
			d.Eg = define.Eg("sum("+d.Name+"(eye(3)))", s.row)
			out = append(out, d)
		}
	}
	for _, w := range argWholes() {
		out = append(append(out, w.hiddenRows()...), w.columnRows()...)
	}
	return out
}

// argWholes returns argmin and argmax. Their public rows are those of argExtremes; folds and hidden
// rows are made from these.
func argWholes() []Whole {
	out := []Whole{{Name: "argmin", Class: loop.ArgLeast}, {Name: "argmax", Class: loop.ArgGreatest}}
	for k := range out {
		out[k].Elem, out[k].Nonempty, out[k].Flops = Counted, true, 1
	}
	return out
}

// AxisRow is the row that reduces each row or each column of a matrix by w; word names it behind
// row or col.
func AxisRow(w Whole, word string, byRow bool) *op.Def {
	prefix, each, shape := AxisNames(byRow)
	d := &op.Def{
		Name: prefix + word,
		Doc:  prefix + word + " is " + word + " of each " + each + ", " + shape + ".",
		Args: []op.Arg{{Name: "x", Doc: "n x m"}},
		Type: func(s *op.Sig) (types.Type, error) { return AxisType(s, byRow, w.Nonempty, w.Elem) },
		Laws: w.Laws(), Class: w.Class, Rate: "reduce." + prefix,
		Cost: func(s *op.Sig, out types.Type) op.Work { return define.ReadCost(s, w.Flops) },
	}
	d.Shard.Kind, d.Fold, d.Eg = op.ShardCols, op.FoldCols, axisExample(word, byRow)
	if !byRow {
		d.Turned, _, _ = AxisNames(true)
		d.Turned += word
	}
	if byRow {
		d.Shard.Kind, d.Fold = op.ShardRows, op.FoldRows
	} else {
		d.Shard = w.ofColumns().shard(op.ShardCols, true)
	}
	d.Ref = func(c *op.Call) (value.Value, error) {
		return EachLine(c, byRow, w.Nonempty, func(x []value.Scalar) value.Scalar { return w.Ref(x, c.Type.Elem) })
	}
	d.Kernel = func(c *op.Call) error {
		a, out := c.Dense(0), c.Result()
		if w.Nonempty && out.Rows*out.Cols > 0 && a.Rows*a.Cols == 0 {
			return op.Failf(define.CodeData, "%s of an empty matrix", d.Name)
		}
		switch {
		case out.Rows*out.Cols == 0:
		case byRow:
			s := pool.Get().(*Accumulators)
			defer pool.Put(s)
			(&Fold{Axis: OverRows, Whole: w}).ByRow(out, a, s)
		default:
			(&Fold{Axis: OverCols, Whole: w}).Into(out, a)
		}
		return nil
	}
	if byRow {
		d.Loop = window.Loop(d.Kernel, window.Rows)
	}
	return d
}

// Statistics is the rows of statistics.
func Statistics() []*op.Def {
	var out []*op.Def
	for _, w := range Variances() {
		out = append(out, w.Defs()...)
		out = append(out, w.columnRows()...)
		for _, byRow := range []bool{true, false} {
			d := AxisRow(w, w.Name, byRow)
			zero := map[bool]string{true: "0\n0\n0\n", false: "0 0\n"}[byRow]
			d.Eg = define.Eg(d.Name+"(ones(3, 2))", zero)
			out = append(out, d)
		}
	}
	for _, s := range listStatistics() {
		out = append(out, s.defs()...)
	}
	return out
}

// Folds lists the reductions by the names of their rows.
var Folds = sync.OnceValue(func() map[string]*Fold {
	defs := map[string]*op.Def{}
	for _, d := range define.Resolved(append(Rows(), Statistics()...)) {
		defs[d.Name] = d
	}
	out := map[string]*Fold{}
	add := func(name string, f Fold) {
		f.Def = defs[name]
		out[name] = &f
	}
	for _, w := range slices.Concat(Wholes(), Variances(), argWholes()) {
		add(w.Name, Fold{Whole: w})
		add("row"+w.Name, Fold{Axis: OverRows, Whole: w})
		add("col"+w.Name, Fold{Axis: OverCols, Whole: w})
		if w.shared == "" {
			add(w.Name+".part", Fold{Whole: w, Part: true})
			if w.ofColumns().shared == "" {
				add("col"+w.Name+".part", Fold{Axis: OverCols, Whole: w, Part: true})
			}
		}
	}
	return out
})

func listStatistics() []statistic {
	return append([]statistic{
		{
			name: "nunique", elem: Counted, flops: 20,
			doc:   "nunique returns the number of distinct elements. -0 equals 0, and all nans are equal.",
			whole: "6", row: "3\n3\n", col: "2 2 2\n",
			ref: func(_ *op.Attrs, x []value.Scalar, _ types.Elem) value.Scalar {
				return value.I64(int64(len(order.Distinct(x))))
			},
			run: func(_ *op.Attrs, line *value.Dense, _ types.Elem, room *[]uint64) value.Scalar {
				*room = order.AppendKeys((*room)[:0], line)
				order.SortKeys(*room)
				return value.I64(order.CountRuns(*room))
			},
			passes: distinct, least: order.SortLeast, abreast: 1, beside: order.RoomOfAll,
			shard: op.Shard{List: "distinct.list", Count: "distinct.count", Listed: "sum"},
			elements: func(e *op.Elements, rows, cols bool) op.Element {
				return lineElements(e, rows, cols, func(x []loop.Val) loop.Val { return nuniqueBody(e.B, x) })
			},
		},
		quantileStatistic(statistic{
			name: "quantile",
			doc: "quantile is the value that the fraction q of all elements does not exceed, 0 <= q <= 1: of the sorted elements the one at " +
				"q * (n - 1), between two of them linearly (type 7). nan if there is one.",
			args: []op.Arg{{Name: "q", Attr: true, Kind: op.FloatVal, Doc: "0 to 1",
				Told: "a q that the run tells, of a column x: `interp([%s * (x.rows - 1)], seq(0, x.rows), sort(x))`"}},
			check: func(a *op.Attrs) error {
				if v, ok := a.Get("q"); !ok || v.Kind != op.FloatVal && v.Kind != op.IntVal || !(a.Float("q") >= 0 && a.Float("q") <= 1) {
					return op.Faultf(1, define.CodeAttr, "q of `quantile` is a number from 0 to 1, not %v", v).
						WithHelp("0.5 is the median, and p per cent are p / 100")
				}
				return nil
			},
			call: ", 0.25", whole: "2.25", row: "1.5\n4.5\n", col: "1.75 2.75 3.75\n",
			fraction: func(a *op.Attrs) float64 { return a.Float("q") },
		}),
		quantileStatistic(statistic{
			name:  "median",
			doc:   "median is the middle of the sorted elements, or the mean of the two in the middle: the quantile 0.5. nan if there is one.",
			whole: "3.5", row: "2\n5\n", col: "2.5 3.5 4.5\n",
			fraction: func(*op.Attrs) float64 { return 0.5 },
		}),
		lineProduct(),
	}, argExtremes()...)
}
