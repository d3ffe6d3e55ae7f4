package pass

import (
	"slices"
	"strings"

	"flow/compiler/nodes"
	"flow/ir"
	"flow/ir/op"
)

// This file is the part of Fuse that makes one pass for several readers of a value.
//
// Reductions of all elements join those of rows or those of columns, not both: a pass produces
// whole rows or groups of columns. The more numerous of the two wins.

// sharing is a pipe with several results, or one of several pipes that compute the same chain.
type sharing struct {
	of    ir.ID   // the reduced value: the head of a chain or, if stored, any matrix
	chain bool    // the chain is part of the pipe
	store bool    // its elements are a result, the first
	folds []ir.ID // the reductions
}

// several finds the values with several readers.
func (f *fusion) several() {
	g := f.g
	readers := make(map[ir.ID][]ir.ID)
	for id := range g.All() {
		if !f.folds(id) || nodes.Sent(f.g, id) {
			continue
		}
		x := g.In(id)[0]
		if t := g.Type(x); f.uses[x] > 1 && t.IsDense() && t.Known() && t.Count() > 1 && t.Elem.IsNumeric() {
			readers[x] = append(readers[x], id)
		}
	}
	if len(readers) == 0 {
		return
	}
	f.shared = map[ir.ID][]sharing{}
	f.tiled = make([]bool, g.Len())
	for i := range g.Nodes {
		switch g.Nodes[i].Op.Shard.Kind {
		case op.ShardContract, op.ShardTriangle, op.ShardDiagonal:
			for _, x := range g.In(ir.ID(i)) {
				f.tiled[x] = true
			}
		}
	}
	members := f.members(f.member)
	for i := range g.Nodes {
		if x := ir.ID(i); len(readers[x]) > 0 {
			f.sharings(x, readers[x], members[x])
		}
	}
}

// sharings decides for the reductions of x. members is the chain if x is the head of one.
func (f *fusion) sharings(x ir.ID, reductions, members []ir.ID) {
	first, second := f.passes(reductions)
	chain := f.fusable(x) && f.head[x] == x && !nodes.Sent(f.g, x)
	alone := chain && len(reductions) == int(f.uses[x]) // it has no other reader
	switch {
	case alone && len(second) == 0:
		f.addSharing(sharing{x, true, false, first})
	case alone && f.cheaper(x, members):
		f.addSharing(sharing{x, true, false, first})
		f.addSharing(sharing{x, true, false, second})
	case chain && !f.mirrored(x, members):
		if f.tiled[x] { // stored by whole rows it would have to be cut again
			first, second = f.overAll(reductions)
		}
		f.addSharing(sharing{x, true, true, first})
		f.addSharing(sharing{x, false, false, second})
	default:
		f.addSharing(sharing{x, false, false, first})
		f.addSharing(sharing{x, false, false, second})
	}
}

const (
	// repeatedFlops is how many operations an element may cost that is computed again although a cache
	// might hold it.
	repeatedFlops = 1
	// mostCached is the largest matrix, in bytes, that a second-level cache might hold.
	mostCached = 4 << 20
)

// repeated returns the graph with a copy of an operator for each group that reads it, if one of these
// reduces columns or everything, so that the others come in a later pass:
//
//	%3 = sub(%0, %2);  %4 = mul(%3, %3);  %5 = colsum(%4);  %6 = div(%3, %5)
//	->  %3 = sub(%0, %2);  %4 = mul(%3, %3);  %5 = colsum(%4);  %7 = sub(%0, %2);  %6 = div(%7, %5)
//
// Each pass then reads %0 instead of %3, and %3 is not stored. It would be slower for what reads two
// matrices, or costs more than the store and the load. What makes the matrix is not made again.
//
// A chain that reads rows, columns and numbers alone is copied for whatever groups read it: none of
// them reads a matrix for it. The graph is g itself if there is nothing to copy.
func (f *fusion) repeated() *ir.Graph {
	g := f.g
	may := func(id ir.ID) bool {
		return f.head[id] == id && f.uses[id] > 1 && f.fusable(id) && !nodes.Sent(g, id) && g.Type(id).Count() > 1
	}
	any := false // seldom: tiled graphs are large
	for i := range g.Nodes {
		any = any || may(ir.ID(i))
	}
	if !any {
		return g
	}
	readers, members := readersOf(g), f.members(f.fusable)
	var copies map[ir.ID]*again // by the last of the chain
	c := nodes.CopyOf(g)
	for id := range g.All() {
		for _, x := range g.In(id) {
			if a := copies[x]; a != nil {
				to, is := a.made[f.reader(id, x)]
				if !is {
					for _, m := range a.members {
						c.Node(m)
					}
					to = c.To[x]
					a.made[f.reader(id, x)] = to
				}
				c.To[x] = to
			}
		}
		if c.Node(id); may(id) {
			if m := f.chainAgain(id, members[id], readers[id]); m != nil {
				if copies == nil {
					copies = map[ir.ID]*again{}
				}
				copies[id] = &again{m, map[ir.ID]ir.ID{f.reader(readers[id][0], id): c.To[id]}}
			}
		}
	}
	if copies == nil {
		return g
	}
	return c.G
}

// again is a chain that several groups compute.
type again struct {
	members []ir.ID
	made    map[ir.ID]ir.ID // its copies, by groups
}

// reader returns the group of r, which reads x: x itself stands for all reductions that read it
// as it is, because they share a pass.
func (f *fusion) reader(r, x ir.ID) ir.ID {
	if f.folds(r) {
		return x
	}
	return f.head[r]
}

// chainAgain lists what each group that reads x computes again: the chain m, which ends with x, and
// the constructors that it alone reads. It returns nil if x is better stored.
func (f *fusion) chainAgain(x ir.ID, m, readers []ir.ID) []ir.ID {
	g, t := f.g, f.g.Type(x)
	flops, seen := 0.0, nodes.SetOf(m)
	var whole, drawn []ir.ID // the matrices of its size that it reads
	for _, id := range m {
		n := &g.Nodes[id]
		if n.Op.Cost == nil || !n.Op.Laws.Has(op.Total) || f.readsTransposed(id) {
			return nil
		}
		flops += n.Op.Cost(nodes.SigOf(g, id), t).Flops
		for _, y := range g.In(id) {
			d := &g.Nodes[y]
			switch {
			case seen[y] || g.Type(y).Count() != t.Count():
			case f.isNumber(y):
			case d.Op.Draw != nil && f.uses[y] == 1 && f.mayDraw(y, id):
				drawn = append(drawn, y)
				flops += d.Op.Cost(nodes.SigOf(g, y), t).Flops
			default:
				whole = append(whole, y)
			}
			seen[y] = true
		}
	}
	flops /= float64(t.Count())
	groups, reduced, rows := map[ir.ID]bool{}, false, false
	for _, r := range readers {
		h := f.reader(r, x)
		if !allLinked(f, r, x) || len(f.operands.of[h])+len(g.In(x)) > op.MostOperands/2 {
			return nil
		}
		groups[h] = true
		if d := g.Nodes[f.head[r]].Op; d.Fold != op.NoFold {
			reduced, rows = true, rows || d.Fold == op.FoldRows
		}
	}
	more := float64(len(groups) - 1)
	switch {
	case more == 0:
		return nil
	case len(whole) == 0 && (flops <= repeatedFlops || flops*more <= nodes.AgainFlops && t.Bytes() > mostCached):
		return append(drawn, m...)
	case len(whole) == 1 && len(m) == 1 && len(drawn) == 0 && flops <= repeatedFlops && reduced && !rows && !groups[x]:
		return m
	}
	return nil
}

// allLinked reports whether every operand of r that is x may be in the group of r.
func allLinked(f *fusion, r, x ir.ID) bool {
	for k, y := range f.g.In(r) {
		if y == x && !f.links(r, k) {
			return false
		}
	}
	return true
}

// split splits a list into those for which f holds and the others.
func split(list []ir.ID, f func(ir.ID) bool) (yes, no []ir.ID) {
	for _, x := range list {
		if f(x) {
			yes = append(yes, x)
		} else {
			no = append(no, x)
		}
	}
	return yes, no
}

// addSharing places a pipe where all its operands exist.
func (f *fusion) addSharing(s sharing) {
	if !s.chain && len(s.folds) < 2 || len(s.folds) == 0 {
		return // a reduction of a stored value is already an operator
	}
	at := s.of
	if !s.chain {
		at = s.folds[0]
	}
	f.shared[at] = append(f.shared[at], s)
}

// passes splits reductions into those of one pass and those of another.
func (f *fusion) passes(reductions []ir.ID) (first, second []ir.ID) {
	over := map[op.Fold]int{}
	for _, r := range reductions {
		over[f.g.Nodes[r].Op.Fold]++
	}
	with := op.FoldRows
	if over[op.FoldCols] > over[op.FoldRows] {
		with = op.FoldCols
	}
	return split(reductions, func(r ir.ID) bool { o := f.g.Nodes[r].Op.Fold; return o == op.FoldAll || o == with })
}

// overAll splits reductions into those of all elements and the others: those of rows in one pass,
// if there are any.
func (f *fusion) overAll(reductions []ir.ID) (all, others []ir.ID) {
	all, others = split(reductions, func(r ir.ID) bool { return f.g.Nodes[r].Op.Fold == op.FoldAll })
	others, _ = f.passes(others)
	return all, others
}

// mirrored reports a chain on square matrices that reads one transposed. As a map it visits pairs
// of blocks, reading each from memory once; reductions do not support that order.
func (f *fusion) mirrored(x ir.ID, members []ir.ID) bool {
	t := f.g.Type(x)
	return t.Rows == t.Cols && slices.ContainsFunc(members, f.readsTransposed)
}

// share adds the pipe s. Its results replace the nodes in given.
func (f *fusion) share(given []bool, members []ir.ID, s sharing) {
	g := f.g
	var results []ir.ID
	var names []string
	if given[s.of] = given[s.of] || s.chain; s.store {
		results, names = append(results, s.of), append(names, nodes.Stores)
	}
	for _, r := range s.folds {
		results, names = append(results, r), append(names, g.Nodes[r].Op.Name)
		given[r] = true
	}
	at := s.of
	if !s.chain {
		members, at = nil, s.folds[0]
	}
	if len(results) == 1 {
		at = results[0]
	}
	f.pipe(members, s.of, strings.Join(names, " "), g.Origin(at), results...)
}

// cheaper reports whether a chain of members with head x should be computed in each of two passes
// over its operands rather than stored.
func (f *fusion) cheaper(x ir.ID, members []ir.ID) bool {
	g := f.g
	n := float64(g.Type(x).Count())
	var flops, read float64
	seen := map[ir.ID]bool{}
	for _, id := range members {
		for _, y := range g.In(id) {
			if !seen[y] && f.head[y] != x {
				seen[y] = true
				read += float64(g.Type(y).Bytes())
			}
		}
		if c := g.Nodes[id].Op.Cost; c != nil {
			flops += c(nodes.SigOf(g, id), g.Type(id)).Flops
		}
	}
	store := 2 * float64(g.Type(x).Bytes()) // a store reads the line first
	return flops <= nodes.AgainFlops*n && read <= store+float64(g.Type(x).Bytes())
}
