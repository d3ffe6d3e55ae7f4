package ir

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// String returns the text form of g.
func (g *Graph) String() string {
	var b strings.Builder
	g.Print(&b) // a strings.Builder never fails
	return b.String()
}

// Print writes the text form, which Parse reads back to an equal graph:
//
//	scope 0 k i
//	grid 0 L[4,4] @9:10
//	call 1 cholesky @40:55 in 0
//	%0 = rand_spd() {n=8, seed=7} : f64[8,8] @12:30
//	%1 = slice(%0) {at=[0,0,4,4]} : f64[4,4] @40:50 dest 0(0,0)v0 call 1
//	%2 = map(%1) {modes=[0]} : f64[4,4] loop 0(1,2)
//	  region {
//	    %0 = arg() : f64
//	    %1 = neg(%0) : f64
//	    args %0
//	    yield %1
//	  }
//
// A node with several regions has them one after the other.
func (g *Graph) Print(w io.Writer) error {
	b := bufio.NewWriter(w)
	g.print(b, "")
	return b.Flush()
}

func (g *Graph) print(b *bufio.Writer, indent string) {
	for i, s := range g.Scopes {
		fmt.Fprintf(b, "%sscope %d %s\n", indent, i, strings.Join(s.Names, " "))
	}
	if g.texts != nil && indent == "" { // regions share the program's
		for i, t := range g.texts.list {
			fmt.Fprintf(b, "text %d %s\n", i, strconv.Quote(t))
		}
	}
	for i, gr := range g.Grids {
		place := string(gr.Place)
		if place != "" {
			place = " " + place
		}
		fmt.Fprintf(b, "%sgrid %d %s[%s]%s @%d:%d\n", indent, i, gr.Name, ints(gr.Dims), place, gr.Span.From, gr.Span.To)
	}
	for i, c := range g.Calls {
		if i > 0 {
			fmt.Fprintf(b, "%scall %d %s @%d:%d in %d\n", indent, i, c.Name, c.Span.From, c.Span.To, c.Parent)
		}
	}
	for i := range g.Nodes {
		g.printNode(b, indent, ID(i))
		for r := g.Nodes[i].Region; r != nil; r = r.Next {
			in := indent + "    "
			fmt.Fprintf(b, "%s  region {\n", indent)
			r.Graph.print(b, in)
			fmt.Fprintf(b, "%sargs %s\n%syield %s\n%s  }\n", in, ids(r.Args), in, ids(r.Yields), indent)
		}
	}
}

// Line returns one node as Print writes it, without its region.
func (g *Graph) Line(id ID) string {
	var s strings.Builder
	b := bufio.NewWriter(&s)
	g.printNode(b, "", id)
	b.Flush() // a strings.Builder never fails
	return strings.TrimSuffix(s.String(), "\n")
}

// printNode writes the line of a node, without its region.
func (g *Graph) printNode(b *bufio.Writer, indent string, id ID) {
	n := &g.Nodes[id]
	b.WriteString(indent + "%" + strconv.Itoa(int(id)) + " = " + n.Op.Name + "(")
	for i, in := range g.In(id) {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString("%" + strconv.Itoa(int(in)))
	}
	b.WriteString(")")
	if a := n.Attrs.String(); a != "" {
		b.WriteString(" " + a)
	}
	b.WriteString(" : " + g.Type(id).String())
	if n.Span.IsValid() {
		fmt.Fprintf(b, " @%d:%d", n.Span.From, n.Span.To)
	}
	if n.loop != 0 {
		_, at := g.Indices(id)
		p := make([]string, len(at))
		for i, x := range at {
			if p[i] = strconv.Itoa(int(x)); x <= firstText {
				p[i] = "#" + strconv.Itoa(firstText-int(x))
			}
		}
		fmt.Fprintf(b, " loop %d(%s)", g.ctx.from(n.loop)[0], strings.Join(p, ","))
	}
	if grid, version, at, ok := g.Dest(id); ok {
		fmt.Fprintf(b, " dest %d(%s)v%d", grid, ints(at), version)
	}
	if n.Call != 0 {
		fmt.Fprintf(b, " call %d", n.Call)
	}
	b.WriteString("\n")
}

func ints[T int | int32](l []T) string {
	p := make([]string, len(l))
	for i, x := range l {
		p[i] = strconv.Itoa(int(x))
	}
	return strings.Join(p, ",")
}

func ids(l []ID) string {
	p := make([]string, len(l))
	for i, x := range l {
		p[i] = "%" + strconv.Itoa(int(x))
	}
	return strings.Join(p, " ")
}
