package explain

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"flow/ir"
	"flow/ir/op"
	"flow/lang/source"
)

// This file finds the groups that fusion made, and writes them with the text of the program.

// Group is a node that computes several operators in one pass over memory.
type Group struct {
	node      string
	reads     []string
	operators []operator
}

type operator struct {
	name string
	at   source.Span
}

// Epilogue is the place of a chain in the program, and the product that it was fused with.
type Epilogue struct{ chain, product source.Span }

// Epilogues returns those that fuse-epilogues made in g and in the bodies of its loops, by their
// row.
func Epilogues(g *ir.Graph, found map[Epilogue]string) map[Epilogue]string {
	for i := range g.Nodes {
		n := &g.Nodes[i]
		if n.Op.Name == "map.product" {
			product := n.Region.Graph.Nodes[n.Region.Args[n.Attrs.Int("place")]].Span
			found[Epilogue{n.Span, product}] = n.Op.Name
			continue
		}
		for r := n.Region; r != nil; r = r.Next {
			Epilogues(r.Graph, found)
		}
	}
	return found
}

// Groups returns the groups of g and of the bodies of its loops. products are what Epilogues found.
func Groups(g *ir.Graph, products map[Epilogue]string) (all []Group) {
	for i := range g.Nodes {
		n, id := &g.Nodes[i], ir.ID(i)
		if n.Region != nil && n.IsChain() {
			all = append(all, groupOf(g, id, products))
			continue
		}
		if _, row := productOf(g, id, products); row != "" {
			all = append(all, groupOf(g, id, products))
		}
		if taken := takenBy(n); len(taken) > 0 {
			all = append(all, groupOfLoop(g, id, taken))
		}
		for r := n.Region; r != nil; r = r.Next {
			all = append(all, Groups(r.Graph, products)...)
		}
	}
	return all
}

// productOf returns the operand of node id that is computed as a part of it, and the row of both,
// or "".
func productOf(g *ir.Graph, id ir.ID, products map[Epilogue]string) (x ir.ID, row string) {
	for _, x := range g.In(id) {
		if g.Nodes[x].Op.Shard.Kind == op.ShardContract {
			if row := products[Epilogue{g.Nodes[id].Span, g.Nodes[x].Span}]; row != "" {
				return x, row
			}
		}
	}
	return ir.None, ""
}

func groupOf(g *ir.Graph, id ir.ID, products map[Epilogue]string) Group {
	n := &g.Nodes[id]
	f := Group{node: fmt.Sprintf("%%%d %s : %s", id, n.Op.Name, g.Type(id))}
	product, row := productOf(g, id, products)
	in := slices.Clone(g.In(id))
	if row != "" {
		f.node = fmt.Sprintf("%%%d %s : %s", id, row, g.Type(id))
		at := slices.Index(in, product)
		in = slices.Replace(in, at, at+1, g.In(product)...)
		f.operators = append(f.operators, operator{g.Nodes[product].Op.Name, g.Nodes[product].Span})
	}
	for _, in := range in {
		f.reads = append(f.reads, fmt.Sprintf("%%%d : %s", in, g.Type(in)))
	}
	if n.Region == nil {
		f.operators = append(f.operators, operator{n.Op.Name, n.Span})
		return f
	}
	body := n.Region.Graph
	for i := range body.Nodes {
		if len(body.In(ir.ID(i))) > 0 || body.Nodes[i].Op.Draw != nil {
			f.operators = append(f.operators, operator{body.Nodes[i].Op.Name, body.Nodes[i].Span})
		}
	}
	ends := strings.Fields(n.Attrs.Str("fold"))
	if len(ends) == 1 {
		f.operators = append(f.operators, operator{ends[0], n.Span})
		return f
	}
	for k, name := range ends {
		f.operators = append(f.operators, operator{name, resultOf(g, id, k)})
	}
	return f
}

// takenBy returns the constructors in a parfor's body that were outside.
func takenBy(n *ir.Node) (taken []ir.ID) {
	if n.Op.Role != op.Points {
		return nil
	}
	for i := range n.Region.Graph.Nodes {
		if n.Region.Graph.Nodes[i].Op.Draw != nil && n.Region.Graph.Nodes[i].Attrs.Bool("drawn") {
			taken = append(taken, ir.ID(i))
		}
	}
	return taken
}

// groupOfLoop returns a parfor and the nodes that were outside, in textual order.
func groupOfLoop(g *ir.Graph, id ir.ID, taken []ir.ID) Group {
	n := &g.Nodes[id]
	f := Group{node: fmt.Sprintf("%%%d %s : %s", id, n.Op.Name, g.Type(id))}
	for _, in := range g.In(id) {
		f.reads = append(f.reads, fmt.Sprintf("%%%d : %s", in, g.Type(in)))
	}
	for _, t := range taken {
		body := &n.Region.Graph.Nodes[t]
		f.operators = append(f.operators, operator{body.Op.Name, body.Span})
	}
	f.operators = append(f.operators, operator{n.Op.Name, n.Span})
	slices.SortStableFunc(f.operators, func(a, b operator) int { return int(a.at.From) - int(b.at.From) })
	return f
}

// resultOf returns where result k of node id is used.
func resultOf(g *ir.Graph, id ir.ID, k int) source.Span {
	for i := range g.Nodes {
		if n := &g.Nodes[i]; n.Op.Control == op.Part && g.In(ir.ID(i))[0] == id && n.Attrs.Int("at") == k {
			return n.Span
		}
	}
	return g.Nodes[id].Span
}

// WriteGroups writes a paragraph a group: the node, what it reads, an operator a line. It returns how
// many operators there are.
func WriteGroups(w io.Writer, groups []Group, files *source.FileSet) (operators int) {
	for _, f := range groups {
		fmt.Fprintln(w, f.node)
		for _, in := range f.reads {
			fmt.Fprintf(w, "  reads     %s\n", in)
		}
		for _, o := range f.operators {
			place, text := placeAndText(o.at, files)
			fmt.Fprintf(w, "  %-9s %-20s  %s\n", o.name, place, text)
			if o.name != "store" { // what the pass also writes to memory
				operators++
			}
		}
		fmt.Fprintln(w)
	}
	return operators
}

// placeAndText returns an operator's place, and its text cut to fit a terminal line.
func placeAndText(at source.Span, files *source.FileSet) (place, text string) {
	const most = 60
	if at.IsValid() {
		file, line, column := files.Position(at.From)
		place = fmt.Sprintf("%s:%d:%d", file, line, column)
	}
	text = strings.Join(strings.Fields(files.Text(at)), " ")
	if utf8.RuneCountInString(text) > most {
		text = string([]rune(text)[:most-2]) + ".."
	}
	return place, text
}
