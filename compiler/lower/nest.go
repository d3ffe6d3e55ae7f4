package lower

import (
	"fmt"
	"strconv"
	"strings"

	"flow/ir"
	"flow/lang/ast"
)

// This file keeps the loop context of what is elaborated: the values of all loop indices, which
// failures print.

// nestKey names the scope of a loop's indices: the loop, and the scope of the loops around it.
type nestKey struct {
	outer int
	loop  ast.Node
}

// nestOf is the scope number of a loop: the indices of the loops around it, then its own. It is
// made once.
func (l *lowerer) nestOf(loop ast.Node, ranges []ast.Range) int {
	key := nestKey{l.nest, loop}
	nest, ok := l.nests[key]
	if !ok {
		var names []string
		if l.nest >= 0 {
			names = append(names, l.g.Scopes[l.nest].Names...)
		}
		for _, r := range ranges {
			names = append(names, r.Name.Name)
		}
		nest = len(l.g.Scopes)
		l.g.Scopes = append(l.g.Scopes, ir.Scope{Names: names})
		l.nests[key] = nest
	}
	return nest
}

// rounds elaborates body once for every point of the ranges of a loop. The indices are bound in a
// scope of their own, which is the current one while body runs. Nodes that body makes and failures
// in it carry the values of the indices.
func (l *lowerer) rounds(loop ast.Node, ranges []ast.Range, body func()) {
	nest := -1
	outerScope, outerLoop, outerNest, outerAt := l.scope, l.loop, l.nest, l.loopAt
	base := len(outerAt)
	at := append(append(make([]int, 0, base+len(ranges)), outerAt...), make([]int, len(ranges))...)
	head := &scope{parent: outerScope}
	l.scope, l.loopAt = head, at
	l.ranges(ranges, head, func(depth, x int, v val) { at[base+depth] = l.indexOf(v, ranges[depth], x) }, func() {
		if nest < 0 {
			nest = l.nestOf(loop, ranges)
		}
		l.nest = nest
		nodes := l.g.Len()
		l.loop = l.g.Loop(nest, at)
		body()
		if l.g.Len() == nodes {
			l.g.DropLoop(l.loop) // a round that does nothing takes no memory
		}
		l.scope, l.loopAt, l.nest = head, at, outerNest
	})
	l.scope, l.loop, l.nest, l.loopAt = outerScope, outerLoop, outerNest, outerAt
}

// mostIndexText is the most characters of an index's value in a failure.
const mostIndexText = 60

// indexOf is what a loop context holds for an index of range r whose value is v. A value that only
// the run knows is told by the text of the list's element, or by its position.
func (l *lowerer) indexOf(v val, r ast.Range, position int) int {
	if v.isInt() && ir.SmallIndex(v.s.I) {
		return int(v.s.I)
	}
	text := l.written(v)
	if elems, is := r.Lo.(*ast.List); text == "" && is && position < len(elems.Elems) {
		if _, comp := elems.Elems[position].(*ast.Comp); !comp {
			text = strings.Join(strings.Fields(l.in.Files.Text(elems.Elems[position].Span())), " ")
		}
	}
	if text == "" {
		text = fmt.Sprintf("element %d of the list", position)
	}
	if s := []rune(text); len(s) > mostIndexText {
		text = string(s[:mostIndexText]) + ".."
	}
	return l.g.TextIndex(text)
}

// written is v as a program would write it; "" for what only the run knows.
func (l *lowerer) written(v val) string {
	switch v.kind {
	case konst:
		if v.isStr() {
			return strconv.Quote(v.s.S)
		}
		return v.s.String()
	case function:
		return v.fn.name
	case array:
		return v.grid.name
	case list, tuple:
		parts := make([]string, len(v.elems))
		for i, x := range v.elems {
			if parts[i] = l.written(x); parts[i] == "" {
				return ""
			}
		}
		if v.kind == tuple {
			return "(" + strings.Join(parts, ", ") + ")"
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return ""
}

// indices is the loop indices in force as a failure tells them, ` (at i = 1, s = "a")`; "" outside
// of loops.
func (l *lowerer) indices() string {
	if l.nest < 0 || len(l.loopAt) == 0 {
		return ""
	}
	var at []string
	for i, n := range l.g.Scopes[l.nest].Names {
		at = append(at, n+" = "+l.g.IndexText(l.loopAt[i]))
	}
	return " (at " + strings.Join(at, ", ") + ")"
}
