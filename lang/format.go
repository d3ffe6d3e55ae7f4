package lang

import (
	"strings"
	"unicode/utf8"

	"github.com/alecthomas/participle/v2/lexer"

	"flow/lang/ast"
	"flow/lang/source"
)

// This file defines Format. It prints the tree to get the spaces, takes line ends and comments from
// the text, and indents. It keeps lines as they are, except that a block over several lines gets
// its braces on lines of their own.

// Format returns src, whose tree is f, in canonical form. It keeps comments and reduces empty lines
// to one. It is idempotent, and the result has the same tree. A text with syntax errors is returned
// unchanged.
func Format(f *ast.File, src string) []byte {
	set := source.NewFileSet()
	s := scan(set.Add("", src))
	toks, ok := s.layout()
	if !ok || len(s.diags) > 0 || hasBadStmt(f) {
		return []byte(src)
	}
	p := &printer{}
	p.stmts(f.Stmts, true)
	items, ok := merge(s, toks, p.out)
	if !ok {
		return []byte(src) // f is not the tree of src
	}
	breakBlocks(items)
	return indent(items)
}

func hasBadStmt(f *ast.File) bool {
	bad := false
	ast.Walk(f, func(n ast.Node) bool {
		if _, ok := n.(*ast.Bad); ok {
			bad = true
		}
		return !bad
	})
	return bad
}

// merge adds the line ends and comments of the text to the printed tokens. The two sequences differ
// only in ";" at the end of a block and in trailing commas.
func merge(s *scanner, toks []lexer.Token, printed []item) ([]item, bool) {
	var out []item
	last := 0 // end of the last token or comment taken
	ends := func(to int) int { return min(strings.Count(s.src[last:max(to, last)], "\n"), 2) }
	base := s.file.Base
	comments := s.comments
	flush := func(to int) {
		for len(comments) > 0 && int(comments[0].At.From-base) < to {
			c := comments[0]
			from := int(c.At.From - base)
			out = append(out, item{text: c.Text, comment: true, space: true, brk: ends(from)})
			last, comments = int(c.At.To-base), comments[1:]
		}
	}
	for i, t := range toks {
		j := item{}
		if len(printed) > 0 {
			j = printed[0]
		}
		if t.Type == tokOp && t.Value == ";" {
			if j.kind == sep {
				out = append(out, item{text: ";", kind: sep})
				printed = printed[1:]
			}
			continue // its line end is counted before the next token
		}
		flush(t.Pos.Offset)
		brk := ends(t.Pos.Offset)
		if t.Type == tokOp && t.Value == "," && j.text != "," {
			// A trailing comma stays before a line end.
			last = end(t)
			if i+1 < len(toks) && strings.Contains(s.src[last:toks[i+1].Pos.Offset], "\n") {
				out = append(out, item{text: ",", brk: brk})
			}
			continue
		}
		if j.text != t.Value {
			return nil, false
		}
		j.brk = brk
		out = append(out, j)
		last, printed = end(t), printed[1:]
	}
	flush(len(s.src) + 1)
	if len(out) > 0 {
		out[0].brk = 0
	}
	return out, len(printed) == 0
}

// breakBlocks puts the braces of a block with line ends or comments between its statements on lines
// of their own, and removes empty lines at its ends.
func breakBlocks(items []item) {
	type block struct {
		open  int
		depth int
		lines bool
	}
	var stack []block
	depth := 0
	for i := range items {
		it := &items[i]
		top := len(stack) - 1
		between := i > 0 && (items[i-1].kind == sep || items[i-1].kind == openBlock || it.kind == closeBlock || items[i-1].comment)
		if top >= 0 && depth == stack[top].depth && it.brk > 0 && (between || it.comment) {
			stack[top].lines = true
		}
		switch {
		case it.comment:
		case it.kind == openBlock:
			depth++
			stack = append(stack, block{open: i, depth: depth})
		case it.kind == closeBlock && top >= 0:
			b := stack[top]
			stack = stack[:top]
			depth--
			for k := b.open + 1; k <= i; k++ {
				if items[k].comment {
					b.lines = true
				}
			}
			if b.lines && b.open+1 < i {
				// A comment directly after the brace stays there.
				first := b.open + 1
				if items[first].comment && items[first].brk == 0 {
					first++
				}
				items[first].brk = 1
				it.brk = 1
			} else {
				items[b.open+1].brk = min(items[b.open+1].brk, 1)
			}
			if b.open+1 == i {
				it.brk, it.space = 0, false
			}
		case it.text == "(" || it.text == "[" || it.text == "{":
			depth++
		case it.text == ")" || it.text == "]" || it.text == "}":
			depth--
		}
	}
}

// frame is a level of indentation.
type frame struct {
	block bool
	line  int // indent of the line with the bracket
	col   int // column after the bracket
	hang  bool
	stmt  int // indent of the current statement's line, inside the bracket
	ifs   int // indent of the line with the last `if` inside the bracket
}

// indent formats items in lines.
func indent(items []item) []byte {
	var lines []line
	cur := strings.Builder{}
	in, col := 0, 0
	stack := []frame{{block: true, line: -2}}
	started := false // something is on the current line
	fresh := true    // the next token starts a statement
	for i := range items {
		it := items[i]
		top := &stack[len(stack)-1]
		if it.kind == sep {
			if i+1 < len(items) && items[i+1].brk == 0 && !items[i+1].comment {
				cur.WriteString(";")
				col++
			}
			fresh = true
			continue
		}
		if it.comment && it.brk == 0 && i > 0 {
			lines = append(lines, line{cur.String(), it.text, false})
			cur.Reset()
			started = false
			continue
		}
		if it.brk > 0 || !started {
			if started {
				lines = append(lines, line{cur.String(), "", false})
				cur.Reset()
			}
			if it.brk > 1 && len(lines) > 0 {
				lines = append(lines, line{"", "", true})
			}
			in = lineIndent(items[i:], stack, fresh)
			cur.WriteString(strings.Repeat(" ", in))
			col = in
		} else if it.space {
			cur.WriteByte(' ')
			col++
		}
		started = true
		if it.comment {
			lines = append(lines, line{cur.String() + it.text, "", false})
			cur.Reset()
			started = false
			continue
		}
		if fresh && it.kind != closeBlock {
			top.stmt = in
			fresh = false
		}
		cur.WriteString(it.text)
		col += utf8.RuneCountInString(it.text)
		switch it.text {
		case "if":
			top.ifs = in
		case "(", "[", "{":
			hang := i+1 < len(items) && (items[i+1].brk > 0 || items[i+1].comment)
			stack = append(stack, frame{block: it.kind == openBlock, line: in, col: col, hang: hang, stmt: in + 2})
			fresh = it.kind == openBlock
		case ")", "]", "}":
			if len(stack) > 1 {
				stack = stack[:len(stack)-1]
			}
			fresh = false
		}
	}
	if started {
		lines = append(lines, line{cur.String(), "", false})
	}
	return alignComments(lines)
}

// lineIndent returns the indent of a line that starts with items[0].
func lineIndent(items []item, stack []frame, fresh bool) int {
	top := stack[len(stack)-1]
	next := 0
	for next < len(items) && items[next].comment {
		next++
	}
	first := item{}
	if next < len(items) {
		first = items[next]
	}
	closes := first.text == ")" || first.text == "]" || first.text == "}"
	switch {
	case closes && next == 0:
		return top.line
	case top.block && (fresh || closes || next == len(items)):
		return top.line + 2
	case !top.block && top.hang:
		return top.line + 2
	case !top.block:
		return top.col
	case first.iterate:
		return top.stmt
	case first.text == "|>":
		return top.stmt + 3
	case first.text == "else":
		return top.ifs
	}
	return top.stmt + 2
}

type line struct {
	text, comment string
	blank         bool
}

// alignComments aligns the comments at the ends of adjacent lines.
func alignComments(lines []line) []byte {
	var b strings.Builder
	for i := 0; i < len(lines); {
		j, width := i, 0
		for j < len(lines) && lines[j].comment != "" {
			width = max(width, utf8.RuneCountInString(lines[j].text))
			j++
		}
		for ; i < j; i++ {
			gap := width - utf8.RuneCountInString(lines[i].text) + 2
			b.WriteString(lines[i].text + strings.Repeat(" ", gap) + lines[i].comment + "\n")
		}
		if i < len(lines) {
			b.WriteString(lines[i].text + "\n")
			i++
		}
	}
	return []byte(b.String())
}
