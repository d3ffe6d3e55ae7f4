// Package examples holds the example programs, for the manual.
package examples

import "embed"

// Files is the programs; the first sentence of each file's first comment says what it is.
//
//go:embed *.flow
var Files embed.FS
