package reduce

// This file defines the statistics of a list in one piece: of all elements, of each row and of each
// column. There are no partial results: the whole form is a loop of several passes (package order)
// or runs on one worker, the others go by whole rows or columns. Ranks find quantiles by the keys at
// their places (op.Selection).

import (
	"math"
	"sync"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/dense"
	"flow/kernels/order"
	"flow/kernels/window"
)

// statistic is the part of such a row that differs.
type statistic struct {
	name, doc string
	args      []op.Arg // attributes after x
	elem      func(types.Elem) types.Elem
	nonempty  bool
	flops     float64
	// check says what is wrong with the attributes.
	check func(a *op.Attrs) error
	ref   func(a *op.Attrs, x []value.Scalar, e types.Elem) value.Scalar
	// run is the kernel on a line, a contiguous matrix of one row; keys is room for the keys of its
	// elements.
	run func(a *op.Attrs, line *value.Dense, e types.Elem, keys *[]uint64) value.Scalar
	// line describes the result of the forms by row or by column in their documentation; "" stands for
	// name.
	line string
	// lines is the kernel of the forms by row or by column where there is a faster one than run on
	// each line.
	lines func(out, a *value.Dense, byRow bool)
	// chain continues the form by column with rows lo..hi-1 of a call. Call.Out has the results of the
	// rows before, or zeros if lo is 0 (define.Chained). nil: ranks do not share the form in this way.
	chain func(c *op.Call, begun *value.Dense, lo, hi int) error
	// fold is the reduction by which a pipeline ends with one of the forms. axisRows then makes the rows of
	// the forms by row and by column. nil: a pipeline ends with none of them.
	fold *Whole
	// fraction is set for quantiles: which one a call wants.
	fraction func(a *op.Attrs) float64
	// passes begins the search or sort of all elements of x by several workers, over order.SortUnits
	// units. It tells done the result. least is from how many elements on this is worth it. abreast is
	// of how many columns at a time. beside is op.Def.Beside of the form of all elements.
	passes         func(a *op.Attrs, x *value.Dense, e types.Elem, workers int, done func(v value.Scalar)) op.Passes
	least, abreast int
	beside         func(*op.Sig, types.Type) float64
	// shard is how ranks share the form of all elements by lists. The zero value: they share it by
	// selection, or not at all.
	shard op.Shard
	// elements writes one of the forms into a loop: by row, by column, or of all elements.
	elements func(e *op.Elements, rows, cols bool) op.Element
	// call is the argument list of the example after the matrix; whole, row, col what the example
	// prints.
	call            string
	whole, row, col string
}

// defs is the forms that have an example: of all elements, by row and by column.
func (s statistic) defs() []*op.Def {
	var out []*op.Def
	if s.whole != "" {
		out = append(out, s.wholeRow())
	}
	if s.row != "" && s.fold == nil {
		out = append(out, s.lineRow(true), s.lineRow(false))
	}
	if s.chain != nil {
		col := out[len(out)-1]
		col.Shard.Chain = col.Name + ".chain"
		out = append(out, define.Chained(col, s.chain))
	}
	if s.fraction != nil {
		out = append(append(out, s.selected(out[0], false)...), s.selected(out[2], true)...)
	}
	return out
}

// selected sets op.Def.Select of a quantile, and returns its rows At and Of. Of makes the quantile from
// three keys: the one at its place, the next one, and the last one. The last one is the key of nan if
// there is a nan.
func (s statistic) selected(d *op.Def, columns bool) []*op.Def {
	d.Select = &op.Selection{Columns: columns, At: d.Name + ".at", Of: d.Name + ".of", Places: func(a *op.Attrs, n int) []int {
		at := quantilePlace(n, s.fraction(a))
		return []int{at, min(at+1, n-1), n - 1}
	}}
	elem := op.Arg{Name: "elem", Attr: true, Kind: op.StrVal, Doc: "their type"}
	at := define.ByDefinition(&op.Def{
		Name: d.Select.At, Hidden: true, Doc: d.Select.At + " is the places of " + d.Name + " in a list of rows that the run has chosen (op.Selection).",
		Args: append([]op.Arg{{Name: "rows", Doc: "their number, i64"}, {Name: "cols", Attr: true, Kind: op.IntVal, Doc: "elements of a row"}, elem}, s.args...),
		Type: func(*op.Sig) (types.Type, error) { return types.DenseOf(types.I64, 4, 1), nil },
		Ref: func(c *op.Call) (value.Value, error) {
			n := int(c.Scalar(0).I)
			if n == 0 {
				return nil, emptyOf(c, d)
			}
			if !columns {
				n *= c.Attrs.Int("cols")
			}
			out := value.New(types.I64, 4, 1)
			for t, p := range append(d.Select.Places(c.Attrs, n), n) {
				out.Set(t, 0, value.I64(int64(p)))
			}
			return out, nil
		},
		Laws: op.Pure,
		Cost: func(sig *op.Sig, _ types.Type) op.Work { return define.ReadCost(sig, 1) },
	})
	made := func(c *op.Call) []value.Scalar {
		keys, n := c.Dense(0), c.Attrs.Int("n")
		if len(c.In) > 1 {
			n = int(c.Dense(1).At(3, 0).I)
		}
		from, _ := types.ElemNamed(c.Attrs.Str("elem"))
		var out []value.Scalar
		for t := 0; t < keys.Rows; t += 3 {
			k, next := uint64(keys.At(t, 0).I), uint64(keys.At(t+1, 0).I)
			if last := uint64(keys.At(t+2, 0).I); from.IsFloat() && last == order.NanKey {
				k = last
			}
			out = append(out, betweenKeys(from, c.Type.Elem, n, s.fraction(c.Attrs), k, next))
		}
		return out
	}
	return []*op.Def{at, define.ByDefinition(&op.Def{
		Name: d.Select.Of, Hidden: true, Doc: d.Select.Of + " is " + d.Name + " of the keys at its places (op.Selection).",
		Args: append([]op.Arg{{Name: "keys", Doc: "of select.narrow"}, {Name: "at", Optional: true, Doc: "of " + at.Name},
			{Name: "n", Attr: true, Kind: op.IntVal, Optional: true, Doc: "elements of a list"}, elem}, s.args...),
		Type: func(sig *op.Sig) (types.Type, error) {
			e, ok := types.ElemNamed(sig.Attrs.Str("elem"))
			if !ok {
				return types.Type{}, op.Faultf(-1, define.CodeAttr, "`%s` needs the attribute elem", sig.Def.Name)
			}
			if e = s.elem(e); columns {
				return types.DenseOf(e, 1, sig.In[0].Rows/3), nil
			}
			return types.ScalarOf(e), nil
		},
		Ref: func(c *op.Call) (value.Value, error) {
			x := made(c)
			if !columns {
				return x[0], nil
			}
			out := value.New(c.Type.Elem, 1, len(x))
			for j, v := range x {
				out.Set(0, j, v)
			}
			return out, nil
		},
		Laws: op.Pure,
		Cost: func(sig *op.Sig, _ types.Type) op.Work { return define.ReadCost(sig, 1) },
	})}
}

// base is what the forms share.
func (s statistic) base(name, doc, output string) *op.Def {
	return &op.Def{
		Name: name, Doc: doc,
		Args: append([]op.Arg{{Name: "x", Doc: "n x m"}}, s.args...),
		Eg:   define.Eg(name+"(reshape(seq(1, 7), 2, 3)"+s.call+")", output),
		Laws: op.Pure, Once: s.elements != nil,
		Cost: func(sig *op.Sig, _ types.Type) op.Work { return define.ReadCost(sig, s.flops) },
	}
}

func (s statistic) attributes(sig *op.Sig) error {
	if s.check == nil {
		return nil
	}
	return s.check(sig.Attrs)
}

func (s statistic) wholeRow() *op.Def {
	d := s.base(s.name, s.doc, s.whole)
	w := Whole{Elem: s.elem, Nonempty: s.nonempty}
	d.Type = func(sig *op.Sig) (types.Type, error) {
		if err := s.attributes(sig); err != nil {
			return types.Type{}, err
		}
		return w.Type(sig, 0)
	}
	d.Ref = func(c *op.Call) (value.Value, error) {
		x := define.Elements(c.In[0])
		if len(x) == 0 && s.nonempty {
			return nil, ofNothing(s.name)
		}
		return s.ref(c.Attrs, x, c.Type.Elem), nil
	}
	d.Kernel = func(c *op.Call) error {
		a := define.AsDense(c.In[0])
		if a.Rows*a.Cols == 0 && s.nonempty {
			return ofNothing(s.name)
		}
		room := new(statRoom)
		if a.Rows*a.Cols <= keptKeys { // bodies of loops have many short ones
			room = statRooms.Get().(*statRoom)
			defer statRooms.Put(room)
		}
		c.Out = s.run(c.Attrs, oneLine(a), c.Type.Elem, &room.keys)
		return nil
	}
	d.Shard, d.Beside = s.shard, s.beside
	if s.passes != nil {
		d.Loop = &op.Loop{
			Space: func(c *op.Call) (n, leaf int) {
				if t := c.In[0].Type(); t.IsDense() && t.Count() >= s.least {
					return order.SortUnits, 1
				}
				return 0, 0
			},
			Begin: func(c *op.Call, workers int) (op.LoopBody, error) {
				return s.passes(c.Attrs, c.Dense(0), c.Type.Elem, workers, func(v value.Scalar) { c.Out = v }), nil
			},
		}
	}
	if d.Elements = s.form(false, false); s.fold != nil {
		d.Fold, d.Places, d.Shard = op.FoldAll, s.fold.places(), s.fold.shard(op.ShardWhole, false)
	}
	return d
}

// form is how a form of the statistic is written into a loop; nil if it is not.
func (s statistic) form(rows, cols bool) func(e *op.Elements) op.Element {
	if s.elements == nil {
		return nil
	}
	return func(e *op.Elements) op.Element { return s.elements(e, rows, cols) }
}

func ofNothing(name string) error { return op.Failf("E606", "%s of an empty matrix", name) }

// oneLine is a as one row, over the same memory where it has no gaps.
func oneLine(a *value.Dense) *value.Dense {
	n := a.Rows * a.Cols
	if a.Stride != a.Cols && a.Rows > 1 {
		a = a.Clone()
	}
	line := *a
	line.Rows, line.Cols, line.Stride = 1, n, n
	return &line
}

func (s statistic) lineRow(byRow bool) *op.Def {
	prefix, each, shape := AxisNames(byRow)
	output := map[bool]string{true: s.row, false: s.col}[byRow]
	what := s.line
	if what == "" {
		what = s.name
	}
	d := s.base(prefix+s.name, prefix+s.name+" is "+what+" of each "+each+", "+shape+".", output)
	d.Rate, d.Shard.Kind = "reduce."+prefix, op.ShardCols
	if byRow {
		d.Shard.Kind = op.ShardRows
	}
	switch {
	case s.fold == nil && !byRow:
		d.Turned = "row" + s.name
	case s.fold != nil && byRow:
		d.Fold = op.FoldRows
	case s.fold != nil:
		d.Fold, d.Shard = op.FoldCols, s.fold.shard(op.ShardCols, true)
	}
	d.Type = func(sig *op.Sig) (types.Type, error) {
		if err := s.attributes(sig); err != nil {
			return types.Type{}, err
		}
		return AxisType(sig, byRow, s.nonempty, s.elem)
	}
	d.Ref = func(c *op.Call) (value.Value, error) {
		return EachLine(c, byRow, s.nonempty, func(x []value.Scalar) value.Scalar { return s.ref(c.Attrs, x, c.Type.Elem) })
	}
	d.Kernel = func(c *op.Call) error {
		a, out := c.Dense(0), c.Result()
		if s.nonempty && out.Rows*out.Cols > 0 && a.Rows*a.Cols == 0 {
			return ofNothing(d.Name)
		}
		if s.lines != nil {
			s.lines(out, a, byRow)
			return nil
		}
		room := statRooms.Get().(*statRoom)
		defer statRooms.Put(room)
		if byRow {
			for i := range a.Rows {
				out.Set(i, 0, s.run(c.Attrs, a.View(i, 0, 1, a.Cols), out.Elem, &room.keys))
			}
			return nil
		}
		// Columns are turned a few at a time, so that memory is read in whole lines.
		const group = 16
		for j0 := 0; j0 < a.Cols; j0 += group {
			n := min(group, a.Cols-j0)
			turned := room.turned(a.Elem, n, a.Rows)
			dense.Turn(turned, a.View(0, j0, a.Rows, n))
			for j := range n {
				out.Set(0, j0+j, s.run(c.Attrs, turned.View(j, 0, 1, a.Rows), out.Elem, &room.keys))
			}
		}
		return nil
	}
	d.Elements = s.form(byRow, !byRow)
	switch {
	case byRow:
		d.Loop = window.Loop(d.Kernel, window.Rows)
	case s.lines != nil:
		d.Loop = window.Loop(d.Kernel, window.WideCols)
	default:
		d.Loop = s.columns(window.Loop(d.Kernel, window.Cols))
	}
	return d
}

// mostTall is the most columns of a tall matrix that workers share by rows. More columns are several
// leaves of a loop by column, and 60 columns took a third more time by rows.
const mostTall = 16

// columns is the Loop of the form by column. Few columns of many rows run in passes that workers share
// by rows, others by the loop byColumn.
func (s statistic) columns(byColumn *op.Loop) *op.Loop {
	l := *byColumn
	tall := func(c *op.Call) bool {
		t := c.In[0].Type()
		return s.passes != nil && t.IsDense() && t.Rows >= s.least && t.Cols <= mostTall
	}
	l.Space = func(c *op.Call) (n, leaf int) {
		if tall(c) {
			return order.SortUnits, 1
		}
		return byColumn.Space(c)
	}
	l.Begin = func(c *op.Call, workers int) (op.LoopBody, error) {
		if !tall(c) {
			return byColumn.Begin(c, workers)
		}
		x, out := c.Dense(0), c.Result()
		return order.BeginColumns(x.Cols, s.abreast, func(j int) op.Passes {
			return s.passes(c.Attrs, x.View(0, j, x.Rows, 1), out.Elem, workers, func(v value.Scalar) { out.Set(0, j, v) })
		}), nil
	}
	return &l
}

// statRoom is memory that a chunk of lines needs.
type statRoom struct {
	keys []uint64
	turn *value.Dense
}

// keptKeys is the most elements of a whole matrix whose keys lie in memory that is kept for the next
// one.
const keptKeys = 1 << 16

var statRooms = sync.Pool{New: func() any { return new(statRoom) }}

// turned is room for n lines of a matrix of that many rows.
func (r *statRoom) turned(e types.Elem, n, rows int) *value.Dense {
	if r.turn == nil || r.turn.Elem != e || r.turn.Rows*r.turn.Cols < n*rows {
		r.turn = value.New(e, n, rows)
	}
	d := *r.turn
	d.Rows, d.Cols, d.Stride = n, rows, rows
	return &d
}

// distinct counts the different elements of each class of a sort.
func distinct(_ *op.Attrs, x *value.Dense, _ types.Elem, workers int, done func(v value.Scalar)) op.Passes {
	l := order.BeginSort(x, false, nil, workers)
	var different [order.SortUnits]int64
	l.SortedClass = func(class, lo, hi int) { different[class] = order.CountRuns(l.Sorted[lo:hi]) }
	l.Done = func() error {
		n := int64(0)
		for _, d := range different {
			n += d
		}
		done(value.I64(n))
		return nil
	}
	return l
}

// argExtreme is argmin or argmax.
func argExtreme(w Whole, which, whole, row string) statistic {
	name, least := w.Name, w.Class == loop.ArgLeast
	return statistic{
		name: name, elem: Counted, nonempty: true, flops: 1, whole: whole, row: row, fold: &w,
		line: "the index of the " + which + " element, the first of equals (a nan wins),",
		doc: name + " is the place of the " + which + " element in row-major order (i * m + j): the first of equals; a nan wins. " +
			"row" + name + " and col" + name + " give one place a row and a column.",
		ref: func(_ *op.Attrs, x []value.Scalar, _ types.Elem) value.Scalar { return firstExtreme(x, least) },
		run: func(_ *op.Attrs, line *value.Dense, _ types.Elem, _ *[]uint64) value.Scalar {
			var at [1]int64
			Places(at[:], line, least)
			return value.I64(at[0])
		},
		lines: func(out, a *value.Dense, byRow bool) {
			switch {
			case out.Rows*out.Cols == 0:
			case byRow:
				Places(out.I64, a, least)
			default:
				w.fold(OverCols, false).Into(out, a)
			}
		},
		elements: func(e *op.Elements, rows, cols bool) op.Element {
			return extremePlace(e, w.Class, rows, cols)
		},
	}
}

// argExtremes returns argmin and argmax.
func argExtremes() []statistic {
	w := argWholes()
	return []statistic{argExtreme(w[0], "least", "0", "1"), argExtreme(w[1], "greatest", "5", "3")}
}

// firstExtreme is the definition of argmin and argmax on a list.
func firstExtreme(x []value.Scalar, least bool) value.Scalar {
	for i, v := range x {
		if math.IsNaN(v.F) {
			return value.I64(int64(i))
		}
	}
	best := 0
	for i, v := range x {
		if order.Precedes(v, x[best], !least) {
			best = i
		}
	}
	return value.I64(int64(best))
}
