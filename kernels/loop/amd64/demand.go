package amd64

// This file orders the statements of long blocks so that fewer values live at once.

import (
	"slices"

	"flow/ir/loop"
)

// longBlock is the least number of statements of a block that is ordered. In shorter blocks, few
// values wait.
const longBlock = 32

// onDemand returns n with the statements of long blocks in another order, if fewer values live at once
// then and two vectors that are lowered together have too few registers for the old order. A statement
// is made when its first reader asks for it, and at once if it is the last reader of a value. If the
// least of ten distances is sought, each is then compared as soon as it is made, and the processor
// compares while it makes the next one. Statements with effects stay in order. It would be wrong if a
// load moved behind a store to its memory. A break leaves lanes, so a block with one stays as it is.
func onDemand(n *loop.Nest, vectors int) *loop.Nest {
	if b, changed := (&ordering{values: len(n.Types), vectors: vectors, long: longBlock}).block(&n.Body); changed {
		c := *n
		c.Body = b
		return &c
	}
	return n
}

// ordering orders the statements of a block.
type ordering struct {
	values, vectors int
	long            int // from how many statements on a block is ordered
	list            []loop.Stmt
	in              [][]loop.Val // by statement: what it reads, each value once, inner blocks included
	maker           []int32      // by value: 1 + the statement that makes it; 0: it is made outside of the block
	readers         []int32      // by value: how many statements that are not made yet read it
	sum             []int32      // by value: the sum of the numbers of these
	left            []int32      // see live
	varies          []bool       // by value: it is not the same at all points
	done            []bool       // by statement
	effect          int          // the statement with effects that is made next
	order           []int
}

// block returns b, in another order if changed is true.
func (o *ordering) block(b *loop.Block) (_ loop.Block, changed bool) {
	now := *b
	for i := range b.Stmts {
		s := &b.Stmts[i]
		switch {
		case s.Code == loop.If && loop.Some(b.Stmts[i:i+1], func(s *loop.Stmt) bool { return s.Code == loop.Break }), s.Code == loop.Break:
			return *b, false
		case s.Code != loop.For:
			continue
		}
		if body, other := o.block(&s.Loop.Body); other {
			if !changed {
				now.Stmts, changed = slices.Clone(b.Stmts), true
			}
			x := *s.Loop
			x.Body = body
			now.Stmts[i].Loop = &x
		}
	}
	if len(b.Stmts) < o.long {
		return now, changed
	}
	o.begin(&now)
	before := o.live()
	if 2*before <= o.vectors {
		return now, changed
	}
	o.order = o.order[:0]
	for k := range o.list {
		if k < len(o.list)-1 && pure(&o.list[k]) {
			continue
		}
		o.effect = k
		if loop.Some(o.list[k:k+1], func(s *loop.Stmt) bool { return s.Code == loop.Store }) {
			for i := range k {
				if o.list[i].Code == loop.Load {
					o.make(i)
				}
			}
		}
		o.make(k)
	}
	for _, v := range b.Yield {
		if m := o.maker[v]; m > 0 {
			o.make(int(m - 1))
		}
	}
	if o.live() >= before {
		return now, changed
	}
	now.Stmts = make([]loop.Stmt, len(o.order))
	for i, k := range o.order {
		now.Stmts[i] = o.list[k]
	}
	return now, true
}

// begin notes which statements read and make the values of a block, in the old order.
func (o *ordering) begin(b *loop.Block) {
	o.list, o.in, o.order = b.Stmts, make([][]loop.Val, len(b.Stmts)), make([]int, len(b.Stmts))
	n := o.values
	numbers, truths := make([]int32, 5*n), make([]bool, n+len(b.Stmts))
	o.maker, o.readers, o.sum, o.left = numbers[:n], numbers[n:2*n], numbers[2*n:3*n], numbers[3*n:4*n]
	o.varies, o.done = truths[:n], truths[n:]
	seen, all := numbers[4*n:], make([]loop.Val, 0, 2*len(b.Stmts))
	for k := range o.list {
		s, first := &o.list[k], len(all)
		varies := s.Code == loop.IndexOf || s.Code == loop.Load && moves(s) || s.Code != loop.Const && !pure(s)
		loop.EachStmt(&loop.Block{Stmts: o.list[k : k+1]}, func(s *loop.Stmt) {
			s.EachRead(func(v loop.Val) {
				if seen[v] != int32(k+1) {
					seen[v] = int32(k + 1)
					all = append(all, v)
					varies = varies || o.varies[v] || o.maker[v] == 0
					o.readers[v]++
					o.sum[v] += int32(k)
				}
			})
		})
		o.in[k], o.order[k] = all[first:len(all):len(all)], k
		for i := range s.N {
			o.maker[int(s.Dst)+i], o.varies[int(s.Dst)+i] = int32(k+1), varies
		}
	}
	for _, v := range b.Yield {
		o.readers[v] += int32(len(o.list)) // they live to the end
	}
}

// make appends what statement k reads, then k, and then the statements that are the last to read a
// value.
func (o *ordering) make(k int) {
	for _, v := range o.in[k] {
		if m := o.maker[v]; m > 0 && !o.done[k] {
			o.make(int(m - 1))
		}
	}
	if o.done[k] { // before this call, or as the last reader of what it reads
		return
	}
	o.done[k] = true
	o.order = append(o.order, k)
	for _, v := range o.in[k] {
		o.readers[v]--
		o.sum[v] -= int32(k)
	}
	for _, v := range o.in[k] {
		o.last(v)
	}
	for i := range o.list[k].N {
		o.last(o.list[k].Dst + loop.Val(i))
	}
}

// last makes the last reader of v, if all else that it reads is there.
func (o *ordering) last(v loop.Val) {
	if o.readers[v] != 1 || !o.varies[v] {
		return
	}
	waits := func(v loop.Val) bool { return o.varies[v] && o.maker[v] > 0 && !o.done[o.maker[v]-1] }
	if k := int(o.sum[v]); k < o.effect && pure(&o.list[k]) && !slices.ContainsFunc(o.in[k], waits) {
		o.make(k)
	}
}

// pure reports a statement that may be made at any time when what it reads is there.
func pure(s *loop.Stmt) bool {
	switch s.Code {
	case loop.Const, loop.IndexOf, loop.Load, loop.Look:
		return true
	}
	return s.Code.IsOp()
}

// moves reports a load whose place is not the same at all points.
func moves(s *loop.Stmt) bool {
	return slices.ContainsFunc(s.At, func(f loop.Lin) bool {
		return slices.ContainsFunc(f.Terms, func(t loop.Term) bool { return t.Sym.Kind == loop.IndexSym || t.Sym.Kind == loop.ValSym })
	})
}

// live returns how many values live at once in the present order, at most. Values that are the same at
// all points do not count.
func (o *ordering) live() (most int) {
	left, now := o.left, 0
	clear(left)
	for k := range o.list {
		for _, v := range o.in[k] {
			left[v]++
		}
	}
	for _, k := range o.order {
		for i := range o.list[k].N {
			if v := o.list[k].Dst + loop.Val(i); o.varies[v] && left[v] > 0 {
				now++
			}
		}
		most = max(most, now)
		for _, v := range o.in[k] {
			if left[v]--; left[v] == 0 && o.varies[v] && o.maker[v] > 0 {
				now--
			}
		}
	}
	return most
}
