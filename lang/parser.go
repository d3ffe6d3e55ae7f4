package lang

import (
	"io"
	"regexp"
	"strings"
	"sync"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"

	"flow/lang/source"
)

// This file builds the participle parser once, when it is first needed: building takes about as
// long as parsing a small program.

// definition adapts scanner and layout to participle.
type definition struct{}

func (definition) Symbols() map[string]lexer.TokenType { return symbols() }

// Lex scans a text and applies layout. Mistakes are errors here; Parse reports them better.
func (definition) Lex(filename string, r io.Reader) (lexer.Lexer, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	s := scan(source.NewFileSet().Add(filename, string(text)))
	toks, _ := s.layout()
	if err := s.diags.Err(); err != nil {
		return nil, err
	}
	return &tokens{toks, len(text)}, nil
}

// tokens is a lexer.Lexer over tokens. size is the offset of the text's end.
type tokens struct {
	rest []lexer.Token
	size int
}

func (t *tokens) Next() (lexer.Token, error) {
	if len(t.rest) == 0 {
		return lexer.EOFToken(lexer.Position{Offset: t.size, Line: 1, Column: 1}), nil
	}
	tok := t.rest[0]
	t.rest = t.rest[1:]
	return tok, nil
}

// The whole grammar says where a text is wrong. Building fails only if the tags are wrong, which every
// test shows, so users never see a panic.
var (
	grammar      = sync.OnceValue(func() *participle.Parser[gFile] { return build[gFile](participle.Union[gExpr](&gPiped{})) })
	grammarAlone = sync.OnceValue(func() *participle.Parser[gAlone] { return build[gAlone](participle.Union[gExpr](&gPiped{})) })
)

// climbing is the parser of correct texts, which parses expressions by a climber.
var climbing = sync.OnceValue(buildClimbing)

type parsers struct {
	file *participle.Parser[gFile]
	expr *participle.Parser[gAlone]
}

func buildClimbing() parsers {
	var operands *participle.Parser[gPrim]
	// Productions that are parsed alone have to be within reach of the root.
	type root struct {
		at
		File *gFile  `parser:"@@"`
		Expr *gAlone `parser:"| @@"`
		Prim *gPrim  `parser:"| @@"`
	}
	p := build[root](participle.ParseTypeWith(func(lex *lexer.PeekingLexer) (gExpr, error) {
		c := climber{PeekingLexer: lex, operands: operands}
		return c.expr(), c.err
	}))
	operands = production[gPrim](p)
	return parsers{production[gFile](p), production[gAlone](p)}
}

// build makes the parser of T. How expressions are parsed is an option.
func build[T any](expr participle.Option) *participle.Parser[T] {
	return participle.MustBuild[T](
		expr,
		participle.Lexer(definition{}),
		participle.UseLookahead(1),
		participle.Union[gStmt](&gBind{}, &gFor{}, &gEmit{}, &gParam{}, &gChan{}, &gNext{}, &gAssert{}, &gIterate{}, &gFnDecl{},
			&gImport{}, &gTypeDef{}, &gStage{}, &gState{}, &gOn{}, &gBad{}, &gSend{}),
	)
}

// production returns the parser of one production of p.
func production[P, T any](p *participle.Parser[T]) *participle.Parser[P] {
	out, err := participle.ParserForProduction[P](p)
	if err != nil {
		panic(err)
	}
	return out
}

// Grammar returns the grammar in EBNF as the parser has it. Its ";" come from layout.
func Grammar() string {
	text := regexp.MustCompile(`\bG([A-Z])`).ReplaceAllString(grammar().String(), "$1") + "\n"
	// Piped exists only because climbing makes expressions of another type.
	return strings.Replace(text, "Expr = Piped .\nPiped = ", "Expr = ", 1)
}
