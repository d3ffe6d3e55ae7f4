package lang

import (
	"cmp"
	"fmt"
	"strings"

	"flow/lang/source"
)

// This file recognises ranges, comprehensions, matrices, loops and branches of other languages.

// rangeText rewrites tokens a to b as a Flow range: range(n), 1:n, 1:s:n, seq_len(n). It returns
// other texts unchanged.
func (s scene) rangeText(a, b int) string {
	if s.isWord(a, "range", "xrange", "seq_len") && s.is(a+1, "(") && s.match(a+1) == b-1 {
		args := s.split(a+2, b-1, ",")
		at := func(i int) string { return s.text(args[i][0], args[i][1]) }
		switch {
		case s.isWord(a, "seq_len"):
			return "1..=" + at(0)
		case len(args) == 1 && s.findOp(args[0][0], args[0][1], "..", "..=") < args[0][1]:
			return at(0)
		case len(args) == 1:
			return "0.." + at(0)
		case len(args) == 2:
			return at(0) + ".." + at(1)
		case len(args) == 3 && !s.is(args[2][0], "-"):
			return at(0) + ".." + at(1) + " by " + at(2)
		}
	}
	switch parts := s.split(a, b, ":"); len(parts) {
	case 2:
		return s.text(parts[0][0], parts[0][1]) + "..=" + s.text(parts[1][0], parts[1][1])
	case 3:
		if !s.is(parts[1][0], "-") {
			return s.text(parts[0][0], parts[0][1]) + "..=" + s.text(parts[2][0], parts[2][1]) + " by " + s.text(parts[1][0], parts[1][1])
		}
	}
	return s.text(a, b)
}

// explainComprehension recognises [e for i in r].
func explainComprehension(s scene) (source.Diagnostic, bool) {
	if !isOp(s.found, "for") || s.i == s.from || !endsStatement(s.prev) {
		return source.Diagnostic{}, false
	}
	open := s.i - 1
	for depth := 0; open >= s.from; open-- {
		if isOp(s.toks[open], ")", "]", "}") {
			depth++
		} else if isOp(s.toks[open], "(", "[", "{") {
			if depth--; depth < 0 {
				break
			}
		}
	}
	if open < s.from || !isOp(s.toks[open], "[", "(") {
		return source.Diagnostic{}, false
	}
	close := s.match(open)
	in := s.findOp(s.i, close, "in", "=")
	if close >= len(s.toks) || in >= close {
		return source.Diagnostic{}, false
	}
	stop := s.findOp(in, close, "if")
	text := fmt.Sprintf("[for %s in %s => %s]", s.text(s.i+1, in), s.rangeText(in+1, stop), s.text(open+1, s.i))
	if s.is(open, "(") {
		text = fmt.Sprintf("(for %s in %s => %s)", s.text(s.i+1, in), s.rangeText(in+1, stop), s.text(open+1, s.i))
	}
	return s.rewritten(open, close, text, "the list of values begins with its range"), true
}

// subscript reports whether the bracket at k is a subscript: it directly follows an operand.
func (s scene) subscript(k int) bool {
	return k > s.from && s.is(k, "[") && endsStatement(s.toks[k-1]) && end(s.toks[k-1]) == s.toks[k].Pos.Offset
}

// explainSlice recognises a slice with colons (x[a:b], x[a:], x[:b], x[::2]) and an empty subscript
// (x[0:2, ]). In an argument of a call the unexpected token is the bracket itself.
func explainSlice(s scene) (source.Diagnostic, bool) {
	open := min(s.i, len(s.toks)-1)
	for ; open >= s.from && !(isOp(s.toks[open], "[") && s.match(open) >= s.i); open-- {
	}
	if open < s.from || !s.subscript(open) || s.match(open) >= len(s.toks) || typeNames[s.toks[open-1].Value] != "" {
		return source.Diagnostic{}, false
	}
	close := s.match(open)
	var subs []string
	back := ""
	parts := s.split(open+1, close, ",")
	for _, p := range parts {
		c := s.split(p[0], p[1], ":")
		at := func(i int) string { return s.text(c[i][0], c[i][1]) }
		switch {
		case p[0] == p[1] || len(c) == 2 && at(0)+at(1) == "":
			subs = append(subs, ":")
		case len(c) == 1 && strings.HasPrefix(at(0), ".."):
			subs = append(subs, "0"+at(0))
		case len(c) == 1:
			subs = append(subs, at(0))
		case len(c) == 2 && at(0) == "":
			subs = append(subs, "0.."+at(1))
		case len(c) == 2 && strings.Contains(at(0), ".."):
			subs = append(subs, at(0)+" by "+at(1))
		case len(c) == 2:
			subs = append(subs, at(0)+".."+at(1))
		case strings.HasPrefix(at(2), "-"):
			back = at(0) + at(1) + at(2)
			subs = append(subs, cmp.Or(at(0), "-1")+".."+at(1)+" by "+at(2))
		default:
			subs = append(subs, cmp.Or(at(0), "0")+".."+at(1)+" by "+at(2))
		}
	}
	base := s.toks[open-1].Value
	switch text := "[" + strings.Join(subs, ", ") + "]"; {
	case text == s.text(open, close+1):
		return source.Diagnostic{}, false
	case back == "-1" && len(subs) == 1 && s.isIdent(open-1):
		return s.rewritten(open-1, close, "reverse("+base+")", "a range is written a..b, and its step with `by`"), true
	case strings.Contains(text, " by "):
		return s.rewritten(open, close, text, "a range of rows or columns is written a..b, and its step with `by`"), true
	default:
		return s.rewritten(open, close, text, "a range of rows or columns is written a..b, b left out"), true
	}
}

// explainMatrix recognises a matrix with semicolons between rows or blanks between elements: [1 2;
// 3 4].
func explainMatrix(s scene) (source.Diagnostic, bool) {
	open := s.i - 1
	for ; open >= s.from && !(isOp(s.toks[open], "[") && s.match(open) >= s.i); open-- {
	}
	if open < s.from || s.depth() == 0 {
		return source.Diagnostic{}, false
	}
	close := s.match(open)
	if close >= len(s.toks) || s.subscript(open) {
		return source.Diagnostic{}, false // x[1 2] is a subscript
	}
	var rows [][]string
	commas, gaps := false, false
	for _, r := range s.split(open+1, close, ";") {
		var row []string
		for _, c := range s.split(r[0], r[1], ",") {
			commas = commas || c[1] < r[1]
			parts := s.words(c[0], c[1])
			gaps = gaps || len(parts) > 1
			row = append(row, parts...)
		}
		if len(row) > 0 {
			rows = append(rows, row)
		}
	}
	if len(rows) == 0 || len(rows) == 1 && !gaps {
		return source.Diagnostic{}, false
	}
	var lists []string
	for _, r := range rows {
		lists = append(lists, "["+strings.Join(r, ", ")+"]")
	}
	if len(rows) > 1 {
		return s.rewritten(open, close, "["+strings.Join(lists, ", ")+"]", "a matrix is a list of its rows"), true
	}
	d := s.rewritten(open, close, lists[0], "a comma is missing between two elements")
	if !commas {
		d.Help += fmt.Sprintf(" for a column, `[%s]` for a row", lists[0])
	}
	return d, true
}

// words splits tokens a to b between adjacent operands.
func (s scene) words(a, b int) []string {
	var out []string
	depth, from := 0, a
	for k := a; k < b; k++ {
		t := s.toks[k]
		starts := t.Type == tokIdent || t.Type == tokInt || t.Type == tokFloat || t.Type == tokString || isOp(t, "(", "[") ||
			isOp(t, "-") && k+1 < b && end(t) == s.toks[k+1].Pos.Offset
		gap := k > from && end(s.toks[k-1]) < t.Pos.Offset
		if depth == 0 && gap && starts && endsStatement(s.toks[k-1]) {
			out, from = append(out, s.text(from, k)), k
		}
		switch {
		case isOp(t, "(", "[", "{"):
			depth++
		case isOp(t, ")", "]", "}"):
			depth--
		}
	}
	if from < b {
		out = append(out, s.text(from, b))
	}
	return out
}

// head returns the end of the loop or branch head at token k (a brace, or the end of its line), and
// whether it is a brace.
func (s scene) head(k int) (stop int, brace bool) {
	line := s.lineEnd(k)
	if s.is(k+1, "(") { // for (..; ..; ..)
		line = max(line, min(s.lineEnd(s.match(k+1)), len(s.toks)))
	}
	if b := s.findOp(k+1, line, "{"); b < line {
		return b, true
	}
	return line, false
}

// explainForHead recognises for i in range(n):, for i = 1:n, for (i in 1:n) {, for (int i = 0; i <
// n; i++) {.
func explainForHead(s scene) (source.Diagnostic, bool) {
	k := s.from
	for ; k <= s.i && k < len(s.toks) && !s.is(k, "for", "parfor"); k++ {
	}
	if k > s.i || k >= len(s.toks) || k > s.from && !s.is(k-1, "=", "emit", ";", "{") {
		return source.Diagnostic{}, false
	}
	stop, brace := s.head(k)
	if s.i > stop && brace {
		return source.Diagnostic{}, false
	}
	a, b := k+1, stop
	if b > a && s.is(b-1, ":") {
		b--
	}
	if s.is(a, "(") && s.match(a) == b-1 {
		a, b = a+1, b-1
	}
	if s.isIdent(a) && s.isIdent(a+1) { // int i
		a++
	}
	if stop < a+2 || !s.isIdent(a) || !s.is(a+1, "in", "=") { // the name may be on the next line
		return source.Diagnostic{}, false
	}
	span := s.rangeText(a+2, b)
	if parts := s.split(a+2, b, ";"); len(parts) == 3 && s.is(parts[1][0]+1, "<", "<=") {
		dots := map[string]string{"<": "..", "<=": "..="}[s.toks[parts[1][0]+1].Value]
		span = s.text(parts[0][0], parts[0][1]) + dots + s.text(parts[1][0]+2, parts[1][1])
	}
	text := s.toks[a].Value + " in " + span
	if text == s.text(k+1, stop) {
		return source.Diagnostic{}, false
	}
	d := s.rewritten(k+1, stop-1, text, "the head of a loop is `%s i in a..b {`", s.toks[k].Value)
	if !brace {
		d = s.rewritten(k+1, stop-1, text+" {", "the head of a loop is `%s i in a..b {`", s.toks[k].Value)
		d.Help += ", and `}` after the body"
	}
	return d, true
}

// explainIfHead recognises if c:, if c without a brace, elif, elsif, and a body on the next line.
func explainIfHead(s scene) (source.Diagnostic, bool) {
	if s.i < len(s.toks) && s.isWord(s.i, "elif", "elsif", "elseif") {
		return s.rewritten(s.i, s.i, "else if", "a choice goes on with `else if`"), true
	}
	k := s.from
	if !s.is(k, "if") {
		return source.Diagnostic{}, false
	}
	stop, brace := s.head(k)
	if brace || s.i > stop || stop < k+2 {
		return source.Diagnostic{}, false
	}
	b := stop
	if s.is(b-1, ":") {
		b--
	}
	if s.is(k+1, "(") && s.match(k+1)+1 < b { // if (c) statement
		close := s.match(k + 1)
		return s.rewritten(close+1, stop-1, "{ "+s.text(close+1, stop)+" }", "the body of `if` is in braces"), true
	}
	d := s.rewritten(k, stop-1, s.text(k, b)+" {", "the body of `if` is in braces")
	d.Help += ", and `}` after the body"
	return d, true
}

// explainChoice recognises a if c else b.
func explainChoice(s scene) (source.Diagnostic, bool) {
	if !isOp(s.found, "if") || s.i == s.from || !endsStatement(s.prev) {
		return source.Diagnostic{}, false
	}
	start := s.i
	for depth := 0; start > s.from; start-- {
		t := s.toks[start-1]
		if isOp(t, ")", "]", "}") {
			depth++
		} else if isOp(t, "(", "[", "{") {
			if depth--; depth < 0 {
				break
			}
		} else if depth == 0 && isOp(t, "=", "emit", ",", "=>", "<-", ";") {
			break
		}
	}
	other := s.findOp(s.i+1, len(s.toks), "else")
	if other >= len(s.toks) {
		return source.Diagnostic{}, false
	}
	stop := min(s.findOp(other+1, len(s.toks), ",", ")", "]", ";"), s.lineEnd(other))
	if stop <= other+1 {
		return source.Diagnostic{}, false
	}
	text := fmt.Sprintf("if %s { %s } else { %s }", s.text(s.i+1, other), s.text(start, s.i), s.text(other+1, stop))
	return s.rewritten(start, stop-1, text, "a choice begins with its condition"), true
}
