package nodes

// This file defines properties of nodes, and copies of graphs with changes.

import (
	"fmt"
	"slices"
	"strings"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/plan"
	"flow/ir/types"
)

// Stores stands for the elements themselves in the attribute fold of a pipe, which lists reductions.
const Stores = "store"

// AgainFlops is the most operations that it takes to compute an element again instead of storing it:
// about the time in which memory stores and reads 16 bytes.
const AgainFlops = 24

// IsNumber reports whether t is a scalar: an integer, a float or a bool.
func IsNumber(t types.Type) bool { return t.IsScalar() && t.Elem.Size() > 0 }

// Hinted reports whether the program states the schedule, grain or place of loop n. Such a loop is not
// fused with others.
func Hinted(n *ir.Node) bool {
	return n.Attrs.Str("schedule") != "" || n.Attrs.Int("grain") != 0 || n.Attrs.Str(ir.PlaceAttr) != ""
}

// NarrowProduct reports whether n is a product of floats of type t with at most FewProductCols
// columns. It may be added to a matrix. Its left factor is not transposed.
func NarrowProduct(n *ir.Node, t types.Type) bool {
	return (n.Op.Role == op.Multiplies || n.Op.Role == op.MultipliesOnto) && n.Region == nil && !n.Attrs.Bool("ta") && t.Cols <= FewProductCols && t.Elem.IsFloat()
}

// FewProductCols is the most columns of a product whose left factor is better made by its loop than
// stored.
const FewProductCols = 16

// Without returns r without the arguments for which keep is false. Nothing may read them.
func Without(r *ir.Region, keep []bool) *ir.Region {
	stays := slices.Repeat([]bool{true}, r.Graph.Len())
	for k, a := range r.Args {
		stays[a] = keep[k]
	}
	return (&ir.Region{Graph: r.Graph, Args: Kept(r.Args, keep), Yields: r.Yields}).Compact(stays)
}

// SigOf returns the signature of node id: its operator, its attributes and the types of its inputs.
func SigOf(g *ir.Graph, id ir.ID) *op.Sig { return SigInto(new(op.Sig), g, id) }

// SigInto is SigOf in the memory of s, which is overwritten.
func SigInto(s *op.Sig, g *ir.Graph, id ir.ID) *op.Sig {
	n := &g.Nodes[id]
	*s = op.Sig{Def: n.Op, Attrs: n.Attrs, In: g.Types(s.In[:0], g.In(id)...)}
	return s
}

// Dividable reports whether ranks can share a value: a dense matrix of known shape that is not empty.
func Dividable(t types.Type) bool { return t.IsDense() && t.Known() && t.Count() > 0 }

// MadeAnywhere reports whether each rank that reads node id makes it: a constant, or a matrix of zeros
// or the like. What is read from a file, or kept by a session, is on rank 0 or costs more than a
// message.
func MadeAnywhere(g *ir.Graph, id ir.ID) bool {
	n := &g.Nodes[id]
	if Sent(g, id) || n.Op.Shard.Kind != op.ShardGenerate {
		return n.Op.Role == op.Constant
	}
	return len(g.In(id)) == 0 && !g.Effects(id) && n.Op.Reads == nil && !n.Op.Root && n.Op.Cost(SigOf(g, id), g.Type(id)).Flops == 0
}

// SpaceIn returns the type of the index space of node id of g. A pipe or a reduction of all elements
// or of columns has the space of the elements that it reduces, any other node that of its result.
func SpaceIn(g *ir.Graph, id ir.ID) types.Type {
	switch n, t := &g.Nodes[id], g.Type(id); {
	case n.Op.Role == op.Reduces:
		return PipeSpace(n)
	case n.Op.Control == op.Part:
		return SpaceIn(g, g.In(id)[0])
	case (!t.IsDense() || n.Op.Fold == op.FoldCols) && len(g.In(id)) > 0:
		return g.Type(g.In(id)[0])
	default:
		return t
	}
}

// PipeSpace returns the type of the elements that a pipe reduces, as a matrix.
func PipeSpace(n *ir.Node) types.Type {
	y := n.Region.Graph.Type(n.Region.Yields[0])
	return types.DenseOf(y.Elem, n.Attrs.Int("rows"), n.Attrs.Int("cols"))
}

// PipeFolds returns the reductions of a pipe. nil in the list stands for its elements (Stores).
func PipeFolds(table *op.Table, n *ir.Node) []*op.Def {
	var out []*op.Def
	for _, name := range strings.Fields(n.Attrs.Str("fold")) {
		if name == Stores {
			out = append(out, nil)
		} else {
			out = append(out, table.Must(name))
		}
	}
	return out
}

// Elementwise reports whether n is an elementwise operator, or a map or pipe of such operators: row i
// of its elements depends on no row of its operands but row i.
func Elementwise(n *ir.Node) bool {
	return n.Op.Laws.Has(op.Elementwise) || n.Op.Role == op.Maps || n.Op.Role == op.Reduces
}

// Aligned reports whether node id takes row i of its result from row i of its input: columns whose
// place only the run knows, or the diagonal. Its kernel can make a rank's own rows alone.
func Aligned(g *ir.Graph, id ir.ID) bool {
	n, t := &g.Nodes[id], g.Type(id)
	if n.Op.Role != op.Windows && n.Op.Shard.Kind != op.ShardDiagonal || !Dividable(t) {
		return false
	}
	from := g.Type(g.In(id)[0])
	return Dividable(from) && t.Rows == from.Rows && (n.Op.Role == op.Windows || from.Rows == from.Cols)
}

// Stepped reports whether node id is a view of every k-th row of a matrix, k > 1, with all columns.
func Stepped(g *ir.Graph, id ir.ID) bool {
	n, t := &g.Nodes[id], g.Type(id)
	if n.Op.RowSpan == nil || !Dividable(t) || !plan.MayView(g, id) {
		return false
	}
	r, from := n.Op.RowSpan(SigOf(g, id), t), g.Type(g.In(id)[0])
	return Dividable(from) && r.By > 1 && r.Per == 1 && !r.Rest && t.Cols == from.Cols
}

// MostRight is the most elements of a right factor that each rank has as a whole: 2 MiB of f64, which
// stay in a cache. Two products of 6000 x 500 by 500 x 500 take 0.65 of the time that blocks take, and
// send a fiftieth of the bytes.
const MostRight = 1 << 18

// TurnedProduct reports whether node id is a product t(a) @ b of floats with at most MostRight
// elements, and no more rows and columns than terms.
func TurnedProduct(g *ir.Graph, id ir.ID) bool {
	n, in, t := &g.Nodes[id], g.In(id), g.Type(id)
	return len(in) == 2 && n.Attrs.Bool("ta") && !n.Attrs.Bool("tb") && t.Elem.IsFloat() && Dividable(g.Type(in[0])) && Dividable(g.Type(in[1])) &&
		t.Count() <= MostRight && max(t.Rows, t.Cols) <= g.Type(in[0]).Rows
}

// TypeOf returns the type of the result of d for these inputs. It panics if d does not take them.
func TypeOf(d *op.Def, attrs *op.Attrs, in ...types.Type) types.Type {
	t, err := d.Type(&op.Sig{Def: d, In: in, Attrs: attrs})
	if err != nil {
		panic(fmt.Sprintf("BUG: %s of %v: %v", d.Name, in, err))
	}
	return t
}

// FoldedParts returns the attribute fold and the type of a pipe over a part of an index space. The
// pipe returns states of the reductions for which state holds, and results of the others.
func FoldedParts(table *op.Table, folds []*op.Def, space types.Type, state func(d *op.Def) bool) (names string, t types.Type) {
	list, ts := make([]string, len(folds)), make([]types.Type, len(folds))
	for k, d := range folds {
		if list[k], ts[k] = Stores, space; d == nil {
			continue
		}
		if state(d) {
			d = table.Must(d.Shard.Partial)
		}
		list[k], ts[k] = d.Name, TypeOf(d, nil, space)
	}
	return strings.Join(list, " "), TupleOf(ts)
}

// ShardOf returns how an operator is cut: as its row says, except that cbind and rbind, which are
// defined on whole values, put boxes side by side.
func ShardOf(d *op.Def) op.ShardKind {
	if d.Role == op.Beside || d.Role == op.Below {
		return op.ShardMove
	}
	return d.Shard.Kind
}

// StoredPart returns the pipe whose stored elements node id selects. ok is false if it selects none.
func StoredPart(g *ir.Graph, id ir.ID) (pipe ir.ID, ok bool) {
	n := &g.Nodes[id]
	if n.Op.Control != op.Part || n.Attrs.Int("at") != 0 {
		return 0, false
	}
	pipe = g.In(id)[0]
	p := &g.Nodes[pipe]
	return pipe, p.Op.Role == op.Reduces && strings.HasPrefix(p.Attrs.Str("fold"), Stores+" ")
}

// Flops returns the number of operations of node id. It is 0 if the operator has no cost.
func Flops(g *ir.Graph, id ir.ID) float64 {
	if d := g.Nodes[id].Op; d.Cost != nil {
		return d.Cost(SigOf(g, id), g.Type(id)).Flops
	}
	return 0
}

// Branches reports whether n is a branch, which runs one of its regions.
func Branches(n *ir.Node) bool { return n.Op.Control == op.Select }

// Copying is a copy of graph Old in progress. G is the copy, and To maps old nodes to new ones. Nodes
// are copied in order; To is ir.None for a node that has no copy.
type Copying struct {
	Old, G *ir.Graph
	To     []ir.ID
}

// CopyOf begins a copy of g. The copy has the tables of g and no nodes.
func CopyOf(g *ir.Graph) *Copying {
	c := &Copying{Old: g, G: ir.New(), To: slices.Repeat([]ir.ID{ir.None}, g.Len())}
	c.G.CopyTables(g)
	return c
}

// Changed returns a copy of g. write makes the nodes for which is reports true; the others are
// copied. It returns g itself if there is no such node.
func Changed(g *ir.Graph, is func(id ir.ID) bool, write func(c *Copying, id ir.ID)) *ir.Graph {
	var c *Copying
	for id := range g.All() {
		switch own := is(id); {
		case own && c == nil:
			c = CopyOf(g)
			for k := range id {
				c.Node(k)
			}
			fallthrough
		case own:
			write(c, id)
		case c != nil:
			c.Node(id)
		}
	}
	if c == nil {
		return g
	}
	return c.G
}

// In returns the copies of the inputs of old node id.
func (c *Copying) In(id ir.ID) []ir.ID { return Through(c.To, c.Old.In(id)) }

// Node copies old node id. Its inputs must have copies.
func (c *Copying) Node(id ir.ID) {
	in := c.In(id)
	if slices.Contains(in, ir.None) {
		panic(fmt.Sprintf("BUG: %%%d is copied before what it reads, in\n%s", id, c.Old))
	}
	c.To[id] = c.G.CopyNode(c.Old, id, in...)
}

// Made adds a node of this row, with region r, in place of the old nodes results. If there are several,
// the node has a tuple of values, and parts select them.
func (c *Copying) Made(table *op.Table, row string, attrs *op.Attrs, r *ir.Region, in []ir.ID, o ir.Origin, results ...ir.ID) {
	id := c.G.Add(table.Must(row), attrs, TupleOf(c.Old.Types(nil, results...)), o, in...)
	c.G.Nodes[id].Region = r
	for k, x := range results {
		if c.To[x] = id; len(results) > 1 {
			part := op.MakeAttrs(op.Attr{Name: "at", Val: op.Int(k)})
			c.To[x] = c.G.Add(table.Must("part"), part, c.Old.Type(x), c.Old.Origin(x), id)
		}
	}
}

// TupleOf returns the type of a node with results of types ts: a tuple unless there is one.
func TupleOf(ts []types.Type) types.Type {
	if len(ts) == 1 {
		return ts[0]
	}
	return types.TupleOf(ts...)
}

// Region returns r with the copy as its graph.
func (c *Copying) Region(r *ir.Region) *ir.Region {
	return &ir.Region{Graph: c.G, Args: Through(c.To, r.Args), Yields: Through(c.To, r.Yields)}
}

// Through returns places[x] for each x of ids.
func Through[T any](places []T, ids []ir.ID) []T {
	out := make([]T, len(ids))
	for i, x := range ids {
		out[i] = places[x]
	}
	return out
}

// Kept lists those of ids for which keep is true.
func Kept[T any](ids []T, keep []bool) (out []T) {
	for i, x := range ids {
		if keep[i] {
			out = append(out, x)
		}
	}
	return out
}

// EachRegion applies f to each region of list r, and returns the list of its results.
func EachRegion(r *ir.Region, f func(r *ir.Region) *ir.Region) *ir.Region {
	var first *ir.Region
	next := &first
	for ; r != nil; r = r.Next {
		x := f(r)
		*next, next = x, &x.Next
	}
	return first
}

// SetOf returns a list of nodes as a set.
func SetOf(ids []ir.ID) map[ir.ID]bool {
	set := make(map[ir.ID]bool, len(ids))
	for _, x := range ids {
		set[x] = true
	}
	return set
}

// Sent reports whether the program sends node id to a channel.
func Sent(g *ir.Graph, id ir.ID) bool {
	_, _, _, is := g.Dest(id)
	return is
}

// SameSend reports whether two nodes belong to one send, or to none.
func SameSend(g *ir.Graph, a, b ir.ID) bool {
	ga, va, ia, oka := g.Dest(a)
	gb, vb, ib, okb := g.Dest(b)
	if oka != okb {
		return false
	}
	if !oka {
		return true
	}
	for k := range ia {
		if len(ib) != len(ia) || ia[k] != ib[k] {
			return false
		}
	}
	return ga == gb && va == vb
}

// ElementwiseOperator reports whether n is a single elementwise operator, without attributes.
func ElementwiseOperator(n *ir.Node) bool {
	return n.Op.Elt != nil && n.Op.Laws.Has(op.Elementwise) && n.Region == nil && n.Attrs == nil
}

// SameShape reports whether a and b have the same numbers of rows and columns.
func SameShape(a, b types.Type) bool { return a.Rows == b.Rows && a.Cols == b.Cols }

// Transposed returns the type of the transpose of a matrix of type t.
func Transposed(t types.Type) types.Type {
	t.Rows, t.Cols = t.Cols, t.Rows
	return t
}
