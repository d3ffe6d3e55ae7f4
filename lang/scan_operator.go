package lang

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"flow/lang/source"
)

// This file scans operators and reports those of other languages.

// operators2 lists the operators of two characters.
const operators2 = "|> <- -> => .. == != <= >= //"
const operators1 = "+-*/^%@<>=(){}[],:;."

// foreign lists spellings of other languages, the Flow token that replaces them, and help. The
// replacement keeps one slip to one message.
var foreign = [...]struct{ text, meant, help string }{
	{"===", "==", "equality is `==`"},
	{"!==", "!=", "inequality is `!=`"},
	{"**", "^", "a power is written `^`"},
	{"&&", "and", "conjunction is written `and`"},
	{"||", "or", "disjunction is written `or`"},
	{":=", "=", "a binding is written with `=`"},
	{"++", "", "names are bound once: bind a new name, or use `iterate` with `next`"},
	{"+=", "=", "names are bound once: bind a new name, or use `iterate` with `next`"},
	{"-=", "=", "names are bound once: bind a new name, or use `iterate` with `next`"},
	{"*=", "=", "names are bound once: bind a new name, or use `iterate` with `next`"},
	{"/=", "=", "names are bound once; inequality is `!=`"},
	{"&", "and", "conjunction is written `and`; texts are joined by +"},
	{"|", "or", "disjunction is written `or`, a pipe `|>`"},
	{"−", "-", "this is the typographic minus; write the ASCII one, `-`"},
	{"×", "*", "multiplication is written `*`, the matrix product `@`"},
	{"·", "*", "multiplication is written `*`, the matrix product `@`"},
	{"≤", "<=", "write `<=`"},
	{"≥", ">=", "write `>=`"},
	{"≠", "!=", "write `!=`"},
	{"→", "->", "write `->`"},
	{"…", "..", "a range is written with two dots"},
	{"\u00a0", "", "it came with a copied text: write a plain blank, ` `"},
}

// afterValue reports whether a value may end here, so that a dot would select a field.
func (s *scanner) afterValue() bool {
	if len(s.toks) == 0 {
		return false
	}
	last := s.toks[len(s.toks)-1]
	return last.Type != tokKeyword && (last.Type != tokOp || last.Value == ")" || last.Value == "]" || last.Value == "}")
}

func (s *scanner) operator() {
	from, rest := s.at, s.src[s.at:]
	if s.foreignSpelling() {
		return
	}
	// `a ==-b` and the like are well formed. A foreign spelling counts only where no own one
	// fits, except `===`, `:=`, `**` and compound assignments, which no program can mean.
	for _, f := range foreign {
		if !strings.HasPrefix(rest, f.text) || f.text == "|" && strings.HasPrefix(rest, "|>") {
			continue
		}
		if f.text == "++" && strings.HasPrefix(rest, "++") && len(rest) > 2 && strings.TrimLeft(rest[2:], " \t\r") != "" && strings.TrimLeft(rest[2:], " \t\r")[0] != '\n' {
			continue // `a ++b` is a missing operand, which the grammar reports
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
		s.report("E107", from, s.at, "`%s` is not a number: a digit is missing before the dot", s.src[from:s.at]).Help = "write `0" + s.src[from:s.at] + "`"
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

// unexpected reports and skips a character, or a run of non-ASCII ones.
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
				s.report("E110", from, s.at, "strings are written in double quotes").Help = "write `\"" + rest[size:size+i] + "\"`"
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
