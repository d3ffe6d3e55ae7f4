package lang

import (
	"errors"
	"fmt"
	"regexp"
	"sort"
	"strconv"
	"strings"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"

	"flow/lang/source"
)

// This file explains syntax errors. The parser reports a token that it could not use and the
// production that it wanted. The token, the one before it and the statement around usually identify
// the mistake.

// scene is the input of an explanation.
type scene struct {
	*parser
	toks  []lexer.Token
	i     int         // the unexpected token; len(toks) at the end
	from  int         // the first token of the statement around
	found lexer.Token // toks[i], or one of type EOF
	prev  lexer.Token // the token before it, of type EOF at the statement's start
	want  string      // the production wanted, "" when unknown
}

// explainers are tried in order, specific ones first. The first that recognises the mistake reports
// it.
var explainers = [...]func(scene) (source.Diagnostic, bool){
	explainElse, explainLineEnd, explainReserved, explainEquals, explainChain, explainSend,
	explainBody, explainLabel, explainOperand, explainNeighbours, explainAnything,
}

// mistake reports err, the grammar's error for toks.
func (p *parser) mistake(toks []lexer.Token, stop int, err error) {
	sc := scene{parser: p, toks: toks, i: p.find(toks, err), want: wanted(err)}
	sc.from, _ = around(toks, sc.i)
	sc.found = lexer.EOFToken(lexer.Position{Offset: stop})
	sc.prev = lexer.EOFToken(lexer.Position{Offset: stop})
	if sc.i < len(toks) {
		sc.found = toks[sc.i]
	}
	if sc.i > sc.from {
		sc.prev = toks[sc.i-1]
	}
	if len(toks) == 0 {
		p.diags = append(p.diags, source.Errorf("E100", sc.at(sc.found), "there is no expression here"))
		return
	}
	for _, explain := range append(foreignForms[:], explainers[:]...) {
		if d, ok := explain(sc); ok {
			if !sc.repeats(d) {
				p.diags = append(p.diags, d)
			}
			return
		}
	}
}

// repeats reports whether a mistake follows from a reported one. A reserved word that is used as a name
// is reported at its first use only.
func (s scene) repeats(d source.Diagnostic) bool {
	switch d.Code {
	case "E102":
		return s.found.Type == tokKeyword && s.named[s.found.Value]
	case "E106":
		word := s.found
		for _, t := range []lexer.Token{s.prev, s.next()} {
			if s.at(t) == d.Span {
				word = t
			}
		}
		if s.named[word.Value] {
			return true
		}
		s.named[word.Value] = true
	}
	return false
}

// wanted returns the production that err expected, as the grammar names it: `Pow`, `"="`,
// `<ident>`.
func wanted(err error) string {
	var u *participle.UnexpectedTokenError
	if !errors.As(err, &u) {
		return ""
	}
	m := regexp.MustCompile(`(?s)\(expected \(*("[^"]*"|<\w+>|\w+)`).FindStringSubmatch(u.Message())
	if m == nil {
		return ""
	}
	return strings.TrimPrefix(m[1], "G")
}

// words describes a production for users.
func words(production string) string {
	if strings.HasPrefix(production, `"`) {
		return "`" + strings.Trim(production, `"`) + "`"
	}
	switch production {
	case "Expr", "Or", "And", "Not", "Cmp", "Add", "Mul", "MM", "Un", "Pow", "Post", "Prim":
		return "an operand"
	case "Ident", "<ident>", "Par", "Carry", "FieldInit":
		return "a name"
	case "String", "<string>":
		return "a string"
	case "Type", "Fld", "Rec", "NamedType", "Grid", "FnType":
		return "a type"
	case "Block":
		return "a body in braces"
	case "Range":
		return "a range such as 0..n"
	case "Arg":
		return "an argument"
	case "Sub":
		return "a subscript"
	case "Stmt":
		return "a statement"
	}
	return ""
}

func (s scene) at(t lexer.Token) source.Span {
	switch {
	case t.EOF():
		return s.file.Span(t.Pos.Offset, t.Pos.Offset)
	case t.Value == ";" && t.Pos.Offset < len(s.src) && s.src[t.Pos.Offset] != ';':
		return s.file.Span(t.Pos.Offset, t.Pos.Offset) // a line end
	}
	return s.file.Span(t.Pos.Offset, min(end(t), len(s.src)))
}

// say describes a token in a message.
func (s scene) say(t lexer.Token) string {
	switch {
	case t.EOF() && s.i < len(s.toks), t.Type == tokOp && t.Value == ";" && s.src[min(t.Pos.Offset, len(s.src)-1)] != ';':
		return "the end of the line"
	case t.EOF() && strings.HasPrefix(strings.TrimLeft(s.src[t.Pos.Offset:], " \t\r"), "\n"):
		return "the end of the line"
	case t.EOF() && t.Pos.Offset < len(s.src) && strings.HasPrefix(strings.TrimLeft(s.src[t.Pos.Offset:], " \t\r\n"), "}"):
		return "the end of the block"
	case t.EOF() && t.Pos.Offset < len(strings.TrimRight(s.src, " \t\r\n")):
		return "the end of the statement"
	case t.EOF():
		return "the end of the file"
	case t.Type == tokKeyword:
		return "the word `" + t.Value + "`"
	case len(t.Value) > 40:
		return "`" + strings.ToValidUTF8(t.Value[:37], "") + "…`"
	}
	return "`" + t.Value + "`"
}

func (s scene) next() lexer.Token {
	if s.i+1 < len(s.toks) {
		return s.toks[s.i+1]
	}
	return lexer.EOFToken(lexer.Position{Offset: len(s.src)})
}

// lineBreak reports whether a line ends between tokens k and k+1.
func (s scene) lineBreak(k int) bool {
	return k >= 0 && k+1 < len(s.toks) && strings.Contains(s.src[end(s.toks[k]):s.toks[k+1].Pos.Offset], "\n")
}

func explainElse(s scene) (source.Diagnostic, bool) {
	if !isOp(s.found, "else") {
		return source.Diagnostic{}, false
	}
	return source.Errorf("E105", s.at(s.found), "this `else` belongs to no `if`").
		WithHelp("`else` stands right after the closing brace of `if c { .. }`"), true
}

// explainLineEnd recognises `a = 1 +` followed by a line `b = 2`. The line end does not end the
// statement, so the grammar fails at the second `=`, far from the mistake.
func explainLineEnd(s scene) (source.Diagnostic, bool) {
	k := s.i - 2
	if !isOp(s.found, "=", "<-", ",", ":") || k < s.from || !s.lineBreak(k) || endsStatement(s.toks[k]) || !isInfix(s.toks[k]) && s.toks[k].Type != tokKeyword {
		return source.Diagnostic{}, false
	}
	return source.Errorf("E102", s.at(s.toks[k]), "an operand is missing after `%s`", s.toks[k].Value).
		WithNote(s.at(s.prev), "the statement goes on here, because a line cannot end with `%s`", s.toks[k].Value).WithHelp(anOperand), true
}

// anOperand says what is missing.
const anOperand = "what stands here is a value: a number, a name, a call or something in brackets"

func isInfix(t lexer.Token) bool {
	return isOp(t, "|>", "or", "and", "not", "==", "!=", "<=", ">=", "<", ">", "+", "-", "*", "/", "//", "%", "@", "^", "=", "..", "..=", "<-", "=>")
}

func explainEquals(s scene) (source.Diagnostic, bool) {
	if !isOp(s.found, "=") || s.i == s.from || !endsStatement(s.prev) {
		return source.Diagnostic{}, false
	}
	d := source.Errorf("E103", s.at(s.found), "`=` binds a name, and what is left of it is no name")
	first := s.first()
	switch {
	case isOp(first, "fn") && isOp(s.toks[s.from+1], "("):
		d.Message = "a function that is declared has a name"
		d.Help = "write `fn name(x) = ..`; a function as an argument is `fn(x) => ..`"
	case isOp(s.prev, ")") && s.hasBefore("fn"):
		d.Message = "`=` does not make a function"
		d.Help = "a function as a value is written `fn(x) => ..`"
	case isOp(s.prev, "]") && first.Type == tokIdent && s.depth() == 0:
		d.Help = "to send to a channel write `" + s.src[first.Pos.Offset:end(s.prev)] + " <- ..`"
	case first.Type == tokKeyword || s.depth() > 0 || s.hasBefore("="):
		d.Message = "`=` is not a comparison"
		d.Help = "equality is `==`; a binding is a statement of its own"
	}
	return d, true
}

// first is the first token of the statement.
func (s scene) first() lexer.Token {
	if s.from < len(s.toks) {
		return s.toks[s.from]
	}
	return lexer.EOFToken(lexer.Position{Offset: len(s.src)})
}

// depth returns the number of brackets open between the statement's start and the unexpected token.
func (s scene) depth() int {
	n := 0
	for _, t := range s.toks[s.from:s.i] {
		switch {
		case isOp(t, "(", "[", "{"):
			n++
		case isOp(t, ")", "]", "}"):
			n--
		}
	}
	return n
}

func (s scene) hasBefore(ops ...string) bool {
	for _, t := range s.toks[s.from:s.i] {
		if isOp(t, ops...) {
			return true
		}
	}
	return false
}

func explainChain(s scene) (source.Diagnostic, bool) {
	signs := []string{"==", "!=", "<=", ">=", "<", ">"}
	if !isOp(s.found, signs...) || !endsStatement(s.prev) {
		return source.Diagnostic{}, false
	}
	for k := s.i - 1; k >= s.from; k-- {
		if isOp(s.toks[k], signs...) {
			left := s.operandStart(k)
			right := min(s.lineEnd(s.i), s.findOp(s.i+1, len(s.toks), append(signs, "and", "or", ",", ")", "]", "{", ";")...))
			d := source.Errorf("E104", s.at(s.found), "comparisons do not chain").WithNote(s.at(s.toks[k]), "the first comparison")
			if right <= s.i+1 || left >= k {
				return d.WithHelp("write a %s b and b %s c", s.toks[k].Value, s.found.Value), true
			}
			middle := s.text(k+1, s.i)
			return d.WithHelp("write `%s %s %s and %s %s %s`", s.text(left, k), s.toks[k].Value, middle, middle, s.found.Value, s.text(s.i+1, right)), true
		}
	}
	return source.Diagnostic{}, false
}

// operandStart returns the first token of the comparison operand that ends before token k.
func (s scene) operandStart(k int) int {
	depth := 0
	for ; k > s.from; k-- {
		t := s.toks[k-1]
		switch {
		case isOp(t, ")", "]", "}"):
			depth++
		case isOp(t, "(", "[", "{"):
			if depth--; depth < 0 {
				return k
			}
		case depth == 0 && (t.Type == tokKeyword && !isOp(t, "true", "false", "inf", "nan") || isOp(t, "=", ",", ";", "<-", "=>")):
			return k
		}
	}
	return k
}

func explainSend(s scene) (source.Diagnostic, bool) {
	if !isOp(s.found, "<-") {
		return source.Diagnostic{}, false
	}
	return source.Errorf("E111", s.at(s.found), "`<-` sends to a channel and cannot stand inside an expression").
		WithHelp("for \"less than minus\" write `< -`; a send is a statement of its own: `L[i,j] <- value`"), true
}

// explainBody recognises a statement that needs `{` and has something else.
func explainBody(s scene) (source.Diagnostic, bool) {
	decl := isOp(s.first(), "fn") && s.want == `"="`
	if !decl && s.want != "Block" && s.want != `"{"` && !isOp(s.prev, "else") {
		return source.Diagnostic{}, false
	}
	head := "this"
	for k := s.i - 1; k >= s.from; k-- {
		if isOp(s.toks[k], "for", "parfor", "iterate", "if", "else", "fn", "stage", "on") {
			head = "`" + s.toks[k].Value + "`"
			break
		}
	}
	d := source.Errorf("E100", s.at(s.found), "%s wants its body, and found %s", head, s.say(s.found))
	if decl {
		d.Message = "`fn` wants `= value` or a body, and found " + s.say(s.found)
	}
	d.Help = "the body is in braces, and `{` stands at the end of the line that it belongs to"
	if head == "`if`" && s.text(s.i, s.i+1) == "then" {
		d.Help = "write `if c { a } else { b }`; element by element it is ifelse(c, a, b)"
	}
	if head == "`iterate`" && isOp(s.found, "until", "times") {
		d.Help = "it has one end: `until c or k == n` counts the rounds in a carried k, as well"
	}
	if brace := s.braceBelow(); brace > 0 && s.i > s.from {
		d.Help = "write `" + s.text(s.from, s.i) + " {`: the brace stands on the line that it belongs to"
		d.Span = s.span(s.from, s.i-1)
		s.parser.reported = append(s.parser.reported, brace) // one slip, one message
		sort.Ints(s.parser.reported)
	}
	return d, true
}

// braceBelow returns the offset of a `{` at the start of the next line, if the unexpected token
// ends its line, and else 0.
func (s scene) braceBelow() int {
	at := s.found.Pos.Offset
	for at < len(s.src) && strings.IndexByte(" \t\r\n;", s.src[at]) >= 0 {
		at++
	}
	if at < len(s.src) && s.src[at] == '{' && strings.Contains(s.src[s.found.Pos.Offset:at], "\n") {
		return at
	}
	return 0
}

// explainLabel recognises a label that is no string literal: emit x as name, emit x as "a" + b.
func explainLabel(s scene) (source.Diagnostic, bool) {
	as := s.prev
	if as.Type == tokString && s.i-2 > s.from {
		as = s.toks[s.i-2]
	}
	if !isOp(s.toks[s.from], "emit") || !isOp(as, "as") || s.found.EOF() || as == s.prev && isOp(s.found, ";", "}") || as != s.prev && !isInfix(s.found) {
		return source.Diagnostic{}, false
	}
	d := source.Errorf("E100", s.at(s.found), "unexpected %s after %s", strings.TrimPrefix(s.say(s.found), "the "), s.say(s.prev))
	if as == s.prev {
		d.Label = "a string is wanted here"
		if s.found.Type == tokIdent {
			return d.WithHelp("write `\"%s\"`: the label after `as` is a string as it stands", s.found.Value), true
		}
	}
	return d.WithHelp("the label after `as` is a string as it stands; a text that is computed is printed by emit fmt(\"{}: {}\", name, value)"), true
}

func explainOperand(s scene) (source.Diagnostic, bool) {
	if isOp(s.found, ",") && (s.want == `"]"` || s.want == `")"`) && isInfix(s.next()) && !isOp(s.next(), "-", "+", "not") {
		s.i, s.prev, s.found = s.i+1, s.found, s.next() // the parser went back to the comma
	} else if isInfix(s.found) && isOp(s.next(), "not") && endsStatement(s.prev) {
		s.i, s.prev, s.found, s.want = s.i+1, s.found, s.next(), "" // it went back to the operator
	}
	atStart := s.prev.EOF() || isOp(s.prev, ";", "{")
	wantsValue := words(s.want) == "an operand" || isInfix(s.prev) || isOp(s.prev, "(", ",", "[", "in", "emit", "assert", "if", "until", "times", "to")
	switch {
	case atStart && s.found.Type == tokOp && isInfix(s.found) && !isOp(s.found, ";"):
		d := source.Errorf("E102", s.at(s.found), "an operand is missing before `%s`", s.found.Value)
		if s.found.Value == "@" {
			d.Help = "there are no macros and decorators; flowrun --timing and --stats say how long a run took"
		} else if s.found.Value == "<" || s.found.Value == "=" {
			d.Help = "a statement starts with a name or one of the reserved words"
		}
		return d, true
	case atStart || !wantsValue || endsStatement(s.prev):
		return source.Diagnostic{}, false
	case isOp(s.prev, ".") && isOp(s.found, "."):
		return source.Diagnostic{}, false
	}
	if stop := s.notOperand(); stop > s.i {
		return source.Errorf("E102", s.span(s.i, stop-1), "`not` holds an operand of `%s` less tightly than that", s.prev.Value).
			WithHelp("write `(%s)`", s.text(s.i, stop)), true
	}
	d := source.Errorf("E102", s.at(s.prev), "an operand is missing after `%s`", s.prev.Value)
	if words(s.want) == "a type" {
		d = source.Errorf("E100", s.at(s.prev), "a type is missing after `%s`", s.prev.Value)
	}
	if isOp(s.found, ",") && isOp(s.prev, ",") {
		return source.Errorf("E102", s.span(s.i-1, s.i), "an operand is missing after `,`").WithHelp("write `,`, or what belongs between the two"), true
	}
	if isOp(s.found, ")", "]", "}", ",", ";") || s.found.EOF() {
		if d.Code == "E102" {
			d.Help = anOperand
		}
		return d, true
	}
	if isOp(s.found, "..", "..=") && isOp(s.prev, "[", ",") {
		d.Help = "a range of the first k is 0" + s.found.Value + "k; from k on it is k.., and : is all"
	} else if d.Help == "" && d.Code == "E102" {
		d.Help = anOperand
	}
	d.Notes = []source.Note{{Span: s.at(s.found), Text: "found " + s.say(s.found)}}
	if s.found.Type == tokKeyword && !s.lineBreak(s.i-1) {
		d.Help = fmt.Sprintf("`%s` is a reserved word: choose another name, such as `%[1]s_`", s.found.Value)
	}
	switch {
	case isOp(s.prev, "%") && s.i-2 >= s.from && end(s.toks[s.i-2]) == s.prev.Pos.Offset && s.toks[s.i-2].Type == tokInt:
		if n, err := strconv.Atoi(s.toks[s.i-2].Value); err == nil {
			d.Span = s.span(s.i-2, s.i-1)
			d.Help = "a share is a number: write `" + strconv.FormatFloat(float64(n)/100, 'g', -1, 64) + "`; the remainder is a % b"
		}
	case isOp(s.found, "as"):
		d.Help = "a value is converted by f64(x), f32(x), i64(x), bool(x)"
	case isOp(s.found, "-", "not"):
		d.Help = "one sign is enough; otherwise put the inner one in parentheses"
	case isOp(s.found, "+"):
		d.Help = "there is no unary +"
	case isOp(s.found, "iterate"):
		d.Help = "`iterate` is a statement: its carried names are bound after it"
	case isOp(s.found, "chan", "stage", "param", "emit", "next", "state", "type", "import", "assert"):
		d.Help = "`" + s.found.Value + "` starts a statement"
	}
	return d, true
}

// notOperand returns the end of the operand of a `not` to the right of an operator, as in `a * not
// b`, and else 0.
func (s scene) notOperand() int {
	if !isOp(s.found, "not") || !isInfix(s.prev) || isOp(s.prev, "=", "<-", "=>", "..", "..=") {
		return 0
	}
	return min(s.lineEnd(s.i), s.findOp(s.i+1, len(s.toks), "*", "/", "//", "%", "+", "-", "@", "^", "==", "!=", "<", "<=", ">", ">=", "and", "or", "|>", ",", ")", "]", "{", "}", ";"))
}

// explainNeighbours recognises two operands side by side.
func explainNeighbours(s scene) (source.Diagnostic, bool) {
	starts := s.found.Type == tokIdent || s.found.Type == tokInt || s.found.Type == tokFloat || s.found.Type == tokString || s.found.Type == tokDuration ||
		isOp(s.found, "(", "[", "{", "if", "fn", "for", "parfor", "true", "false", "inf", "nan", "not", ".")
	if !starts || s.prev.EOF() || !endsStatement(s.prev) || words(s.want) != "" && words(s.want) != "an operand" && s.want != `";"` && s.want != `","` && s.want != `")"` && s.want != `"]"` {
		return source.Diagnostic{}, false
	}
	d := source.Errorf("E100", s.at(s.found), "unexpected %s after %s", strings.TrimPrefix(s.say(s.found), "the "), s.say(s.prev))
	d.Help = "an operator, a comma or a line end is missing between the two"
	switch {
	case isOp(s.found, "if"):
		d.Help = "a choice is written `if c { a } else { b }`"
	case isOp(s.found, "[") && s.is(s.i+1, "]") && typeNames[s.prev.Value] != "":
		d.Help = "the sizes of a matrix are numbers or names: f64[n] is a column, f64[n,m] has m columns, f64[_,_] any"
	}
	if s.found.Type == tokIdent && s.found.Value == "by" {
		d.Help = "`by` gives the step of a range a..b"
	}
	return d, true
}

// statementWords returns the words that may start a statement.
func statementWords() []string {
	return []string{"param", "import", "type", "fn", "stage", "state", "on", "next", "chan", "for", "parfor", "iterate", "if", "emit", "assert"}
}

func explainAnything(s scene) (source.Diagnostic, bool) {
	d := source.Errorf("E100", s.at(s.found), "unexpected %s", strings.TrimPrefix(s.say(s.found), "the "))
	if !s.prev.EOF() {
		d.Message += fmt.Sprintf(" after %s", s.say(s.prev))
	}
	if isOp(s.found, ";") && s.depthOf("(") > 0 && isToken(s.found, s.src, ";") {
		d.Help = "arguments are divided by `,`"
	} else if isOp(s.found, ";") && s.depth() > 0 {
		d.Help = "a statement cannot end inside brackets"
	} else if isOp(s.found, ",") || isOp(s.prev, ",") && isOp(s.found, "}") {
		d.Help = "several values in one are a row [[a, b]], a column [a, b] or a tuple (a, b)"
	} else if isOp(s.found, "as") {
		d.Help = "`as` gives an emit its label and an import its name; a value is converted by f64(x), f32(x), i64(x), bool(x)"
	} else if isOp(s.prev, "{") {
		d.Help = "a brace in an expression starts a record {name: value}; a list is [a, b]; a body needs `for`, `if`, `fn`, .. before it"
	} else if w := words(s.want); w != "" {
		d.Label = w + " is wanted here"
	}
	return d, true
}
