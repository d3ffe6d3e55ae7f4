package lang

import (
	"errors"
	"sort"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"

	"flow/lang/ast"
	"flow/lang/source"
)

// This file defines Parse and its recovery. The text is split at top-level ";" and each piece is
// parsed alone. In a piece that fails, the innermost statement around the mistake is removed and
// the rest parsed again.

// maxMistakes is the number of statements removed from one top-level statement before the parser
// gives up on it.
const maxMistakes = 10

// Parse returns the tree of f and sorted diagnostics. It never panics and always returns a tree; a
// Bad replaces each statement that did not parse. A tree with errors serves to find more errors,
// not to run. Two calls for one text at one place may return one tree, which nobody changes.
func Parse(f *source.File) (*ast.File, source.Diagnostics) {
	if len(f.Text) > source.MostText {
		at := ast.Src{At: f.Span(0, 0)}
		return &ast.File{Src: at, Name: f.Name, Stmts: []ast.Stmt{&ast.Bad{Src: at}}},
			source.Diagnostics{source.Errorf("E136", source.Span{}, "%s: %v", f.Name, source.ErrTooLong)}
	}
	return trees.of(f, func() (*ast.File, source.Diagnostics) { return parsed(scan(f), 0) })
}

// ParseRange parses f.Text[from:to]: whole top-level statements, from the beginning of a line.
// Positions are those in f.
func ParseRange(f *source.File, from, to int) (*ast.File, source.Diagnostics) {
	return parsed(scanRange(f, from, to), from)
}

// parsed returns the tree of the text that s scanned from offset start.
func parsed(s *scanner, start int) (*ast.File, source.Diagnostics) {
	f := s.file
	out := &ast.File{Src: ast.Src{At: f.Span(start, len(s.src))}, Name: f.Name, Comments: s.comments}
	toks, ok := s.layout()
	if !ok {
		out.Stmts = []ast.Stmt{&ast.Bad{Src: out.Src}}
		return out, s.diags.Sort()
	}
	p := newParser(s)
	depth, from := 0, 0
	for i := 0; i <= len(toks); i++ {
		if i < len(toks) {
			if toks[i].Type == tokOp {
				switch toks[i].Value {
				case "(", "[", "{":
					depth++
				case ")", "]", "}":
					depth--
				}
			}
			if depth > 0 || toks[i].Type != tokOp || toks[i].Value != ";" {
				continue
			}
		}
		if i > from {
			// a mistake at the end is shown there, not lines below
			stop := min(end(toks[i-1]), len(s.src))
			out.Stmts = append(out.Stmts, p.statement(toks[from:i], stop)...)
		}
		from = i + 1
	}
	if !s.diags.HasErrors() {
		s.diags = append(s.diags, checkPlaces(out)...)
	}
	return out, s.diags.Sort()
}

// ParseExpr parses a single expression: a value of --set or a REPL line. It returns nil if there
// are diagnostics.
func ParseExpr(f *source.File) (ast.Expr, source.Diagnostics) {
	s := scan(f)
	toks, ok := s.layout()
	if ok && !s.diags.HasErrors() {
		g, err := parseTokens(toks, len(f.Text), climbing().expr, grammarAlone)
		if err == nil {
			return converter{f}.expr(g.X), nil
		}
		p := newParser(s)
		p.mistake(toks, len(f.Text), err)
	}
	return nil, s.diags.Sort()
}

type parser struct {
	*scanner
	conv     converter
	reported []int // scanner.poison in order
	// named has the reserved words that were reported as names.
	named map[string]bool
}

// newParser takes the results of scanning and layout.
func newParser(s *scanner) *parser {
	p := &parser{scanner: s, conv: converter{s.file}, named: map[string]bool{}}
	for off := range s.poison {
		p.reported = append(p.reported, off)
	}
	sort.Ints(p.reported)
	return p
}

// statement parses the tokens of one top-level statement. Its text ends at stop.
func (p *parser) statement(toks []lexer.Token, stop int) []ast.Stmt {
	whole := p.conv.src(at{toks})
	for n := 0; n <= maxMistakes; n++ {
		g, err := p.parse(toks, stop)
		if err == nil {
			return p.conv.stmts(g.Stmts)
		}
		i := p.find(toks, err)
		from, to := around(toks, i)
		for i < len(toks) && toks[i].Type == tokBad && from > 0 {
			// The placeholder is where no statement can be, for example in a record.
			from, to = around(toks, from-1)
			i = from
		}
		if !p.poisoned(toks[from:to]) && !hasBad(toks[from:to]) {
			p.mistakeIn(toks, from, to, stop, err)
		}
		if from == 0 && to == len(toks) {
			break
		}
		hole := lexer.Token{Type: tokBad, Pos: lexer.Position{Offset: stop, Line: 1, Column: 1}}
		if from < len(toks) {
			hole.Pos = toks[from].Pos
		}
		if from < to {
			hole.Value = p.src[hole.Pos.Offset:max(hole.Pos.Offset, min(end(toks[to-1]), len(p.src)))]
		}
		next := append([]lexer.Token(nil), toks[:from]...)
		toks = append(append(next, hole), toks[to:]...)
	}
	return []ast.Stmt{&ast.Bad{Src: whole}}
}

// mistakeIn reports err, which concerns the statement toks[from:to]. Parsed alone, the statement
// often fails further on: inside a block participle abandons an optional part and complains about
// its first token, while for a whole text it reports the deepest failure.
func (p *parser) mistakeIn(toks []lexer.Token, from, to, stop int, err error) {
	if from < to && from > 0 {
		inner := stop
		if to < len(toks) {
			inner = toks[to].Pos.Offset
			if toks[to].Value == "}" {
				inner = end(toks[to-1])
			}
		}
		if _, alone := p.parse(toks[from:to], inner); alone != nil {
			p.mistake(toks[from:to], inner, alone)
			return
		}
	}
	p.mistake(toks, stop, err)
}

func (p *parser) parse(toks []lexer.Token, stop int) (*gFile, error) {
	return parseTokens(toks, stop, climbing().file, grammar)
}

// parseTokens parses tokens by climbing. Tokens that do not fit are parsed again by the whole grammar,
// whose error it returns.
func parseTokens[T any](toks []lexer.Token, stop int, climbing *participle.Parser[T], grammar func() *participle.Parser[T]) (*T, error) {
	lex, err := lexer.Upgrade(&tokens{toks, stop})
	if err != nil {
		return nil, err
	}
	start := lex.MakeCheckpoint()
	if g, err := climbing.ParseFromLexer(lex); err == nil {
		return g, nil
	}
	lex.LoadCheckpoint(start)
	return grammar().ParseFromLexer(lex)
}

// find returns the index of the token that err names, or len(toks) for the end.
func (p *parser) find(toks []lexer.Token, err error) int {
	var perr participle.Error
	if !errors.As(err, &perr) {
		return len(toks)
	}
	off := perr.Position().Offset
	return sort.Search(len(toks), func(i int) bool { return toks[i].Pos.Offset >= off })
}

// around returns the innermost statement around token i: the tokens between two ";" of the
// innermost braces, or all of toks.
func around(toks []lexer.Token, i int) (from, to int) {
	depth := 0
	from = min(i, len(toks))
	for ; from > 0; from-- {
		switch t := toks[from-1]; {
		case t.Type != tokOp:
		case t.Value == ")" || t.Value == "]" || t.Value == "}":
			depth++
		case depth > 0 && (t.Value == "(" || t.Value == "[" || t.Value == "{"):
			depth--
		case t.Value == "(" || t.Value == "[":
			// Unbalanced from here on: the mistake is inside. Continue with the
			// enclosing brace.
		case depth == 0 && (t.Value == ";" || t.Value == "{" && opensBlock(toks[:from-1])):
			return from, after(toks, from, i)
		}
	}
	return 0, len(toks)
}

// opensBlock reports whether a "{" after these tokens opens a block rather than a record or its
// type.
func opensBlock(before []lexer.Token) bool {
	n := len(before)
	if n == 0 || before[n-1].Value == "frame" && n > 1 && !endsStatement(before[n-2]) {
		return false
	}
	return endsStatement(before[n-1]) || before[n-1].Value == "else"
}

// after returns the end of the statement that starts at from and contains token i.
func after(toks []lexer.Token, from, i int) int {
	depth := 0
	for k := from; k < len(toks); k++ {
		switch t := toks[k]; {
		case t.Type != tokOp:
		case t.Value == "(" || t.Value == "[" || t.Value == "{":
			depth++
		case k >= i && depth <= 0 && (t.Value == "}" || t.Value == ";"):
			return k
		case t.Value == ")" || t.Value == "]" || t.Value == "}":
			depth--
		}
	}
	return len(toks)
}

// poisoned reports whether the scanner or layout already reported a mistake in these tokens.
func (p *parser) poisoned(toks []lexer.Token) bool {
	if len(toks) == 0 {
		return false
	}
	from, to := toks[0].Pos.Offset, end(toks[len(toks)-1])
	k := sort.SearchInts(p.reported, from)
	return k < len(p.reported) && p.reported[k] < to
}

func hasBad(toks []lexer.Token) bool {
	for _, t := range toks {
		if t.Type == tokBad {
			return true
		}
	}
	return false
}
