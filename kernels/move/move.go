package move

// This file defines the rows that move elements and compute nothing: t, slice, lay, reshape, cbind,
// rbind, reverse, item, dense and exchange; const, which brings a plan-time constant into the
// graph; and the manual entries of tiles and untile, which the compiler expands into slice and lay.

import (
	"slices"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/dense"
	"flow/kernels/window"
)

func Rows() []*op.Def {
	rows := []*op.Def{
		{
			Name: "t",
			Doc:  "t is the transpose of a matrix. It is a view wherever a reader can take it so: `a @ t(b)` and `x + t(x)` move nothing.",
			Args: []op.Arg{{Name: "a", Doc: "n x m"}},
			Eg:   []op.Example{{Program: "emit t(upper(ones(2, 2)))", Output: "1 0\n1 1\n"}},
			Type: func(s *op.Sig) (types.Type, error) {
				t, err := define.DenseType(s)
				t.Rows, t.Cols = t.Cols, t.Rows
				return t, err
			},
			Elements: func(e *op.Elements) op.Element {
				e.Size(e.In[0].Cols, e.In[0].Rows)
				return func(i, j loop.Lin) loop.Val { return e.In[0].At(j, i) }
			},
			Ref: TransposeRef, Laws: op.Pure | op.Total | op.View | op.Involution,
			Shard: op.Shard{Kind: op.ShardTranspose}, Rate: "transpose", Cost: define.CopyWork, Kernel: transposeKernel,
			Loop: window.Loop(transposeKernel, window.Turned),
		},
		{
			Name: "slice", Hidden: true, Role: op.Slices,
			Doc: "slice is a window of a matrix; the compiler writes it for `x[r0..r1, c0..c1]` and for the tiles of `tiles`.",
			Args: []op.Arg{{Name: "a", Doc: "n x m"},
				{Name: "at", Attr: true, Kind: op.IntsVal, Doc: "[first row, first column, rows, columns]"}},
			Eg: []op.Example{{Program: "emit (ones(3, 3) + eye(3))[1..3, 0..2]", Output: "1 2\n1 1\n"}},
			Elements: func(e *op.Elements) op.Element {
				at := e.Attrs.Ints("at")
				return func(i, j loop.Lin) loop.Val { return e.In[0].At(i.Plus(loop.Num(at[0])), j.Plus(loop.Num(at[1]))) }
			},
			Type: SliceType, Ref: SliceRef, Laws: op.Pure | op.Total | op.View,
			Shard: op.Shard{Kind: op.ShardMove}, Rate: "copy", Cost: define.CopyWork, Kernel: window.RectKernel(sliceRect), Loop: window.RectLoop(sliceRect),
			RowsRead: func(a *op.Attrs) op.RowsRead {
				return op.RowsRead{From: int(a.Ints("at")[0]), Count: int(a.Ints("at")[2])}
			},
			Look: func(c *op.Call) (*value.Dense, error) {
				w, _ := window.RectOf(c.Attrs, "at")
				return w.Of(c.Dense(0)), nil
			},
		},
		{
			Name: "lay", Hidden: true, Role: op.Lays,
			Doc: "lay is a matrix laid out of windows of others, zero where none lies; the compiler writes it for `untile` and where blocks are cut anew.",
			Args: []op.Arg{{Name: "blocks", Rest: true, Doc: "matrices of one element type; window k is cut from block k"},
				{Name: "rows", Attr: true, Kind: op.IntVal, Doc: "rows of the result"},
				{Name: "cols", Attr: true, Kind: op.IntVal, Doc: "columns of the result"},
				{Name: "boxes", Attr: true, Kind: op.IntsVal, Doc: "six numbers a block: row and column in the block, height and width, row and column in the result"}},
			Eg:   []op.Example{{Program: "chan L = tiles(eye(3), 2, part = \"lower\")\nemit untile(L)", Output: "1 0 0\n0 1 0\n0 0 1\n"}},
			Type: layType, Ref: layRef, Elements: layElements, Laws: op.Pure | op.Total | op.View,
			Shard: op.Shard{Kind: op.ShardMove}, Rate: "copy", Cost: define.CopyWork, Kernel: window.RectKernel(layRect), Loop: window.RectLoop(layRect),
		},
	}
	rows = append(rows, turnedBlocks())
	rows = append(rows, rearrangements()...)
	rows = append(rows, identities()...)
	rows = append(rows, indexings()...)
	rows = append(rows, picks()...)
	rows = append(rows, put())
	return append(rows, tilings()...)
}

func TransposeRef(c *op.Call) (value.Value, error) {
	a := c.Dense(0)
	return define.Placed(types.DenseOf(a.Elem, a.Cols, a.Rows), func(i, j int) value.Scalar { return a.At(j, i) }), nil
}

func transposeKernel(c *op.Call) error {
	dense.Turn(c.Result(), c.Dense(0))
	return nil
}

func SliceType(s *op.Sig) (types.Type, error) {
	t, err := define.DenseType(s)
	if err != nil {
		return t, err
	}
	w, ok := window.RectOf(s.Attrs, "at")
	if !ok {
		return t, op.Faultf(1, define.CodeAttr, "slice needs at = [first row, first column, rows, columns]")
	}
	if !w.Within(t.Rows, t.Cols) {
		return t, op.Faultf(1, define.CodeRange, "rows %d..%d, columns %d..%d of a %s", w.Row, w.Row+w.Rows, w.Col, w.Col+w.Cols, t)
	}
	return types.DenseOf(t.Elem, w.Rows, w.Cols), nil
}

func SliceRef(c *op.Call) (value.Value, error) {
	w, _ := window.RectOf(c.Attrs, "at")
	a, t := c.Dense(0), types.DenseOf(c.Dense(0).Elem, w.Rows, w.Cols)
	return define.Placed(t, func(i, j int) value.Scalar { return a.At(w.Row+i, w.Col+j) }), nil
}

func sliceRect(c *op.Call, w window.Rect) {
	at, _ := window.RectOf(c.Attrs, "at")
	window.CopyRect(c.Result(), w, c.Dense(0), at.Row+w.Row, at.Col+w.Col)
}

// boxOf is where block k of a lay is cut from and where it is laid.
func boxOf(a *op.Attrs, k int) (from, to window.Rect) {
	b := a.Ints("boxes")[6*k:][:6]
	h, w := int(b[2]), int(b[3])
	return window.Rect{Row: int(b[0]), Col: int(b[1]), Rows: h, Cols: w}, window.Rect{Row: int(b[4]), Col: int(b[5]), Rows: h, Cols: w}
}

func layType(s *op.Sig) (types.Type, error) {
	n := len(s.In)
	if n == 0 {
		return types.Type{}, op.Faultf(-1, define.CodeKind, "lay needs a block")
	}
	out := types.DenseOf(s.In[0].Elem, s.Attrs.Int("rows"), s.Attrs.Int("cols"))
	if out.Rows < 0 || out.Cols < 0 || len(s.Attrs.Ints("boxes")) != 6*n {
		return out, op.Faultf(n+2, define.CodeAttr, "lay of %d blocks into %s has %d numbers in boxes", n, out, len(s.Attrs.Ints("boxes")))
	}
	for k, t := range s.In {
		from, to := boxOf(s.Attrs, k)
		switch {
		case !t.IsDense():
			return out, op.Faultf(k, define.CodeKind, "lay takes dense matrices; this is %s", t)
		case t.Elem != out.Elem:
			return out, op.Faultf(k, define.CodeElem, "blocks of %s and of %s", out.Elem, t.Elem)
		case !from.Within(t.Rows, t.Cols) || !to.Within(out.Rows, out.Cols):
			return out, op.Faultf(k, define.CodeRange, "box %d cuts %v of a %s and lays it at %v of a %s", k, from, t, to, out)
		}
	}
	return out, nil
}

func layRef(c *op.Call) (value.Value, error) {
	d := value.New(c.Dense(0).Elem, c.Attrs.Int("rows"), c.Attrs.Int("cols"))
	for k := range c.In {
		from, to := boxOf(c.Attrs, k)
		for i := range from.Rows {
			for j := range from.Cols {
				d.Set(to.Row+i, to.Col+j, c.Dense(k).At(from.Row+i, from.Col+j))
			}
		}
	}
	return d, nil
}

func layRect(c *op.Call, w window.Rect) {
	out := c.Result()
	if !covers(c.Attrs, len(c.In), out) {
		dense.Clear(w.Of(out))
	}
	for k := range c.In {
		from, to := boxOf(c.Attrs, k)
		r0, r1 := max(w.Row, to.Row), min(w.Row+w.Rows, to.Row+to.Rows)
		c0, c1 := max(w.Col, to.Col), min(w.Col+w.Cols, to.Col+to.Cols)
		if r0 < r1 && c0 < c1 {
			window.CopyRect(out, window.Rect{Row: r0, Col: c0, Rows: r1 - r0, Cols: c1 - c0}, c.Dense(k), from.Row+r0-to.Row, from.Col+c0-to.Col)
		}
	}
}

// covers reports that the boxes leave no element of out untouched: their areas make up out's and no
// two overlap. Boxes in rows of tiles, the usual case, are recognised by going over them in order;
// anything else is taken not to cover, which costs a clear and is never wrong.
func covers(a *op.Attrs, n int, out *value.Dense) bool {
	row, col, height := 0, 0, 0
	for k := range n {
		_, to := boxOf(a, k)
		if col == 0 {
			height = to.Rows
		}
		if to.Row != row || to.Col != col || to.Rows != height {
			return false
		}
		if col += to.Cols; col == out.Cols {
			row, col = row+height, 0
		}
	}
	return row == out.Rows && col == 0
}

// tilings is the manual entries of tiles and untile. They have no kernel: the compiler makes a
// slice a tile of the one and a lay of the other.
func tilings() []*op.Def {
	size, all := op.Int(0), op.Str("all")
	return []*op.Def{
		{
			Name: "tiles",
			Doc: "tiles is the static array of the nb x nb tiles of a matrix; the last row and column of tiles take what is left. " +
				"`chan T = tiles(a, nb)` declares them with a send end. part = \"lower\" or \"upper\" has no tiles beyond the diagonal ones.",
			Args: []op.Arg{{Name: "x", Doc: "the matrix"},
				{Name: "nb", Attr: true, Kind: op.IntVal, Default: &size, Doc: "tile edge, positive; 0 or absent takes auto_tile of the matrix"},
				{Name: "part", Attr: true, Kind: op.StrVal, Default: &all, Doc: `"all", "lower" or "upper"`}},
			Eg: []op.Example{{Program: "T = tiles(eye(3), 2)\nemit T[0,0]", Output: "1 0\n0 1\n"}},
		},
		{
			Name: "untile",
			Doc:  "untile is the matrix that an array of tiles makes up; elements whose tile was never there are zero.",
			Args: []op.Arg{{Name: "c", Doc: "an array made by tiles"}},
			Eg:   []op.Example{{Program: "chan L = tiles(ones(2, 2), 1, part = \"lower\")\nemit untile(L)", Output: "1 0\n1 1\n"}},
		},
	}
}

// turnedBlocks is the row t.blocks. A rank makes the block of its own rows of x, and sends each other
// rank the rows of it that this one needs for its rows of t(x).
func turnedBlocks() *op.Def {
	return &op.Def{
		Name: "t.blocks", Hidden: true,
		Doc: "t.blocks is the transposes of blocks of rows, one below the other, with zeros where a block has fewer rows than the longest one. " +
			"The compiler writes it for transposes of matrices that ranks share by rows.",
		Args: []op.Arg{{Name: "x", Doc: "n x m"}, {Name: "cuts", Attr: true, Kind: op.IntsVal, Doc: "the first row of each block, and n"}},
		Type: func(s *op.Sig) (types.Type, error) {
			t, err := define.DenseType(s)
			cuts := s.Attrs.Ints("cuts")
			if err == nil && t.Known() && (len(cuts) < 2 || cuts[0] != 0 || cuts[len(cuts)-1] != int64(t.Rows) || !slices.IsSorted(cuts)) {
				err = op.Faultf(1, define.CodeAttr, "cuts are ascending rows, from 0 to the number of rows; these are %v of a %s", cuts, t)
			}
			if err != nil || !t.Known() {
				return t, err
			}
			longest := 0
			for k := range cuts[1:] {
				longest = max(longest, int(cuts[k+1]-cuts[k]))
			}
			return types.DenseOf(t.Elem, t.Cols*(len(cuts)-1), longest), nil
		},
		Ref: func(c *op.Call) (value.Value, error) {
			x, cuts := c.Dense(0), c.Attrs.Ints("cuts")
			return define.Placed(c.Type, func(i, j int) value.Scalar {
				k := i / x.Cols
				if row := int(cuts[k]) + j; row < int(cuts[k+1]) {
					return x.At(row, i%x.Cols)
				}
				return value.I64(0).Convert(x.Elem)
			}), nil
		},
		Laws: op.Pure | op.Total, Rate: "transpose", Cost: define.CopyWork,
		Kernel: func(c *op.Call) error { return turningBlocks{c}.Chunk(0, 0, c.Type.Cols) },
		Loop: &op.Loop{
			Light: true, Own: true, Rows: op.RowsOfResult,
			Space: func(c *op.Call) (n, leaf int) {
				return c.Type.Cols, (window.LeafElements/max(1, c.Type.Rows)/dense.Panel + 1) * dense.Panel
			},
			Begin: func(c *op.Call, _ int) (op.LoopBody, error) { return turningBlocks{c}, nil },
		},
	}
}

// turningBlocks makes some columns of the rows of one rank, or of all rows. A column of the result is a
// row of x, so it reads one run of memory. Windows of some rows would read many short pieces, in twice
// the time.
type turningBlocks struct{ c *op.Call }

func (l turningBlocks) Chunk(_, lo, hi int) error {
	x, out, cuts := l.c.Dense(0), l.c.Result(), l.c.Attrs.Ints("cuts")
	from, to := define.OwnRows(l.c, out.Rows)
	for i := from; i < to; {
		k := i / x.Cols
		end := min(to, (k+1)*x.Cols)
		has := max(lo, min(hi, int(cuts[k+1]-cuts[k])))
		if has > lo {
			dense.Turn(out.View(i, lo, end-i, has-lo), x.View(int(cuts[k])+lo, i%x.Cols, has-lo, end-i))
		}
		for ; i < end; i++ {
			if has < hi {
				dense.Clear(out.View(i, has, 1, hi-has))
			}
		}
	}
	return nil
}

func (l turningBlocks) End() error { return nil }
