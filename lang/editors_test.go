package lang

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"flow/lang/source"
)

// TestEditorGoldens: the syntax files in editors are what the scanner's tables say now.
func TestEditorGoldens(t *testing.T) {
	golden(t, "editors/flow.vim", Vim())
	golden(t, "editors/flow.tmLanguage.json", TextMate())
}

// TestTextMateColours runs the grammar's patterns over all examples: every token but names,
// brackets and separators is matched whole by one of them, at its place.
func TestTextMateColours(t *testing.T) {
	var grammar struct {
		Patterns []struct{ Name, Match, Begin string }
	}
	if err := json.Unmarshal([]byte(TextMate()), &grammar); err != nil {
		t.Fatal(err)
	}
	type rule struct {
		name string
		at   *regexp.Regexp
	}
	var rules []rule
	for _, p := range grammar.Patterns {
		pattern := p.Match
		if p.Begin != "" {
			pattern = `"(\\.|[^"\\])*"`
		}
		pattern = strings.ReplaceAll(pattern, `(?=\()`, "")
		rules = append(rules, rule{p.Name, regexp.MustCompile(`^(?:` + pattern + `)`)})
	}
	files, err := filepath.Glob("../examples/*.flow")
	if err != nil || len(files) < 10 {
		t.Fatal(len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, tok := range scan(source.NewFileSet().Add(file, string(text))).toks {
			if tok.Value == "" || tok.Type == tokIdent || tok.Type == tokOp && strings.Contains("(){}[],:;.", tok.Value) {
				continue
			}
			rest := string(text)[tok.Pos.Offset:]
			k := slices.IndexFunc(rules, func(r rule) bool { return r.at.MatchString(rest) })
			if k < 0 || rules[k].at.FindString(rest) != string(text)[tok.Pos.Offset:tok.stop] {
				t.Errorf("%s: %q has no colour of its own", file, rest[:min(12, len(rest))])
			}
		}
	}
}
