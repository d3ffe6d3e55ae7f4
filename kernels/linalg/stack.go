package linalg

// This file defines products over a long inner size whose panels ranks share: matmul.stack is the
// results of the panels, one below the other, and panels.add adds them as matmul.panels does.

import (
	"slices"
	"sync/atomic"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/dense"
)

// stack returns the row matmul.stack, which makes the panels of a product.
func (l *Linear) stack() *op.Def {
	return define.ByKernel(&op.Def{
		Name: "matmul.stack", Hidden: true,
		Doc:  "matmul.stack is the products of the panels of matmul.panels, one below the other.",
		Args: []op.Arg{{Name: "a", Doc: "k x n"}, {Name: "b", Doc: "k x m"}, define.Flag("ta", "a is used transposed"), {Name: "panel", Attr: true, Kind: op.IntVal, Doc: "terms of a panel"}},
		Type: func(s *op.Sig) (types.Type, error) {
			t, err := matmulType(s)
			if err != nil {
				return t, err
			}
			return StackOf(s, t)
		},
		Laws: op.Pure | op.Total,
		Rate: "gemm",
		Cost: func(s *op.Sig, out types.Type) op.Work {
			return productWork(s, s.In[0], types.DenseOf(out.Elem, s.In[0].Cols, out.Cols))
		},
		Loop: &op.Loop{
			Rows: func(s *op.Sig, out types.Type) int {
				if !s.Attrs.Bool("ta") || s.Attrs.Bool("tb") { // the terms are no rows
					return 0
				}
				return out.Rows
			},
			Space:    func(c *op.Call) (n, leaf int) { return stackGrid(c).count(), 1 },
			Begin:    func(c *op.Call, _ int) (op.LoopBody, error) { return l.beginStack(c), nil },
			RowsEach: func(c *op.Call) (rows, iterations int) { return panelRows(c, stackGrid(c)) },
		},
	})
}

// panelsChain returns the row that adds some terms to each panel of a product (op.Shard.Chain).
func (l *Linear) panelsChain(panels *op.Def) *op.Def {
	d := define.Chained(panels, nil)
	d.Loop.Space = func(c *op.Call) (n, leaf int) { return stackGrid(c).count(), 1 }
	d.Loop.Group = func(c *op.Call) (strips, least int) { return stackGrid(c).together(), 1 }
	d.Loop.Begin = func(c *op.Call, _ int) (op.LoopBody, error) { return l.beginStack(c), nil }
	d.Loop.RowsEach = func(c *op.Call) (rows, iterations int) { return panelRows(c, stackGrid(c)) }
	return d
}

// panelsAdd returns the row panels.add.
func panelsAdd() *op.Def {
	return define.ByKernel(&op.Def{
		Name: "panels.add", Hidden: true,
		Doc:  "panels.add is the sum of panels that lie one below the other, in a balanced tree: pairs, then pairs of pairs.",
		Args: []op.Arg{{Name: "x", Doc: "the panels"}, {Name: "rows", Attr: true, Kind: op.IntVal, Doc: "rows of a panel"}},
		Type: func(s *op.Sig) (types.Type, error) {
			t := s.In[0]
			if rows := s.Attrs.Int("rows"); !t.IsDense() || rows < 1 || t.Rows%rows != 0 {
				return t, op.Faultf(0, define.CodeShape, "panels.add of %s", t)
			}
			t.Rows = s.Attrs.Int("rows")
			return t, nil
		},
		Laws: op.Pure | op.Total,
		Cost: func(s *op.Sig, out types.Type) op.Work { return define.ReadCost(s, 1) },
		Kernel: func(c *op.Call) error {
			dense.ForNumber(c.Type.Elem, addStack[float64], addStack[float32], nil)(c)
			return nil
		},
	})
}

// StackOf is the type of the panels of a call whose sum has type t.
func StackOf(s *op.Sig, t types.Type) (types.Type, error) {
	k, panel := s.In[1].Rows, s.Attrs.Int("panel")
	if !t.Known() || !t.Elem.IsFloat() || k < 1 || panel < 1 {
		return t, op.Faultf(-1, define.CodeKind, "%s makes panels of floats, of known sizes", s.Def.Name)
	}
	panels := (k-1)/panel + 1
	if t.Rows > types.MaxSide/panels {
		return t, op.Faultf(-1, define.CodeMemory, "%s: %d panels of %d rows", s.Def.Name, panels, t.Rows)
	}
	t.Rows *= panels
	return t, nil
}

func addStack[T dense.Precision](c *op.Call) {
	x, out := c.Dense(0).Clone(), c.Result()
	var sums []dense.Grid[T]
	for p := 0; p < x.Rows; p += out.Rows {
		sums = append(sums, dense.GridOf[T](x.View(p, 0, out.Rows, out.Cols)))
	}
	if sum := AddPanels(sums); out.Cols > 0 {
		for i := range out.Rows {
			copy(dense.GridOf[T](out).Row(i), sum.Row(i))
		}
	}
}

// stackGrid is panelGridOf of the product whose panels the call makes.
func stackGrid(c *op.Call) PanelGrid {
	product := *c
	product.Type.Rows = c.In[0].Type().Cols
	return panelGridOf(&product)
}

// panelRows is the RowsEach of a product in these panels.
func panelRows(c *op.Call, p PanelGrid) (rows, iterations int) {
	if c.Attrs.Bool("ta") && !c.Attrs.Bool("tb") {
		return p.Panel, p.Strips
	}
	return 0, 0 // the terms are no rows
}

// stackBody makes panels. A rank that makes some leaves the others as they are.
type stackBody struct {
	PanelGrid
	body op.LoopBody
	made []atomic.Bool
	end  func(made []atomic.Bool)
}

// StackBody returns the loop of a stack whose panels body makes. end copies the panels that were made
// to the result.
func StackBody(p PanelGrid, body op.LoopBody, end func(made []atomic.Bool)) op.LoopBody {
	return &stackBody{p, body, make([]atomic.Bool, p.Panels), end}
}

// beginStack begins the loop of a call of matmul.stack, or of its chain.
func (l *Linear) beginStack(c *op.Call) op.LoopBody {
	product := *c
	product.Type.Rows = c.In[0].Type().Cols
	if c.Type.Elem == types.F32 {
		return stackOf(beginPanels(l, l.F32, &product, nil))
	}
	return stackOf(beginPanels(l, l.F64, &product, nil))
}

// stackOf returns the loop that adds terms of a product to panels of the result. Panels of a chain
// begin with the table that the call continues.
func stackOf[T dense.Precision](b *panelBody[T]) op.LoopBody {
	out, rows := dense.GridOf[T](b.c.Result()), b.c.Type.Rows
	if _, chain := b.c.Attrs.Get("from"); chain {
		b.terms = func(p int) (from, to int) { return define.ChainRows(b.c, p) }
		for p := range b.sums {
			begun := define.BegunTable(b.c, p)
			if begun == nil || b.c.Part && (p < b.c.From/b.Strips || p*b.Strips >= b.c.To) {
				continue
			}
			x := dense.GridOf[T](begun)
			for i := range rows {
				copy(b.sums[p].Row(i), x.Row(i))
			}
		}
	}
	return StackBody(b.PanelGrid, b, func(made []atomic.Bool) {
		for p := range b.sums {
			if made[p].Load() {
				b.put(out.Part(p*rows, 0, rows, out.Cols), b.sums[p])
			}
		}
	})
}

func (b *stackBody) Chunk(worker, lo, hi int) error {
	for k := lo; k < hi; k++ {
		b.made[k/b.Strips].Store(true)
	}
	return b.body.Chunk(worker, lo, hi)
}

func (b *stackBody) End() error {
	b.end(b.made)
	return nil
}

// panels.along is an operator that makes a matrix row by row, and a product that sums over these rows.
// A block of rows is made and then multiplied while a cache has it and the operands of its rows, so
// t(X) @ f(X @ w) reads X from memory once. Each chain of the product goes on from block to block, so
// the bits are those of the two operators one after the other.

// alongElements is about the number of elements of a block of rows, those of all operands together:
// they fit a second-level cache.
const alongElements = 1 << 15

// along is the row. Its body has two actions: an operator with an Early loop, and the product over its
// rows. The results are the two actions' results. The attribute panel is that of the product.
func (l *Linear) along() *op.Def {
	space := func(c *op.Call) (n, leaf int) {
		panel := c.Attrs.Int("panel")
		return (c.Type.Ext.Fields[0].Type.Rows + panel - 1) / panel, 1
	}
	return define.OfBody(op.Def{
		Name: "panels.along",
		Doc:  "panels.along makes the rows of a matrix and sums a product over them, block of rows by block of rows; fusion makes it.",
		Rate: "gemm",
		Cost: func(s *op.Sig, out types.Type) op.Work { // as if a product made the rows, and some operations an element
			w := define.ReadCost(s, 0)
			made, sums := out.Parts()[0], out.Parts()[1]
			w.Flops = float64(made.Rows) * (4*float64(sums.Count()) + 8*float64(made.Cols))
			w.Bytes += float64(made.Bytes())
			return w
		},
		Loop: &op.Loop{Space: space, Begin: l.beginAlong},
	})
}

// rowsBefore makes the rows of a factor before the product reads them.
type rowsBefore struct {
	op.LoopBody
	of    *op.Call
	each  int // iterations a row
	block int // rows of a block
}

// beginAlong begins both loops. Where the first action is no loop it is run at once.
func (l *Linear) beginAlong(c *op.Call, workers int) (op.LoopBody, error) {
	define.LendResults(c)
	var calls [2]op.Call
	body, out := c.Bodies[0], c.Out.(value.Tuple)
	registers := append(slices.Clone(c.In), out...)
	width := 0
	for k := range calls {
		a := &body.Acts[k]
		calls[k] = op.Call{Def: a.Def, Attrs: a.Attrs, Type: a.Type, Out: out[k], Env: c.Env, Stopped: c.Stopped, Body: a.Chain, Bodies: a.Bodies}
		for _, r := range a.Args {
			calls[k].In = append(calls[k].In, registers[r])
		}
	}
	first, product := &calls[0], &calls[1]
	rows := first.Type.Rows
	for _, v := range registers {
		if d, ok := v.(*value.Dense); ok && d.Rows == rows {
			width += d.Cols
		}
	}
	n, _ := first.Def.Loop.Space(first)
	if n == 0 || n%rows != 0 {
		startRows(first, 0, rows)
		if err := first.Def.Kernel(first); err != nil {
			return nil, err
		}
		return l.beginPanels(product, nil), nil
	}
	b, err := first.Def.Loop.Begin(first, workers)
	if err != nil {
		return nil, err
	}
	return l.beginPanels(product, &rowsBefore{b, first, n / rows, RoundUp(max(1, alongElements/width), dense.Panel)}), nil
}

// startRows gives rows from..to-1 of a result what they start from (op.Def.Accum).
func startRows(c *op.Call, from, to int) {
	if a := c.Def.Accum; a > 0 {
		out := c.Result()
		out.View(from, 0, to-from, out.Cols).CopyFrom(c.Dense(a-1).View(from, 0, to-from, out.Cols))
	}
}
