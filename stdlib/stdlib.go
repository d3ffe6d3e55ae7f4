// Package stdlib embeds the algorithms that are written in Flow. Every program sees its functions;
// `flowrun doc NAME` prints the comment above each.
package stdlib

import "embed"

// Files are the library's programs.
//
//go:embed *.flow
var Files embed.FS
