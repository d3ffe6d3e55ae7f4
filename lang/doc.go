// Package lang turns the text of a .flow file into a syntax tree and back.
//
//	text -> scan -> tokens -> layout -> tokens with ";" -> participle grammar -> ast
//	                                                                        ast -> Print, Format
//
// Start at Parse (parse.go); the grammar is grammar_*.go, one struct a production,
// and testdata or spec.md show it in use. Layout (layout.go) is where line ends
// become statement ends. Mistakes are explained in explain.go.
//
// The package knows no operator and no type: `potrf(A)` is a call of a name. What
// names mean is the compiler's business. It never panics on any text, and its
// functions are safe for concurrent use.
package lang
