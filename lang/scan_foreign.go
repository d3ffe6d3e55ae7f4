package lang

import (
	"strconv"
	"strings"

	"flow/lang/source"
)

// This file recognises foreign spellings whose meaning depends on their context: a quote as the
// transpose, a dot before an operator, `!` before its operand, other number notations. The table
// `foreign` has those that mean the same everywhere.

// operand returns the text of the operand that begins at from, or "": a name or number with its
// brackets and fields, or a bracket.
func (s *scanner) operand(from int) string {
	at, depth := from, 0
	for ; at < len(s.src); at++ {
		switch c := s.src[at]; {
		case c == '\n':
			return s.src[from:at]
		case c == '(' || c == '[':
			depth++
		case c == ')' || c == ']':
			if depth--; depth < 0 {
				return s.src[from:at]
			}
		case depth == 0 && !isLetter(c) && !isDigit(c) && !(c == '.' && at+1 < len(s.src) && isLetter(s.src[at+1])):
			return s.src[from:at]
		}
	}
	return s.src[from:at]
}

// before returns the operand that ends with the last token, and its offset.
func (s *scanner) before() (text string, from int) {
	depth, from := 0, s.at
	for k := len(s.toks) - 1; k >= 0; k-- {
		t := s.toks[k]
		switch {
		case t.Type == tokOp && (t.Value == ")" || t.Value == "]"):
			depth++
		case t.Type == tokOp && (t.Value == "(" || t.Value == "["):
			if depth--; depth < 0 {
				return s.src[from:s.at], from
			}
		case depth > 0 || t.Value == ".":
		case t.Type == tokIdent || t.Type == tokInt || t.Type == tokFloat:
			if k == 0 || s.toks[k-1].Value != "." {
				return s.src[t.Pos.Offset:s.at], t.Pos.Offset
			}
		default:
			return s.src[from:s.at], from
		}
		from = t.Pos.Offset
		if depth == 0 && t.Type == tokOp && (t.Value == "[" || t.Value == "(") && (k == 0 || !s.endsOperand(k-1) || s.toks[k-1].stop != from) {
			return s.src[from:s.at], from
		}
	}
	return s.src[from:s.at], from
}

// endsOperand reports whether an operand may end with token k.
func (s *scanner) endsOperand(k int) bool { return endsStatement(s.toks[k].Token) }

// foreignSpelling reads and reports a foreign spelling. It returns false if there is none.
func (s *scanner) foreignSpelling() bool {
	from, rest := s.at, s.src[s.at:]
	adjacent := len(s.toks) > 0 && s.toks[len(s.toks)-1].stop == from && s.afterValue()
	switch {
	case strings.HasPrefix(rest, "..."):
		s.at += 3
		s.report("E110", from, s.at, "`...` is not an operator").Help = "a range that leaves its end out is `..`, one that has it `..=`"
		s.emit(tokOp, from, "..")
	case rest[0] == '\'' && adjacent:
		text, start := s.before()
		s.at++
		s.report("E110", start, s.at, "`'` is not the transpose").Help = "write `t(" + text + ")`"
	case rest[0] == '.' && s.afterValue() && len(rest) > 1 && strings.IndexByte("*/^+-(\\'", rest[1]) >= 0:
		s.at += 2
		own := rest[1:2]
		d := s.report("E110", from, s.at, "`.%s` is not an operator", own)
		d.Help = "operators go over all elements as they are: write `" + own + "`"
		switch own {
		case "(":
			d.Message, d.Help = "a function is called without a dot", "functions go over all elements as they are: write `(`"
		case "'":
			text, start := s.before()
			text = strings.TrimSuffix(text, ".'")
			d.Span, d.Message, d.Help = s.file.Span(start, s.at), "`.'` is not the transpose", "write `t("+text+")`"
			return true
		case "\\":
			own = "/"
			d.Help = "operators go over all elements as they are: write b / a"
		}
		s.emit(tokOp, from, own)
	case strings.HasPrefix(rest, "~="):
		s.other(2, "!=", "inequality is written `!=`")
	case strings.HasPrefix(rest, "<>"):
		s.other(2, "!=", "inequality is written `!=`")
	case strings.HasPrefix(rest, "<<") || strings.HasPrefix(rest, ">>"):
		s.other(2, "*", "a shift is a product or quotient with a power, `* 2 ^` n or // 2 ^ n; output is `emit e`")
	case strings.HasPrefix(rest, "%*%"):
		s.other(3, "@", "the matrix product is `@`")
	case strings.HasPrefix(rest, "%/%"):
		s.other(3, "//", "the floor of a quotient is `//`")
	case strings.HasPrefix(rest, "%%"):
		s.other(2, "%", "the remainder is `%`")
	case strings.HasPrefix(rest, "÷"):
		s.other(len("÷"), "//", "the floor of a quotient is `//`")
	case rest[0] == '\\' && strings.TrimLeft(strings.SplitN(rest[1:], "\n", 2)[0], " \t\r") == "":
		s.at++
		s.report("E110", from, s.at, "`\\` does not continue a line").Help = "a line goes on inside of brackets, and behind an operator at its end"
	case rest[0] == '\\' && s.afterValue():
		text, start := s.before()
		text = strings.TrimSpace(text)
		at := s.at + 1 + len(rest[1:]) - len(strings.TrimLeft(rest[1:], " \t"))
		right := s.operand(at)
		s.at++
		s.report("E110", start, max(s.at, at+len(right)), "`\\` is not an operator").Help = "the x with a @ x = b is solve(a, b): write `solve(" + text + ", " + right + ")`"
		s.emit(tokOp, from, "@")
	case rest[0] == '!' && adjacent && strings.HasPrefix(rest, "!("):
		s.at++
		s.report("E110", from, s.at, "names have letters, digits and _").Help = "nothing is changed in place: a function gives a new value, as rbind(x, [v]) does"
	case (rest[0] == '!' || rest[0] == '~') && !strings.HasPrefix(rest, "!="):
		word := s.operand(s.at + 1)
		s.at++
		d := s.report("E110", from, s.at+len(word), "`%s` is not an operator", rest[:1])
		d.Help = "negation is written `not " + word + "`"
		s.emit(tokKeyword, from, "not")
	case rest[0] == '?':
		s.at++
		d := s.report("E110", from, s.at, "`?` is not an operator")
		d.Help = "a choice is written `if c { a } else { b }`"
		s.choice(d, from)
	case rest[0] == '$' && len(rest) > 1 && (isLetter(rest[1]) || isDigit(rest[1])):
		word := s.operand(s.at + 1)
		s.at += 1 + len(word)
		d := s.report("E110", from, s.at, "`$` is not part of a name")
		d.Help = "write `" + word + "`; what the command line gives is declared above: param " + word + " = .."
		if isDigit(rest[1]) {
			d.Help = "write `" + word + "`: numbers have no unit of money"
		} else if adjacent {
			d.Help = "columns have no names: write `[:, j]` for column j"
		}
		s.emit(tokIdent, from, word)
	default:
		return false
	}
	return true
}

// other reports a foreign operator of n bytes that means an operator of Flow.
func (s *scanner) other(n int, meant, help string) {
	from := s.at
	s.at += n
	s.report("E110", from, s.at, "`%s` is not an operator", s.src[from:s.at]).Help = help
	s.emit(tokOp, from, meant)
}

// choice completes the diagnostic of `c ? a : b` on one line: its start and its Flow form.
func (s *scanner) choice(d *source.Diagnostic, question int) {
	start := question
	depth := 0
scan:
	for k := len(s.toks) - 1; k >= 0; k-- {
		t := s.toks[k]
		if t.Type == tokOp || t.Type == tokKeyword {
			switch t.Value {
			case ")", "]", "}":
				depth++
			case "(", "[", "{":
				depth--
			}
			if depth < 0 || depth == 0 && (t.Value == "=" || t.Value == "emit" || t.Value == "," || t.Value == ";") {
				break scan
			}
		}
		start = t.Pos.Offset
		if t.first {
			break
		}
	}
	// The choice ends with its line, or before the comma or bracket that ends the expression around it.
	stop, colon := len(s.src), -1
	depth = 0
	for k := s.at; k < stop; k++ {
		switch c := s.src[k]; {
		case strings.IndexByte("([{", c) >= 0:
			depth++
		case strings.IndexByte(")]}", c) >= 0:
			depth--
		case c == ':' && depth == 0 && colon < 0:
			colon = k
		}
		if depth < 0 || depth == 0 && s.src[k] == ',' || strings.IndexByte("\n;#", s.src[k]) >= 0 {
			stop = k
		}
	}
	if colon < 0 || depth > 0 {
		return
	}
	stop = s.at + len(strings.TrimRight(s.src[s.at:stop], " \t\r"))
	d.Span = s.file.Span(start, stop)
	d.Help = "write `if " + strings.TrimSpace(s.src[start:question]) + " { " + strings.TrimSpace(s.src[s.at:colon]) + " } else { " + strings.TrimSpace(s.src[colon+1:stop]) + " }`"
	s.at = stop
}

// otherNumber returns help for a number in a foreign notation, or "".
func otherNumber(text, digits, suffix string) string {
	low := strings.ToLower(text)
	if strings.HasPrefix(low, "0x") || strings.HasPrefix(low, "0b") || strings.HasPrefix(low, "0o") {
		if n, err := strconv.ParseInt(low, 0, 64); err == nil {
			return "numbers are written in decimal: write `" + strconv.FormatInt(n, 10) + "`"
		}
		return "numbers are written in decimal"
	}
	switch strings.ToLower(suffix) {
	case "f":
		return "write `f32(" + digits + ")`"
	case "l", "ll", "u", "ul":
		return "write `" + digits + "`: an integer has 64 bits"
	case "j", "i":
		return "complex numbers are not built yet: a pair of real ones takes their place"
	case "st", "nd", "rd", "th":
		return "a name starts with a letter or _: write `_" + text + "`"
	}
	if isLetter(suffix[0]) {
		return "a product is written with a sign: `" + digits + " * " + suffix + "`; the units of time are ns us ms s m h d"
	}
	return ""
}
