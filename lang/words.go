package lang

import (
	"slices"

	"flow/lang/source"
)

// This file classifies the words of a text, to colour it.

// Kind is the role of a word.
type Kind uint8

// The kinds of words.
const (
	Other     Kind = iota
	Declaring      // param, fn, emit
	Steering       // for, if
	Joining        // and, or, not
	Constant       // true, inf
	Number
	Text
	Call // a name before a bracket
	Name
	Sign
	Comment
)

// Word is the bytes [From, To) of a text.
type Word struct {
	Kind     Kind
	From, To int
}

// Words returns the words of a text in order, even if it does not parse.
func Words(text string) []Word {
	s := scan(source.NewFileSet().Add("", text))
	var out []Word
	for _, t := range s.toks {
		w := Word{From: t.Pos.Offset, To: max(t.stop, t.Pos.Offset)}
		switch t.Type {
		case tokKeyword:
			w.Kind = keywordKind(t.Value)
		case tokInt, tokFloat, tokDuration:
			w.Kind = Number
		case tokString:
			w.Kind = Text
		case tokIdent:
			if w.Kind = Name; w.To < len(text) && text[w.To] == '(' {
				w.Kind = Call
			}
		case tokOp:
			w.Kind = Sign
		}
		out = append(out, w)
	}
	for _, c := range s.comments {
		out = append(out, Word{Comment, s.file.Offset(c.At.From), s.file.Offset(c.At.To)})
	}
	slices.SortStableFunc(out, func(a, b Word) int { return a.From - b.From })
	return out
}

func keywordKind(word string) Kind {
	switch {
	case slices.Contains(declaring, word):
		return Declaring
	case slices.Contains(steering, word):
		return Steering
	case slices.Contains(joining, word):
		return Joining
	}
	return Constant
}

// Keywords returns the reserved words, unsorted.
func Keywords() []string { return slices.Concat(declaring, steering, joining, constants) }
