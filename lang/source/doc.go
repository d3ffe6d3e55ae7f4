// Package source defines files, positions, spans, diagnostics with their table of codes, and the
// renderer that prints a caret under the text. It imports nothing of Flow.
package source
