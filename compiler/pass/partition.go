package pass

import (
	"context"
	"fmt"
	"slices"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
)

// This file defines Partition, which turns nodes on large matrices into nodes on
// blocks. How each operator is cut its row says (op.Shard); cuts.go decides where.

// Partitioned is a graph of tasks and where each lies in its matrix.
type Partitioned struct {
	Graph *ir.Graph
	// Row and Col are the block coordinates of a task's result, and Rows and Cols the number of blocks
	// along each side, all 0 for what has no place (scalars, whole matrices). Placement reads them.
	Block []Block
}

// Block is a task's place in the block grid of its matrix.
type Block struct{ Row, Col, Rows, Cols int32 }

// Partition cuts large matrices into blocks and every operator on them into
// operators on blocks:
//
//	%3 = add(%1, %2) : f64[512,512]   ->   %7 = add(%3, %5) : f64[256,512] ..
//	slice of lay of blocks            ->   the block itself where the cuts agree
//
// Bits stay: a block of a constructor is computed from its place, contractions are
// chains over ascending k whichever way k is cut, sums are exact. A node that sends to
// a channel is one task whatever its size (one `<-` is one task), and so is an
// operator whose row says ShardWhole.
func Partition(ctx context.Context, g *ir.Graph, table *op.Table, sizes Sizes, limit int) (*Partitioned, error) {
	p := &partitioner{limit: limit, old: g, g: ir.New(), table: table, one: make([]ir.ID, g.Len()), parts: map[ir.ID]*parts{}}
	p.g.CopyTables(g)
	p.g.Grow(g.Len() + g.Len()/8)
	p.block = make([]Block, 0, g.Len()+g.Len()/8)
	p.cuts = chooseCuts(g, table, sizes)
	for i := range g.Nodes {
		if err := p.cut(ctx, ir.ID(i)); err != nil {
			return nil, err
		}
	}
	return &Partitioned{p.g, p.block}, nil
}

// parts is a value cut in blocks: block (i, j) has rows rc[i]..rc[i+1] and columns cc[j]..cc[j+1].
type parts struct {
	rc, cc []int
	ids    []ir.ID
}

func (p *parts) at(i, j int) ir.ID { return p.ids[i*(len(p.cc)-1)+j] }
func (p *parts) single() bool      { return len(p.ids) == 1 }

type partitioner struct {
	old   *ir.Graph
	g     *ir.Graph
	table *op.Table
	cuts  *cuts
	one   []ir.ID          // of old nodes in one piece: the new node; ir.None for those in parts
	parts map[ir.ID]*parts // of old nodes in several
	block []Block
	from  ir.ID // the old node being cut
	limit int
}

// TooMany is the error of a program whose matrices have more blocks than tasks are allowed.
type TooMany struct {
	Node  ir.ID // of the graph that was to be cut
	Limit int
}

func (e *TooMany) Error() string { return fmt.Sprintf("more than %d tasks", e.Limit) }

// stop unwinds from deep in a product of 10^9 block products.
type stop struct{ err error }

// cut is node, or an error when it makes too many or the compilation was given up.
func (p *partitioner) cut(ctx context.Context, id ir.ID) (err error) {
	defer func() {
		if r := recover(); r != nil {
			s, ok := r.(stop)
			if !ok {
				panic(r)
			}
			err = s.err
		}
	}()
	if err := ctx.Err(); err != nil {
		return err
	}
	return p.node(id)
}

// add makes a node with the origin of the old one.
func (p *partitioner) add(d *op.Def, attrs *op.Attrs, t types.Type, b Block, in ...ir.ID) ir.ID {
	if p.g.Len() >= p.limit {
		panic(stop{&TooMany{p.from, p.limit}})
	}
	o := p.old.Origin(p.from)
	id := p.g.Add(d, attrs, t, o, in...)
	p.block = append(p.block, b)
	return id
}

// typed makes a node whose type its row says.
func (p *partitioner) typed(d *op.Def, attrs *op.Attrs, b Block, in ...ir.ID) (ir.ID, error) {
	ts := make([]types.Type, len(in))
	for i, x := range in {
		ts[i] = p.g.Type(x)
	}
	t, err := d.Type(&op.Sig{Def: d, In: ts, Attrs: attrs})
	if err != nil {
		return 0, err
	}
	return p.add(d, attrs, t, b, in...), nil
}

func (p *partitioner) node(id ir.ID) error {
	p.from = id
	n := &p.old.Nodes[id]
	t := p.old.Type(id)
	_, _, _, sent := p.old.Dest(id)
	if !sent {
		cut := p.cuts.of(id)
		switch shardOf(n.Op) {
		case op.ShardReduce:
			return p.reduce(id, n)
		case op.ShardRows, op.ShardCols:
			if t.IsDense() {
				return p.along(id, n, cut)
			}
		case op.ShardMove:
			if boxes, in, ok := boxesOf(p.old, id); ok {
				return p.move(id, t, cut, boxes, in)
			}
			if x := p.parts[p.old.In(id)[0]]; x != nil && n.Op.Name == "item" {
				return p.item(id, n, x)
			}
		case op.ShardContract:
			return p.contract(id, n, t, cut)
		case op.ShardGenerate:
			if !cut.single() {
				return p.blocks(id, t, cut, func(i, j int, b Block) (ir.ID, error) {
					at := op.Ints(cut.rc[i], cut.cc[j], cut.rc[i+1]-cut.rc[i], cut.cc[j+1]-cut.cc[j])
					return p.typed(n.Op, n.Attrs.With("at", at), b)
				})
			}
		case op.ShardAligned:
			if !cut.single() {
				return p.aligned(id, n, t, cut)
			}
		case op.ShardDiagonal:
			if !cut.single() {
				x := p.recut(p.old.In(id)[0], cut.rc, cut.rc)
				return p.blocks(id, t, cut, func(i, j int, b Block) (ir.ID, error) {
					return p.typed(n.Op, n.Attrs, b, x.at(i, i))
				})
			}
		case op.ShardTriangle:
			if !cut.single() {
				return p.triangle(id, n, t, cut)
			}
		case op.ShardTranspose:
			if !cut.single() {
				x := p.recut(p.old.In(id)[0], cut.cc, cut.rc)
				return p.blocks(id, t, cut, func(i, j int, b Block) (ir.ID, error) {
					return p.typed(n.Op, n.Attrs, b, x.at(j, i))
				})
			}
		}
	}
	// In one piece, on whole inputs.
	in := make([]ir.ID, 0, 8)
	for _, x := range p.old.In(id) {
		in = append(in, p.whole(x))
	}
	out := p.g.CopyNode(p.old, id, in...)
	p.block = append(p.block, Block{})
	p.one[id] = out
	return nil
}

// blocks fills a result block by block.
func (p *partitioner) blocks(id ir.ID, t types.Type, c cutting, f func(i, j int, b Block) (ir.ID, error)) error {
	rows, cols := len(c.rc)-1, len(c.cc)-1
	out := &parts{c.rc, c.cc, make([]ir.ID, 0, rows*cols)}
	for i := range rows {
		for j := range cols {
			x, err := f(i, j, Block{int32(i), int32(j), int32(rows), int32(cols)})
			if err != nil {
				return err
			}
			out.ids = append(out.ids, x)
		}
	}
	p.set(id, out)
	return nil
}

func (p *partitioner) set(id ir.ID, x *parts) {
	if x.single() {
		p.one[id] = x.ids[0]
		return
	}
	p.one[id] = ir.None
	p.parts[id] = x
}

// get is an old value's parts.
func (p *partitioner) get(id ir.ID) *parts {
	if x := p.parts[id]; x != nil {
		return x
	}
	t := p.old.Type(id)
	return &parts{[]int{0, t.Rows}, []int{0, t.Cols}, []ir.ID{p.one[id]}}
}

// whole is an old value in one piece.
func (p *partitioner) whole(id ir.ID) ir.ID {
	if p.one[id] != ir.None {
		return p.one[id]
	}
	t := p.old.Type(id)
	return p.recut(id, []int{0, t.Rows}, []int{0, t.Cols}).ids[0]
}

// recut is an old value with other cuts: blocks whose cuts agree are taken as they
// are, the others are laid out of those that they overlap. The new cuts are remembered
// under the value when they are the finer thing to have (not for wholes).
func (p *partitioner) recut(id ir.ID, rc, cc []int) *parts {
	x := p.get(id)
	if slices.Equal(x.rc, rc) && slices.Equal(x.cc, cc) {
		return x
	}
	key := recutKey{id, hashInts(rc), hashInts(cc)}
	if y := p.cuts.done[key]; y != nil {
		return y
	}
	out := &parts{rc, cc, make([]ir.ID, 0, (len(rc)-1)*(len(cc)-1))}
	t := p.old.Type(id)
	for i := range len(rc) - 1 {
		for j := range len(cc) - 1 {
			b := Block{int32(i), int32(j), int32(len(rc) - 1), int32(len(cc) - 1)}
			src := []piece{{x, 0, 0, rc[i], cc[j], rc[i+1] - rc[i], cc[j+1] - cc[j]}}
			out.ids = append(out.ids, p.lay(t, src, rc[i+1]-rc[i], cc[j+1]-cc[j], b))
		}
	}
	p.cuts.done[key] = out
	return out
}

// piece is a window of a value that lies in a result: window (sr, sc, rows, cols) of x at (r, c).
type piece struct {
	x          *parts
	r, c       int
	sr, sc     int
	rows, cols int
}

// lay makes one block of rows x cols from windows of values in parts.
func (p *partitioner) lay(t types.Type, src []piece, rows, cols int, b Block) ir.ID {
	var in []ir.ID
	var boxes []int
	for _, s := range src {
		for i := first(s.x.rc, s.sr); i < len(s.x.rc)-1 && s.x.rc[i] < s.sr+s.rows; i++ {
			for j := first(s.x.cc, s.sc); j < len(s.x.cc)-1 && s.x.cc[j] < s.sc+s.cols; j++ {
				r0, r1 := max(s.x.rc[i], s.sr), min(s.x.rc[i+1], s.sr+s.rows)
				c0, c1 := max(s.x.cc[j], s.sc), min(s.x.cc[j+1], s.sc+s.cols)
				if r0 >= r1 || c0 >= c1 {
					continue
				}
				in = append(in, s.x.at(i, j))
				boxes = append(boxes, r0-s.x.rc[i], c0-s.x.cc[j], r1-r0, c1-c0, s.r+r0-s.sr, s.c+c0-s.sc)
			}
		}
	}
	out := types.DenseOf(t.Elem, rows, cols)
	if len(in) == 1 && boxes[4] == 0 && boxes[5] == 0 && boxes[2] == rows && boxes[3] == cols {
		if p.g.Type(in[0]) == out {
			return in[0]
		}
		return p.add(p.table.Must("slice"), op.MakeAttrs(op.Attr{Name: "at", Val: op.Ints(boxes[0], boxes[1], rows, cols)}), out, b, in[0])
	}
	if len(in) == 0 {
		return p.zeros(t.Elem, rows, cols, b)
	}
	attrs := op.MakeAttrs(op.Attr{Name: "rows", Val: op.Int(rows)}, op.Attr{Name: "cols", Val: op.Int(cols)}, op.Attr{Name: "boxes", Val: op.Ints(boxes...)})
	return p.add(p.table.Must("lay"), attrs, out, b, in...)
}

// zeros is a block of zeros of any element type.
func (p *partitioner) zeros(e types.Elem, rows, cols int, b Block) ir.ID {
	x := p.add(p.table.Must("zeros"), op.MakeAttrs(op.Attr{Name: "n", Val: op.Int(rows)}, op.Attr{Name: "m", Val: op.Int(cols)}), types.DenseOf(types.F64, rows, cols), b)
	if e == types.F64 {
		return x
	}
	return p.add(p.table.Must(e.String()), nil, types.DenseOf(e, rows, cols), b, x)
}

// first is the block that position x lies in.
func first(cuts []int, x int) int {
	i, ok := slices.BinarySearch(cuts, x)
	if ok {
		return i
	}
	return max(i-1, 0)
}

// move lays pieces of the inputs into the result's blocks.
func (p *partitioner) move(id ir.ID, t types.Type, c cutting, boxes []box, in []ir.ID) error {
	// Which boxes touch which block: an untile has as many boxes as blocks.
	cols := len(c.cc) - 1
	touch := make([][]int32, (len(c.rc)-1)*cols)
	for k, x := range boxes {
		for i := first(c.rc, x.dr); i < len(c.rc)-1 && c.rc[i] < x.dr+x.rows; i++ {
			for j := first(c.cc, x.dc); j < cols && c.cc[j] < x.dc+x.cols; j++ {
				touch[i*cols+j] = append(touch[i*cols+j], int32(k))
			}
		}
	}
	return p.blocks(id, t, c, func(i, j int, b Block) (ir.ID, error) {
		r0, r1, c0, c1 := c.rc[i], c.rc[i+1], c.cc[j], c.cc[j+1]
		var src []piece
		for _, k := range touch[i*cols+j] {
			x := boxes[k]
			a0, a1 := max(x.dr, r0), min(x.dr+x.rows, r1)
			b0, b1 := max(x.dc, c0), min(x.dc+x.cols, c1)
			if a0 >= a1 || b0 >= b1 {
				continue
			}
			src = append(src, piece{p.get(in[k]), a0 - r0, b0 - c0, x.sr + a0 - x.dr, x.sc + b0 - x.dc, a1 - a0, b1 - b0})
		}
		return p.lay(t, src, r1-r0, c1-c0, b), nil
	})
}

// triangle cuts an operator that keeps a triangle of a square matrix, on square cuts.
func (p *partitioner) triangle(id ir.ID, n *ir.Node, t types.Type, c cutting) error {
	x := p.recut(p.old.In(id)[0], c.rc, c.cc)
	return p.blocks(id, t, c, func(i, j int, b Block) (ir.ID, error) {
		switch {
		case i == j:
			return p.typed(n.Op, n.Attrs, b, x.at(i, i))
		case (j > i) == n.Op.Shard.Upper:
			return x.at(i, j), nil
		}
		return p.zeros(t.Elem, c.rc[i+1]-c.rc[i], c.cc[j+1]-c.cc[j], b), nil
	})
}

// item takes an element from the block that it lies in.
func (p *partitioner) item(id ir.ID, n *ir.Node, x *parts) error {
	at := n.Attrs.Ints("at")
	i, j := first(x.rc, int(at[0])), first(x.cc, int(at[1]))
	attrs := n.Attrs.With("at", op.Ints(int(at[0])-x.rc[i], int(at[1])-x.cc[j]))
	p.one[id] = p.add(n.Op, attrs, p.old.Type(id), Block{}, x.at(i, j))
	return nil
}

// aligned cuts an elementwise operator or a fused map.
func (p *partitioner) aligned(id ir.ID, n *ir.Node, t types.Type, c cutting) error {
	in := p.old.In(id)
	modes := n.Attrs.Ints("modes")
	arg := make([]*parts, len(in))
	mode := make([]op.Mode, len(in))
	for k, x := range in {
		xt := p.old.Type(x)
		if n.Region != nil {
			mode[k] = op.Mode(modes[k])
		} else {
			mode[k] = modeOf(xt, t)
		}
		switch mode[k] {
		case op.Full:
			arg[k] = p.recut(x, c.rc, c.cc)
		case op.Trans:
			arg[k] = p.recut(x, c.cc, c.rc)
		case op.RowVec:
			arg[k] = p.recut(x, []int{0, 1}, c.cc)
		case op.ColVec:
			arg[k] = p.recut(x, c.rc, []int{0, 1})
		default:
			arg[k] = &parts{[]int{0, 1}, []int{0, 1}, []ir.ID{p.whole(x)}}
		}
	}
	return p.blocks(id, t, c, func(i, j int, b Block) (ir.ID, error) {
		ins := make([]ir.ID, len(in))
		for k := range in {
			switch mode[k] {
			case op.Full:
				ins[k] = arg[k].at(i, j)
			case op.Trans:
				ins[k] = arg[k].at(j, i)
			case op.RowVec:
				ins[k] = arg[k].at(0, j)
			case op.ColVec:
				ins[k] = arg[k].at(i, 0)
			default:
				ins[k] = arg[k].ids[0]
			}
		}
		out := p.add(n.Op, n.Attrs, types.DenseOf(t.Elem, c.rc[i+1]-c.rc[i], c.cc[j+1]-c.cc[j]), b, ins...)
		p.g.Nodes[out].Region = n.Region
		return out, nil
	})
}

// modeOf is how an operand of type x lies in a result of type t.
func modeOf(x, t types.Type) op.Mode {
	switch {
	case !x.IsMatrix() || x.Rows == 1 && x.Cols == 1 && (t.Rows != 1 || t.Cols != 1):
		return op.Single
	case x.Rows == t.Rows && x.Cols == t.Cols:
		return op.Full
	case x.Rows == 1:
		return op.RowVec
	}
	return op.ColVec
}

// contract cuts a product into one chain of block products per block of the result.
func (p *partitioner) contract(id ir.ID, n *ir.Node, t types.Type, c cutting) error {
	in := p.old.In(id)
	a, b := in[len(in)-2], in[len(in)-1]
	ta, tb := n.Attrs.Bool("ta"), n.Attrs.Bool("tb")
	kc := p.kCuts(a, b, ta, tb)
	if c.single() && len(kc) == 2 {
		ins := make([]ir.ID, 0, 3)
		for _, x := range in {
			ins = append(ins, p.whole(x))
		}
		p.one[id] = p.g.CopyNode(p.old, id, ins...)
		p.block = append(p.block, Block{})
		return nil
	}
	arc, acc := c.rc, kc
	if ta {
		arc, acc = kc, c.rc
	}
	brc, bcc := kc, c.cc
	if tb {
		brc, bcc = c.cc, kc
	}
	x, y := p.recut(a, arc, acc), p.recut(b, brc, bcc)
	var z *parts
	if len(in) == 3 {
		z = p.recut(in[0], c.rc, c.cc)
	}
	gemm := p.table.Must(n.Op.Shard.Accum)
	return p.blocks(id, t, c, func(i, j int, bl Block) (ir.ID, error) {
		bt := types.DenseOf(t.Elem, c.rc[i+1]-c.rc[i], c.cc[j+1]-c.cc[j])
		sum := ir.None
		if z != nil {
			sum = z.at(i, j)
		}
		for k := range len(kc) - 1 {
			u, v := x, y
			ui, uj, vi, vj := i, k, k, j
			if ta {
				ui, uj = k, i
			}
			if tb {
				vi, vj = j, k
			}
			if sum == ir.None {
				sum = p.add(n.Op, n.Attrs, bt, bl, u.at(ui, uj), v.at(vi, vj))
			} else {
				sum = p.add(gemm, n.Attrs, bt, bl, sum, u.at(ui, uj), v.at(vi, vj))
			}
		}
		return sum, nil
	})
}

// kCuts is where the summed dimension is cut: where the larger operand already is.
func (p *partitioner) kCuts(a, b ir.ID, ta, tb bool) []int {
	x, y := p.get(a), p.get(b)
	kx, ky := x.cc, y.rc
	if ta {
		kx = x.rc
	}
	if tb {
		ky = y.cc
	}
	if len(kx) >= len(ky) {
		return kx
	}
	return ky
}

// reduce cuts a reduction of a whole matrix: partials of blocks, combined over each
// row of blocks, then over all, then finished.
func (p *partitioner) reduce(id ir.ID, n *ir.Node) error {
	in := p.old.In(id)
	x := p.get(in[0])
	for _, other := range in[1:] {
		if y := p.get(other); len(y.ids) > len(x.ids) {
			x = y
		}
	}
	if x.single() {
		ins := make([]ir.ID, 0, 2)
		for _, y := range in {
			ins = append(ins, p.whole(y))
		}
		p.one[id] = p.g.CopyNode(p.old, id, ins...)
		p.block = append(p.block, Block{})
		return nil
	}
	args := make([]*parts, len(in))
	for k, y := range in {
		args[k] = p.recut(y, x.rc, x.cc)
	}
	sh := n.Op.Shard
	partial, combine := p.table.Must(sh.Partial), p.table.Must(sh.Combine)
	rows, cols := len(x.rc)-1, len(x.cc)-1
	var perRow []ir.ID
	for i := range rows {
		var row []ir.ID
		for j := range cols {
			b := Block{int32(i), int32(j), int32(rows), int32(cols)}
			ins := make([]ir.ID, len(args))
			for k := range args {
				ins[k] = args[k].at(i, j)
			}
			part, err := p.typed(partial, n.Attrs, b, ins...)
			if err != nil {
				return err
			}
			row = append(row, part)
		}
		sum := row[0]
		if len(row) > 1 {
			var err error
			if sum, err = p.typed(combine, nil, Block{int32(i), 0, int32(rows), int32(cols)}, row...); err != nil {
				return err
			}
		}
		perRow = append(perRow, sum)
	}
	sum := perRow[0]
	var err error
	if len(perRow) > 1 {
		if sum, err = p.typed(combine, nil, Block{}, perRow...); err != nil {
			return err
		}
	}
	if sh.Finish != "" {
		// What a mean divides by is no matter of the accumulator: it is an attribute.
		t := p.old.Type(in[0])
		attrs := op.MakeAttrs(op.Attr{Name: "n", Val: op.Int(t.Count())}, op.Attr{Name: "elem", Val: op.Str(t.Elem.String())})
		if sum, err = p.typed(p.table.Must(sh.Finish), attrs, Block{}, sum); err != nil {
			return err
		}
	}
	p.one[id] = sum
	return nil
}

// along cuts a reduction of each row (or column): its blocks hold whole rows.
func (p *partitioner) along(id ir.ID, n *ir.Node, c cutting) error {
	in := p.old.In(id)
	xt := p.old.Type(in[0])
	rc, cc := c.rc, []int{0, xt.Cols}
	if n.Op.Shard.Kind == op.ShardCols {
		rc, cc = []int{0, xt.Rows}, c.cc
	}
	args := make([]*parts, len(in))
	for k, y := range in {
		args[k] = p.recut(y, rc, cc)
	}
	return p.blocks(id, p.old.Type(id), c, func(i, j int, b Block) (ir.ID, error) {
		ins := make([]ir.ID, len(args))
		for k := range args {
			ins[k] = args[k].ids[i+j]
		}
		return p.typed(n.Op, n.Attrs, b, ins...)
	})
}

// autoTile is the default tile edge for a shape: the table's own function.
func autoTile(table *op.Table, t types.Type) int {
	v, err := table.Must("auto_tile").Shape([]types.Type{t})
	if err != nil {
		return 256
	}
	return max(1, int(v.(value.Scalar).I))
}
