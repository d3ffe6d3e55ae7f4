package flow

import (
	"fmt"
	"strings"

	"flow/ir"
	"flow/ir/op"
	"flow/lang/source"
)

// This file names tasks by the user's statements.

// mostStatement is the most characters of a statement in a name.
const mostStatement = 60

// statement returns the statement of node id of the plan and its line, `A = t(X) @ X (line 4)`. A
// node of the library has the statement of the user's call and the kernel, which distinguishes its
// tasks; so have nodes in a loop.
func (p *Program) statement(id ir.ID, kernel string) string {
	g := p.made.Plan.Graph
	n := &g.Nodes[id]
	at := n.Span
	inLibrary := func(s source.Span) bool {
		f := p.made.Files.File(s.From)
		return f == nil || f.Library
	}
	told := kernel != "" && (inLibrary(at) || n.Op.Control != op.NoControl)
	for call := n.Call; call > 0 && inLibrary(at); call = g.Calls[call].Parent {
		at = g.Calls[call].Span
	}
	f := p.made.Files.File(at.From)
	if f == nil {
		return n.Op.Source()
	}
	text, _, block := strings.Cut(statementAround(f.Text, f.Offset(at.From), f.Offset(at.To)), "{")
	if block {
		text += "{ .. }"
	}
	if r := []rune(text); len(r) > mostStatement {
		text = string(r[:mostStatement]) + ".."
	}
	_, line, _ := p.made.Files.Position(at.From)
	name := fmt.Sprintf("%s (line %d)", text, line)
	if told {
		name += ": " + kernel
	}
	return name
}

// statementAround returns the statement around the bytes from..to-1 of text, on one line: from the
// preceding line end, semicolon or brace to the next one.
func statementAround(text string, from, to int) string {
	begin := strings.LastIndexAny(text[:from], "\n;{") + 1
	end := to
	for depth := 0; end < len(text); end++ {
		switch text[end] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		}
		if depth < 0 && text[end] == '}' || depth <= 0 && strings.IndexByte("\n;#", text[end]) >= 0 {
			break
		}
	}
	return strings.Join(strings.Fields(text[begin:end]), " ")
}
