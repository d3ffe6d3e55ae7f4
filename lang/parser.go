package lang

import (
	"io"
	"regexp"
	"sync"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"

	"flow/lang/source"
)

// This file builds the participle parser, once and when first needed: building
// takes about as long as parsing a small program.

// definition is the scanner and layout as participle sees them.
type definition struct{}

func (definition) Symbols() map[string]lexer.TokenType { return symbols() }

// Lex is the whole way from text to tokens; mistakes in it are errors here, Parse reports them better.
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

// tokens is a lexer.Lexer over tokens; size is where the end of the text is.
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

// grammar is the parser. Its construction fails only if the tags are wrong, which
// every test would show, so Must is no panic that a user can meet.
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

// Grammar is the grammar in EBNF as the running parser has it; its ";" come from layout.
func Grammar() string {
	return regexp.MustCompile(`\bG([A-Z])`).ReplaceAllString(grammar().file.String(), "$1") + "\n"
}
