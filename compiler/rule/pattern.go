package rule

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"flow/ir/op"
)

// This file defines the text of rules:
//
//	rewrite = pattern "->" pattern
//	pattern = letter                            any node; the same letter is the same node
//	        | number | true | false | nan       a constant: 1 is one of any numeric type, 0 is not -0
//	        | row "(" list ")" attributes "!"   a node; ! asks that nothing else reads it
//	        | Class "(" list ")" attributes     a row with that law; the same class is the same row
//	list    = pattern, .. | ".."                ".." is all inputs, of which t(..) asks that each be
//	                                            a t; scalars pass as they are
//	attributes = "{" name "=" value, .. "}"     literals, letters, in replacements also words of
//	                                            condition.go
//	        | "{" Letter "}"                    all attributes
//
// Attributes that a pattern does not name must be absent (or false, or what they default to).

// shape is the kind of a pattern.
type shape uint8

const (
	variable shape = iota
	literal
	node
	rest // all inputs of the enclosing node, one by one
)

// pattern is one node of a match tree or a replacement.
type pattern struct {
	shape  shape
	name   string // of a variable, row or class
	class  bool
	val    float64 // of a constant; a bool is 0 or 1
	truth  bool    // the constant is a bool
	args   []*pattern
	all    string // the letter that binds all attributes
	attrs  []attrPattern
	single bool

	def *op.Def // of a row
}

// attrPattern is one attribute: a literal, a letter, or a word of letters.
type attrPattern struct {
	name string
	lit  op.Val // if word is ""
	word string // a function of condition.go; "" with args is the letter args[0]
	args []string
}

// scanner reads one text.
type scanner struct {
	text string
	at   int
}

func (s *scanner) fail(format string, args ...any) error {
	return fmt.Errorf("rule %q at %d: %s", s.text, s.at, fmt.Sprintf(format, args...))
}

func (s *scanner) skip() {
	for s.at < len(s.text) && s.text[s.at] == ' ' {
		s.at++
	}
}

// take consumes sign if it is next.
func (s *scanner) take(sign string) bool {
	s.skip()
	if strings.HasPrefix(s.text[s.at:], sign) {
		s.at += len(sign)
		return true
	}
	return false
}

// word reads a name or number.
func (s *scanner) word() string {
	s.skip()
	start := s.at
	for s.at < len(s.text) {
		c := rune(s.text[s.at])
		dots := strings.HasPrefix(s.text[s.at:], "..")
		if dots || !unicode.IsLetter(c) && !unicode.IsDigit(c) && c != '_' && c != '.' && (c != '-' || s.at != start || strings.HasPrefix(s.text[s.at:], "->")) {
			break
		}
		s.at++
	}
	return s.text[start:s.at]
}

// parseRewrite reads a rewrite.
func parseRewrite(text string) (from, to *pattern, err error) {
	s := &scanner{text: text}
	if from, err = s.pattern(); err != nil {
		return nil, nil, err
	}
	if !s.take("->") {
		return nil, nil, s.fail("want ->")
	}
	if to, err = s.pattern(); err != nil {
		return nil, nil, err
	}
	if s.skip(); s.at != len(s.text) {
		return nil, nil, s.fail("unexpected %q", s.text[s.at:])
	}
	return from, to, nil
}

func (s *scanner) pattern() (*pattern, error) {
	if s.take("..") {
		return &pattern{shape: rest}, nil
	}
	w := s.word()
	if w == "" {
		return nil, s.fail("want a pattern")
	}
	if !s.take("(") {
		return s.leaf(w)
	}
	p := &pattern{shape: node, name: w, class: unicode.IsUpper(rune(w[0]))}
	for !s.take(")") {
		if len(p.args) > 0 && !s.take(",") {
			return nil, s.fail("want , or )")
		}
		a, err := s.pattern()
		if err != nil {
			return nil, err
		}
		p.args = append(p.args, a)
	}
	// The single-reader sign may be before or after the attributes.
	p.single = s.take("!")
	if s.take("{") {
		if err := s.attributes(p); err != nil {
			return nil, err
		}
	}
	p.single = s.take("!") || p.single
	return p, nil
}

func (s *scanner) leaf(w string) (*pattern, error) {
	switch {
	case w == "true", w == "false":
		p := &pattern{shape: literal, truth: true}
		if w == "true" {
			p.val = 1
		}
		return p, nil
	case len(w) == 1 && unicode.IsLower(rune(w[0])):
		return &pattern{shape: variable, name: w}, nil
	}
	x, err := strconv.ParseFloat(w, 64)
	if err != nil {
		return nil, s.fail("%q is neither a letter nor a number", w)
	}
	return &pattern{shape: literal, val: x}, nil
}

func (s *scanner) attributes(p *pattern) error {
	for first := true; !s.take("}"); first = false {
		if !first && !s.take(",") {
			return s.fail("want , or }")
		}
		name := s.word()
		if !s.take("=") {
			p.all = name
			continue
		}
		a := attrPattern{name: name}
		if s.take(`"`) {
			end := strings.IndexByte(s.text[s.at:], '"')
			if end < 0 {
				return s.fail("the text is not closed")
			}
			a.lit = op.Str(s.text[s.at : s.at+end])
			s.at += end + 1
			p.attrs = append(p.attrs, a)
			continue
		}
		w := s.word()
		switch {
		case w == "":
			return s.fail("want a value of %s", name)
		case s.take("("):
			a.word = w
			for !s.take(")") {
				if len(a.args) > 0 && !s.take(",") {
					return s.fail("want , or )")
				}
				if s.take("..") { // the input that the node around reads
					a.args = append(a.args, "..")
					continue
				}
				a.args = append(a.args, s.word())
			}
		case len(w) == 1 && unicode.IsLower(rune(w[0])):
			a.args = []string{w}
		default:
			v, err := op.ParseVal(w)
			if err != nil {
				return s.fail("%v", err)
			}
			a.lit = v
		}
		p.attrs = append(p.attrs, a)
	}
	return nil
}

// parseCondition reads `word(letters)`.
func parseCondition(text string) (word string, args []string, err error) {
	word, list, ok := strings.Cut(strings.TrimSuffix(text, ")"), "(")
	if !ok || !strings.HasSuffix(text, ")") {
		return "", nil, fmt.Errorf("rule condition %q: want word(letters)", text)
	}
	for _, a := range strings.Split(list, ",") {
		args = append(args, strings.TrimSpace(a))
	}
	return word, args, nil
}
