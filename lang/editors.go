package lang

// This file generates syntax files for editors from the scanner's tables, so that they list every
// reserved word and operator.

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// contextual lists the words that are reserved only in some places. types lists the element types.
var (
	contextual = []string{"sparse", "frame", "grid", "of", "by", "end"}
	typeWords  = []string{"f64", "f32", "i64", "bool", "str", "time", "dur"}
)

// Patterns of numbers and times, as the scanner reads them.
const (
	numberPattern = `\d[\d_]*(\.\d[\d_]*)?([eE][-+]?\d[\d_]*)?`
	unitPattern   = `(ns|us|ms|s|m|h|d)`
)

// Vim returns a syntax file for Vim and Neovim.
func Vim() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("\" Vim syntax file for Flow, written by package lang from the scanner's tables.")
	line("\" Put it into ~/.vim/syntax/flow.vim, and into ~/.vim/ftdetect/flow.vim the line")
	line("\"     autocmd BufRead,BufNewFile *.flow setfiletype flow")
	line("if exists('b:current_syntax')\n  finish\nendif\n")
	line("syntax keyword flowStatement %s", strings.Join(declaring, " "))
	line("syntax keyword flowControl %s", strings.Join(steering, " "))
	line("syntax keyword flowOperatorWord %s", strings.Join(joining, " "))
	line("syntax keyword flowConstant %s", strings.Join(constants, " "))
	line("syntax keyword flowType %s", strings.Join(typeWords, " "))
	line("syntax keyword flowContextual %s", strings.Join(contextual, " "))
	vim := strings.NewReplacer("[-+]", "[-+]", `[\d_]`, "[0-9_]", "(", `\%(`, ")", `\)`, "?", `\=`, "+", `\+`, "|", `\|`)
	line(`syntax match flowNumber "\<%s%s\=\>"`, vim.Replace(numberPattern), vim.Replace(unitPattern))
	line(`syntax match flowCall "\<\h\w*\ze("`)
	line(`syntax match flowOperator "%s"`, strings.Join(vimOperators(), `\|`))
	line(`syntax region flowString start=+"+ skip=+\\.+ end=+"+ oneline contains=flowEscape,flowHole`)
	line(`syntax match flowEscape "\\." contained`)
	line(`syntax match flowHole "{[^{}"]*}" contained`)
	line(`syntax match flowComment "#.*$" contains=@Spell`)
	line("")
	for _, pair := range [][2]string{{"Statement", "Statement"}, {"Control", "Repeat"}, {"OperatorWord", "Operator"}, {"Operator", "Operator"},
		{"Constant", "Constant"}, {"Type", "Type"}, {"Contextual", "Special"}, {"Number", "Number"}, {"Call", "Function"}, {"String", "String"},
		{"Escape", "SpecialChar"}, {"Hole", "SpecialChar"}, {"Comment", "Comment"}} {
		line("highlight default link flow%s %s", pair[0], pair[1])
	}
	line("\nlet b:current_syntax = 'flow'")
	return b.String()
}

// signs returns the operators to colour: all but brackets and separators.
func signs() []string {
	out := append([]string{"..="}, strings.Fields(operators2)...)
	for _, c := range operators1 {
		if !strings.ContainsRune("(){}[],:;.", c) {
			out = append(out, string(c))
		}
	}
	return out
}

func vimOperators() []string {
	var out []string
	for _, s := range signs() {
		out = append(out, strings.NewReplacer("*", `\*`, "/", `\/`, "^", `\^`, ".", `\.`).Replace(s))
	}
	return out
}

// TextMate returns a TextMate grammar, for VS Code, Sublime Text and GitHub's Linguist.
func TextMate() string {
	words := func(list ...string) string { return `\b(` + strings.Join(list, "|") + `)\b` }
	var ops []string
	for _, s := range signs() {
		ops = append(ops, regexp.QuoteMeta(s))
	}
	type rule map[string]any
	match := func(name, pattern string) rule { return rule{"name": name + ".flow", "match": pattern} }
	grammar := rule{
		"$schema":   "https://raw.githubusercontent.com/martinring/tmlanguage/master/tmlanguage.json",
		"name":      "Flow",
		"scopeName": "source.flow",
		"fileTypes": []string{"flow"},
		"patterns": []rule{
			match("comment.line.number-sign", `#.*$`),
			{"name": "string.quoted.double.flow", "begin": `"`, "end": `"|$`, "patterns": []rule{
				match("constant.character.escape", `\\.`),
				match("constant.other.placeholder", `\{[^{}"]*\}`),
			}},
			match("keyword.other", words(declaring...)),
			match("keyword.control", words(steering...)),
			match("keyword.operator.word", words(joining...)),
			match("constant.language", words(constants...)),
			match("storage.type", words(typeWords...)),
			match("storage.modifier", words(contextual...)),
			match("constant.numeric", `\b`+numberPattern+unitPattern+`?\b`),
			match("entity.name.function", `\b[A-Za-z_]\w*(?=\()`),
			match("keyword.operator", strings.Join(ops, "|")),
		},
	}
	text, err := json.MarshalIndent(grammar, "", "  ")
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return string(text) + "\n"
}
