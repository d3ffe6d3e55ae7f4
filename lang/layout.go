package lang

import (
	"strings"

	"github.com/alecthomas/participle/v2/lexer"

	"flow/lang/source"
)

// This file defines layout: which line ends become the ";" that ends a statement. A line end does
// not if
//
//	(a) the innermost open bracket is ( or [,
//	(b) the token before cannot end a statement: an operator, a comma, an open
//	    bracket, most keywords,
//	(c) the next line starts with |> } ) ] else until times with to as and or -> in
//
// Layout also matches brackets, because it knows where an unclosed one was opened, and inserts
// missing ones so that the grammar can continue.

// maxNesting bounds brackets and right recursion, so that no text exhausts the stack.
const maxNesting = 200

type open struct {
	tok    raw
	column int // of the first token of the bracket's statement
	deep   int // right-recursive operators since the last statement end at this level
}

func closer(o string) string {
	switch o {
	case "(":
		return ")"
	case "[":
		return "]"
	}
	return "}"
}

// endsStatement is rule (b).
func endsStatement(t lexer.Token) bool {
	switch t.Type {
	case tokOp:
		return t.Value == ")" || t.Value == "]" || t.Value == "}"
	case tokKeyword:
		return t.Value == "true" || t.Value == "false" || t.Value == "inf" || t.Value == "nan"
	}
	return true
}

// continues is rule (c).
func continues(t lexer.Token) bool {
	if t.Type != tokOp && t.Type != tokKeyword {
		return false
	}
	switch t.Value {
	case "|>", "}", ")", "]", "else", "until", "times", "with", "to", "as", "and", "or", "->", "in":
		return true
	}
	return false
}

// layout returns the tokens of s with statement ends inserted and repeated ones removed. It returns
// false if the text nests too deeply.
func (s *scanner) layout() ([]lexer.Token, bool) {
	unclosed, stray, ok := s.match()
	if !ok {
		return nil, false
	}
	out := make([]lexer.Token, 0, len(s.toks)+len(s.toks)/4)
	var stack []open
	top := open{}
	deep := 0
	put := func(t lexer.Token) {
		if t.Type == tokOp && t.Value == ";" && (len(out) == 0 || out[len(out)-1].Type == tokOp && (out[len(out)-1].Value == ";" || out[len(out)-1].Value == "{")) {
			return
		}
		out = append(out, t)
		if t.Type == tokOp && t.Value == ";" {
			deep, top.deep = deep-top.deep, 0
		}
	}
	after := 0 // where the text of the last token ends
	// closeMissing closes the unclosed brackets on top of the stack.
	closeMissing := func(braces bool) {
		for len(stack) > 0 && unclosed[top.tok.Pos.Offset] && (braces || top.tok.Value != "{") {
			p := lexer.Position{Offset: after, Line: 1, Column: 1}
			s.poison[p.Offset] = true
			put(lexer.Token{Type: tokOp, Value: closer(top.tok.Value), Pos: p})
			deep -= top.deep
			top, stack = stack[len(stack)-1], stack[:len(stack)-1]
		}
	}
	for i, t := range s.toks {
		if stray[t.Pos.Offset] {
			continue
		}
		if t.first && i > 0 {
			if len(stack) > 0 && unclosed[top.tok.Pos.Offset] && top.tok.Value != "{" && startsStatement(t, top.column) {
				closeMissing(false)
			}
			if (len(stack) == 0 || top.tok.Value == "{") && len(out) > 0 && endsStatement(out[len(out)-1]) && !continues(t.Token) {
				put(lexer.Token{Type: tokOp, Value: ";", Pos: lexer.Position{Offset: after, Line: 1, Column: 1}})
			}
		}
		if n := len(out); n == 0 || out[n-1].Type == tokOp && (out[n-1].Value == ";" || out[n-1].Value == "{") {
			top.column = t.col
		}
		if t.Type == tokOp || t.Type == tokKeyword || t.Type == tokIdent {
			switch t.Value {
			case "(", "[", "{":
				stack = append(stack, top)
				top = open{tok: t, column: top.column}
			case ")", "]", "}":
				for len(stack) > 0 && closer(top.tok.Value) != t.Value && unclosed[top.tok.Pos.Offset] {
					closeMissing(true)
				}
				if len(stack) > 0 {
					deep -= top.deep
					top, stack = stack[len(stack)-1], stack[:len(stack)-1]
				}
			case "^", "=>", "else", "chan", "sparse", "of", "->":
				deep, top.deep = deep+1, top.deep+1
			}
		}
		if len(stack)+deep > maxNesting {
			s.tooDeep(t)
			return nil, false
		}
		put(t.Token)
		after = t.stop
	}
	closeMissing(true)
	return out, true
}

// startsStatement guesses whether the token at a line's start begins a statement although a bracket
// is open. The bracket is known to be unclosed, so a wrong guess only makes a message worse.
func startsStatement(t raw, column int) bool {
	if t.Type == tokKeyword && neverInside(t.Value) {
		return true
	}
	switch t.Value {
	case ")", "]", "}", "|>", ",":
		return false
	}
	return t.col <= column
}

func (s *scanner) tooDeep(t raw) {
	s.report("E113", t.Pos.Offset, t.stop, "this is nested more than %d deep", maxNesting).Help = "bind parts of it to names"
}

// neverInside reports whether no program has this word directly inside ( or [.
func neverInside(word string) bool {
	switch word {
	case "param", "import", "type", "stage", "state", "on", "next", "iterate", "emit", "assert":
		return true
	}
	return false
}

// match pairs brackets. It returns the offsets of those never closed and of those never opened. ok
// is false if they nest too deeply.
func (s *scanner) match() (unclosed, stray map[int]bool, ok bool) {
	unclosed, stray = map[int]bool{}, map[int]bool{}
	var stack []raw
	lose := func(o raw, found *raw) {
		unclosed[o.Pos.Offset] = true
		d := s.report("E101", o.Pos.Offset, end(o.Token), "`%s` is not closed", o.Value)
		d.Label = "opened here"
		if found != nil {
			d.Notes = append(d.Notes, source.Note{Span: s.file.Span(found.Pos.Offset, end(found.Token)), Text: "`" + closer(o.Value) + "` is missing before this"})
			d.Help = "write `" + closer(o.Value) + "` where it ends"
		} else {
			d.Help = "the file ends without its `" + closer(o.Value) + "`"
		}
	}
	for _, t := range s.toks {
		for t.first && t.Type == tokKeyword && neverInside(t.Value) && len(stack) > 0 && stack[len(stack)-1].Value != "{" {
			lose(stack[len(stack)-1], &t)
			stack = stack[:len(stack)-1]
		}
		if t.Type != tokOp {
			continue
		}
		switch t.Value {
		case "(", "[", "{":
			stack = append(stack, t)
			if len(stack) > maxNesting {
				s.tooDeep(t)
				return nil, nil, false
			}
		case ")", "]", "}":
			at := len(stack) - 1
			for at >= 0 && closer(stack[at].Value) != t.Value {
				at--
			}
			if at < 0 {
				stray[t.Pos.Offset] = true
				if top := len(stack) - 1; top >= 0 && !strings.Contains(s.src[stack[top].Pos.Offset:t.Pos.Offset], "\n") {
					o := stack[top] // (1, 2]: one slip, one message
					unclosed[o.Pos.Offset] = true
					d := s.report("E101", t.Pos.Offset, end(t.Token), "`%s` does not close `%s`", t.Value, o.Value)
					d.Help = "write `" + closer(o.Value) + "`"
					d.Notes = append(d.Notes, source.Note{Span: s.file.Span(o.Pos.Offset, end(o.Token)), Text: "opened here"})
					stack = stack[:top]
					continue
				}
				s.report("E112", t.Pos.Offset, end(t.Token), "`%s` closes nothing", t.Value).Help = "remove it, or open the bracket that it should close"
				continue
			}
			for len(stack)-1 > at {
				lose(stack[len(stack)-1], &t)
				stack = stack[:len(stack)-1]
			}
			stack = stack[:at]
		}
	}
	for len(stack) > 0 {
		lose(stack[len(stack)-1], nil)
		stack = stack[:len(stack)-1]
	}
	return unclosed, stray, true
}
