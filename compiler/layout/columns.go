package layout

import (
	"flow/compiler/nodes"
	"flow/ir"
	"flow/ir/op"
	"flow/ir/plan"
)

// This file spreads products t(a) @ b of a sparse a and a dense b whose rows ranks share. An element of
// the product is a chain over these rows. Ranks either share the rows of t(a), and get the rows of b
// that theirs name, or each adds the terms of its own rows of a and b, one rank after the other:
//
//	%1 = sp.t(%0);  %2 = sp.matmul(%1, %b)
//	->  %1 = sp.t(%0) {ranks=2}                                  # of this rank's rows: its own columns
//	    %2 = sp.matmul.chain(%1, %b) {at=[0, 50], to=100}        # on the first rank
//	    %3 = gather(%2) {reach}                                  # to the second one
//	    %4 = sp.matmul.chain(%1, %b, %3) {at=[0, 50], from=100}  # on the second one
//	    ..
//	    %8 = lay(%4, %7);  %9 = gather(%8)
//
// The product is cut into strips of rows, so that ranks work on different strips at the same time. The
// chain sends results, and the other way sends operands: the chain is for a with many more rows than
// columns. It would be wrong for matrices of which a rank has rows that are not contiguous.

// hasColumns reports whether each rank can have the columns of old node id, a sparse matrix, for which
// it has the rows of a dense factor: id is the transpose of a matrix that ranks share by rows.
func (x *spreadGraph) hasColumns(id ir.ID) bool {
	if k, same := x.unchanged(id); same {
		return x.around.hasColumns(x.around.old.In(x.loop)[k])
	}
	return x.old.Nodes[id].Op == x.table.Must("sp.t") && x.partial[x.old.In(id)[0]]
}

// columnsOf returns the new node with this rank's columns of old node id, for which hasColumns holds. In
// a region it is an argument if id is one.
func (x *spreadGraph) columnsOf(id ir.ID) ir.ID {
	made, ok := x.columns[id]
	if !ok {
		if _, same := x.unchanged(id); same {
			made = x.g.Add(x.table.Must("arg"), nil, x.old.Type(id), x.old.Origin(id).NoDest())
		} else {
			made = x.shares1(x.typed(id, x.old.Nodes[id].Op, nil, x.ownSparse(x.old.In(id)[0])))
		}
		x.columns[id] = made
	}
	return made
}

// takeColumns adds the columns of captured matrices that any region of a loop needs to the arguments of
// all its regions. r is the first region. It returns the inputs of the loop with these matrices.
func takeColumns(r *ir.Region, inside []*spreadGraph) (all []listed) {
	for k := range inside[0].args {
		some := false
		for _, x := range inside {
			_, ok := x.columns[x.args[k]]
			some = some || ok
		}
		if !some {
			continue
		}
		by := listed{input: k, columns: true}
		for i, at := 0, r; at != nil; i, at = i+1, at.Next {
			by.own = by.own || nodes.Reads(at, at.Args[k])
			at.Args = append(at.Args, inside[i].columnsOf(inside[i].args[k]))
		}
		all = append(all, by)
	}
	return all
}

// sumsColumns makes the new nodes of a product whose terms ranks add one after the other. It returns
// false for other nodes, and for products for which it takes less time to send rows of the dense factor.
func (x *spreadGraph) sumsColumns(id ir.ID) bool {
	n, in, t := &x.old.Nodes[id], x.old.In(id), x.old.Type(id)
	if n.Op.Shard.Chain == "" || len(in) != 2 || !x.old.Type(in[0]).IsSparse() || !nodes.Dividable(t) || t.Count() == 0 || !x.partial[in[1]] || !nodes.Dividable(x.old.Type(in[1])) ||
		nodes.Sent(x.old, id) || x.old.Placement(id) != ir.AnyPlace || n.Attrs.Int("keep") > 0 || !x.hasColumns(in[0]) {
		return false
	}
	rows := x.old.Type(in[1]).Rows
	steps, whole := x.stepsOf(rows, rows)
	strips, pays := x.chainPays(id, steps, whole)
	if !pays {
		return false
	}
	time, busy := x.chainTime(steps, whole, strips)
	x.saved += x.workOf(x.old, id) * (1 - time/float64(rows))
	row, a, b := x.table.Must(n.Op.Shard.Chain), x.columnsOf(in[0]), x.own(in[1])
	made, boxes := make([]ir.ID, strips), []int(nil)
	for s, step := range steps {
		for k := range strips {
			lo, hi := op.Window(k, strips, t.Rows)
			args := []ir.ID{a, b}
			if s > 0 {
				from := inUnits(nil, x.cutsOf(steps[s-1].owner, hi-lo))
				to := make([][]plan.Range, x.ranks)
				to[step.owner[0]] = []plan.Range{{To: hi - lo}}
				args = append(args, x.gatherOf(id, from.With(plan.Reach, plan.ReachOf(to)), made[k]))
			}
			attrs := op.MakeAttrs(op.Attr{Name: "at", Val: op.Ints(lo, hi-lo)}, op.Attr{Name: "from", Val: op.Int(step.from[0])}, op.Attr{Name: "to", Val: op.Int(step.to[0])}, op.Attr{Name: "busy", Val: op.Int(max(1, busy[s][k]))})
			made[k] = x.typed(id, row, x.sharing(attrs, hi-lo, x.cutsOf(step.owner, hi-lo)), args...)
			if s == 0 {
				boxes = append(boxes, 0, 0, hi-lo, t.Cols, lo, 0)
			}
		}
	}
	last := x.cutsOf(whole.owner, t.Rows)
	all := made[0]
	if strips > 1 {
		attrs := op.MakeAttrs(op.Attr{Name: "rows", Val: op.Int(t.Rows)}, op.Attr{Name: "cols", Val: op.Int(t.Cols)}, op.Attr{Name: "boxes", Val: op.Ints(boxes...)})
		all = x.typed(id, x.table.Must("lay"), x.sharing(attrs, t.Rows, last), made...)
	}
	x.to[id] = x.gatherOf(id, inUnits(nil, last), all)
	x.shares++
	x.unread = true
	return true
}

// dropUnread drops the rows of transposes that nothing reads, because all products read columns.
func dropUnread(p *Placed) {
	alive := func(g *ir.Graph) []bool {
		return nodes.Alive(g, func(id ir.ID) bool { return g.Required(id) || ir.MayFail(g, id) })
	}
	p.Graph = nodes.Bodies(p.Graph, func(g *ir.Graph) *ir.Graph {
		if keep := alive(g); keep != nil {
			return g.Compact(keep)
		}
		return g
	})
	if keep := alive(p.Graph); keep != nil {
		p.Graph, p.Owner = p.Graph.Compact(keep), nodes.Kept(p.Owner, keep)
	}
}

// chainPays reports whether ranks that add the terms of a product one after the other take less time
// than ranks that share its rows, and into how many strips the product is then cut.
func (x *spreadGraph) chainPays(id ir.ID, steps []step, whole step) (strips int, pays bool) {
	in, t := x.old.In(id), x.old.Type(id)
	b := x.old.Type(in[1])
	if len(steps) < 2 {
		return 0, false
	}
	work, cost := x.flopsOf(x.old, id)*apartSteps/float64(min(t.Cols, lanes)), 0.0
	for n := 1; n <= max(1, t.Rows/leastStrip); n *= 2 {
		time, _ := x.chainTime(steps, whole, n)
		c := time*work/float64(b.Rows) + float64(len(steps))*x.message(t) + float64((n-1)*x.from*GatherSpreads) // ranks send strips at the same time
		if strips == 0 || c < cost {
			strips, cost = n, c
		}
	}
	if x.from == 1 { // tests cut little matrices, whose messages count for nothing
		return strips, b.Rows >= 2*t.Rows
	}
	brought, all := x.touched(in[0]), float64((x.ranks-1)*b.Rows)
	each := float64(x.from) * float64(b.Bytes()) / float64(b.Rows) / BytesSpread
	if brought < all {
		each += packedEntries * entrySteps
	}
	return strips, cost < work/float64(x.ranks)+each*min(brought, all)/float64(x.ranks)+float64(x.from)*GatherSpreads+x.message(t)
}
