package lang

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/alecthomas/participle/v2/lexer"

	"flow/lang/ast"
	"flow/lang/source"
)

// This file defines the scanner: text to raw tokens and comments. It is written by hand, because
// participle's regular-expression lexer takes longer than the rest of start-up, and because each
// lexical mistake has its own message. After a mistake the scanner continues with what was probably
// meant.

// Token types. Keywords have their own, before identifiers, so that @Ident never matches one.
// Contextual words (sparse frame grid of by end) are Idents.
const (
	tokIdent lexer.TokenType = lexer.EOF - 1 - iota
	tokKeyword
	tokInt
	tokFloat
	tokDuration
	tokString
	tokOp
	tokBad // replaces a statement that did not parse
)

// symbols names the token types for the grammar's tags.
func symbols() map[string]lexer.TokenType {
	return map[string]lexer.TokenType{"EOF": lexer.EOF, "Ident": tokIdent, "Keyword": tokKeyword, "Int": tokInt,
		"Float": tokFloat, "Duration": tokDuration, "String": tokString, "Op": tokOp, "Bad": tokBad}
}

// The reserved words, by their role.
var (
	declaring = []string{"param", "import", "type", "fn", "stage", "state", "on", "next", "chan", "emit", "assert"}
	steering  = []string{"for", "parfor", "in", "iterate", "until", "times", "if", "else", "to", "as", "with"}
	joining   = []string{"and", "or", "not"}
	constants = []string{"true", "false", "inf", "nan"}
)

// reserved holds all reserved words.
var reserved = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range slices.Concat(declaring, steering, joining, constants) {
		m[w] = true
	}
	return m
}()

// isKeyword reports whether a word is reserved.
func isKeyword(s string) bool { return reserved[s] }

// raw is a scanned token. first: it is the first on its line. stop is the end of its text; a token
// that replaces a foreign spelling may be longer or shorter.
type raw struct {
	lexer.Token
	first bool
	stop  int
	col   int // from the start of the line, in bytes
}

// invalidUTF8 returns the offset of the first invalid byte, or -1.
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
	poison   map[int]bool // offsets of reported mistakes: no second message near them
}

func scan(f *source.File) *scanner { return scanRange(f, 0, len(f.Text)) }

// scanRange scans f.Text[from:to], which begins a line. Offsets are those in f.
func scanRange(f *source.File, from, to int) *scanner {
	s := &scanner{file: f, src: f.Text[:to], at: from, line: from, first: true, poison: map[int]bool{}}
	if from == 0 {
		// skip a byte order mark
		s.at = len(s.src) - len(strings.TrimPrefix(s.src, "\ufeff"))
	}
	if bad := invalidUTF8(s.src[from:]); bad >= 0 {
		bad += from
		// Strings and comments count too, or the output would not be text. The file is
		// binary or in another encoding, so nothing else is reported: every line would have
		// its message.
		s.report("E110", bad, bad+1, "this is not UTF-8 text").Help = "save the file as UTF-8"
		s.at = len(s.src)
	}
	s.toks = make([]raw, 0, (to-from)/4)
	for s.at < len(s.src) {
		s.next()
	}
	return s
}

// report records a mistake at [from, to). The caller adds a label or help.
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

// peek returns the byte n ahead, or 0.
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

// digits skips digits and underscores. It reports whether every underscore has a digit on both
// sides.
func (s *scanner) digits() bool {
	from := s.at
	for isDigit(s.peek(0)) || s.peek(0) == '_' {
		s.at++
	}
	t := s.src[from:s.at]
	return !strings.HasPrefix(t, "_") && !strings.HasSuffix(t, "_") && !strings.Contains(t, "__")
}

// number scans `4_096`, `0.5`, `1e-3` and `10s`. A dot without a digit after it is not part of the
// number: `0..n` is a range.
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
		if strings.ContainsAny(suffix[:1], "eE") && len(strings.TrimLeft(suffix[1:], "0123456789")) == 0 {
			d.Help = "an exponent has digits: 1e-3"
		} else if h := otherNumber(text, digits, suffix); h != "" {
			d.Help = h
		} else {
			d.Help = "names start with a letter; the units of time are ns us ms s m h d; a product is written with *"
		}
	case suffix != "":
		typ = tokDuration
		if f, err := strconv.ParseFloat(digits, 64); err != nil || f*float64(unitNanos(suffix)) >= 1<<63 {
			s.report("E107", from, s.at, "the duration `%s` is too long", text).Help = "the longest is about 292 years"
		}
	case typ == tokInt:
		if _, err := strconv.ParseInt(digits, 10, 64); err != nil {
			d := s.report("E107", from, s.at, "`%s` does not fit a 64-bit integer", text)
			d.Help = "write it as a float, such as 1e20, if it may be rounded"
			if text == "9223372036854775808" && strings.HasSuffix(s.src[:from], "-") {
				d.Help = "the least integer is -9223372036854775807 - 1: a sign is no part of a number"
			}
		}
	default:
		if _, err := strconv.ParseFloat(digits, 64); err != nil {
			s.report("E107", from, s.at, "`%s` does not fit a 64-bit float", text).Help = "the largest is about 1.8e308; infinity is written inf"
		}
	}
	if s.poison[from] {
		typ = tokInt // the tree is not used after a mistake; the grammar continues
	}
	if s.peek(0) == '.' && s.peek(1) != '.' && !isLetter(s.peek(1)) && typ != tokDuration {
		s.report("E107", from, s.at+1, "`%s.` is not a number: a digit is missing after the dot", text).Help = "write `" + text + ".0`"
		s.emit(tokFloat, from, text)
		s.at++
		return
	}
	s.emit(typ, from, text)
}

// unitNanos returns the nanoseconds of a unit of time, 0 for anything else.
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

// isOp reports whether a token is one of some operators or keywords.
func isOp(t lexer.Token, values ...string) bool {
	for _, v := range values {
		if t.Value == v && (t.Type == tokOp || t.Type == tokKeyword) {
			return true
		}
	}
	return false
}
