package lower

import (
	"fmt"
	"strconv"
	"strings"

	"flow/ir"
	"flow/lang/ast"
)

// This file keeps the loop context of elaboration: the values of all loop indices, which failures
// print.

// nestKey names the scope of a loop's indices: the loop, and the enclosing scope.
type nestKey struct {
	outer int
	loop  ast.Node
}

// nestOf returns the scope number of a loop: the enclosing indices, then its own. It is made once.
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

// mostIndexText is the most characters of an index value in a failure.
const mostIndexText = 60

// indexOf returns the loop-context entry of an index of range r with value v. A value that only the
// run knows is shown by the text of the list element, or by its position.
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

// written returns v as a program would write it, "" if only the run knows it.
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

// indices returns the current loop indices as a failure prints them, ` (at i = 1, s = "a")`, or "".
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
