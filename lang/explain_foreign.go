package lang

import (
	"slices"
	"strings"

	"github.com/alecthomas/participle/v2/lexer"

	"flow/lang/source"
)

// This file recognises statements and expressions of other languages (Python, MATLAB, Julia, R, C)
// and shows the Flow form. Where possible the help holds the user's own text, rewritten, in
// backquotes; it replaces the text at the caret.

// foreignForms are tried in order, before the explainers of Flow's own grammar. Each recognises a
// form that no Flow program has, so it cannot capture a text that is nearly right.
var foreignForms = [...]func(scene) (source.Diagnostic, bool){
	explainComment, explainImport, explainEmitList, explainFStrings, explainLambda, explainFunction, explainComprehension,
	explainSlice, explainMatrix, explainForHead, explainIfHead, explainChoice, explainNumbers, explainRange, explainDeclaration, explainTarget,
	explainConversion, explainRounds, explainHint, explainNextPlace, explainWord,
}

// rewritten returns a diagnostic at tokens a to b (inclusive). Its help proposes a replacement
// text.
func (s scene) rewritten(a, b int, text, format string, args ...any) source.Diagnostic {
	return source.Errorf("E100", s.span(a, b), format, args...).WithHelp("write `%s`", text)
}

// span is the span of tokens a to b, inclusive.
func (s scene) span(a, b int) source.Span {
	return s.file.Span(s.toks[a].Pos.Offset, min(end(s.toks[b]), len(s.src)))
}

// text is the user's text of tokens a to b, b excluded. The program may end before b.
func (s scene) text(a, b int) string {
	if b = min(b, len(s.toks)); a >= b {
		return ""
	}
	return s.src[s.toks[a].Pos.Offset:min(end(s.toks[b-1]), len(s.src))]
}

// match returns the index of the bracket that closes the one at k, or len(s.toks).
func (s scene) match(k int) int {
	depth := 0
	for j := k; j < len(s.toks); j++ {
		switch {
		case isOp(s.toks[j], "(", "[", "{"):
			depth++
		case isOp(s.toks[j], ")", "]", "}"):
			if depth--; depth == 0 {
				return j
			}
		}
	}
	return len(s.toks)
}

// split splits tokens a to b at every sep outside brackets.
func (s scene) split(a, b int, sep string) [][2]int {
	var out [][2]int
	depth, from := 0, a
	for k := a; k < b; k++ {
		switch {
		case isOp(s.toks[k], "(", "[", "{"):
			depth++
		case isOp(s.toks[k], ")", "]", "}"):
			depth--
		case depth == 0 && isOp(s.toks[k], sep):
			out, from = append(out, [2]int{from, k}), k+1
		}
	}
	return append(out, [2]int{from, b})
}

// findOp returns the first of the words among tokens a to b outside brackets, or b.
func (s scene) findOp(a, b int, words ...string) int {
	depth := 0
	for k := a; k < b; k++ {
		if depth == 0 && isOp(s.toks[k], words...) {
			return k
		}
		switch {
		case isOp(s.toks[k], "(", "[", "{"):
			depth++
		case isOp(s.toks[k], ")", "]", "}"):
			if depth--; depth < 0 {
				return b
			}
		}
	}
	return b
}

// lineEnd returns the first token after k on a later line, or the end of the statement.
func (s scene) lineEnd(k int) int {
	for ; k < len(s.toks); k++ {
		if s.lineBreak(k) || isOp(s.toks[k], ";") {
			if isOp(s.toks[k], ";") {
				return k
			}
			return k + 1
		}
	}
	return len(s.toks)
}

func (s scene) isWord(k int, words ...string) bool {
	return k >= 0 && k < len(s.toks) && s.toks[k].Type == tokIdent && slices.Contains(words, s.toks[k].Value)
}

func (s scene) isIdent(k int) bool { return k >= 0 && k < len(s.toks) && s.toks[k].Type == tokIdent }

// is reports whether an operator or reserved word among values is at k.
func (s scene) is(k int, values ...string) bool {
	return k >= 0 && k < len(s.toks) && isOp(s.toks[k], values...)
}

// explainComment recognises a comment of C, MATLAB or LaTeX (// text, /* text, % text), alone on
// its line or after a statement.
func explainComment(s scene) (source.Diagnostic, bool) {
	k := s.from
	if !s.is(k, "//", "/", "%") || s.is(k, "/") && !s.is(k+1, "*") {
		if s.i >= len(s.toks) || s.found.Type != tokIdent || s.prev.Type != tokIdent {
			return source.Diagnostic{}, false
		}
		for k = s.i - 2; k > s.from && !s.is(k, "//", "%") && !s.lineBreak(k); k-- {
		}
		if !s.is(k, "//", "%") {
			return source.Diagnostic{}, false
		}
	}
	if s.is(k, "/") {
		return source.Errorf("E102", s.span(k, k+1), "an operand is missing before `/`").WithHelp("a comment starts with `#` and ends with its line"), true
	}
	what := s.toks[k].Value
	d := source.Errorf("E102", s.at(s.toks[k]), "an operand is missing before `%s`", what)
	if k > s.from {
		d = source.Errorf("E100", s.at(s.toks[k]), "`%s` starts no comment", what)
	}
	return d.WithHelp("a comment starts with `#`; `%s` is %s", what, map[string]string{"//": "the division of integers", "%": "the remainder"}[what]), true
}

// ownModules lists libraries of other languages whose functions Flow has without a prefix.
var ownModules = []string{"numpy", "np", "math", "cmath", "scipy", "pandas", "pd", "torch", "tensorflow", "jax", "random", "time", "sys", "os",
	"matplotlib", "LinearAlgebra", "Statistics", "Random", "stats", "Plots", "Base", "itertools", "functools"}

// explainImport recognises `import numpy as np`, `from math import sqrt`, `using LinearAlgebra`,
// `import lib`.
func explainImport(s scene) (source.Diagnostic, bool) {
	k := s.from
	if !(s.is(k, "import") || s.isWord(k, "from", "using", "include", "require")) || !s.isIdent(k+1) {
		return source.Diagnostic{}, false
	}
	name := s.toks[k+1].Value
	d := source.Errorf("E100", s.span(k, s.lineEnd(k)-1), "an import names a file of Flow in quotes")
	if slices.Contains(ownModules, name) || !s.is(k, "import") {
		d.Message = "there are no modules to import"
		return d.WithHelp("operators and the library need no import: leave this line out; `flowrun doc` lists them"), true
	}
	return d.WithHelp("write `import \"%s.flow\" as %s`; the library needs no import", name, name), true
}

// explainEmitList recognises `emit a, b`.
func explainEmitList(s scene) (source.Diagnostic, bool) {
	if !s.is(s.from, "emit") || !isOp(s.found, ",") || s.depth() > 0 {
		return source.Diagnostic{}, false
	}
	stop := s.lineEnd(s.i)
	var each []string
	for _, p := range s.split(s.from+1, stop, ",") {
		if p[0] < p[1] {
			each = append(each, "emit "+s.text(p[0], p[1]))
		}
	}
	return s.rewritten(s.from, stop-1, strings.Join(each, "; "), "`emit` takes one value"), true
}

// explainFStrings recognises f"x is {x}" and """text""".
func explainFStrings(s scene) (source.Diagnostic, bool) {
	if s.found.Type != tokString || s.i == s.from || end(s.prev) != s.found.Pos.Offset {
		return source.Diagnostic{}, false
	}
	switch {
	case s.prev.Value == `""`:
		last := s.i
		for last+1 < len(s.toks) && s.toks[last+1].Type == tokString && end(s.toks[last]) == s.toks[last+1].Pos.Offset {
			last++
		}
		return s.rewritten(s.i-1, last, s.found.Value, "a string has one double quote on each side"), true
	case s.isWord(s.i-1, "f", "F"):
		form, args := fields(strings.Trim(s.found.Value, `"`))
		return s.rewritten(s.i-1, s.i, "fmt("+strings.Join(append([]string{`"` + form + `"`}, args...), ", ")+")", "a text with values in it is made by fmt"), true
	}
	return source.Diagnostic{}, false
}

// fields extracts the names in the braces of an f-string.
func fields(text string) (form string, args []string) {
	for {
		a := strings.IndexByte(text, '{')
		if a < 0 {
			return form + text, args
		}
		b := strings.IndexByte(text[a:], '}')
		if b < 0 {
			return form + text, args
		}
		inner, _, _ := strings.Cut(text[a+1:a+b], ":")
		form, args, text = form+text[:a]+"{}", append(args, inner), text[a+b+1:]
	}
}

// isToken reports whether a token is literally in the text. The `;` of a line end is not.
func isToken(t lexer.Token, src, text string) bool {
	return t.Pos.Offset < len(src) && strings.HasPrefix(src[t.Pos.Offset:], text)
}
