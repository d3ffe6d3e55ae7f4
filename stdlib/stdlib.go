// Package stdlib holds the library of algorithms that are written in Flow itself. Every program
// sees its functions; `flowrun doc NAME` prints the comment above each.
package stdlib

import "embed"

// Files are the library's programs.
//
//go:embed *.flow
var Files embed.FS
