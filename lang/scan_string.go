package lang

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// This file scans string literals, and quotes and unquotes strings.

// str scans a string. Its token keeps the quotes, because participle matches literals by value: an
// unquoted "-" would be a minus sign.
func (s *scanner) str() {
	from := s.at
	for s.at++; ; s.at++ {
		switch c := s.peek(0); {
		case s.at >= len(s.src) || c == '\n':
			text := s.withoutClosers(strings.TrimRight(s.src[from:s.at], " \t\r"))
			s.at = from + len(text)
			s.report("E108", from, s.at, "this string is not closed on its line").Help = "write `" + text + "\"`; a line end inside a string is written \\n"
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
				continue // the string is unclosed too, which is the better message
			}
			s.report("E109", s.at, s.at+1+size, "`%s` is not an escape", s.src[s.at:s.at+1+size]).Help = `the escapes are \n \t \r \" \\ and \u{1F600}; a backslash is written \\`
			s.at += size
		}
	}
}

// withoutClosers returns the text of a string that its line does not close, without the brackets at its
// end that close brackets around it.
func (s *scanner) withoutClosers(text string) string {
	open := 0
	for _, t := range s.toks {
		if isOp(t.Token, "(", "[", "{") {
			open++
		} else if isOp(t.Token, ")", "]", "}") {
			open--
		}
	}
	for ; open > 0 && len(text) > 1 && strings.IndexByte(")]}", text[len(text)-1]) >= 0; open-- {
		text = strings.TrimRight(text[:len(text)-1], " \t")
	}
	return text
}

// escapeLen returns the length of the escape at the start of s, 0 if there is none.
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

// unquote returns the value of a string token. After a reported mistake it returns a best effort.
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

// quote is the inverse of unquote: the shortest literal of a string.
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
