package plan

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"

	"flow/ir"
	"flow/ir/op"
	"flow/lang/source"
)

// Plan is a program ready to run on Ranks ranks. It is read-only once made, and equal on every
// rank.
type Plan struct {
	// Graph has one node a task, in program order, which is a topological order. Nodes of the
	// row `exchange` move a value between ranks (see Exchange).
	Graph *ir.Graph
	// Ranks is the number of ranks, at least 1.
	Ranks int
	// Owner[i] is the rank that runs node i, or Everywhere; nil when Ranks is 1.
	Owner []int32
	// Prio[i] orders ready tasks, larger first; nil for program order. It affects only the
	// order and is not in the hash, because it comes from measured costs.
	Prio []int32
	// Ordered says that one worker runs the tasks in the order of Prio, and those of a round in program
	// order, because the memory was predicted for that order (Plan.Sparing).
	Ordered bool
	// Uses[i] is the number of inputs that read the result of node i, over all ranks.
	Uses []int32
	// Shares says how ranks share matrices, and why, for people.
	Shares string
	// Files are for diagnostics; nil for a plan written by hand.
	Files *source.FileSet

	once sync.Once
	hash [32]byte // see Hash
}

// Everywhere is the owner of a node that all ranks run. What it makes has the same bits on all of
// them, but for a node with the attribute Shared: of its result each rank makes its own rows (see
// Window), and a node of the role Gathers brings them together. The nodes of its regions are the
// same.
const Everywhere = -1

// Attributes of a node whose rows the ranks share: the number of ranks, and the number of rows. A node
// without a number of rows makes a sparse matrix of sparse operands that have only the rank's own rows
// there. So the rows of other ranks are empty in its result, too.
const (
	Shared     = "ranks"
	SharedRows = "shared"
)

// Turn is the attribute of a shared node that only one rank runs: the number of that rank plus 1. The
// rank makes its own rows, and the other rows are not made. Ranks take turns in this way when each
// continues the sums of the one before it.
const Turn = "turn"

// Owner is the attribute of a shared node whose rows all lie on one rank, and of its gather: the number
// of that rank plus 1. Other ranks do not run the node.
const Owner = "owner"

// Unit is the attribute that says how ranks share the rows of a node: the rows of a unit, or a list of
// cuts (see WindowOf). The Unit of a gather describes the matrix that it gathers.
const Unit = "units"

// Also is the attribute of an exchange that sends each rank more than its own rows. Its value is a
// second list of cuts, in the form of Unit (see SentRows).
const Also = "also"

// Stacked is the attribute of a gather of states: the number of ranks. Its operator joins any number of
// states. Its input is the state of this rank, and the run gives it those of all ranks. Parts of a
// sparse matrix are joined in the same way: with the attribute SharedRows each rank gets its own
// rows, otherwise all.
const Stacked = "stack"

// Helped is the attribute of a shared node whose rows any rank can make: a number from 1 on, by which
// ranks ask each other for a chunk of it (see local.Engine). All ranks have its operands whole. Rows of
// those that op.CarryAttr lists go with a chunk instead.
const Helped = "help"

// IsGather reports whether a node joins what ranks have made: their rows, or their states.
func IsGather(n *ir.Node) bool { return n.Op.Role == op.Gathers || n.Attrs.Int(Stacked) > 0 }

// SentRows returns the rows lo..hi-1 of a sparse matrix with the given number of rows that an exchange
// with attributes a sends a rank: from the first to the last one of its windows by Unit and by Also.
func SentRows(a *op.Attrs, rank, ranks, rows int) (lo, hi int) {
	lo, hi = WindowOf(rank, ranks, rows, a.Val(Unit))
	if also := a.Val(Also); len(also.L) > 0 {
		from, to := WindowOf(rank, ranks, rows, also)
		lo, hi = min(lo, from), max(hi, to)
	}
	return lo, hi
}

// WindowOf returns the rows lo..hi-1 that a rank makes of a matrix with the given number of rows. by is
// the attribute Unit. If it is a number, ranks have equal numbers of units; the last unit of the matrix
// may have fewer rows. A unit is a panel of a long sum, which one rank adds. If by is a list, it holds
// the first row of each rank: rows of a sparse matrix differ in length, and the list balances their
// entries.
func WindowOf(rank, ranks, rows int, by op.Val) (lo, hi int) {
	return op.WindowOf(rank, ranks, rows, by)
}

// MostGathers bounds the number of gathers of a plan: each has a tag of its own.
const MostGathers = 4096

// Gathers describes every gather of the plan and its regions, by its attribute key.
func (p *Plan) Gathers() (list []Gathered) {
	var top ir.ID
	var within func(g *ir.Graph)
	within = func(g *ir.Graph) {
		for id, n := range g.All() {
			if g == p.Graph {
				top = id
			}
			if IsGather(n) {
				key := n.Attrs.Int("key")
				for len(list) <= key {
					list = append(list, Gathered{})
				}
				list[key] = gatheredBy(n.Attrs, g.Type(id))
				list[key].Span, list[key].Read, list[key].Node = n.Span, IsRead(g, id), top
			}
			for r := n.Region; r != nil; r = r.Next {
				within(r.Graph)
			}
		}
	}
	within(p.Graph)
	return list
}

// IsRead reports whether a node is what was read of a file, or what a message brings of that.
func IsRead(g *ir.Graph, id ir.ID) bool {
	for g.Nodes[id].Op.Role == op.Exchange || IsGather(&g.Nodes[id]) {
		id = g.In(id)[0]
	}
	return g.Nodes[id].Op.Reads != nil
}

// Home returns the owner of node id, and rank 0 for one that all ranks run.
func (p *Plan) Home(id ir.ID) int { return max(p.Rank(id), 0) }

// Runs reports whether a rank runs node id.
func (p *Plan) Runs(rank int, id ir.ID) bool {
	owner := p.Rank(id)
	return owner == rank || owner == Everywhere
}

// Rank returns the owner of node id.
func (p *Plan) Rank(id ir.ID) int {
	if p.Owner == nil {
		return 0
	}
	return int(p.Owner[id])
}

// Exchange returns the ranks, ascending, of an exchange node's attribute `to`, which read its
// result besides or instead of its owner. The owner of the node is the owner of its input. Readers
// of the exchange are on those ranks; the runtime moves the value there. The reference evaluator
// treats an exchange as the identity.
func (p *Plan) Exchange(id ir.ID) (to []int64, ok bool) {
	n := &p.Graph.Nodes[id]
	if n.Op.Role != op.Exchange {
		return nil, false
	}
	return n.Attrs.Ints("to"), true
}

// exchange is Exchange, and on one rank, where no value moves, false without a look at the node.
func (p *Plan) exchange(id ir.ID) (to []int64, ok bool) {
	if p.Ranks == 1 {
		return nil, false
	}
	return p.Exchange(id)
}

// Verify checks the graph and that every edge across ranks has an exchange.
func (p *Plan) Verify() error {
	if err := p.Graph.Verify(); err != nil {
		return err
	}
	n := p.Graph.Len()
	if p.Ranks < 1 || p.Owner != nil && len(p.Owner) != n || p.Prio != nil && len(p.Prio) != n || len(p.Uses) != n {
		return fmt.Errorf("BUG: plan tables of other lengths than its %d nodes", n)
	}
	for i := range n {
		id := ir.ID(i)
		if r := p.Rank(id); r < Everywhere || r >= p.Ranks {
			return fmt.Errorf("BUG: %s is on rank %d of %d", p.Graph.Line(id), r, p.Ranks)
		}
		for _, in := range p.Graph.In(id) {
			if err := p.reaches(id, in); err != nil {
				return err
			}
		}
	}
	return nil
}

// reaches checks that the value of node in is where node id, which reads it, runs.
func (p *Plan) reaches(id, in ir.ID) error {
	reader, from := p.Rank(id), p.Rank(in)
	if from == Everywhere || from == reader {
		return nil
	}
	to, ok := p.Exchange(in)
	if !ok {
		return fmt.Errorf("BUG: %s on rank %d reads %%%d of rank %d without an exchange", p.Graph.Line(id), reader, in, from)
	}
	if reader == Everywhere && len(to) == p.Ranks-1 && !slices.Contains(to, int64(from)) || slices.Contains(to, int64(reader)) {
		return nil
	}
	return fmt.Errorf("BUG: %s on rank %d reads an exchange that does not reach it", p.Graph.Line(id), reader)
}

// Hash identifies the plan: operators, attributes, edges, shapes, owners. Ranks compare it before
// anything runs. Source positions, loop indices and priorities are not in it. The first call takes up
// to a millisecond for a thousand nodes. The plan must not change after it.
func (p *Plan) Hash() [32]byte {
	p.once.Do(func() { p.hash = p.hashed() })
	return p.hash
}

func (p *Plan) hashed() [32]byte {
	h := sha256.New()
	w := bufio.NewWriterSize(h, 1<<16)
	var num []byte
	put := func(n int) {
		num = strconv.AppendInt(num[:0], int64(n), 10)
		w.Write(num)
		w.WriteByte(' ')
	}
	attrs := map[*op.Attrs]string{}
	var graph func(g *ir.Graph, rank func(ir.ID) int)
	graph = func(g *ir.Graph, rank func(ir.ID) int) {
		for id, n := range g.All() {
			w.WriteString(n.Op.Name)
			w.WriteByte(' ')
			if n.Attrs != nil {
				s, ok := attrs[n.Attrs]
				if !ok {
					s = n.Attrs.String()
					attrs[n.Attrs] = s
				}
				w.WriteString(s)
			}
			t := g.Type(id)
			put(int(t.Kind)<<16 | int(t.Elem)<<8 | int(t.Repr))
			put(t.Rows)
			put(t.Cols)
			for _, in := range g.In(id) {
				put(int(in))
			}
			put(rank(id))
			for r := n.Region; r != nil; r = r.Next { // its nodes run where n does
				w.WriteString("{\n")
				graph(r.Graph, func(ir.ID) int { return 0 })
				for _, y := range r.Yields {
					put(int(y))
				}
				w.WriteString("}")
			}
			w.WriteByte('\n')
		}
	}
	put(p.Ranks)
	graph(p.Graph, p.Rank)
	w.Flush() // a hash never fails
	return [32]byte(h.Sum(nil))
}

// Print writes the text form: the graph, a line `own` with the owners and a line `prio` with the
// priorities.
func (p *Plan) Print(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "plan ranks %d\n", p.Ranks)
	table := func(name string, l []int32) {
		if l == nil {
			return
		}
		b.WriteString(name)
		for _, x := range l {
			b.WriteString(" " + strconv.Itoa(int(x)))
		}
		b.WriteString("\n")
	}
	table("own", p.Owner)
	table("prio", p.Prio)
	if err := b.Flush(); err != nil {
		return err
	}
	return p.Graph.Print(w)
}

// Parse reads the text form. Without an `own` line every task belongs to rank 0.
func Parse(text string, table *op.Table) (*Plan, error) {
	p := &Plan{Ranks: 1}
	for {
		line, rest, more := strings.Cut(text, "\n")
		f := strings.Fields(line)
		if len(f) == 0 && more {
			text = rest
			continue
		}
		if len(f) == 0 {
			break
		}
		var err error
		switch f[0] {
		case "plan":
			_, err = fmt.Sscanf(line, "plan ranks %d", &p.Ranks)
		case "own":
			p.Owner, err = int32s(f[1:])
		case "prio":
			p.Prio, err = int32s(f[1:])
		default:
			g, err := ir.Parse(text, table)
			if err != nil {
				return nil, err
			}
			if g.Len() == 0 {
				return nil, fmt.Errorf("plan text: no nodes")
			}
			p.Graph, p.Uses = g, g.Uses()
			return p, p.Verify()
		}
		if err != nil {
			return nil, fmt.Errorf("plan text %q: %w", line, err)
		}
		text = rest
	}
	return nil, fmt.Errorf("plan text: no nodes")
}

func int32s(f []string) ([]int32, error) {
	out := make([]int32, len(f))
	for i, s := range f {
		x, err := strconv.ParseInt(s, 10, 32)
		if err != nil {
			return nil, err
		}
		out[i] = int32(x)
	}
	return out, nil
}

// WhereWithin describes the origin of the node that steps lead to from node id, and its rounds of
// loops.
func (p *Plan) WhereWithin(id ir.ID, steps []ir.Step) string {
	g, at, ok := p.Graph.Follow(id, steps)
	if !ok {
		return ""
	}
	s := (&Plan{Graph: g}).Where(at)
	for _, x := range slices.Backward(steps) {
		if g, at, _ := p.Graph.Follow(id, steps[:len(steps)-1]); g.Nodes[at].Op.Control == op.Iterate {
			if s != "" {
				s += ", "
			}
			s += fmt.Sprintf("round %d", x.Round+1)
		}
		steps = steps[:len(steps)-1]
	}
	return s
}

// At returns the place of a span in the text of the program, or "".
func (p *Plan) At(span source.Span) string {
	if p.Files == nil || !span.IsValid() {
		return ""
	}
	file, line, col := p.Files.Position(span.From)
	return fmt.Sprintf("%s:%d:%d", file, line, col)
}

// Where describes the origin of a node, for messages: `L[3,3] version 3 (k = 3)`.
func (p *Plan) Where(id ir.ID) string {
	g := p.Graph
	var s string
	if grid, version, at, ok := g.Dest(id); ok {
		s = fmt.Sprintf("%s[%s] version %d", g.Grids[grid].Name, joinInts(at), version)
	}
	if names, at := g.Indices(id); len(names) > 0 {
		parts := make([]string, len(names))
		for i := range names {
			parts[i] = fmt.Sprintf("%s = %s", names[i], g.IndexText(int(at[i])))
		}
		if s != "" {
			s += " "
		}
		s += "(" + strings.Join(parts, ", ") + ")"
	}
	return s
}

func joinInts(l []int32) string {
	p := make([]string, len(l))
	for i, x := range l {
		p[i] = strconv.Itoa(int(x))
	}
	return strings.Join(p, ",")
}
