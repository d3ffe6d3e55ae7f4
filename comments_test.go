package flow

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// widest is the most columns of a comment. Wider ones are hard to read beside another window.
const widest = 104

// TestCommentsAreNarrow: no line of a comment is wider than widest, wherever it begins. Code and tables
// in comments, which begin with a tab, and generated files may be.
func TestCommentsAreNarrow(t *testing.T) {
	_, comments := readNames(t)
	for _, c := range comments {
		for i, line := range strings.Split(c.text, "\n") {
			if n := utf8.RuneCountInString(line); n > widest && !strings.HasPrefix(line, "//\t") && !strings.HasSuffix(c.file, "_gen.go") {
				t.Errorf("%s:%d: a comment of %d columns", c.file, c.line+i, n)
			}
		}
	}
	if len(comments) < 10000 {
		t.Errorf("only %d comments were found", len(comments))
	}
}
