package explain

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"flow/ir"
	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/kernels/loop/launch"
	"flow/lang/source"
)

// This file lists the loops of a plan with their places in the text, their schedule, and their
// machine code.

// Loop is a loop of a plan, or a node without one.
type Loop struct {
	node  string
	op    *op.Def
	at    []source.Span // of the node and of the calls around it
	part  source.Span   // of the operator in its body that why names
	loops []*loop.Nest
	why   string // there are none, or not of everything
	count int    // how many nodes are alike
}

// Loops returns the loops of g and its regions, of every node that asked selects and whose row
// writes one.
func Loops(g *ir.Graph, asked func(n *ir.Node) bool) (all []*Loop, err error) {
	var walk func(g *ir.Graph) error
	walk = func(g *ir.Graph) error {
		for i := range g.Nodes {
			n, id := &g.Nodes[i], ir.ID(i)
			if n.Op.Nests == nil {
				for r := n.Region; r != nil && !n.IsChain(); r = r.Next {
					if err := walk(r.Graph); err != nil {
						return err
					}
				}
				continue
			}
			if !asked(n) {
				continue
			}
			l, err := loopOf(g, id)
			if err != nil {
				return err
			}
			if len(l.loops) == 0 && l.why == "" {
				continue
			}
			same := func(x *Loop) bool {
				return slices.Equal(x.at, l.at) && x.why == l.why && slices.EqualFunc(x.loops, l.loops, func(a, b *loop.Nest) bool { return a.String() == b.String() })
			}
			if k := slices.IndexFunc(all, same); k >= 0 {
				all[k].count++
			} else {
				all = append(all, l)
			}
		}
		return nil
	}
	return all, walk(g)
}

func loopOf(g *ir.Graph, id ir.ID) (*Loop, error) {
	n := &g.Nodes[id]
	c := &op.Call{Def: n.Op, Attrs: n.Attrs, Type: g.Type(id)}
	if err := n.Enter(c); err != nil {
		return nil, err
	}
	var in []types.Type
	for _, x := range g.In(id) {
		in = append(in, g.Type(x))
	}
	l := &Loop{node: fmt.Sprintf("%%%d %s : %s", id, n.Op.Name, g.Type(id)), op: n.Op, at: placesOf(g, n), count: 1}
	if l.loops, l.why = n.Op.Nests(c, in); l.why != "" && n.Region != nil {
		for k := range n.Region.Graph.Nodes {
			if x := &n.Region.Graph.Nodes[k]; strings.Contains(l.why, "`"+x.Op.Source()+"`") {
				l.part = x.Span
				break
			}
		}
	}
	return l, nil
}

// WriteLoops writes a paragraph a loop: the node, its place, the loop and its schedule, and with
// code the machine code. It returns how many loops there are.
func WriteLoops(w io.Writer, all []*Loop, files *source.FileSet, code bool) (loops int) {
	for _, l := range all {
		fmt.Fprint(w, l.node)
		if l.count > 1 {
			fmt.Fprintf(w, "   and %d alike", l.count-1)
		}
		place, text := placeAndText(l.at[0], files)
		fmt.Fprintf(w, "\n  %s  %s\n", place, text)
		switch {
		case l.why != "" && len(l.loops) > 0:
			fmt.Fprintf(w, "  what is around %s runs an operator at a time\n", l.why)
		case l.why != "":
			fmt.Fprintf(w, "  no loop, because of %s\n", l.why)
		}
		for _, nest := range l.loops {
			loops++
			fmt.Fprintln(w, indented(nest.String()))
			schedule, listing, err := launch.Listing(nest)
			if err != nil {
				schedule = "interp: " + err.Error()
			}
			fmt.Fprintf(w, "  %s\n", schedule)
			if code && listing != "" {
				fmt.Fprintln(w, "\n"+indented(listing))
			}
		}
		fmt.Fprintln(w)
	}
	return loops
}

// indented returns lines with two spaces before each.
func indented(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n  ")
}
