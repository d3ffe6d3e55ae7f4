package loop

import (
	"strings"
	"unicode/utf8"
)

// This file scans the text form. Each process that makes the operator table reads much of the
// hundred-kilobyte function library, so there is no regular expression here: one took a quarter of
// the time of a small program.

// scan returns the tokens of a text and their lines: names, numbers, quoted texts, "..", and
// characters. It skips spaces and comments from # to the end of a line.
func scan(text string) (tokens []string, lines []int) {
	line := 1
	for i := 0; i < len(text); {
		c, size := text[i], 1
		switch {
		case c == '\n':
			line++
			i++
			continue
		case c == ' ' || c == '\t' || c == '\r':
			i++
			continue
		case c == '#':
			if size = strings.IndexByte(text[i:], '\n'); size < 0 {
				return tokens, lines
			}
			i += size
			continue
		case letter(c):
			for i+size < len(text) && (letter(text[i+size]) || digit(text[i+size])) {
				size++
			}
		case digit(c):
			size = number(text[i:])
		case c == '"':
			size = quoted(text[i:])
		case strings.HasPrefix(text[i:], ".."):
			size = 2
		default:
			_, size = utf8.DecodeRuneInString(text[i:])
		}
		tokens, lines = append(tokens, text[i:i+size]), append(lines, line)
		i += size
	}
	return tokens, lines
}

func letter(c byte) bool { return c == '_' || 'a' <= c|' ' && c|' ' <= 'z' }
func digit(c byte) bool  { return '0' <= c && c <= '9' }

// digits returns the number of digits at the start of a text.
func digits(s string) (n int) {
	for n < len(s) && digit(s[n]) {
		n++
	}
	return n
}

// number returns the length of the number at the start of a text: digits, and optionally a fraction
// and an exponent. The dots of a range are not part of it.
func number(s string) int {
	n := digits(s)
	if n < len(s) && s[n] == '.' {
		if f := digits(s[n+1:]); f > 0 {
			n += 1 + f
		}
	}
	if n < len(s) && s[n] == 'e' {
		sign := 0
		if n+1 < len(s) && (s[n+1] == '+' || s[n+1] == '-') {
			sign = 1
		}
		if e := digits(s[n+1+sign:]); e > 0 {
			n += 1 + sign + e
		}
	}
	return n
}

// quoted returns the length of the quoted text at the start of a text, or 1 if it is unclosed.
func quoted(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '"':
			return i + 1
		case '\\':
			if i++; i < len(s) && s[i] == '\n' {
				return 1
			}
		}
	}
	return 1
}
