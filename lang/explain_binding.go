package lang

import (
	"fmt"
	"slices"
	"strings"

	"flow/lang/source"
)

// This file recognises mistakes in numbers, types, conversions and binding targets, and misspelt
// words.

// explainNumbers recognises a decimal comma (3,5), commas between groups of digits, and a range as
// a value (1:10).
func explainNumbers(s scene) (source.Diagnostic, bool) {
	k := s.i
	if k-1 < s.from || k+1 >= len(s.toks) {
		return source.Diagnostic{}, false
	}
	a, b := s.toks[k-1], s.toks[k+1]
	if a.Type != tokInt || b.Type != tokInt {
		return source.Diagnostic{}, false
	}
	switch {
	case s.is(k, ",") && s.depth() == 0 && end(a) == s.toks[k].Pos.Offset && end(s.toks[k]) == b.Pos.Offset && s.is(k-2, "=", "emit"):
		if len(b.Value) == 3 {
			d := s.rewritten(k-1, k+1, a.Value+"_"+b.Value, "a comma does not divide the digits of a number")
			d.Help += fmt.Sprintf(", or `%s.%s` for a fraction", a.Value, b.Value)
			return d, true
		}
		return s.rewritten(k-1, k+1, a.Value+"."+b.Value, "a fraction is written with a dot"), true
	case s.is(k, ":") && s.depth() == s.depthOf("("):
		last := 0
		if _, err := fmt.Sscan(strings.ReplaceAll(b.Value, "_", ""), &last); err != nil {
			return source.Diagnostic{}, false
		}
		d := s.rewritten(k-1, k+1, fmt.Sprintf("seq(%s, %d)", a.Value, last+1), "`:` makes no range")
		d.Help += fmt.Sprintf(" for a column of these numbers, and `%s..=%s` for the range of a loop", a.Value, b.Value)
		return d, true
	}
	return source.Diagnostic{}, false
}

// explainRange recognises a range as a value: x = 0..10, sum(0..10), (0..10) * 2.
func explainRange(s scene) (source.Diagnostic, bool) {
	if !isOp(s.found, "..", "..=") || s.i == s.from {
		return source.Diagnostic{}, false
	}
	first, depth := s.i, 0
	for ; first > s.from; first-- {
		t := s.toks[first-1]
		if isOp(t, ")", "]", "}") {
			depth++
		} else if isOp(t, "(", "[", "{") {
			depth--
		}
		if depth < 0 || depth == 0 && isOp(t, ",", "=", "emit", "==", "!=", "<", "<=", ">", ">=") {
			break
		}
	}
	if first == s.from || first == s.i || !s.is(first-1, "(", "[", ",", "=", "emit") || s.is(first-1, "[") && s.isIdent(first-2) && !s.lineBreak(first-2) {
		return source.Diagnostic{}, false
	}
	if last := s.match(first - 1); s.is(first-1, "(", "[") && s.is(first-2, "in") && last < len(s.toks) {
		return s.rewritten(first-1, last, s.text(first, last), "the range of a loop stands without brackets"), true
	}
	limit := s.lineEnd(s.i)
	if s.depth() > 0 {
		limit = len(s.toks)
	}
	to := s.findOp(s.i+1, limit, ",", ")", "]", "as")
	end, step := to, ""
	for k := s.i + 1; k < to; k++ {
		if s.isWord(k, "by") {
			end, step = k, ", "+s.text(k+1, to)
		}
	}
	if end == s.i+1 {
		return source.Diagnostic{}, false
	}
	text := "seq(" + s.text(first, s.i) + ", " + s.text(s.i+1, end)
	if isOp(s.found, "..=") {
		text += " + 1"
	}
	from, last := first, to-1
	if s.is(first-1, "[") && s.is(to, "]") {
		from, last = first-1, to
	}
	d := s.rewritten(from, last, text+step+")", "a range is no value")
	d.Help += " for a column of these numbers; ranges stand in loops and subscripts"
	return d, true
}

// depthOf counts the brackets of one kind that are open before the unexpected token.
func (s scene) depthOf(open string) int {
	n := 0
	for _, t := range s.toks[s.from:s.i] {
		if isOp(t, open) {
			n++
		} else if isOp(t, closer(open)) {
			n--
		}
	}
	return n
}

// typeNames maps element types of other languages to those of Flow.
var typeNames = map[string]string{"int": "i64", "long": "i64", "int64": "i64", "size_t": "i64", "integer": "i64", "Int": "i64", "Int64": "i64", "double": "f64", "float": "f64",
	"float64": "f64", "Float64": "f64", "Float32": "f32", "float32": "f32", "real": "f64", "bool": "bool", "boolean": "bool", "Bool": "bool", "string": "str", "String": "str",
	"char": "str", "str": "str", "f64": "f64", "f32": "f32", "i64": "i64"}

// explainDeclaration recognises a type before or after a name (int n = 3, x::Float64 = 3, fn f(i64
// n)) and a cast ((int) x).
func explainDeclaration(s scene) (source.Diagnostic, bool) {
	k := s.i
	if k >= len(s.toks) {
		return source.Diagnostic{}, false
	}
	switch {
	case s.isIdent(k-1) && s.isIdent(k) && typeNames[s.toks[k-1].Value] != "" && k-1 == s.from && s.is(k+1, "("):
		return source.Errorf("E100", s.span(k-1, k), "`%s` declares nothing", s.toks[k-1].Value).
			WithHelp("a function is declared by `fn %s(..)`, then `= value` or a body in braces; a program needs none", s.toks[k].Value), true
	case s.isIdent(k-1) && s.isIdent(k) && typeNames[s.toks[k-1].Value] != "" && (k-1 == s.from || s.is(k-2, "(", ",")):
		return s.rewritten(k-1, k, s.toks[k].Value+": "+typeNames[s.toks[k-1].Value], "the type stands after the name"), true
	case s.is(k, ":") && s.is(k-1, ":") && s.isIdent(k-2) && s.isIdent(k+1):
		name := s.toks[k+1].Value
		if own := typeNames[name]; own != "" {
			name = own
		}
		return s.rewritten(k-2, k+1, s.toks[k-2].Value+": "+name, "the type stands after one colon"), true
	case s.is(k-1, ")") && s.isIdent(k-2) && s.is(k-3, "(") && typeNames[s.toks[k-2].Value] != "" && !s.lineBreak(k-1):
		if to := s.findOp(k, s.lineEnd(k), "+", "-", "*", "/", ",", ")", "]", ";", "<", ">", "==", "=", "{", "and", "or"); to > k {
			return s.rewritten(k-3, to-1, typeNames[s.toks[k-2].Value]+"("+s.text(k, to)+")", "a value is converted by a call"), true
		}
	}
	return source.Diagnostic{}, false
}

// explainTarget recognises a binding target that is no name: [q, r] = .., x[0, 0] = ..,
// learning-rate = .., my.name = ..; a = b = 3.
func explainTarget(s scene) (source.Diagnostic, bool) {
	if !isOp(s.found, "=") || s.depth() > 0 || s.i == s.from || s.is(s.from, "fn", "emit", "if", "for", "param") {
		return source.Diagnostic{}, false
	}
	first, last := s.toks[s.from], s.i-1
	d := source.Errorf("E103", s.span(s.from, last), "`=` binds a name, and what is left of it is no name")
	names := true
	for k := s.from; k <= last; k++ {
		names = names && (s.isIdent(k) == ((k-s.from)%2 == 0)) && (s.isIdent(k) || s.is(k, "-", "."))
	}
	switch {
	case s.is(s.from, "[", "(") && s.match(s.from) == last && s.split(s.from+1, last, ",")[0][0] < last:
		return d.WithHelp("write `%s`: the parts of a tuple are bound without brackets", s.text(s.from+1, last)), true
	case names && last > s.from:
		return d.WithHelp("write `%s`: a name has letters, digits and _", strings.NewReplacer("-", "_", ".", "_", " ", "").Replace(s.text(s.from, last+1))), true
	case isOp(s.toks[last], "]") && first.Type == tokIdent:
		d.Span = s.at(s.found)
		return d.WithHelp("a matrix is not changed: bind a new one, as with ifelse(where, new, %s); to send to an array of channels write `%s <- ..`",
			first.Value, s.text(s.from, last+1)), true
	case s.is(s.from+1, "=") && last == s.from+2 && s.isIdent(s.from) && s.isIdent(last):
		d.Message, d.Span = "`=` binds one name", s.span(s.from, s.i)
		return d.WithHelp("write `%s = ..` and below it `%s = %s`", s.toks[last].Value, first.Value, s.toks[last].Value), true
	}
	return source.Diagnostic{}, false
}

// explainConversion recognises a conversion with as: 3 as f64, as.f64(3).
func explainConversion(s scene) (source.Diagnostic, bool) {
	k := s.i
	switch {
	case s.is(k, "as") && s.isIdent(k+1) && k > s.from && endsStatement(s.prev) && typeNames[s.toks[k+1].Value] != "":
		start := s.operandStart(k)
		return s.rewritten(start, k+1, typeNames[s.toks[k+1].Value]+"("+s.text(start, k)+")", "a value is converted by a call"), true
	case s.is(k, "as") && s.is(k+1, ".") && s.isIdent(k+2):
		name := s.toks[k+2].Value
		if own := map[string]string{"numeric": "f64", "double": "f64", "integer": "i64", "logical": "bool", "character": "str", "matrix": ""}[name]; own != "" {
			name = own
		} else if own := typeNames[name]; own != "" {
			name = own
		} else if s.is(k+3, ".") || name == "matrix" || name == "vector" {
			return source.Diagnostic{}, false
		}
		return s.rewritten(k, k+2, name, "a value is converted by a call"), true
	}
	return source.Diagnostic{}, false
}

// explainRounds recognises an iterate without an end condition, or with `while`.
func explainRounds(s scene) (source.Diagnostic, bool) {
	if !s.is(s.from, "iterate") {
		return source.Diagnostic{}, false
	}
	switch stop := s.findOp(s.i, len(s.toks), "{"); {
	case s.isWord(s.i, "while") && stop < len(s.toks):
		return s.rewritten(s.i, stop-1, "until "+s.negated(s.i+1, stop), "an iterate ends with `until` or `times`"), true
	case isOp(s.found, "{") && s.findOp(s.from, s.i, "until", "times") == s.i:
		return source.Errorf("E100", s.at(s.found), "the iterate does not say when it ends").
			WithHelp("before the body stands `until condition`, or `times n` for n rounds"), true
	}
	return source.Diagnostic{}, false
}

// explainHint recognises hints where nothing takes them, such as before the end of an iterate or
// behind a binding.
func explainHint(s scene) (source.Diagnostic, bool) {
	if !isOp(s.found, "with") || !s.is(s.i+1, "(") {
		return source.Diagnostic{}, false
	}
	last := min(s.match(s.i+1), len(s.toks)-1)
	if stop := s.findOp(last+1, len(s.toks), "{"); s.is(s.from, "iterate") && s.is(last+1, "until", "times") && stop < len(s.toks) {
		return s.rewritten(s.i, stop-1, s.text(last+1, stop)+" "+s.text(s.i, last+1), "hints of an iterate stand behind its end"), true
	}
	return source.Errorf("E100", s.span(s.i, last), "nothing here takes hints").
		WithHelp("they stand behind the head of a parfor or an iterate, and behind the declaration of a channel array; " +
			"where other values lie is chosen from costs, as flowrun plan --ranks N shows"), true
}

// explainNextPlace recognises a place of a carried matrix as what next gives: next y[i, :] = 0.
func explainNextPlace(s scene) (source.Diagnostic, bool) {
	if !isOp(s.found, "[") || !s.isIdent(s.i-1) || !s.is(s.i-2, "next") {
		return source.Diagnostic{}, false
	}
	name, to := s.prev.Value, s.match(s.i)
	if !s.is(to+1, "=") {
		return source.Diagnostic{}, false
	}
	var where []string
	for k, p := range s.split(s.i+1, to, ",") {
		numbers, sizes := [...]string{"seq(0, " + name + ".rows)", "t(seq(0, " + name + ".cols))"}, [...]string{".rows - ", ".cols - "}
		text := s.text(p[0], p[1])
		if k >= len(numbers) || text == "" || s.is(p[0], "[") || s.findOp(p[0], p[1], "..", "..=") < p[1] {
			where = nil
			break
		}
		if last, is := strings.CutPrefix(text, "-"); is {
			text = name + sizes[k] + last
		}
		if s.findOp(p[0], p[1], "==", "!=", "<", "<=", ">", ">=", "and", "or", "not") < p[1] {
			where = append(where, text)
		} else if text != ":" {
			where = append(where, numbers[k]+" == "+text)
		}
	}
	stop := s.findOp(to+2, s.lineEnd(to+1), "}")
	d := s.rewritten(s.i-2, stop-1, fmt.Sprintf("next %s = ifelse(%s, %s, %s)", name, strings.Join(where, " and "), s.text(to+2, stop), name),
		"`next` gives a carried matrix as a whole")
	if where == nil {
		d.Help = fmt.Sprintf("what stays is taken from the old one: `next %s = ifelse(where, new, %s)`", name, name)
	}
	return d, true
}

// negated returns the negation of the condition in tokens a to b.
func (s scene) negated(a, b int) string {
	contrary := map[string]string{"<": ">=", ">": "<=", "<=": ">", ">=": "<", "==": "!=", "!=": "=="}
	if k := s.findOp(a, b, "<", ">", "<=", ">=", "==", "!=", "and", "or", "not"); k < b && contrary[s.toks[k].Value] != "" && s.findOp(k+1, b, "and", "or") == b {
		return s.text(a, k) + " " + contrary[s.toks[k].Value] + " " + s.text(k+1, b)
	}
	return "not (" + s.text(a, b) + ")"
}

// explainWord recognises two adjacent words of which the first is misspelt or from another
// language.
func explainWord(s scene) (source.Diagnostic, bool) {
	k := s.i - 1
	switch {
	case s.i < len(s.toks) && s.isWord(s.i, "is") && !s.prev.EOF():
		return s.rewritten(s.i, s.i, "==", "equality is written `==`"), true
	case isOp(s.found, "in") && s.i+1 < len(s.toks) && k >= s.from && endsStatement(s.prev):
		stop := min(s.lineEnd(s.i), s.findOp(s.i+1, len(s.toks), ",", ")", "]", "{", ";"))
		if s.is(s.from, "for", "parfor") || stop <= s.i+1 {
			return source.Diagnostic{}, false
		}
		return s.rewritten(k, stop-1, fmt.Sprintf("any(%s == %s)", s.text(s.i+1, stop), s.prev.Value), "`in` belongs to a range"), true
	case s.isIdent(k) && s.i < len(s.toks) && !isOp(s.found, "(", "[", ")", "]", "}", ",", ";", "=", ":") && !isInfix(s.found) && !s.lineBreak(k):
	default:
		return source.Diagnostic{}, false
	}
	word := s.toks[k].Value
	d := source.Errorf("E100", s.at(s.toks[k]), "unexpected %s after %s", strings.TrimPrefix(s.say(s.found), "the "), s.say(s.prev))
	if k == s.from {
		if h := elsewhere(word); h != "" {
			d.Message = fmt.Sprintf("`%s` starts no statement", word)
			if slices.Contains([]string{"let", "var", "const", "val", "auto", "return", "local", "global"}, word) {
				stop := s.lineEnd(k)
				d.Span = s.span(k, stop-1)
				return d.WithHelp("write `%s`: %s", strings.TrimSuffix(s.text(s.i, stop), ";"), h), true
			}
			return d.WithHelp("%s", h), true
		}
		if near, ok := source.Suggest(word, statementWords()); ok {
			d.Message = fmt.Sprintf("`%s` starts no statement", word)
			return d.WithHelp("did you mean `%s`?", near), true
		}
		return source.Diagnostic{}, false
	}
	if near, ok := source.SuggestWord(word, []string{"parfor", "for", "if", "fn", "not", "else"}); ok && s.is(k-1, "=", "emit", "(", ",", "[", "{", "=>") {
		d.Message = fmt.Sprintf("`%s` is no word of the language", word)
		return d.WithHelp("did you mean `%s`?", near), true
	}
	return source.Diagnostic{}, false
}

func explainReserved(s scene) (source.Diagnostic, bool) {
	word := s.found
	switch names := s.want == "Ident" || s.want == "<ident>" || s.want == "Par" || s.want == "Carry"; {
	case s.found.Type == tokKeyword && (names || isOp(s.prev, ".")):
	case s.found.Type == tokKeyword && isOp(s.next(), "=", ":", "<-", "in") && !isOp(s.found, "true", "false", "inf", "nan"):
	case s.usedAsName():
	case isOp(s.found, ",") && s.next().Type == tokKeyword && s.i+2 < len(s.toks) && isOp(s.toks[s.i+2], "=", "in"):
		word = s.next() // the parser went back to the comma
	case s.prev.Type == tokKeyword && isOp(s.found, "=", ":", "<-", ",") && (names || s.i-1 == s.from && !isOp(s.prev, "true", "false", "inf", "nan")):
		word = s.prev
	default:
		return source.Diagnostic{}, false
	}
	if word == s.found && s.prev.Type == tokKeyword && s.lineBreak(s.i-1) {
		return source.Errorf("E100", s.at(s.prev), "a name is missing after the word `%s`", s.prev.Value), true
	}
	return source.Errorf("E106", s.at(word), "`%s` is a reserved word and cannot be a name", word.Value).
		WithHelp("choose another name, such as `%s_`", word.Value), true
}

// usedAsName reports whether the unexpected token is a word in the place of an operand.
func (s scene) usedAsName() bool {
	if s.found.Type != tokKeyword || s.lineBreak(s.i-1) ||
		isOp(s.found, "true", "false", "inf", "nan", "fn", "if", "for", "parfor", "not", "and", "or", "else", "with") {
		return false
	}
	n := s.next()
	return n.EOF() || n.Type == tokOp && !isOp(n, "(", "[", "{", ".")
}
