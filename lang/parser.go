package lang

import (
	"io"
	"regexp"
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

type parsers struct {
	file *participle.Parser[gFile]
	expr *participle.Parser[gExpr]
}

// grammar is the parser. Building fails only if the tags are wrong, which every test shows, so
// users never see Must panic.
var grammar = sync.OnceValue(build)

func build() parsers {
	file := participle.MustBuild[gFile](
		participle.Lexer(definition{}),
		participle.UseLookahead(1),
		participle.Union[gStmt](&gBind{}, &gFor{}, &gEmit{}, &gParam{}, &gChan{}, &gNext{}, &gAssert{}, &gIterate{}, &gFnDecl{},
			&gImport{}, &gTypeDef{}, &gStage{}, &gState{}, &gOn{}, &gBad{}, &gSend{}),
	)
	expr, err := participle.ParserForProduction[gExpr](file)
	if err != nil {
		panic(err)
	}
	return parsers{file, expr}
}

// Grammar returns the grammar in EBNF as the parser has it. Its ";" come from layout.
func Grammar() string {
	return regexp.MustCompile(`\bG([A-Z])`).ReplaceAllString(grammar().file.String(), "$1") + "\n"
}
