package main

import (
	"fmt"
	"strings"

	"flow/ir/op"
)

// This file is the manual of the words of the language: what `flowrun doc parfor` prints. The
// reference is lang/spec.md; a test compares both.

// word is a reserved or contextual word.
type word struct {
	name string
	form string // how it is written
	doc  string
	eg   op.Example // a whole program
	spec string     // heading of lang/spec.md
}

// words are in the order of the reference.
var words = []word{
	{"true", "true, false", "true and false are the two values of bool. In arithmetic they count as 1 and 0.",
		op.Example{Program: "emit true and not false\nemit sum([true, false, true])", Output: "true\n2"}, "2. Text"},
	{"inf", "inf", "inf is the f64 above all others; -inf is below them.",
		op.Example{Program: "emit 1 / inf\nemit max([1, -inf])", Output: "0\n1"}, "2. Text"},
	{"nan", "nan", "nan is the f64 that is no number. It equals nothing, not even itself; isnan(x) asks for it.",
		op.Example{Program: "emit nan == nan", Output: "false"}, "2. Text"},
	{"param", `param name: type = default in [choices] "what it is"`,
		"param declares a value that `flowrun --set name=value` gives before the graph is built. One without a default has to be given.",
		op.Example{Program: "param n: i64 = 3 \"order of the matrix\"\nemit sum(eye(n))", Output: "3"}, "4.1 Params"},
	{"import", `import "path" as name`, "import makes the functions, types, stages and params of a file available as name.x.",
		op.Example{}, "4.2 Files"},
	{"as", `emit e as "label", import "path" as name`, "as names what an emit prints, or the file that an import brings in.",
		op.Example{Program: "emit 1 + 1 as \"two\"", Output: "two: 2"}, "11. What a program shows, and when it is the same"},
	{"fn", "fn name(x, y: type = default) -> type = expression, or a block { .. value }",
		"fn declares a function. It is a template: every call becomes a part of the graph, with the shapes at hand. As an argument it is written fn(x) => e.",
		op.Example{Program: "fn square(x) = x * x\nemit square(7)", Output: "49"}, "5. Functions"},
	{"type", "type name = type", "type names a type. A size that is bound nowhere stands for one number in each use.",
		op.Example{Program: "type Square = f64[n,n]\nfn f(A: Square) = sum(A)\nemit f(eye(3))", Output: "3"}, "4. Names"},
	{"if", "if c { a } else if d { b } else { e }",
		"if is an expression and a statement. As a value it needs an else, and its branches agree in type and shape. A condition that is known before the run leaves one " +
			"branch in the graph; on a value of the run, one of them is run. ifelse(c, a, b) chooses element by element.",
		op.Example{Program: "x = sum(eye(2))\nemit if x > 1 { x * 10 } else { x }", Output: "20"}, "6. Choice"},
	{"else", "if c { a } else { b }", "else is the other branch of an if.", op.Example{}, "6. Choice"},
	{"chan", "chan L = tiles(A, nb), chan c: grid[4] of f64[2,2], chan L[i in 0..n] = e",
		"chan declares an array of channels. L[i,j] <- e sends the next token of one, which is one task; L[i,j] reads the latest token above in the text.",
		op.Example{Program: "chan c = tiles(ones(4, 4), 2)\nc[0,0] <- 10 * c[0,0]\nemit untile(c)", Output: "10 10 1 1\n10 10 1 1\n 1  1 1 1\n 1  1 1 1"}, "7. Channel arrays"},
	{"for", "for i in a..b, j in c..=d by s { .. }, and for i in a..b => e in an argument or a list",
		"for is unrolled before the run, so its bounds are known then. parfor and iterate are loops of the run.",
		op.Example{Program: "for i in 0..3 { emit 10 * i }\nemit t([for k in 1..4 => k ^ 2])", Output: "0\n10\n20\n1 4 9"}, "7.1 for"},
	{"in", "for i in a..b, param mode in [choices]", "in stands between a name and what it goes over, or the choices of a param.", op.Example{}, "7.1 for"},
	{"by", "a..b by s", "by is the step of a range, not 0: of a loop, a parfor or a subscript. With a negative one it descends: 3..0 by -1 is 3, 2, 1.", op.Example{Program: "for i in 0..7 by 3 { emit i }", Output: "0\n3\n6"}, "7.1 for"},
	{"with", `with (place = rows), with (schedule = "gss", grain = 64)`,
		"with gives hints after a declaration or the head of a loop: where tiles or rows lie on ranks, how iterations are handed out. Hints never change results.",
		op.Example{Program: "emit sum(parfor i in 0..10 with (schedule = \"gss\") { i })", Output: "45"}, "8. Loops that are one node"},
	{"iterate", "iterate c = init, d = init until condition { .. next c = e; next d = e }, or times n",
		"iterate carries values from round to round of the run. The condition is tested before each round; each carried name has one next and keeps its type and shape. After " +
			"the loop the names stand for the last values.",
		op.Example{Program: "iterate a = 0, b = 1 times 10 {\n  next a = b\n  next b = a + b\n}\nemit a", Output: "55"}, "8. Loops that are one node"},
	{"until", "iterate .. until condition { .. }", "until ends an iterate when its condition holds, which is tested before each round.", op.Example{}, "8. Loops that are one node"},
	{"times", "iterate .. times n { .. }", "times is the number of rounds of an iterate, which may be a value of the run.", op.Example{}, "8. Loops that are one node"},
	{"next", "next c = e", "next says what a carried name of an iterate is in the next round, or a state of a stage at its next token.", op.Example{}, "8. Loops that are one node"},
	{"parfor", "parfor i in a..b { value }, parfor i in a..b, j in c..d { value }",
		"parfor computes one result an index, and workers share the indices. The value of its body is a scalar, or a row: results become the rows of a matrix, or with " +
			"two indices its elements. Bounds may be values of the run. Where the second range depends on the first index, results form a column in the order of the pairs.",
		op.Example{Program: "emit t(parfor i in 0..5 { i ^ 2 })", Output: "0 1 4 9 16"}, "8. Loops that are one node"},
	{"stage", "stage s(xs: chan T) -> chan U { state m = init; on x in xs { .. } }", "stage declares an operator on streams with state of its own. It is parsed today and runs later.",
		op.Example{}, "9. Streams"},
	{"state", "state m = init", "state is what a stage keeps from token to token.", op.Example{}, "9. Streams"},
	{"on", "on x in xs { .. }, on end { .. }", "on says what a stage does with a token, or at the end of its stream.", op.Example{}, "9. Streams"},
	{"to", `emit e to "file.csv"`, "to names the file that an emit writes.", op.Example{}, "11. What a program shows, and when it is the same"},
}

// wordOf returns the manual of a word.
func wordOf(name string) (word, bool) {
	if name == "false" {
		name = "true"
	}
	for _, w := range words {
		if w.name == name {
			return w, true
		}
	}
	return word{}, false
}

// docWord prints the manual of a word.
func (s *session) docWord(w word) {
	s.prose(w.form+"\n\n"+w.doc, 0)
	if w.eg.Program != "" {
		s.docExample(w.eg)
	}
	fmt.Fprintf(s.out, "\nin the reference, lang/spec.md, section %s\n", strings.TrimSpace(w.spec))
}
