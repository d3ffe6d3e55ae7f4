// Package source holds what every diagnostic needs: files, positions, spans, the
// table of codes, and the renderer that prints a caret under the text. It imports
// nothing of Flow.
package source
