package layout

import (
	"slices"

	"flow/compiler/nodes"
	"flow/ir"
	"flow/ir/op"
	"flow/ir/plan"
	"flow/ir/types"
)

// This file spreads sums whose terms are added in the order of rows (op.Shard.Chain). Each panel of
// rows is one chain. A panel that lies on several ranks goes from one to the next:
//
//	%2 = matmul.panels(%0, %1) {ta, panel=32768}, 50000 rows on two ranks
//	->  %2 = matmul.panels.chain(%0, %1) {from=[0, 32768], to=[25000, 50000]}
//	    %3 = gather(%2) {reach}   # the table of the first panel, to the second rank
//	    %4 = matmul.panels.chain(%0, %1, %3) {on, from=[25000, 50000], to=[32768, 50000]}
//	    %5 = gather(%4);  %6 = panels.add(%5)
//
// Each rank first adds its rows of the panel that the next rank continues, and last those of the
// panel that the rank before it has begun. Panels that lie on one rank fill the time in which it
// would wait. If that is not enough, the table is cut into strips of rows or columns, and ranks work
// on different strips at the same time.
//
// The file also spreads reductions of tall matrices block by block (op.Folding), such as singular
// values.

// chainPanels returns how many panels node id, a sum in the order of rows, has, and the rows of a
// panel. It returns 0, 0 for other nodes, and for sums that ranks cannot continue.
func chainPanels(g *ir.Graph, id ir.ID) (panels, size int) {
	n, rows := &g.Nodes[id], 0
	if n.Op.Shard.Chain == "" || !nodes.Dividable(g.Type(id)) || n.Op.Rate == productRate && !nodes.TurnedProduct(g, id) {
		return 0, 0
	}
	for k, x := range g.In(id) {
		switch t := g.Type(x); {
		case !nodes.Dividable(t) || k > 0 && t.Rows != rows:
			return 0, 0
		default:
			rows = t.Rows
		}
	}
	if size = n.Attrs.Int("panel"); size == 0 {
		size = rows
	}
	return (rows-1)/size + 1, size
}

// step is the rows that ranks add at the same time: of panel p the rows from[p]..to[p]-1, on rank
// owner[p]. A panel without rows in this step has the rank with its table as owner.
type step struct{ from, to, owner []int }

// add appends the rows from..to-1 that a rank adds to the next panel.
func (x *step) add(rank, from, to int) {
	x.from, x.to, x.owner = append(x.from, from), append(x.to, to), append(x.owner, rank)
}

// stepsOf returns the steps of a sum over so many rows, in panels of size rows each. They have the
// panels that lie on several ranks. whole has the other panels: a rank needs no other rank for these.
func (s *spreader) stepsOf(rows, size int) (steps []step, whole step) {
	pieces, most := make([]step, (rows-1)/size+1), 0
	for r := range s.ranks {
		lo, hi := plan.WindowOf(r, s.ranks, rows, s.unit[rows])
		for at := lo; at < hi; {
			p, end := &pieces[at/size], min(hi, (at/size+1)*size)
			p.add(r, at, end)
			most, at = max(most, len(p.from)), end
		}
	}
	if most > 1 {
		steps = make([]step, most)
	}
	for _, p := range pieces {
		last := len(p.from) - 1
		from, to := p.from[last], p.to[last]
		if last > 0 {
			from = to
		}
		whole.add(p.owner[last], from, to)
		for t := range steps {
			switch k := t - most + 1 + last; { // all end in the last step
			case last == 0:
				steps[t].add(p.owner[0], to, to)
			case k < 0:
				steps[t].add(p.owner[0], p.from[0], p.from[0])
			default:
				steps[t].add(p.owner[k], p.from[k], p.to[k])
			}
		}
	}
	return steps, whole
}

// chainTime simulates a sum in steps and strips, and returns its time, in rows that one rank adds.
// Ranks that would wait add whole panels. busy has the part of each step and strip in that time.
func (s *spreader) chainTime(steps []step, whole step, strips int) (rows float64, busy [][]int) {
	ready, left, n := make([]float64, s.ranks), make([]float64, s.ranks), float64(strips)
	for p, r := range whole.owner {
		left[r] += float64(whole.to[p] - whole.from[p])
	}
	made := make([][]float64, strips)
	for t, x := range steps {
		busy = append(busy, make([]int, strips))
		for k := range strips {
			begins := slices.Clone(ready)
			for p, r := range x.owner {
				if t > 0 && steps[t-1].owner[p] != r {
					begins[r] = max(begins[r], made[k][p])
				}
			}
			for p, r := range x.owner {
				for work := left[r] / n; left[r] > 0 && ready[r] < begins[r]; left[r] = max(0, left[r]-work) {
					ready[r] += work
				}
				ready[r] = max(ready[r], begins[r]) + float64(x.to[p]-x.from[p])/n
			}
			made[k] = make([]float64, len(x.owner))
			for p, r := range x.owner {
				made[k][p] = ready[r]
			}
			busy[t][k], rows = int(max(0, slices.Max(ready)-rows)), max(rows, slices.Max(ready))
		}
	}
	for r := range left {
		rows = max(rows, ready[r]+left[r])
	}
	return rows, busy
}

// leastStrip is the least number of rows or columns of a strip: the lanes of an AVX-512 vector of f64,
// and the elements of a cache line.
const leastStrip = 8

// stripsOf returns into how many strips the result of a sum in the order of rows is cut to take the
// least time, and the operand whose columns are cut for that. cost is that time, in operations.
func (s *spreader) stripsOf(g *ir.Graph, id ir.ID, steps []step, whole step) (operand, strips int, cost float64) {
	in, t := g.In(id), g.Type(id)
	lines := t.Rows
	if !nodes.TurnedProduct(g, id) {
		operand, lines = len(in)-1, t.Cols
	}
	rows, most := g.Type(in[0]).Rows, 1
	if len(steps) > 0 && g.Type(in[operand]).Cols == lines && in[0] != in[len(in)-1] { // t(x) @ x is computed by half
		most = max(1, lines/leastStrip)
	}
	other := rows * leastStrip // elements that each further strip reads again: its rows end inside a cache line
	for k, x := range in {
		if k != operand {
			other += g.Type(x).Count()
		}
	}
	for n := 1; n <= most; n *= 2 {
		time, _ := s.chainTime(steps, whole, n)
		c := time*s.workOf(g, id)/float64(rows) + float64(len(steps))*(s.message(t)+float64((n-1)*s.from*GatherSpreads)) +
			float64((n-1)*other*moveSteps)/float64(s.ranks)
		if strips == 0 || c < cost {
			strips, cost = n, c
		}
	}
	return operand, strips, cost
}

// chainReads returns the reads of a sum in the order of rows: each rank reads its own rows, and sends
// tables.
func (s *spreader) chainReads(g *ir.Graph, id ir.ID, partial []bool) (reads []rowReads, why string) {
	panels, size := chainPanels(g, id)
	in, t := g.In(id), g.Type(id)
	if panels == 0 || g.Type(in[0]).Rows < s.ranks || stated(g.Nodes[id].Op) && s.statedRows(g, id) > 0 {
		return nil, elsewise
	}
	rows, bytes := g.Type(in[0]).Rows, 0
	for k, x := range in {
		if partial[k] && !slices.Contains(in[:k], x) {
			bytes += g.Type(x).Bytes()
		}
	}
	t.Rows *= panels
	reads = slices.Repeat([]rowReads{s.ownRows(rows)}, len(in))
	steps, whole := s.stepsOf(rows, size)
	_, _, cost := s.stripsOf(g, id, steps, whole)
	sends := s.from == 1 || bytes > s.ranks*(GatherSpreads*BytesSpread+t.Bytes())
	return reads, unless(bytes > 0 && (sends || cost < s.workOf(g, id)), whyOrdered)
}

// chained makes the new nodes of a sum in the order of rows, step by step and strip by strip.
func (x *spreadGraph) chained(id ir.ID, reads []rowReads) {
	n, in := &x.old.Nodes[id], x.reachAll(id, reads)
	panels, size := chainPanels(x.old, id)
	rows := x.old.Type(x.old.In(id)[0]).Rows
	steps, whole := x.stepsOf(rows, size)
	operand, strips, _ := x.stripsOf(x.old, id, steps, whole)
	time, busy := x.chainTime(steps, whole, strips)
	x.saved += x.workOf(x.old, id) * (1 - time/float64(rows))
	alone := time // whole panels and the last step, half of the time each
	for _, b := range busy[:max(0, len(busy)-1)] {
		for _, n := range b {
			alone -= float64(n)
		}
	}
	row, of, cut := x.table.Must(n.Op.Shard.Chain), make([][]ir.ID, strips), x.g.Type(in[operand])
	made := make([]ir.ID, strips)
	for k := range strips {
		of[k] = slices.Clone(in)
		if strips > 1 {
			lo, hi := op.Window(k, strips, cut.Cols)
			at := op.MakeAttrs(op.Attr{Name: "at", Val: op.Ints(0, lo, rows, hi-lo)})
			of[k][operand] = x.typed(id, x.table.Must("slice"), x.sharing(at, rows, x.unit[rows]), in[operand])
		}
	}
	attrs := n.Attrs
	if n.Op.Rate == productRate {
		attrs = attrs.With("panel", op.Int(size))
	}
	adds := func(k int, a step, busy int, tables ...ir.ID) ir.ID {
		attrs := attrs.With("from", op.Ints(a.from...)).With("to", op.Ints(a.to...)).With("on", op.Int(len(tables))).With("busy", op.Int(max(1, busy)))
		return x.typed(id, row, x.sharing(attrs, panels, x.cutsOf(a.owner, 1)), append(of[k][:len(in):len(in)], tables...)...)
	}
	wholes := make([][]ir.ID, strips)
	for k := range strips { // of tasks that are as urgent, the last one runs first
		if len(steps) > 0 && !slices.Equal(whole.from, whole.to) {
			wholes[k] = []ir.ID{adds(k, whole, int(alone)/(2*strips))}
		}
	}
	for t, a := range steps {
		for k := range strips {
			var tables []ir.ID
			if t > 0 {
				tables = append(tables, made[k])
			}
			if t == len(steps)-1 {
				if wholes[k] != nil {
					busy[t][k] = int(alone) / (2 * strips)
				}
				made[k] = adds(k, a, busy[t][k], append(tables, wholes[k]...)...)
				continue
			}
			made[k] = adds(k, a, busy[t][k], tables...)
			table, to := x.g.Type(made[k]).Rows/panels, make([][]plan.Range, x.ranks)
			for p, r := range steps[t+1].owner {
				if r != a.owner[p] {
					to[r] = append(to[r], plan.Range{From: p * table, To: (p + 1) * table})
				}
			}
			made[k] = x.gatherOf(id, inUnits(op.MakeAttrs(op.Attr{Name: plan.Reach, Val: plan.ReachOf(to)}), x.cutsOf(a.owner, table)), made[k])
		}
	}
	if len(steps) == 0 {
		made[0] = adds(0, whole, rows/x.ranks)
	}
	x.joinStrips(id, made, whole.owner, operand, cut.Cols)
}

// joinStrips makes the result of old node id. made has the tables of each strip, and owner the rank of
// each panel. The strips cut the columns of an operand, so many.
func (x *spreadGraph) joinStrips(id ir.ID, made []ir.ID, owner []int, operand, cols int) {
	n, t, panels := &x.old.Nodes[id], x.old.Type(id), len(owner)
	var boxes []int
	for k := range made {
		table := x.g.Type(made[k])
		made[k] = x.gatherOf(id, inUnits(nil, x.cutsOf(owner, table.Rows/panels)), made[k])
		if table.Rows /= panels; panels > 1 {
			made[k] = x.typed(id, x.table.Must(n.Op.Shard.Finish), op.MakeAttrs(op.Attr{Name: "rows", Val: op.Int(table.Rows)}), made[k])
		}
		lo, _ := op.Window(k, len(made), cols)
		row, col := lo, 0
		if operand > 0 {
			row, col = 0, lo
		}
		boxes = append(boxes, 0, 0, table.Rows, table.Cols, row, col)
	}
	if x.to[id] = made[0]; len(made) > 1 {
		x.to[id] = x.typed(id, x.table.Must("lay"), op.MakeAttrs(op.Attr{Name: "rows", Val: op.Int(t.Rows)}, op.Attr{Name: "cols", Val: op.Int(t.Cols)},
			op.Attr{Name: "boxes", Val: op.Ints(boxes...)}), made...)
	}
}

// cutsOf returns the attribute plan.Unit of stacked tables of so many rows each. owner has the rank of
// each table, in ascending order.
func (s *spreader) cutsOf(owner []int, rows int) op.Val {
	cuts := make([]int, s.ranks+1)
	for r := range cuts {
		p, _ := slices.BinarySearch(owner, r)
		cuts[r] = p * rows
	}
	return op.Ints(cuts...)
}

// units chooses the units in which ranks share rows that are summed by panels, in g and its regions.
// The unit is a panel if no rank then has much more rows than the others, and equal windows would not
// take less time (chained). Loops that make what they add have whole panels.
func (s *spreader) units(g *ir.Graph) {
	sparse, must, sums, bodies := map[int]bool{}, map[int]bool{}, map[int][]edge{}, map[*ir.Graph]bool{}
	for g, id := range nodes.NodesIn(g, func(*ir.Node) bool { return true }) {
		n := &g.Nodes[id]
		if hasBody(n) {
			bodies[n.Region.Graph] = true
		}
		if t := g.Type(id); t.IsSparse() {
			sparse[t.Rows], sparse[t.Cols] = true, true // a vector is fetched by lists of single rows
		}
		if stated(n.Op) && n.Op.Shard.Combine == "" {
			if rows := g.Type(g.In(id)[0]).Rows; s.balanced(rows, n.Attrs.Int("panel")) > 0 {
				panels, _ := chainPanels(g, id)
				sums[rows], must[rows] = append(sums[rows], edge{g, id}), must[rows] || bodies[g] || panels == 0
			}
		}
	}
	for rows, list := range sums {
		if !sparse[rows] && (must[rows] || s.unitGains(rows, list)) {
			s.unit[rows] = op.Int(list[0].g.Nodes[list[0].id].Attrs.Int("panel"))
		}
	}
}

// unitGains reports whether ranks take less time if they share so many rows in units of a panel than if
// they have equal windows. list is the sums of these rows by panels.
func (s *spreader) unitGains(rows int, list []edge) bool {
	size, gain, in := list[0].g.Nodes[list[0].id].Attrs.Int("panel"), 0.0, map[*ir.Graph]bool{}
	share := float64(s.balanced(rows, size)) / float64(rows)
	steps, whole := s.stepsOf(rows, size)
	for _, x := range list {
		_, _, cost := s.stripsOf(x.g, x.id, steps, whole)
		gain += cost - share*s.workOf(x.g, x.id) - s.message(x.g.Type(x.id))
		if !in[x.g] {
			in[x.g] = true
			gain -= s.workOn(x.g, rows) * (share - 1/float64(s.ranks))
		}
	}
	return gain >= 0
}

// workOn returns the work, in operations, of the nodes of g that make or reduce dense matrices of so
// many rows. Sums by panels do not count.
func (s *spreader) workOn(g *ir.Graph, rows int) (work float64) {
	for id, n := range g.All() {
		is := func(x ir.ID) bool { return g.Type(x).IsMatrix() && g.Type(x).Rows == rows }
		sparse := func(x ir.ID) bool { return g.Type(x).IsSparse() }
		if !nodes.IsControl(n) && n.Op.Cost != nil && n.Op.Shard.Chain == "" && (is(id) || slices.ContainsFunc(g.In(id), is)) && !slices.ContainsFunc(g.In(id), sparse) {
			work += max(0, s.workOf(g, id))
		}
	}
	return work
}

// balanced returns the most rows that a rank has if ranks share rows in units of unit rows. It
// returns 0 if a rank has none, or if one has more than one and a half times an equal share.
func (s *spreader) balanced(rows, unit int) (most int) {
	if unit < 1 || (rows+unit-1)/unit < s.ranks {
		return 0
	}
	for r := range s.ranks {
		lo, hi := plan.WindowOf(r, s.ranks, rows, op.Int(unit))
		most = max(most, hi-lo)
	}
	if 2*most*s.ranks > 3*rows {
		return 0
	}
	return most
}

// foldReads returns the reads of a row that reduces a tall matrix block by block (op.Folding): a rank
// reads the rows of its blocks.
func (s *spreader) foldReads(g *ir.Graph, id ir.ID, partial []bool) (reads []rowReads, why string) {
	in := g.In(id)
	f, from, turned := foldOf(g, id)
	if f == nil || !nodes.Dividable(from) || turned && !(partial[0] && s.turns(from)) {
		return nil, elsewise
	}
	by := s.table.Must(f.By)
	sig := &op.Sig{Def: by, In: g.Types(nil, in...)}
	sig.In[0] = from
	t, err := by.Type(sig)
	if err != nil || min(t.Rows, from.Rows) < s.ranks {
		return nil, elsewise
	}
	if turned {
		return []rowReads{{turned: true}}, ""
	}
	reads = slices.Repeat([]rowReads{{rows: rowsFor(spanNeeds(by, sig, t), s.windowsIn(t.Rows, op.Val{}), from.Rows)}}, len(in))
	return reads, unless(slices.Contains(partial, true) || s.workOf(g, id) >= GatherSpreads*float64(s.from), whyLittle)
}

// foldOf returns how ranks share a row that reduces a tall matrix block by block, nil for other rows,
// and the type of that matrix, which is input 0 or, if turned, its transpose.
func foldOf(g *ir.Graph, id ir.ID) (f *op.Folding, t types.Type, turned bool) {
	if f = g.Nodes[id].Op.Folds; f == nil {
		return nil, t, false
	}
	if t = g.Type(g.In(id)[0]); f.Wide != nil && t.Rows < t.Cols {
		return f.Wide, types.DenseOf(t.Elem, t.Cols, t.Rows), true
	}
	return f, t, false
}

// foldedTall makes the new nodes of a row for which foldReads returns reads:
//
//	%1 = svdvals(%0)   ->   %1 = svd.fold(%0) {ranks=3};  %2 = gather(%1) {reach};  %3 = svd.refold(%2) {ranks=3}
//	                        %4 = gather(%3);  %5 = svdvals.folded(%4)
//
// Rows that need vectors of the same matrix share them (vectorsOf):
//
//	%1 = svdu(%0)      ->   states as above;  %5 = svd.top(%4);  %6 = svd.unfold(%3, %5);  %7 = svd.unfold(%1, %6)
//	                        %8 = svd.heads(%7);  %9 = svdu.folded(%7, %5, %8), and gathers between them
func (x *spreadGraph) foldedTall(id ir.ID, reads []rowReads) {
	n := &x.old.Nodes[id]
	f, t, turned := foldOf(x.old, id)
	x.saved += x.spared(x.workOf(x.old, id))
	attrs := n.Attrs
	if f.Again != "" {
		attrs = attrs.With("n", op.Int(t.Rows)).With("elem", op.Str(t.Elem.String())).With("of", op.Str(n.Op.Source()))
	}
	if turned {
		attrs = attrs.With("turned", op.Bool(true))
	}
	if f.Vectors == nil {
		states, _ := x.statesOf(id, reads)
		x.to[id] = x.typed(id, x.table.Must(f.Of), attrs, states)
		return
	}
	v := x.vectorsOf(id, reads)
	x.vectors[x.old.In(id)[0]] = v
	if !f.Vectors.Long {
		x.to[id] = x.typed(id, x.table.Must(f.Of), attrs, v.top, v.heads)
		return
	}
	made := x.typed(id, x.table.Must(f.Of), attrs, v.long, v.top, v.heads)
	x.g.Nodes[made].Attrs = x.sharing(attrs, t.Rows, x.unit[t.Rows])
	switch x.partial[id] = true; {
	case !f.Vectors.Turned:
		x.to[id] = made
	case x.turns(x.g.Type(made)):
		x.to[id] = x.turnedBlocks(id, made)
	default:
		x.to[id], x.partial[id] = x.typed(id, x.table.Must("t"), nil, x.gatherOf(id, x.inUnitsOf(t.Rows), made)), false
	}
}

// fold is one fold of a matrix by ranks.
type fold struct {
	made ir.ID // the states of the blocks, and behind each what undoes the fold
	rows int   // of the matrix
}

// statesOf makes the states of the tall matrix that old node id reads, and states of states while
// there are enough of them. It returns the last states, which all ranks have, and the folds if the row
// needs vectors.
func (x *spreadGraph) statesOf(id ir.ID, reads []rowReads) (states ir.ID, folds []fold) {
	f, t, turned := foldOf(x.old, id)
	of := op.MakeAttrs(op.Attr{Name: "of", Val: op.Str(x.old.Nodes[id].Op.Source())})
	in, by, rows := x.reachAll(id, reads), x.table.Must(f.By), t.Rows
	if turned {
		in[0], of = x.spanned(id, by, of, op.Val{}, in[0]), of.With("turned", op.Bool(true))
	}
	for made := in[0]; ; {
		state := nodes.TypeOf(by, of, x.g.Types(nil, in...)...)
		if f.Vectors == nil {
			made = x.ownStates(x.typed(id, by, of, in...))
		} else {
			made = x.ownStates(x.typed(id, by, of.With("vectors", op.Bool(true)), made))
			folds = append(folds, fold{made, rows})
			made = x.typed(id, x.table.Must("slice"), nodes.Box{SR: 0, SC: 0, Rows: state.Rows, Cols: state.Cols, DR: 0, DC: 0}.Attrs(), made)
			made = x.ownStates(x.typed(id, x.table.Must("dense"), nil, made)) // rows of others arrive in it
		}
		if f.Again == "" {
			return x.gatherOf(id, nil, made), nil
		}
		by = x.table.Must(f.Again)
		next, err := by.Type(&op.Sig{Def: by, In: []types.Type{state}})
		if err != nil || next.Rows < x.ranks {
			return x.gatherOf(id, nil, made), folds
		}
		made, rows = x.spanned(id, by, nil, op.Val{}, made), state.Rows*t.Cols
		in = []ir.ID{made}
	}
}

// ownStates lets ranks share the rows of a new node, and returns it.
func (x *spreadGraph) ownStates(made ir.ID) ir.ID {
	at := &x.g.Nodes[made]
	at.Attrs = x.sharing(at.Attrs, x.g.Type(made).Rows, op.Val{})
	return made
}

// spanned returns a gather of the new node in[0], for old node id. It brings each rank the rows that it
// reads (op.Def.RowSpan) to make its own rows of d(in..), which ranks share in units of unit.
func (x *spreadGraph) spanned(id ir.ID, d *op.Def, attrs *op.Attrs, unit op.Val, in ...ir.ID) ir.ID {
	sig := &op.Sig{Def: d, Attrs: attrs, In: x.g.Types(nil, in...)}
	t := nodes.TypeOf(d, attrs, sig.In...)
	return x.reaching(id, in[0], rowsFor(spanNeeds(d, sig, t), x.windowsIn(t.Rows, unit), sig.In[0].Rows))
}

// reaching returns a gather of the new node made, for old node id. It brings each rank its list of
// rows.
func (x *spreadGraph) reaching(id, made ir.ID, rows [][]plan.Range) ir.ID {
	return x.gatherOf(id, op.MakeAttrs(op.Attr{Name: plan.Reach, Val: plan.ReachOf(rows)}), made)
}
