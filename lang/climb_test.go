package lang

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"

	"flow/lang/ast"
	"flow/lang/source"
)

// TestClimbing: climbing and the whole grammar accept the same tokens and give the same tree with the
// same places. Expressions are drawn. Texts that are mostly wrong come of statements with a token or
// two changed.
func TestClimbing(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var all, foreign []lexer.Token
	accepted, refused := 0, 0
	compare := func(f *source.File, toks []lexer.Token) {
		var trees [2][]ast.Stmt
		var errs [2]error
		for k, p := range []*participle.Parser[gFile]{climbing().file, grammar()} {
			lex, err := lexer.Upgrade(&tokens{toks, len(f.Text)})
			if err != nil {
				t.Fatal(err)
			}
			var g *gFile
			if g, errs[k] = p.ParseFromLexer(lex); errs[k] == nil {
				trees[k] = converter{f}.stmts(g.Stmts)
			}
		}
		if (errs[0] == nil) != (errs[1] == nil) || !reflect.DeepEqual(trees[0], trees[1]) {
			t.Errorf("%s\nclimbing: %v %s\ngrammar: %v %s", values(toks), errs[0], Print(&ast.File{Stmts: trees[0]}), errs[1], Print(&ast.File{Stmts: trees[1]}))
		}
		if errs[1] == nil {
			accepted++
		} else {
			refused++
		}
	}
	for _, w := range []string{"not", "-", "+", "^", "<", "==", "and", "or", "|>", "@", "*", "by", "..", ":", "=", ",", "(", ")", "[", "]", ".", "x", "1", "if", "fn", "{", "}"} {
		s := scan(source.NewFileSet().Add("", w))
		foreign = append(foreign, s.toks[0].Token)
	}
	for _, text := range programs(t) {
		f := source.NewFileSet().Add("t.flow", text)
		toks, ok := scan(f).layout()
		if !ok {
			t.Fatal(text)
		}
		for k := range toks {
			if toks[k].Value == "nan" {
				toks[k].Value = "inf" // nan differs from itself
			}
		}
		compare(f, toks)
		all = append(all, toks...)
		for range 15 {
			at := r.IntN(len(toks))
			from, to := around(toks, at)
			part := slices.Clone(toks[from:to])
			for range 1 + r.IntN(2) {
				if len(part) == 0 {
					break
				}
				k := r.IntN(len(part))
				other := foreign[r.IntN(len(foreign))]
				if r.IntN(2) == 0 {
					other = all[r.IntN(len(all))]
				}
				other.Pos = part[k].Pos
				switch r.IntN(4) {
				case 0:
					part = slices.Delete(part, k, k+1)
				case 1:
					part[k] = other
				default:
					part = slices.Insert(part, k, other)
				}
			}
			compare(f, part)
		}
	}
	pick := func(words ...string) string { return words[r.IntN(len(words))] }
	for range 900 {
		text := "a = "
		for range 1 + r.IntN(6) {
			text += pick("", "", "", "not ", "-", "+") + pick("x", "1", "(x)", "(a = x, b)", ".c", "[x]", "if x { y } else { z }", "fn(u) => u", pick("(x,)", "()", "x", "y", "z")) +
				pick("", "", "(x)", "()", "(x, y = -z,)", "[x, :]", "[x.. by -2, y]", "[x..by * 2, 0..by]", "[0..=n by by]", ".f", "^-x", "^x") +
				pick(" + ", " - ", " * ", " // ", " @ ", " @ ", " < ", " == ", " and ", " or ", " |> ")
		}
		f := source.NewFileSet().Add("t.flow", text+"x")
		toks, _ := scan(f).layout()
		compare(f, toks)
	}
	if accepted < 100 || refused < 100 {
		t.Errorf("%d statements accepted, %d refused", accepted, refused)
	}
}

func values(toks []lexer.Token) (out []string) {
	for _, t := range toks {
		out = append(out, t.Value)
	}
	return out
}
