package plan

import (
	"fmt"
	"slices"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
	"flow/lang/source"
)

// This file finds on which ranks the values of a plan are, and what ranks send of them.

// Layout is the distribution of the values with one origin in the text: those of one node of a plan,
// or of the pieces into which it was cut.
type Layout struct {
	At     string `json:"at"` // file:line:column
	Op     string `json:"op"`
	Type   string `json:"type"`   // of the first piece
	Pieces int    `json:"pieces"` // nodes of a round
	// Why is why ranks do not share it; "": they do, or it joins what they have made.
	Why string `json:"why,omitempty"`
	// Where is `rows` (each rank has its own rows, see Window), `replicated` (each rank has all),
	// `partial` (each rank has the state of a reduction of its rows), `rank 2`, or `ranks 0 to 3`
	// (each piece is on one of them).
	Where string `json:"layout"`
	// Cuts is the list by which ranks share the rows of a sparse matrix (see WindowOf). nil: evenly.
	Cuts []int64 `json:"cuts,omitempty"`
	// Helped: ranks that have made their rows make some of others (see Helped).
	Helped bool  `json:"helped,omitempty"`
	Rounds int64 `json:"rounds"` // the product over the loops that it is in; 1 outside
	// Messages and Bytes are sent in all rounds. Those of a branch that sends fewer bytes than the
	// other one are 0, as a run takes one of the two.
	Messages int64   `json:"messages"`
	Bytes    float64 `json:"bytes"`

	span   source.Span
	owners []int // of pieces with an owner
}

// The values of Layout.Where of nodes that all ranks run.
const (
	byRows     = "rows"
	replicated = "replicated"
	states     = "partial"
)

// Layouts returns the layouts of all matrices of a plan, and of other values that ranks send, in
// program order. The values in a loop come before the loop.
func Layouts(p *Plan) []Layout {
	of := estimators{}
	l := &layouts{p: p, of: of, bytes: of.bytes(p.Graph), at: map[layoutKey]int{}}
	sent := tally{}
	l.graph(p.Graph, nil, "", p.Rank, 1, l.locate(p.Graph, p.Rank, nil), l.bytes, sent)
	for k := range l.list {
		x := &l.list[k]
		x.Messages, x.Bytes = int64(sent[k].messages), sent[k].bytes
		if len(x.owners) > 0 {
			slices.Sort(x.owners)
			x.Where = rankList(slices.Compact(x.owners))
		}
		if x.Where == byRows || x.Where == states || len(slices.Compact(x.owners)) > 1 {
			x.Why = ""
		} else if x.Why == "" {
			x.Why = joined
		}
		x.At = p.At(x.span)
	}
	return l.list
}

// rankList writes ascending ranks.
func rankList(ranks []int) string {
	n := len(ranks)
	if n == 1 {
		return fmt.Sprint("rank ", ranks[0])
	}
	if n > 2 && ranks[n-1]-ranks[0] == n-1 {
		return fmt.Sprintf("ranks %d to %d", ranks[0], ranks[n-1])
	}
	text := fmt.Sprint(ranks)
	return "ranks " + text[1:len(text)-1]
}

type layouts struct {
	of    estimators
	p     *Plan
	bytes func(ir.ID) float64
	at    map[layoutKey]int
	list  []Layout
}

// layoutKey is what the pieces of one Layout have in common.
type layoutKey struct {
	span   source.Span
	op     *op.Def
	where  string
	rounds int64
}

// tally is what ranks send, by place in layouts.list.
type tally map[int]traffic

func (s tally) add(k int, x traffic) {
	s[k] = traffic{s[k].messages + x.messages, s[k].bytes + x.bytes}
}

func (s tally) bytes() (sum float64) {
	for _, x := range s {
		sum += x.bytes
	}
	return sum
}

// ownerOf returns the rank that runs a node of a graph, or Everywhere.
type ownerOf = func(ir.ID) int

// locate returns Layout.Where of every node of a graph that all ranks run, and "" of the others. args
// has those of the carried arguments of a region.
func (l *layouts) locate(g *ir.Graph, owner ownerOf, args map[ir.ID]string) []string {
	where := make([]string, g.Len())
	loops := map[ir.ID][]string{}
	for id, n := range g.All() {
		if owner(id) != Everywhere {
			continue
		}
		shares, part := n, n.Op.Control == op.Part
		if part {
			shares = &g.Nodes[g.In(id)[0]]
		}
		switch {
		case args[id] != "":
			where[id] = args[id]
		case n.Op.Role == op.Slices && fixed(&g.Nodes[g.In(id)[0]]):
			where[id] = replicated
		case (n.Op.Role == op.Slices || n.Op.Role == op.Windows && g.Type(id).Rows == g.Type(g.In(id)[0]).Rows) && where[g.In(id)[0]] == byRows || n.Op.Role == op.Gathers && n.Attrs.Int(Stacked) == 0 && Reaches(n):
			where[id] = byRows
		case part && controls(shares):
			where[id] = replicated
			if carried, at := loops[g.In(id)[0]], n.Attrs.Int("at"); at < len(carried) { // behind them is an effect
				where[id] = carried[at]
			}
		case n.Attrs.Int(Owner) > 0 && !IsGather(n):
		case n.Attrs.Int(Owner) > 0 && !Reaches(n):
			where[id] = replicated
		case n.Attrs.Int(Only) > 0:
			where[id] = rankList([]int{n.Attrs.Int(Only) - 1})
		case g.Type(id).IsSparse() && n.Attrs.Int(Shared)+n.Attrs.Int(SharedRows)+n.Attrs.Int(Fetch) > 0:
			where[id] = byRows
			// A rank may have entries in rows of other ranks.
			if n.Op.Role == op.Relocates || n.Op.Strewn != nil && n.Op.Strewn(n.Attrs) || n.Op.Shard.Partial != "" {
				where[id] = states
			}
		case shares.Attrs.Int(Shared) < 2:
			where[id] = replicated
		case g.Type(id).IsMatrix() && (g.Type(id).Rows == shares.Attrs.Int(SharedRows) || g.Type(id).Rows == types.Unknown):
			where[id] = byRows
		default:
			where[id] = states
		}
		switch n.Op.Control {
		case op.Iterate:
			loops[id] = l.carried(n)
		case op.Select:
			captured := make([]string, len(g.In(id))-1)
			for k, x := range g.In(id)[1:] {
				captured[k] = where[x]
			}
			loops[id] = l.chosen(n, captured)
		}
	}
	return where
}

// chosen returns Layout.Where of the results of a branch that all ranks run. A result is by rows if a
// region makes each rank's rows. captured has Layout.Where of the captured values.
func (l *layouts) chosen(n *ir.Node, captured []string) []string {
	out := make([]string, len(n.Region.Yields))
	for r := n.Region; r != nil; r = r.Next {
		inside := l.locate(r.Graph, everywhere, argsOf(r, captured))
		for k, y := range r.Yields {
			if out[k] != byRows {
				out[k] = inside[y]
			}
		}
	}
	return out
}

// carried returns Layout.Where of the carried values of an iterate that all ranks run. It is found by
// iteration, because the yields of a round are the arguments of the next one.
func (l *layouts) carried(n *ir.Node) []string {
	var carried []string
	for {
		inside := l.locate(n.Region.Graph, everywhere, argsOf(n.Region, carried))
		next := make([]string, len(n.Region.Yields))
		for k, y := range n.Region.Yields {
			next[k] = inside[y]
		}
		if slices.Equal(next, carried) {
			return carried
		}
		carried = next
	}
}

// fixed reports a gather that brings all ranks the same rows.
func fixed(n *ir.Node) bool {
	needs, some := Needs(n.Attrs)
	return some && n.Op.Role == op.Gathers && n.Attrs.Int(Pick) == 0 && !slices.ContainsFunc(needs, func(list []Range) bool { return !slices.Equal(list, needs[0]) })
}

// Reaches reports whether a gather brings only some rows.
func Reaches(n *ir.Node) bool {
	_, some := Needs(n.Attrs)
	return some || n.Attrs.Int(Fetch)+n.Attrs.Int(Pick) > 0
}

func everywhere(ir.ID) int { return Everywhere }

// argsOf returns Layout.Where by carried argument of a region.
func argsOf(r *ir.Region, carried []string) map[ir.ID]string {
	args := map[ir.ID]string{}
	for k, w := range carried {
		args[r.Args[k]] = w
	}
	return args
}

// graph adds the nodes of a graph that is run so many times: the program's, or a region of a loop. sent
// gets what they send.
func (l *layouts) graph(g *ir.Graph, loop *ir.Node, why string, owner ownerOf, rounds int64, where []string, bytes func(ir.ID) float64, sent tally) {
	entry := make([]int, g.Len()) // of l.list, and 1
	of := func(id ir.ID) int {
		if entry[id] == 0 {
			n := &g.Nodes[id]
			if n.Op.Role == op.Argument {
				n = loop
			}
			rank := owner(id)
			if own := n.Attrs.Int(Owner); own > 0 {
				rank = own - 1
			}
			entry[id] = l.entry(n, g.Type(id), rank, rounds, where[id])
			x := &l.list[entry[id]-1]
			if x.Why == "" {
				x.Why = l.why(g, id, why)
			}
			x.Helped = x.Helped || n.Attrs.Int(Helped) > 0
		}
		return entry[id] - 1
	}
	for i := range g.Nodes {
		id, n, t := ir.ID(i), &g.Nodes[i], g.Type(ir.ID(i))
		switch {
		case n.Op.Role == op.Exchange:
			to := len(n.Attrs.Ints("to"))
			sent.add(of(sender(g, id)), traffic{float64(to), sentBy(g, id, to, bytes)})
			continue
		case IsGather(n):
			x := gatherOf(g, id, l.p.Ranks, bytes)
			sent.add(of(g.In(id)[0]), traffic{float64(rounds) * x.messages, float64(rounds) * x.bytes})
		}
		if n.Op.Role != op.Argument && n.Op.Role != op.Gathers && t.IsMatrix() && (t.Known() && t.Count() > 1 || !t.Known() && where[i] == byRows) {
			of(id)
		}
		if !controls(n) {
			continue
		}
		times, _ := roundsOf(g, id)
		inside := ownerOf(func(ir.ID) int { return owner(id) })
		var carried []string
		if n.Op.Control == op.Iterate && owner(id) == Everywhere {
			carried = l.carried(n)
		}
		var most tally // of the branches
		for r := n.Region; r != nil; r = r.Next {
			each := sent
			if n.Op.Control == op.Select {
				each = tally{}
			}
			l.of.enter(g, id, r)
			where := l.locate(r.Graph, inside, argsOf(r, carried))
			l.graph(r.Graph, n, l.why(g, id, why), inside, rounds*times, where, l.of.bytes(r.Graph), each)
			if n.Op.Control == op.Select && (most == nil || each.bytes() >= most.bytes()) {
				most = each
			}
		}
		for k, x := range most {
			sent.add(k, x)
		}
	}
}

// joined is why all ranks make a node that reads what a gather brings.
const joined = "joins what each rank has made"

// why returns why ranks do not share a node. What is in a loop that they do not share has the loop's
// reason.
func (l *layouts) why(g *ir.Graph, id ir.ID, loop string) string {
	n := &g.Nodes[id]
	switch why := g.NoteOf(id); {
	case n.Op.Control == op.Part:
		return l.why(g, g.In(id)[0], loop)
	case n.Attrs.Int(Stacked) > 0:
		return joined
	case why == "":
		return loop
	default:
		return why
	}
}

// sender returns the node whose value an exchange sends.
func sender(g *ir.Graph, id ir.ID) ir.ID {
	for g.Nodes[id].Op.Role == op.Exchange {
		id = g.In(id)[0]
	}
	return id
}

// entry adds what a node makes to its Layout, as one piece more. It returns 1 + the place of the Layout
// in l.list.
func (l *layouts) entry(n *ir.Node, t types.Type, owner int, rounds int64, where string) int {
	key := layoutKey{n.Span, n.Op, where, rounds}
	k, ok := l.at[key]
	if !ok {
		k = len(l.list)
		l.at[key] = k
		l.list = append(l.list, Layout{Op: n.Op.Source(), Type: t.String(), Where: where, Rounds: rounds, span: key.span})
	}
	x := &l.list[k]
	if owner != Everywhere {
		x.owners = append(x.owners, owner)
	}
	if by := n.Attrs.Val(Unit); where == byRows {
		x.Cuts = by.L
	}
	x.Pieces++
	return k + 1
}
