// Package lang converts the text of a .flow file to a syntax tree and back.
//
//	text -> scan -> tokens -> layout -> tokens with ";" -> grammar -> ast
//	                                                                  ast -> Print, Format
//
// Start at Parse (parse.go). The grammar is in grammar_*.go, one struct a production; testdata and
// spec.md show it in use. climb.go parses the expressions of correct texts in its place, faster.
// Layout (layout.go) turns line ends into statement ends. explain*.go explain mistakes.
//
// The package knows no operator and no type: `potrf(A)` is a call of a name. The compiler resolves
// names. No text makes the package panic, and its functions are safe for concurrent use.
package lang
