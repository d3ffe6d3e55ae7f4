package layout

import (
	"slices"

	"flow/compiler/nodes"
	"flow/ir"
	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/plan"
	"flow/ir/types"
)

// This file finds which rows of its operands a point of a loop over an index space reads. A subscript
// is known if it is a ramp of the loop's first index, or several ramps, each on its part of the range:
// `i + 1`, `max(i - 1, 0)`, `(i + 3) % n`, `i // 2`, `i - k` and subscripts that count from the end are
// such. A counter of an inner loop may be in it, too: `i + k` reads the rows of all rounds. If another
// subscript reads an operand, all of its rows may be read.
//
// The numbers of a column that lists rows (op.Def.Numbers) are followed in the same way.

// ramp is the values by*i + c + times*s for i in from..to-1. by is not negative. s is an integer that
// only the run knows, the same for all i: number of - 1 of the loop's operands or of the graph's nodes.
// of is 0 if there is no s. If per is above 1, the values are divided by it and rounded down.
//
// A counter of a loop in the body has other values in other rounds. If more is above 0, a value may be
// greater by up to more. Such ramps have no s and no per.
//
// Values with an s may change once more. If within is not everyRow, those outside become its nearest
// value. If around is above 0, they become their remainders by it, which are not negative.
type ramp struct {
	from, to, by, c, of, times int
	per, around, more          int
	within                     plan.Range
}

// everyRow is the value of ramp.within without bounds.
var everyRow plan.Range

// mostRamps bounds the parts of a subscript.
const mostRamps = 16

// farRow is beyond the rows of every matrix. Ramps that go further are not followed, so no subscript
// that is followed overflows.
const farRow = 1 << 40

// pointReads follows the subscripts in the body of a loop.
type pointReads struct {
	// moved notes what an operator on rows reads of an operand (nil: all of it).
	moved func(operand int, g *ir.Graph, id ir.ID, k int, of []traced)
	rows  int      // the number of values of the first index
	reads []int    // by operand: its number of rows
	of    []rowMap // by operand
	in    []ir.ID  // the operands
}

// traced is what is known of a value in a body: the operand that it is, as 1 + its number, or the
// ramps of a number. The zero value: nothing is known.
type traced struct {
	operand int
	at      []ramp
}

// readsOfPoints returns which rows a loop over an index space reads of each of its operands.
func readsOfPoints(g *ir.Graph, id ir.ID) []rowMap {
	n, in := &g.Nodes[id], g.In(id)
	by, lo := n.Attrs.Ints("by"), n.Attrs.Ints("lo")
	p := &pointReads{rows: g.Type(id).Rows, of: make([]rowMap, len(in)), in: in}
	env := make([]traced, len(n.Region.Args))
	for k, x := range in {
		t := g.Type(x)
		p.reads, p.of[k].whole = append(p.reads, t.Rows), !nodes.Dividable(t)
		env[len(by)+k] = traced{operand: 1 + k}
		if t == types.ScalarOf(types.I64) {
			env[len(by)+k].at = ramped(ramp{to: p.rows, of: 1 + k, times: 1})
		}
	}
	if len(lo) == 0 {
		for k := range p.of {
			p.of[k].whole = true
		}
		return p.of
	}
	env[0].at = ramped(ramp{to: p.rows, by: int(by[0]), c: int(lo[0])})
	if p.region(n.Region, env); n.Attrs.Bool("pairs") && !slices.Contains(p.of[0].needs, sameRow(p.rows)) { // a failure names its indices
		p.of[0].needs = append(p.of[0].needs, sameRow(p.rows))
	}
	return p.of
}

// region follows a region with these arguments. All of an operand that it yields may be read.
func (p *pointReads) region(r *ir.Region, args []traced) {
	g := r.Graph
	of := make([]traced, g.Len())
	for k, a := range r.Args {
		of[a] = args[k]
	}
	for i := range g.Nodes {
		id, n, in := ir.ID(i), &g.Nodes[i], g.In(ir.ID(i))
		switch {
		case n.Op.Role == op.Argument:
			continue
		case n.Op.Role == op.Constant:
			if v, _ := n.Attrs.Get("value"); v.Kind == op.IntVal {
				of[i].at = ramped(ramp{to: p.rows, c: int(v.I)})
			}
			continue
		case nodes.IsControl(n) && n.Op.Control != op.Part:
			p.control(n, in, of)
			continue
		}
		if t := g.Type(id); t == types.ScalarOf(types.I64) && n.Region == nil && n.Op.Body != nil && n.Op.Laws.Has(op.Elementwise) {
			of[i].at = p.computed(n.Op, g, in, of)
		}
		for k, x := range in {
			if a := of[x].operand; a > 0 {
				p.read(a-1, g, id, k, of)
			}
		}
	}
	for _, y := range r.Yields {
		p.escapes(of[y])
	}
}

// control follows the regions of a loop or branch in the body.
func (p *pointReads) control(n *ir.Node, in []ir.ID, of []traced) {
	args := make([]traced, 0, len(in))
	for k, x := range in[n.FirstArg():] {
		if n.Op.Control == op.Iterate && k < n.Carried() {
			p.escapes(of[x])
			args = append(args, traced{at: p.counter(n, k, of[x].at)}) // another value in each round
			continue
		}
		args = append(args, of[x])
	}
	if n.FirstArg() > 0 {
		p.escapes(of[in[0]])
	}
	for r := n.Region; r != nil; r = r.Next {
		p.region(r, args)
	}
}

// counter returns the values that carried value k of a loop has in all rounds. They are known if the
// number of rounds is, and if a round adds a constant to the value. first is what it begins with.
func (p *pointReads) counter(n *ir.Node, k int, first []ramp) []ramp {
	times, counted := n.Attrs.Get("times")
	g, own := n.Region.Graph, n.Region.Args[k]
	next := &g.Nodes[n.Region.Yields[k]]
	in := g.In(n.Region.Yields[k])
	if !counted || times.I < 1 || times.I > 1<<20 || len(in) != 2 || next.Op.Body == nil || next.Region != nil || g.Type(own) != types.ScalarOf(types.I64) {
		return nil
	}
	b := loop.New()
	x, y := b.Const(types.I64, 0), b.Const(types.I64, 0)
	given := len(b.Nest.Body.Stmts)
	next.Op.Body(b, types.I64, []loop.Val{x, y})
	list := b.Nest.Body.Stmts[given:]
	if len(list) != 1 || list[0].Code != loop.Add && (list[0].Code != loop.Sub || in[0] != own) {
		return nil
	}
	by := in[1]
	if in[0] != own {
		by = in[0]
	}
	v, known := g.Nodes[by].Attrs.Get("value")
	if in[0] != own && in[1] != own || g.Nodes[by].Op.Role != op.Constant || !known || v.Kind != op.IntVal || v.I > 1<<20 || v.I < -1<<20 {
		return nil
	}
	change := int(v.I) * (int(times.I) - 1)
	if list[0].Code == loop.Sub {
		change = -change
	}
	return eachRamp(first, func(r ramp) []ramp {
		if r.of > 0 || r.per > 0 {
			return nil
		}
		r.c, r.more = r.c+min(0, change), r.more+max(change, -change)
		return ramped(r)
	})
}

// escapes notes that all rows of a value may be read, if it is an operand.
func (p *pointReads) escapes(x traced) {
	if x.operand > 0 {
		p.of[x.operand-1].whole = true
	}
}

// read notes what node id of g reads of operand a, its input k.
func (p *pointReads) read(a int, g *ir.Graph, id ir.ID, k int, of []traced) {
	n, in := &g.Nodes[id], g.In(id)
	size, at, m := 1, []ramp(nil), &p.of[a]
	if n.Op.Role == op.Windows {
		size = int(n.Attrs.Ints("size")[0])
	}
	switch {
	case p.moved != nil && (n.Op.Role == op.Points || n.Op.Numbers > 0 && k == 0) && nodes.Dividable(g.Type(id)):
		p.moved(a, g, id, k, of)
		return
	case k != 0:
	case n.Op.Role == op.Picks || n.Op.Role == op.Windows:
		at = of[in[1]].at
	case n.Op.Role == op.PicksAt || n.Op.Role == op.Slices:
		v := n.Attrs.Ints("at")
		if len(v) == 4 {
			size = int(v[2])
		}
		at = ramped(ramp{to: p.rows, c: int(v[0])})
	}
	m.add(at, size, p.rows, p.reads[a], func(of int) ir.ID { return p.in[of-1] })
}

// add adds the rows that subscripts with these ramps read of an operand with `below` rows. Each value
// is the first of size rows. rows is the number of values of the index, and node returns the node that
// ramp.of names. Without ramps all rows may be read.
func (m *rowMap) add(at []ramp, size, rows, below int, node func(of int) ir.ID) {
	m.whole = m.whole || len(at) == 0
	for _, r := range at {
		if r.of == 0 {
			continue
		}
		a := rowsAt{s: node(r.of), times: r.times, plus: r.c, rows: size}
		if r.by > 0 || r.within != everyRow || r.around > 0 {
			a.from, a.to, a.by, a.space, a.within = r.from, r.to, r.by, rows, r.within
		}
		m.whole = m.whole || r.around > 0 && r.around != below
		m.at = rowReads{at: m.at}.and(rowReads{at: []rowsAt{a}}).at
	}
	at = slices.DeleteFunc(slices.Clone(at), func(r ramp) bool { return r.of > 0 })
	if len(at) == 0 {
		return
	}
	at = fromEnd(at, below)
	m.whole = m.whole || len(at) == 0
	for _, r := range at {
		x := need{from: r.from, to: r.to, by: r.by, lo: r.c, hi: r.c + r.more + max(1, r.per)*(size-1) + 1, per: r.per}
		if !slices.Contains(m.needs, x) {
			m.needs = append(m.needs, x)
		}
	}
}

// capture notes the ramps of argument a of region g. Its value is node id of the graph around. run says
// that ramps with an s count, too; their s is a node of around.
func (s *spreader) capture(g *ir.Graph, a ir.ID, around *ir.Graph, id ir.ID, run bool) {
	at := slices.Clone(s.numbersOf(around, id, around.Type(id).Rows))
	if len(at) == 0 || !run && slices.ContainsFunc(at, func(r ramp) bool { return r.of > 0 }) {
		return
	}
	if s.known == nil {
		s.known = map[edge][]ramp{}
	}
	if around.Type(id).IsScalar() {
		at[0].to = farRow
	}
	s.known[edge{g, a}] = at
}

// knownArgs returns the ramps of the arguments of region g, from the node that body adds to it during a
// pass (knownIn).
func knownArgs(g *ir.Graph) map[edge][]ramp {
	if last := g.Len() - 1; last >= 0 && g.Nodes[last].Op == nodes.Closing {
		known := map[edge][]ramp{}
		for v := g.Nodes[last].Attrs.Ints("known"); len(v) > 0; v = v[3:] {
			a, rows := g.In(ir.ID(last))[v[0]], farRow
			if t := g.Type(a); t.IsMatrix() {
				rows = t.Rows
			}
			if at := ramped(ramp{to: rows, by: int(v[2]), c: int(v[1])}); at != nil {
				known[edge{g, a}] = at
			}
		}
		return known
	}
	return nil
}

// Ramps returns a function for region g and the graphs in it. The function reports whether node id, an
// integer or a column of integers with that many rows, has values that are known ramps.
func Ramps(g *ir.Graph) func(g *ir.Graph, id ir.ID, rows int) bool {
	s := &spreader{known: knownArgs(g)}
	return func(g *ir.Graph, id ir.ID, rows int) bool { return len(s.numbersOf(g, id, rows)) > 0 }
}

// rampOf returns the ramp of a constructor of so many rows; none if its values are no ramp.
func rampOf(n *ir.Node, rows int) []ramp {
	if first, down, ok := n.Op.Ramp(n.Attrs); ok {
		return ramped(ramp{to: rows, by: int(down), c: int(first)})
	}
	return nil
}

// numbersOf returns the ramps of the elements of an integer column of so many rows, or of an integer;
// none if they are not known. The number of a ramp with an s is 1 + the node of the integer.
func (s *spreader) numbersOf(g *ir.Graph, id ir.ID, rows int) []ramp {
	n, t, in := &g.Nodes[id], g.Type(id), g.In(id)
	if at, ok := s.known[edge{g, id}]; ok && (t.IsScalar() || t.Rows == rows) {
		return at
	}
	switch {
	case n.Op.Role == op.Constant:
		if v, _ := n.Attrs.Get("value"); v.Kind == op.IntVal {
			return ramped(ramp{to: rows, c: int(v.I)})
		}
	case t == types.ScalarOf(types.I64):
		return ramped(ramp{to: rows, of: 1 + int(id), times: 1})
	case !nodes.Dividable(t) || t.Elem != types.I64 || t.Cols != 1 || t.Rows != rows:
	case n.Op.Ramp != nil:
		return rampOf(n, rows)
	case nodes.Elementwise(n) && n.Region != nil && n.Op.Role != op.Reduces:
		b, p := n.Region.Graph, &pointReads{rows: rows}
		of := make([]traced, b.Len())
		for k, a := range n.Region.Args {
			if m := op.Mode(n.Attrs.Ints("modes")[k]); m != op.Trans {
				of[a].at = s.numbersOf(g, in[k], rows)
			}
		}
		for i := range b.Nodes {
			switch x := ir.ID(i); {
			case b.Nodes[i].Op.Role == op.Argument:
			case b.Nodes[i].Op.Role == op.Constant:
				of[i].at = s.numbersOf(b, x, rows)
			case b.Nodes[i].Op.Ramp != nil && b.Nodes[i].Attrs.Int("m") <= 1:
				of[i].at = rampOf(&b.Nodes[i], rows)
			case b.Nodes[i].Op.Body != nil && b.Nodes[i].Region == nil:
				of[i].at = p.computed(b.Nodes[i].Op, b, b.In(x), of)
			}
		}
		return of[n.Region.Yields[0]].at
	case nodes.ElementwiseOperator(n) && n.Op.Body != nil && n.Region == nil:
		of := make([]traced, g.Len())
		for _, x := range in {
			of[x].at = s.numbersOf(g, x, rows)
		}
		return (&pointReads{rows: rows}).computed(n.Op, g, in, of)
	}
	return nil
}

// ramped returns a list of one ramp, or an empty one if it descends or goes beyond farRow.
func ramped(r ramp) []ramp {
	if r.by < 0 || r.by > farRow/max(1, r.to) || r.c < -farRow || r.c > farRow || r.per > 1 && r.c < 0 {
		return nil
	}
	return []ramp{r}
}

// fromEnd adds n to subscripts below 0, which count from the end of an axis of length n.
func fromEnd(at []ramp, n int) []ramp {
	return eachRamp(at, func(r ramp) []ramp {
		below, rest := r.below(0)
		if below.from < below.to {
			if r.more > 0 { // some may count from the end
				return nil
			}
			below.c += n
			if rest.from < rest.to {
				return []ramp{below, rest}
			}
			return []ramp{below}
		}
		return []ramp{rest}
	})
}

// below cuts a ramp into the values below x and the rest.
func (r ramp) below(x int) (low, rest ramp) {
	low, rest = r, r
	at := r.from
	switch {
	case r.by == 0 && r.c < x:
		at = r.to
	case r.by > 0: // the first i with by*i + c >= x
		at = min(max((x-r.c+r.by-1)/r.by, r.from), r.to) // no range begins below 0, so rounding towards 0 is fine
	}
	low.to, rest.from = at, at
	return low, rest
}

// eachRamp replaces every ramp of a list by those that f returns. The result is empty if f returns none
// for one of them, or if it has more than mostRamps.
func eachRamp(at []ramp, f func(r ramp) []ramp) (out []ramp) {
	for _, r := range at {
		x := f(r)
		if out = append(out, x...); len(x) == 0 || len(out) > mostRamps {
			return nil
		}
	}
	return out
}

// computed returns the ramps of an elementwise operator on ramps, by the statements of its loop form.
func (p *pointReads) computed(d *op.Def, g *ir.Graph, in []ir.ID, of []traced) []ramp {
	b := loop.New()
	var args []loop.Val
	vals := map[loop.Val][]ramp{}
	for _, x := range in {
		if len(of[x].at) == 0 || g.Type(x).Elem != types.I64 {
			return nil
		}
		v := b.Const(types.I64, 0)
		args, vals[v] = append(args, v), of[x].at
	}
	given := len(b.Nest.Body.Stmts)
	result := d.Body(b, types.I64, args)
	for k := range b.Nest.Body.Stmts[given:] {
		s := &b.Nest.Body.Stmts[given+k]
		var x []ramp
		switch {
		case s.Code == loop.Const:
			x = ramped(ramp{to: p.rows, c: int(int64(s.Imm))})
		case len(s.Args) == 1 && s.Code == loop.Neg:
			x = eachRamp(vals[s.Args[0]], func(r ramp) []ramp {
				return ramped(ramp{from: r.from, to: r.to, by: -r.by, c: -r.c - r.more, more: r.more, of: r.of, times: -r.times})
			})
		case len(s.Args) == 2:
			x = paired(s.Code, vals[s.Args[0]], vals[s.Args[1]])
		}
		if len(x) == 0 {
			return nil
		}
		vals[s.Dst] = x
	}
	return vals[result]
}

// paired applies an operation to two numbers, range by range.
func paired(code loop.Code, a, b []ramp) (out []ramp) {
	for at := 0; len(a) > 0 && len(b) > 0; {
		x, y := a[0], b[0]
		end := min(x.to, y.to)
		x.from, y.from, x.to, y.to = at, at, end, end
		z := applied(code, x, y)
		if out = append(out, z...); len(z) == 0 || len(out) > mostRamps {
			return nil
		}
		if at = end; a[0].to == end {
			a = a[1:]
		}
		if b[0].to == end {
			b = b[1:]
		}
	}
	return out
}

// applied applies an operation to two ramps on the same range.
func applied(code loop.Code, x, y ramp) []ramp {
	of := max(x.of, y.of)
	if code == loop.Max && x.of == 0 && of > 0 || code == loop.Min && x.of == 0 && of > 0 {
		x, y = y, x
	}
	switch bound := y.of+y.by == 0; {
	case x.per+y.per > 0 || x.around+y.around > 0: // nothing follows
		return nil
	case x.more+y.more > 0:
		return x.uncertain(code, y)
	case of > 0 && bound && (code == loop.Max || code == loop.Min):
		return x.bounded(code == loop.Max, y.c)
	case x.within != everyRow || y.within != everyRow:
		return nil
	case of > 0 && bound && code == loop.Mod && y.c > 0:
		x.around = y.c
		return []ramp{x}
	}
	if of > 0 && (x.of+y.of != of && (x.of != y.of || code == loop.Mul) || code != loop.Add && code != loop.Sub && code != loop.Mul) {
		return nil
	}
	switch code {
	case loop.Add:
		return ramped(ramp{from: x.from, to: x.to, by: x.by + y.by, c: x.c + y.c, of: of, times: x.times + y.times})
	case loop.Sub:
		return ramped(ramp{from: x.from, to: x.to, by: x.by - y.by, c: x.c - y.c, of: of, times: x.times - y.times})
	case loop.Mul:
		if x.by > 0 && y.by+y.of > 0 || y.by > 0 && x.of > 0 || max(x.by, x.c, -x.c) > 1<<20 || max(y.by, y.c, -y.c) > 1<<20 {
			return nil
		}
		return ramped(ramp{from: x.from, to: x.to, by: x.by*y.c + y.by*x.c, c: x.c * y.c, of: of, times: x.times*y.c + y.times*x.c})
	case loop.IDiv:
		if of > 0 || y.by != 0 || y.c < 1 || y.c > 1<<20 || x.by < 1 {
			return nil
		}
		x.per = y.c
		return ramped(x)
	case loop.Min, loop.Max:
		if x.by == 0 {
			x, y = y, x
		}
		if y.by != 0 {
			return nil
		}
		low, high := x.below(y.c)
		if code == loop.Min {
			high.by, high.c = 0, y.c
		} else {
			low.by, low.c = 0, y.c
		}
		return filledRamps(low, high)
	case loop.Mod:
		if y.by != 0 || y.c <= 0 {
			return nil
		}
		return x.modulo(y.c)
	}
	return nil
}

// uncertain is applied if one of the ramps has several values for an index.
func (r ramp) uncertain(code loop.Code, y ramp) []ramp {
	switch {
	case r.of+y.of > 0 || r.within != everyRow || y.within != everyRow:
	case code == loop.Add:
		return ramped(ramp{from: r.from, to: r.to, by: r.by + y.by, c: r.c + y.c, more: r.more + y.more})
	case code == loop.Sub:
		return ramped(ramp{from: r.from, to: r.to, by: r.by - y.by, c: r.c - y.c - y.more, more: r.more + y.more})
	case y.by+y.more != 0 || y.c < 1 || y.c > 1<<20: // what follows has a constant
	case code == loop.Mul && max(r.by, r.more) < 1<<20:
		return ramped(ramp{from: r.from, to: r.to, by: r.by * y.c, c: r.c * y.c, more: r.more * y.c})
	case code == loop.IDiv && r.by == 0:
		least := int(loop.FloorDiv(int64(r.c), int64(y.c)))
		return ramped(ramp{from: r.from, to: r.to, c: least, more: int(loop.FloorDiv(int64(r.c+r.more), int64(y.c))) - least})
	case code == loop.Mod && r.by == 0:
		return ramped(ramp{from: r.from, to: r.to, more: y.c - 1})
	}
	return nil
}

// bounded returns the ramp whose values are max(r, c) if least is set, else min(r, c). r has an s.
func (r ramp) bounded(least bool, c int) []ramp {
	if r.within == everyRow {
		r.within = plan.Range{From: -farRow, To: farRow}
	}
	if least {
		r.within.From = max(r.within.From, c)
	} else {
		r.within.To = min(r.within.To, c+1)
	}
	if r.within.From >= r.within.To {
		return nil
	}
	return []ramp{r}
}

// filledRamps returns those of two ramps whose ranges are not empty.
func filledRamps(a, b ramp) (out []ramp) {
	for _, r := range []ramp{a, b} {
		if r.from < r.to {
			out = append(out, r)
		}
	}
	return out
}

// modulo returns the remainder of each value by n. It is never negative.
func (r ramp) modulo(n int) (out []ramp) {
	for r.from < r.to {
		period := int(loop.FloorDiv(int64(r.by*r.from+r.c), int64(n)))
		part, rest := r.below((period + 1) * n)
		part.c -= period * n
		if out = append(out, part); len(out) > mostRamps {
			return nil
		}
		r = rest
	}
	return out
}
