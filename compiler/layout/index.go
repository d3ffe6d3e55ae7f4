package layout

import (
	"slices"

	"flow/compiler/nodes"
	"flow/ir"
	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
)

// This file finds which rows of its operands a point of a loop over an index space reads. A subscript
// is known if it is a ramp of the loop's first index, or several ramps, each on its part of the range:
// `i + 1`, `max(i - 1, 0)`, `(i + 3) % n`, `i // 2`, `i - k` and subscripts that count from the end are
// such. A counter of an inner loop or another index may be in it, too: `i + k` reads the rows of all
// values of k. If another subscript reads an operand, all of its rows may be read.
//
// The numbers of a column that lists rows (op.Def.Numbers) are followed in the same way.

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
	if many := n.Attrs.Ints("n"); len(many) == len(by) && !n.Attrs.Bool("pairs") {
		for k := 1; k < len(by); k++ { // another index has all of its values for each value of the first
			if all := int(by[k] * (many[k] - 1)); many[k] > 0 {
				env[k].at = ramped(ramp{to: p.rows, c: int(lo[k]) + min(0, all), more: max(all, -all)})
			}
		}
	}
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
		m.whole = m.whole || r.more > 0 && r.by == 0 && r.per == 0 && x.lo == 0 && x.hi >= below && x.to-x.from == rows
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
				if r.per > 0 || r.within != everyRow || r.around > 0 {
					return nil
				}
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
