package lower

import (
	"slices"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
	"flow/lang/source"
)

// This file elaborates regions: bodies of loops, and branches that only the run chooses. A region
// is a graph of its own that reads outer values through arguments: an outer name becomes one when
// it is first read.

// region is a region during elaboration, and later its captures.
type region struct {
	g     *ir.Graph
	level int32
	up    *region // the enclosing region; nil: the program
	above *ir.Graph
	arg   map[ir.ID]ir.ID // edges of the graph above -> arguments
	caps  []ir.ID         // the captured edges, in order of their arguments
	own   []ir.ID         // arguments that are no captures: the carried values
	grids map[*grid]*grid

	effect map[string]written
	assert ir.ID
	loop   uint32
	nest   int
	nests  map[nestKey]int
}

// level returns how many regions enclose the current graph.
func (l *lowerer) level() int32 {
	if l.region == nil {
		return 0
	}
	return l.region.level
}

// newRegion returns an empty region of the current graph. Its nodes get the loop indices of the
// future node.
func (l *lowerer) newRegion() *region {
	r := &region{g: ir.New(), level: l.level() + 1, up: l.region, above: l.g, arg: map[ir.ID]ir.ID{}, grids: map[*grid]*grid{},
		effect: map[string]written{}, assert: ir.None, nest: -1, nests: map[nestKey]int{}}
	r.g.ShareTexts(l.g)
	if l.nest >= 0 {
		r.g.Scopes = append(r.g.Scopes, l.g.Scopes[l.nest])
		r.nest, r.loop = 0, r.g.Loop(0, l.loopAt)
	}
	return r
}

// within runs f to elaborate in r, in a scope of its own.
func (l *lowerer) within(r *region, f func()) {
	g, in, nests, nest, loop, call, effect, assert, sc := l.g, l.region, l.nests, l.nest, l.loop, l.call, l.effect, l.assert, l.scope
	l.g, l.region, l.nests, l.nest, l.loop, l.call, l.effect, l.assert = r.g, r, r.nests, r.nest, r.loop, 0, r.effect, r.assert
	l.scope = &scope{parent: sc}
	f()
	r.effect, r.assert = l.effect, l.assert
	l.g, l.region, l.nests, l.nest, l.loop, l.call, l.effect, l.assert, l.scope = g, in, nests, nest, loop, call, effect, assert, sc
}

// carry adds an argument that is no capture to r.
func (l *lowerer) carry(r *region, t types.Type) ir.ID {
	a := r.g.Add(l.table.Must("arg"), nil, t, ir.Origin{})
	r.own = append(r.own, a)
	return a
}

// here returns v, the value of a name, as a value of the current graph, which captures outer values.
// If the statement that defines the name has failed, v is poison. The failure has been reported, so
// the statement that reads the name ends without a report of its own.
func (l *lowerer) here(v val) val {
	if v.kind == poison {
		panic(bail{})
	}
	if l.region == nil {
		return v
	}
	switch v.kind {
	case edge:
		if v.level < l.region.level {
			v.id, v.level = l.capture(l.region, v.id, v.level), l.region.level
		}
	case array:
		if g := l.seen(l.region, v.grid); g != v.grid {
			return arrayVal(g)
		}
	case tuple, list:
		return v.each(func(_ int, x val) val { return l.here(x) })
	}
	return v
}

// capture returns the argument of r for an edge of the outer graph at that level.
func (l *lowerer) capture(r *region, id ir.ID, level int32) ir.ID {
	if level < r.level-1 {
		id = l.capture(r.up, id, level)
	}
	a, ok := r.arg[id]
	if !ok {
		a = r.g.Add(l.table.Must("arg"), nil, r.above.Type(id), ir.Origin{})
		r.arg[id] = a
		r.caps = append(r.caps, id)
		l.sends++ // r holds the ID: no statement may move it
	}
	return a
}

// seen returns a channel array as a region sees it: its latest tokens, read-only.
func (l *lowerer) seen(r *region, g *grid) *grid {
	if g.level == r.level {
		return g
	}
	if x := r.grids[g]; x != nil {
		return x
	}
	from := g
	if g.level < r.level-1 {
		from = l.seen(r.up, g)
	}
	x := *from
	x.level, x.outer = r.level, true
	x.cur = make([]ir.ID, len(from.cur))
	for i, id := range from.cur {
		if x.cur[i] = id; id != ir.None {
			x.cur[i] = l.capture(r, id, r.level-1)
		}
	}
	r.grids[g] = &x
	return &x
}

// close makes a node of regions, which read the inputs in and their captures, and returns its
// parts, one for each of ts. Effects inside have happened when the node is done.
func (l *lowerer) close(d *op.Def, attrs *op.Attrs, at source.Span, in []ir.ID, ts []types.Type, yields [][]ir.ID, rs ...*region) []ir.ID {
	effects, sinks := l.effects(rs)
	if effects {
		ts = append(ts, types.EffectType())
	}
	var caps []ir.ID
	known := map[ir.ID]bool{}
	for _, r := range rs {
		for _, id := range r.caps {
			if !known[id] {
				known[id] = true
				caps = append(caps, id)
			}
		}
	}
	in = append(in, caps...)
	var first *ir.Region
	next := &first
	for k, r := range rs {
		b := &ir.Region{Graph: r.g, Args: r.own, Yields: yields[k]}
		for _, id := range caps {
			a, ok := r.arg[id]
			if !ok {
				a = r.g.Add(l.table.Must("arg"), nil, l.g.Type(id), ir.Origin{})
			}
			b.Args = append(b.Args, a)
		}
		*next = b
		next = &(*next).Next
	}
	node := l.g.Add(d, attrs, types.TupleOf(ts...), l.origin(at), in...)
	l.g.Nodes[node].Region = first
	parts := make([]ir.ID, len(ts))
	part := l.table.Must("part")
	for i := range ts {
		parts[i] = l.add(part, op.MakeAttrs(op.Attr{Name: "at", Val: op.Int(i)}), at, nil, node)
	}
	if effects {
		done := parts[len(parts)-1]
		l.sends++ // held as the last effect: no statement may move it
		for s, w := range sinks {
			w.by = done
			l.effect[s] = w
		}
		for _, r := range rs {
			if r.assert != ir.None {
				l.assert = done
			}
		}
	}
	return parts
}

// effects reports whether regions emit or assert, and to which sinks. They come after earlier emits
// to these sinks and earlier asserts.
func (l *lowerer) effects(rs []*region) (any bool, sinks map[string]written) {
	sinks = map[string]written{}
	for _, r := range rs {
		any = any || r.assert != ir.None || len(r.effect) > 0
		for s, w := range r.effect {
			if other, ok := sinks[s]; !ok || other.form.severalFit() {
				sinks[s] = w
			}
			if last, ok := l.effect[s]; ok {
				l.writtenOnce(s, last, w)
				l.capture(rs[0], last.by, l.level())
			}
		}
	}
	if any && l.assert != ir.None {
		l.capture(rs[0], l.assert, l.level())
	}
	return any, sinks
}

// written describes what was emitted to a sink.
type written struct {
	by   ir.ID // the effect after which the next one comes
	form form
	at   source.Span // where; of several, the last
}

// form is the format of a sink: csv, npy, .. as its extension or the program says; "" is standard
// output.
type form string

// severalFit reports whether a sink of the format takes several values in sequence. In any other
// file a second value would make it unreadable.
func (f form) severalFit() bool { return f == "" || f == "csv" || f == "tsv" }

// writtenOnce refuses the second of two emits to one sink if either format holds one matrix.
func (l *lowerer) writtenOnce(sink string, first, second written) {
	one := second.form
	if one.severalFit() {
		one = first.form
	}
	if one.severalFit() {
		return
	}
	if slices.Contains([]form{"svg", "png", "html"}, one) {
		l.fail(source.Errorf("E515", second.at, "%s is written twice, and %s holds one picture", sink, one).
			WithNote(first.at, "written here first").
			WithHelp("give each a name of its own; panels(p, q) puts pictures beside each other, figure(p, q) over each other"))
	}
	l.fail(source.Errorf("E515", second.at, "%s is written twice, and %s holds one matrix", sink, one).
		WithNote(first.at, "written here first").
		WithHelp("give each a name of its own, or write .csv, where one follows below the other"))
}
