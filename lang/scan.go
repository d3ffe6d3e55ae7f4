package lang

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/alecthomas/participle/v2/lexer"

	"flow/lang/ast"
	"flow/lang/source"
)

// This file defines the scanner: text to raw tokens and comments. It is written by
// hand because participle's regular-expression lexer is slower than the rest of
// start-up together, and because every lexical mistake has its own message here.
// After a mistake it goes on with what was probably meant.

// Token types. Keywords have their own, ahead of identifiers, so that @Ident
// never swallows one; contextual words (sparse frame grid of by end) are Idents.
const (
	tokIdent lexer.TokenType = lexer.EOF - 1 - iota
	tokKeyword
	tokInt
	tokFloat
	tokDuration
	tokString
	tokOp
	tokBad // stands for a statement that did not parse
)

// symbols names the token types for the grammar's tags.
func symbols() map[string]lexer.TokenType {
	return map[string]lexer.TokenType{"EOF": lexer.EOF, "Ident": tokIdent, "Keyword": tokKeyword, "Int": tokInt,
		"Float": tokFloat, "Duration": tokDuration, "String": tokString, "Op": tokOp, "Bad": tokBad}
}

// isKeyword reports whether a word is reserved.
func isKeyword(s string) bool {
	switch s {
	case "param", "import", "type", "fn", "stage", "state", "on", "next", "chan", "for", "parfor", "in", "iterate",
		"until", "times", "if", "else", "emit", "to", "as", "assert", "with", "and", "or", "not", "true", "false", "inf", "nan":
		return true
	}
	return false
}

// raw is a token as scanned; first means it is the first on its line, stop is where
// its text ends (a token that stands for a foreign spelling may be longer or shorter).
type raw struct {
	lexer.Token
	first bool
	stop  int
	col   int // from the start of the line, in bytes
}

// invalidUTF8 is the offset of the first byte that belongs to no character, -1 if there is none.
func invalidUTF8(s string) int {
	if utf8.ValidString(s) {
		return -1
	}
	for i, r := range s {
		if r == utf8.RuneError && !strings.HasPrefix(s[i:], "\ufffd") {
			return i
		}
	}
	return -1
}

func end(t lexer.Token) int { return t.Pos.Offset + len(t.Value) }

type scanner struct {
	file     *source.File
	src      string
	at       int
	line     int // where the current line starts
	first    bool
	toks     []raw
	comments []ast.Comment
	diags    source.Diagnostics
	poison   map[int]bool // offsets at which a mistake was reported: no second message near them
}

func scan(f *source.File) *scanner {
	s := &scanner{file: f, src: f.Text, first: true, poison: map[int]bool{}}
	s.at = len(s.src) - len(strings.TrimPrefix(s.src, "\ufeff")) // a byte order mark at the start is no text
	if bad := invalidUTF8(s.src); bad >= 0 {
		// Strings and comments count, too, or the output would not be text either. Nothing else is said of such a
		// file: it is a binary one, or in another encoding, and every line would have its message.
		s.report("E110", bad, bad+1, "this is not UTF-8 text").Help = "save the file as UTF-8"
		s.at = len(s.src)
	}
	s.toks = make([]raw, 0, len(s.src)/4)
	for s.at < len(s.src) {
		s.next()
	}
	return s
}

// report files a mistake at [from, to); the caller adds a label or help.
func (s *scanner) report(code source.Code, from, to int, format string, args ...any) *source.Diagnostic {
	s.poison[from] = true
	s.diags = append(s.diags, source.Errorf(code, s.file.Span(from, to), format, args...))
	return &s.diags[len(s.diags)-1]
}

func (s *scanner) emit(typ lexer.TokenType, from int, value string) {
	s.toks = append(s.toks, raw{lexer.Token{Type: typ, Value: value, Pos: lexer.Position{Offset: from, Line: 1, Column: 1}}, s.first, s.at, from - s.line})
	s.first = false
}

func isLetter(c byte) bool { return c == '_' || 'a' <= c|0x20 && c|0x20 <= 'z' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }

// peek is the byte n ahead, or 0.
func (s *scanner) peek(n int) byte {
	if s.at+n < len(s.src) {
		return s.src[s.at+n]
	}
	return 0
}

func (s *scanner) next() {
	from, c := s.at, s.src[s.at]
	switch {
	case c == '\n':
		s.first = true
		s.at++
		s.line = s.at
	case c == ' ' || c == '\t' || c == '\r':
		s.at++
	case c == '#':
		for s.at < len(s.src) && s.src[s.at] != '\n' {
			s.at++
		}
		text := strings.TrimRight(s.src[from:s.at], " \t\r")
		s.comments = append(s.comments, ast.Comment{Src: ast.Src{At: s.file.Span(from, from+len(text))}, Text: text})
	case isLetter(c):
		for s.at < len(s.src) && (isLetter(s.src[s.at]) || isDigit(s.src[s.at])) {
			s.at++
		}
		word, typ := s.src[from:s.at], tokIdent
		if isKeyword(word) {
			typ = tokKeyword
		}
		s.emit(typ, from, word)
	case isDigit(c):
		s.number()
	case c == '"':
		s.str()
	default:
		s.operator()
	}
}

// digits skips digits and underscores and reports whether every underscore has a digit on both sides.
func (s *scanner) digits() bool {
	from := s.at
	for isDigit(s.peek(0)) || s.peek(0) == '_' {
		s.at++
	}
	t := s.src[from:s.at]
	return !strings.HasPrefix(t, "_") && !strings.HasSuffix(t, "_") && !strings.Contains(t, "__")
}

// number scans `4_096`, `0.5`, `1e-3` and `10s`. A dot without a digit after it is
// not part of the number: `0..n` is a range and `x.0` no field.
func (s *scanner) number() {
	from, typ := s.at, tokInt
	ok := s.digits()
	if s.peek(0) == '.' && isDigit(s.peek(1)) {
		s.at++
		typ = tokFloat
		ok = s.digits() && ok
	}
	if e := s.peek(0) | 0x20; e == 'e' {
		sign := 0
		if s.peek(1) == '+' || s.peek(1) == '-' {
			sign = 1
		}
		if isDigit(s.peek(1 + sign)) {
			s.at += 1 + sign
			typ = tokFloat
			ok = s.digits() && ok
		}
	}
	unit := s.at
	for isLetter(s.peek(0)) || isDigit(s.peek(0)) {
		s.at++
	}
	text, suffix := s.src[from:s.at], s.src[unit:s.at]
	digits := strings.ReplaceAll(s.src[from:unit], "_", "")
	switch {
	case !ok:
		s.report("E107", from, s.at, "`%s` is not a number: an underscore stands between two digits", text)
	case suffix != "" && unitNanos(suffix) == 0:
		d := s.report("E107", from, s.at, "`%s` is neither a number nor a name", text)
		switch {
		case strings.HasPrefix(text, "0") && len(suffix) > 1 && strings.ContainsAny(suffix[:1], "xXbBoO"):
			d.Help = "numbers are written in decimal"
		case strings.ContainsAny(suffix[:1], "eE"):
			d.Help = "an exponent has digits: 1e-3"
		default:
			d.Help = "names start with a letter; the units of time are ns us ms s m h d; a product is written with *"
		}
	case suffix != "":
		typ = tokDuration
		if f, err := strconv.ParseFloat(digits, 64); err != nil || f*float64(unitNanos(suffix)) >= 1<<63 {
			s.report("E107", from, s.at, "the duration `%s` is too long", text).Help = "the longest is about 292 years"
		}
	case typ == tokInt:
		if _, err := strconv.ParseInt(digits, 10, 64); err != nil {
			s.report("E107", from, s.at, "`%s` does not fit a 64-bit integer", text).Help = "write it as a float, such as 1e20, if it may be rounded"
		}
	default:
		if _, err := strconv.ParseFloat(digits, 64); err != nil {
			s.report("E107", from, s.at, "`%s` does not fit a 64-bit float", text).Help = "the largest is about 1.8e308; infinity is written inf"
		}
	}
	if s.poison[from] {
		typ = tokInt // the tree is not used after a mistake; the grammar goes on
	}
	if s.peek(0) == '.' && s.peek(1) != '.' && !isLetter(s.peek(1)) && typ != tokDuration {
		s.report("E107", from, s.at+1, "`%s.` is not a number: a digit is missing after the dot", text).Help = "write " + text + ".0"
		s.emit(tokFloat, from, text)
		s.at++
		return
	}
	s.emit(typ, from, text)
}

// unitNanos is the length of a unit of time, 0 for what is none.
func unitNanos(u string) int64 {
	switch u {
	case "ns":
		return 1
	case "us":
		return 1e3
	case "ms":
		return 1e6
	case "s":
		return 1e9
	case "m":
		return 60e9
	case "h":
		return 3600e9
	case "d":
		return 86400e9
	}
	return 0
}

// str scans a string; its token keeps the quotes, because participle matches
// literals by value: the unquoted "-" would be a minus sign.
func (s *scanner) str() {
	from := s.at
	for s.at++; ; s.at++ {
		switch c := s.peek(0); {
		case s.at >= len(s.src) || c == '\n':
			text := strings.TrimRight(s.src[from:s.at], " \t\r")
			s.at = from + len(text)
			s.report("E108", from, s.at, "this string is not closed on its line").Help = "end it with \"; a line end inside a string is written \\n"
			s.emit(tokString, from, text)
			return
		case c == '"':
			s.at++
			s.emit(tokString, from, s.src[from:s.at])
			return
		case c == '\\':
			if n := escapeLen(s.src[s.at:]); n > 0 {
				s.at += n - 1
				continue
			}
			_, size := utf8.DecodeRuneInString(s.src[s.at+1:])
			if strings.HasPrefix(s.src[s.at:], `\u{`) {
				if i := strings.IndexAny(s.src[s.at:], "}\"\n"); i > 0 && s.src[s.at+i] == '}' {
					s.report("E109", s.at, s.at+i+1, "`%s` is no character", s.src[s.at:s.at+i+1]).Help = `a character is its code in hexadecimal, such as \u{1F600}; the last is \u{10FFFF}`
					s.at += i
					continue
				}
			}
			if s.peek(1) == '\n' || s.at+1 >= len(s.src) {
				continue // the string is not closed either, which is the better message
			}
			s.report("E109", s.at, s.at+1+size, "`%s` is not an escape", s.src[s.at:s.at+1+size]).Help = `the escapes are \n \t \r \" \\ and \u{1F600}; a backslash is written \\`
			s.at += size
		}
	}
}

// escapeLen is the length of the escape that s starts with, 0 if it is none.
func escapeLen(s string) int {
	if len(s) < 2 {
		return 0
	}
	if strings.IndexByte(`ntr"\`, s[1]) >= 0 {
		return 2
	}
	if strings.HasPrefix(s, `\u{`) {
		if i := strings.IndexByte(s, '}'); i > 3 && i <= 9 {
			if n, err := strconv.ParseUint(s[3:i], 16, 32); err == nil && utf8.ValidRune(rune(n)) {
				return i + 1
			}
		}
	}
	return 0
}

// unquote is the value of a string token; after a reported mistake it is what can be made of it.
func unquote(text string) string {
	body := strings.TrimPrefix(text, `"`)
	if len(text) > 1 {
		body = strings.TrimSuffix(body, `"`)
	}
	if !strings.Contains(body, `\`) {
		return body
	}
	var b strings.Builder
	for i := 0; i < len(body); i++ {
		n := 0
		if body[i] == '\\' {
			n = escapeLen(body[i:])
		}
		if n == 0 {
			b.WriteByte(body[i])
			continue
		}
		switch c := body[i+1]; c {
		case 'n':
			b.WriteByte('\n')
		case 't':
			b.WriteByte('\t')
		case 'r':
			b.WriteByte('\r')
		case 'u':
			r, _ := strconv.ParseUint(body[i+3:i+n-1], 16, 32)
			b.WriteRune(rune(r))
		default:
			b.WriteByte(c)
		}
		i += n - 1
	}
	return b.String()
}

// quote is the inverse of unquote: the shortest text of a string.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case r < ' ' || r == 0x7f:
			b.WriteString(`\u{` + strconv.FormatInt(int64(r), 16) + `}`)
		case r == utf8.RuneError:
			_, size := utf8.DecodeRuneInString(s[i:])
			b.WriteString(s[i : i+size])
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// operators, longest first.
const operators2 = "|> <- -> => .. == != <= >= //"
const operators1 = "+-*/^%@<>=(){}[],:;."

// foreign are spellings of other languages: what they are here, and the words of help.
// The token in meant replaces them, so that one slip gives one message.
var foreign = [...]struct{ text, meant, help string }{
	{"===", "==", "equality is `==`"},
	{"!==", "!=", "inequality is `!=`"},
	{"**", "^", "a power is written `^`"},
	{"&&", "and", "conjunction is written `and`"},
	{"||", "or", "disjunction is written `or`"},
	{":=", "=", "a binding is written `name = value`"},
	{"++", "", "names are bound once: bind a new name, or use `iterate` with `next`"},
	{"+=", "=", "names are bound once: bind a new name, or use `iterate` with `next`"},
	{"-=", "=", "names are bound once: bind a new name, or use `iterate` with `next`"},
	{"*=", "=", "names are bound once: bind a new name, or use `iterate` with `next`"},
	{"/=", "=", "names are bound once; inequality is `!=`"},
	{"!", "not", "negation is written `not`"},
	{"&", "and", "conjunction is written `and`"},
	{"|", "or", "disjunction is written `or`, a pipe `|>`"},
	{"−", "-", "this is the typographic minus; write the ASCII one"},
	{"×", "*", "multiplication is written `*`, the matrix product `@`"},
	{"·", "*", "multiplication is written `*`, the matrix product `@`"},
	{"≤", "<=", "write `<=`"},
	{"≥", ">=", "write `>=`"},
	{"≠", "!=", "write `!=`"},
	{"→", "->", "write `->`"},
	{"…", "..", "a range is written with two dots"},
	{"\u00a0", "", "this is a no-break space"},
}

// afterValue reports whether a value may end right before here, so that a dot would take a field of it.
func (s *scanner) afterValue() bool {
	if len(s.toks) == 0 {
		return false
	}
	last := s.toks[len(s.toks)-1]
	return last.Type != tokKeyword && (last.Type != tokOp || last.Value == ")" || last.Value == "]" || last.Value == "}")
}

func (s *scanner) operator() {
	from, rest := s.at, s.src[s.at:]
	// `a ==-b` and the like are well formed: a foreign spelling counts only where no own one fits,
	// except `===`, `:=`, `**` and the compound assignments, which no program can mean.
	for _, f := range foreign {
		if !strings.HasPrefix(rest, f.text) || f.text == "!" && strings.HasPrefix(rest, "!=") || f.text == "|" && strings.HasPrefix(rest, "|>") {
			continue
		}
		if f.text == "++" && strings.HasPrefix(rest, "++") && len(rest) > 2 && strings.TrimLeft(rest[2:], " \t\r") != "" && strings.TrimLeft(rest[2:], " \t\r")[0] != '\n' {
			continue // `a ++b` is a missing operand, said by the grammar
		}
		code := source.Code("E110")
		if f.meant == "=" || f.text == "++" {
			code = "E103"
		}
		s.at += len(f.text)
		s.report(code, from, s.at, "`%s` is not an operator", f.text).Help = f.help
		if code == "E103" {
			s.diags[len(s.diags)-1].Message = "`" + f.text + "` does not exist: a name is bound once, with `=`"
		}
		if f.text == "\u00a0" {
			s.diags[len(s.diags)-1].Message = "unexpected character U+00A0"
		}
		typ := tokOp
		if isKeyword(f.meant) {
			typ = tokKeyword
		}
		if f.meant != "" {
			s.emit(typ, from, f.meant)
		}
		return
	}
	if strings.HasPrefix(rest, "..=") {
		s.at += 3
		s.emit(tokOp, from, "..=")
		return
	}
	if len(rest) >= 2 && strings.Contains(operators2, rest[:2]) && rest[0] != ' ' && rest[1] != ' ' {
		s.at += 2
		s.emit(tokOp, from, rest[:2])
		return
	}
	if rest[0] == '.' && len(rest) > 1 && isDigit(rest[1]) && !s.afterValue() {
		s.at++
		s.digits()
		s.report("E107", from, s.at, "`%s` is not a number: a digit is missing before the dot", s.src[from:s.at]).Help = "write 0" + s.src[from:s.at]
		s.emit(tokFloat, from, s.src[from:s.at])
		return
	}
	if strings.IndexByte(operators1, rest[0]) >= 0 {
		s.at++
		s.emit(tokOp, from, rest[:1])
		return
	}
	s.unexpected(from, rest)
}

// unexpected reports a character, or a run of them that are no ASCII, and skips it.
func (s *scanner) unexpected(from int, rest string) {
	r, size := utf8.DecodeRuneInString(rest)
	if r == '\'' || r == '`' || r == '“' || r == '”' {
		stop := len(rest)
		if i := strings.IndexAny(rest[size:], "\n"); i >= 0 {
			stop = size + i
		}
		for _, q := range []string{string(r), "”"} {
			if i := strings.Index(rest[size:stop], q); i >= 0 {
				s.at += size + i + len(q)
				s.report("E110", from, s.at, "strings are written in double quotes").Help = `write "` + rest[size:size+i] + `"`
				s.emit(tokString, from, rest[:size+i+len(q)])
				return
			}
		}
	}
	if !unicode.IsGraphic(r) {
		s.at += size // a terminal would show nothing, or act on it
		s.report("E110", from, s.at, "unexpected character %U", r).Help = "it does not show, and came with a copied text or from an editor: remove it"
		return
	}
	n := size
	for r >= utf8.RuneSelf && n < len(rest) {
		q, sz := utf8.DecodeRuneInString(rest[n:])
		if q < utf8.RuneSelf && !isLetter(byte(q)) && !isDigit(byte(q)) {
			break
		}
		n += sz
	}
	s.at += n
	d := s.report("E110", from, s.at, "unexpected `%s`", rest[:n])
	switch {
	case r >= utf8.RuneSelf:
		d.Help = "names are ASCII letters, digits and _; other characters stand in strings and comments"
		s.emit(tokIdent, from, rest[:n])
	case r == '?' || r == '$' || r == '~' || r == '\\':
		d.Help = "the operators are |> <- + - * / // % @ ^ == != <= >= < > and or not"
	}
}
