package layout

// This file lets ranks take turns at the rounds of a loop.

import (
	"slices"
	"sort"

	"flow/compiler/nodes"
	"flow/ir"
	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/plan"
	"flow/ir/types"
)

// relay is rounds from..to-1 of a loop, which one rank runs.
type relay struct{ rank, from, to int }

// mostRelays bounds how often the rounds of a loop go from rank to rank: each time is a task, an
// exchange, and for another number of rounds a region to compile.
const mostRelays = 64

// relayed makes the new nodes of rounds that read a few rows of a partial matrix, in an order that is
// known. The rank with the rows of a round runs it, and sends what the loop carries to the next rank:
//
//	%5 = rounds(%0, %1, %2) {times=80}   ->   %5 = rounds(%0, %1, %2) {times=40} on 0;  %6 = exchange(%5) {to=[1]}
//	                                          %7 = rounds(%6, %1, %2) {times=40} on 1;  %8 = exchange(%7) {to=[0]}
//
// Otherwise each rank would get the whole matrix and run all rounds. A rank gets rows that it lacks
// before its first round. It would be slow where each round needs rows of another rank. Where the
// rounds are those of a loop in a loop, ranks take turns in each round of the outer one. relayed
// returns false if it has made no nodes.
func (x *spreadGraph) relayed(id ir.ID) bool {
	n, in := &x.old.Nodes[id], x.old.In(id)
	if n.Op.Role != op.Rounds || x.inside || !x.spreader.whole || nodes.Sent(x.old, id) || x.old.Effects(id) || !slices.Contains(x.partials(id), true) {
		return false
	}
	of, times, maps, back := x.roundReads(x.old, id)
	most, saved := -1, 0.0
	for k := range maps {
		m, from := &maps[k], in[k]
		if m.whole = m.whole || len(m.at) > 0 || !x.partial[from]; m.whole {
			continue
		}
		if t := x.old.Type(from); len(m.needs) > 0 {
			if saved += x.wholeCost(t); most < 0 || t.Bytes() > x.old.Type(in[most]).Bytes() {
				most = k
			}
		}
	}
	if most < 0 {
		return false
	}
	r := n.Region
	it := &r.Graph.Nodes[of.at]
	list := x.relays(maps[most].needs, x.old.Type(in[most]).Rows, times)
	state := 0.0
	for _, f := range x.old.Results(id) {
		state += x.message(f.Type)
	}
	if turns := len(list) * of.epochs; turns == 0 || turns > mostRelays || x.from > 1 && state*float64(turns) > saved {
		return false
	}
	rounds := make([][]plan.Range, x.ranks)
	for _, l := range list {
		rounds[l.rank] = append(rounds[l.rank], plan.Range{From: l.from, To: l.to})
	}
	args := make([]ir.ID, len(in))
	for k, from := range in {
		if m := &maps[k]; !m.whole {
			args[k] = x.reach(from, rowReads{rows: rowsFor(m.needs, rounds, x.old.Type(from).Rows)})
		} else {
			args[k] = x.full(from)
		}
	}
	regions := map[[2]int]*ir.Region{} // by the number of rounds and what they begin with, because each is compiled
	part := func(of ir.ID, rank, k int) ir.ID {
		attrs := op.MakeAttrs(op.Attr{Name: "at", Val: op.Int(k)})
		return x.alone(x.typed(id, x.table.Must("part"), attrs, of), int32(rank))
	}
	if back { // the last rounds come first in list, and have the first numbers
		slices.Reverse(list)
	}
	list = slices.Repeat(list, of.epochs)
	for i, l := range list {
		if back {
			l.from, l.to = times-l.to, times-l.from
		}
		key, before := [2]int{l.to - l.from}, op.MakeAttrs(op.Attr{Name: "before", Val: op.Int(l.from)})
		if of.within != ir.None {
			key[1], before = l.from, op.MakeAttrs(op.Attr{Name: "before", Val: op.Int(i * of.epochs / len(list))}, op.Attr{Name: "inner", Val: op.Int(l.from)})
		}
		made := regions[key]
		if made == nil {
			made = x.counted(r, of, l.from, l.to-l.from)
			regions[key] = made
		}
		for k := range it.Carried() {
			if i > 0 {
				args[k] = x.sentFrom(int32(list[i-1].rank), part(x.to[id], list[i-1].rank, k), int32(l.rank))
			}
		}
		x.to[id] = x.alone(x.g.Add(n.Op, before, x.old.Type(id), x.old.Origin(id).NoDest(), args...), int32(l.rank))
		x.g.Nodes[x.to[id]].Region = made
		x.g.Note(x.to[id], whyOrdered)
	}
	last := list[len(list)-1].rank
	for range it.Carried() {
		x.states[id] = append(x.states[id], func(_, part ir.ID) ir.ID { return x.sentFrom(int32(last), x.alone(part, int32(last)), plan.Everywhere) })
	}
	return true
}

// looped is a loop in the region of rounds, or a loop that is all of the body of that one:
//
//	%4 = iterate(%w) {times=10} { %2 = iterate(%w, %0) {times=80} { .. };  yield part(%2) }
type looped struct {
	at, within ir.ID        // the loop in the region, and the one in its body; None: there is none
	epochs     int          // rounds of the outer loop
	from       []ir.ID      // the inputs of the inner loop, in the region
	stays      []bool       // by carried value of the inner loop: the outer loop carries it on
	begins     map[int]ramp // the others, which begin again in each round of the outer loop
}

// loopedOf returns the loop in region r. Of two loops, what they compute beside the rounds of the inner
// one is nothing.
func loopedOf(r *ir.Region) (l looped, it *ir.Node) {
	loops := func(n ir.Node) bool { return n.Op.Control == op.Iterate }
	l = looped{at: ir.ID(slices.IndexFunc(r.Graph.Nodes, loops)), within: ir.None, epochs: 1}
	it, l.from = &r.Graph.Nodes[l.at], r.Graph.In(l.at)
	l.stays = make([]bool, it.Carried())
	b, within := it.Region.Graph, ir.ID(slices.IndexFunc(it.Region.Graph.Nodes, loops))
	epochs, known := it.Times()
	beside := func(n ir.Node) bool { return n.Op.Role != op.Argument && n.Op.Control != op.Part && !loops(n) }
	if within < 0 || !known || epochs < 1 || epochs > mostRelays || slices.ContainsFunc(b.Nodes, beside) {
		return l, it
	}
	inner, in := &b.Nodes[within], b.In(within)
	deep := looped{at: l.at, within: within, epochs: int(epochs), stays: make([]bool, inner.Carried()), begins: map[int]ramp{}}
	for k, y := range it.Region.Yields {
		j := b.Nodes[y].Attrs.Int("at")
		if b.Nodes[y].Op.Control != op.Part || b.In(y)[0] != within || in[j] != it.Region.Args[k] {
			return l, it
		}
		deep.stays[j] = true
	}
	for j, x := range in {
		k := slices.Index(it.Region.Args, x)
		if k < 0 || k < it.Carried() && (j >= inner.Carried() || !deep.stays[j]) {
			return l, it
		}
		deep.from = append(deep.from, l.from[k])
	}
	return deep, inner
}

// counted returns region r in which the loop l makes this number of rounds from round first on, without
// its condition. The outer one of two loops makes one round.
func (x *spreadGraph) counted(r *ir.Region, l looped, first, times int) *ir.Region {
	made := &ir.Region{Graph: r.Graph.Clone(), Args: r.Args, Yields: r.Yields}
	it := &made.Graph.Nodes[l.at]
	if l.within == ir.None {
		it.Attrs = it.Attrs.With("times", op.Int(times))
		it.Region = &ir.Region{Graph: it.Region.Graph, Args: it.Region.Args, Yields: it.Region.Yields}
		return made
	}
	it.Attrs = it.Attrs.With("times", op.Int(1))
	outer := it.Region
	c := nodes.CopyOf(outer.Graph)
	for id, n := range outer.Graph.All() {
		if id != l.within {
			c.Node(id)
			continue
		}
		in := c.In(id)
		for k := range n.Carried() {
			if begin, ok := l.begins[k]; ok {
				value := op.MakeAttrs(op.Attr{Name: "value", Val: op.Int(begin.by*first + begin.c)})
				in[k] = c.G.Add(x.table.Must("const"), value, outer.Graph.Type(outer.Graph.In(id)[k]), ir.Origin{Span: n.Span})
			}
		}
		c.To[id] = c.G.CopyNode(outer.Graph, id, in...)
		inner := &c.G.Nodes[c.To[id]]
		inner.Attrs = inner.Attrs.With("times", op.Int(times))
		inner.Region = &ir.Region{Graph: n.Region.Graph, Args: n.Region.Args, Yields: n.Region.Yields}
	}
	it.Region = c.Region(outer)
	return made
}

// relays divides the rounds of a loop among ranks: a round goes to the rank with the first row of a
// matrix that it needs. rows is the number of rows of that matrix. It returns none for more than
// mostRelays turns.
func (s *spreader) relays(needs []need, rows, rounds int) (list []relay) {
	windows := s.windows(rows)
	for at := 0; at < rounds; {
		rank, end := 0, rounds
		if k := slices.IndexFunc(needs, func(n need) bool { return n.from <= at && at < n.to }); k >= 0 {
			n := needs[k]
			row := func(i int) int { return min(max(0, n.by*i+n.lo)/max(1, n.per), rows-1) }
			rank = slices.IndexFunc(windows, func(w []plan.Range) bool { return len(w) > 0 && row(at) < w[0].To })
			end = at + sort.Search(min(n.to, rounds)-at, func(i int) bool { return row(at+i) >= windows[rank][0].To })
		} else {
			for _, n := range needs {
				if n.from > at {
					end = min(end, n.from)
				}
			}
		}
		if k := len(list) - 1; k >= 0 && list[k].rank == rank {
			list[k].to = end
		} else {
			list = append(list, relay{rank, at, end})
		}
		if at = end; len(list) > mostRelays {
			return nil
		}
	}
	return list
}

// roundReads returns the loop in the region of node id, the number of its rounds, and for each
// operand of the node the rows that a round reads, by the number of the round. back
// reports that a counter descends. Rounds are then counted from the last one. maps is nil if the number
// of rounds is not known.
func (s *spreader) roundReads(g *ir.Graph, id ir.ID) (l looped, times int, maps []rowMap, back bool) {
	in, r := g.In(id), g.Nodes[id].Region
	l, it := loopedOf(r)
	from, body, p := l.from, it.Region, &pointReads{rows: farRow, in: in, of: make([]rowMap, len(in))}
	number := func(g *ir.Graph, x ir.ID) []ramp {
		if list := s.numbersOf(g, x, farRow); len(list) == 1 && list[0].of == 0 && g.Type(x).IsScalar() {
			return list
		}
		return nil
	}
	begin := func(k int) []ramp {
		if l.within != ir.None {
			return number(r.Graph, l.from[k])
		}
		return number(g, in[k])
	}
	p.moved = func(a int, g *ir.Graph, id ir.ID, k int, of []traced) {
		p.movedRows(a, s.mapsOf(g, id, g.Type(id).Rows)[k], of)
	}
	env, of := make([]traced, len(from)), make([]traced, body.Graph.Len())
	for k := it.Carried(); k < len(from); k++ {
		env[k] = traced{operand: 1 + slices.Index(r.Args, from[k]), at: number(r.Graph, from[k])}
		of[body.Args[k]].at = env[k].at
		s.capture(body.Graph, body.Args[k], r.Graph, from[k], false)
	}
	for k, y := range body.Yields { // a counter has the same step in all rounds
		first, d, old := begin(k), body.Graph.Nodes[y].Op, &of[body.Args[k]]
		if l.stays[k] || len(first) == 0 || d.Body == nil || body.Graph.Nodes[y].Region != nil {
			continue
		}
		old.at = ramped(ramp{to: farRow, of: 1, times: 1})
		next := p.computed(d, body.Graph, body.Graph.In(y), of)
		if old.at = nil; len(next) == 1 && next[0] == (ramp{to: farRow, c: next[0].c, of: 1, times: 1}) && next[0].c != 0 {
			env[k].at = []ramp{{to: farRow, by: next[0].c, c: first[0].c}}
			back = back || next[0].c < 0
		}
	}
	if n, known := it.Times(); known {
		times = int(min(n, farRow))
	} else {
		times = untilOf(body.Next, env)
	}
	if times < 1 {
		return l, 0, nil, back
	}
	for k := range env {
		if len(env[k].at) > 0 {
			r := env[k].at[0]
			if r.to = times; back {
				r.by, r.c = -r.by, r.c+r.by*(times-1)
			}
			env[k].at = ramped(r)
		}
	}
	for k := range it.Carried() {
		switch {
		case l.within == ir.None || l.stays[k]:
		case len(env[k].at) == 0 || back:
			return l, 0, nil, back
		default:
			l.begins[k] = env[k].at[0]
		}
	}
	p.rows = times
	for k, x := range in {
		p.reads = append(p.reads, max(1, g.Type(x).Rows))
		p.of[k].whole = k < r.Graph.Nodes[l.at].Carried() || !nodes.Dividable(g.Type(x))
	}
	p.region(body, env)
	return l, times, p.of, back
}

// movedRows notes the rows of operand a that an operator reads for all rows of its result. m has them;
// of has the numbers by which the run moves them.
func (p *pointReads) movedRows(a int, m rowMap, of []traced) {
	to, below := &p.of[a], p.reads[a]
	to.whole = to.whole || m.whole
	for _, n := range m.needs {
		for _, r := range rowsFor([]need{n}, [][]plan.Range{{{To: farRow}}}, below)[0] {
			to.needs = append(to.needs, need{to: p.rows, lo: r.From, hi: r.To})
		}
	}
	for _, r := range m.at {
		size := r.rows + r.by*max(0, r.to-1-r.from)
		at := eachRamp(of[r.s].at, func(x ramp) []ramp {
			x.by, x.c = x.by*r.times, x.c*r.times+r.plus+r.by*r.from
			if x.of+x.per > 0 || r.within != everyRow || x.by*x.from+x.c < 0 || x.by*(x.to-1)+x.c+x.more+size > below { // rows beyond an end are others
				return nil
			}
			return ramped(x)
		})
		to.add(at, size, p.rows, below, nil)
	}
}

// untilOf returns the number of rounds of a loop that ends when a counter reaches or passes a number.
// It returns 0 for other loops. r is the condition, and env has the ramps of its arguments.
func untilOf(r *ir.Region, env []traced) int {
	g, y := r.Graph, r.Yields[0]
	in, d := g.In(y), g.Nodes[y].Op
	if d.Body == nil || g.Nodes[y].Region != nil || len(in) != 2 {
		return 0
	}
	b := loop.New()
	args := []loop.Val{b.Const(types.I64, 0), b.Const(types.I64, 0)}
	d.Body(b, types.Bool, args)
	last := &b.Nest.Body.Stmts[len(b.Nest.Body.Stmts)-1]
	by, off := 0, 0 // the first operand without the second one is by*i + off in round i
	for k, sign := range []int{1, -1} {
		if k >= len(last.Args) {
			return 0
		}
		x := slices.Index(args, last.Args[k])
		if x = slices.Index(r.Args, in[max(0, x)]); x < 0 || len(env[x].at) == 0 {
			return 0
		}
		by, off = by+sign*env[x].at[0].by, off+sign*env[x].at[0].c
	}
	switch {
	case last.Code == loop.Eq && by < 0:
		by, off = -by, -off
	case last.Code == loop.Lt:
		by, off = -by, -off-1
	case last.Code == loop.Le:
		by, off = -by, -off
	case last.Code != loop.Eq:
		return 0
	}
	if by <= 0 || last.Code == loop.Eq && (off%by != 0 || off > 0) {
		return 0
	}
	return max(0, (by-1-off)/by)
}

// anyRank reports whether any rank can make any row of a node whose rows ranks share. All ranks have
// what the node reads, except the inputs in carry. Row i needs only row i of these, which can be sent
// with iteration i.
func (x *spreadGraph) anyRank(id ir.ID, reads []rowReads) (carry []int64, ok bool) {
	n, rows := &x.old.Nodes[id], x.rows(x.old, id)
	if n.Op.Role != op.Points {
		return nil, false
	}
	maps := x.mapsOf(x.old, id, rows)
	for k, from := range x.old.In(id) {
		if t := x.old.Type(from); !x.partial[from] || reads[k].whole {
			continue
		} else if !t.IsDense() || t.Rows != rows || len(maps[k].at) > 0 || maps[k].by > 0 || !slices.Equal(maps[k].needs, []need{sameRow(rows)}) {
			return nil, false
		}
		carry = append(carry, int64(k))
	}
	return carry, true
}

// moves adds the rows that each rank needs to attrs, counted from the number of the run. Without
// a.space all ranks need the same rows, and attrs stays.
func (s *spreader) moves(a rowsAt, attrs *op.Attrs) *op.Attrs {
	if a.space == 0 {
		return attrs
	}
	need := make([][]plan.Range, s.ranks)
	for rank, own := range s.windows(a.space) {
		for _, r := range own {
			if lo, hi := max(r.From, a.from), min(r.To, a.to); lo < hi {
				need[rank] = []plan.Range{{From: a.by * lo, To: a.by*(hi-1) + a.rows}}
			}
		}
	}
	if attrs = attrs.With(plan.Reach, plan.ReachOf(need)); a.within != everyRow {
		attrs = attrs.With(plan.Within, op.Ints(a.within.From, a.within.To))
	}
	return attrs
}

// turn adds the node that rank r alone runs, with operands in. From rank 1 on it also reads
// before[r-1], the gathered result of the rank before it. turn returns the gather of its result, which
// goes to the next rank. The last rank sends its result to all.
func (x *spreadGraph) turn(id ir.ID, d *op.Def, attrs *op.Attrs, r int, in, before []ir.ID) ir.ID {
	if r > 0 {
		in = append(in, before[r-1])
	}
	made := x.typed(id, d, attrs.With(plan.Turn, op.Int(1+r)), in...)
	rows := x.g.Type(made).Rows / x.ranks
	to := x.fixedRows(r*rows, (r+1)*rows).rows
	if r < x.ranks-1 {
		clear(to[:r+1])
		clear(to[r+2:])
	}
	return x.gatherOf(id, inUnits(op.MakeAttrs(op.Attr{Name: plan.Reach, Val: plan.ReachOf(to)}), op.Int(rows)), made)
}
