package flow

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// This file runs every program of the tutorial and compares what it prints with what the chapter
// shows.

// The programs of a chapter run one after the other in one directory: files that one writes, later
// ones read. go test . -run Tutorial -update writes what they print; read the difference.
func TestTutorial(t *testing.T) {
	chapters, err := filepath.Glob(filepath.Join("docs", "tutorial", "[0-9]*.md"))
	if err != nil || len(chapters) != 10 {
		t.Fatalf("%d chapters (%v)", len(chapters), err)
	}
	for n, path := range chapters {
		t.Run(filepath.Base(path), func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			full, err := filepath.Abs(path)
			if err != nil {
				t.Fatal(err)
			}
			t.Chdir(t.TempDir())
			var shown strings.Builder
			at := 0
			blocks := specBlock.FindAllSubmatchIndex(text, -1)
			if len(blocks) == 0 || strings.Count(string(text), "```") != 4*len(blocks) {
				t.Fatal("a block that is no program with its output")
			}
			for i, b := range blocks {
				name := fmt.Sprintf("%s:%d", path, 1+strings.Count(string(text[:b[2]]), "\n"))
				list := engines(uint64(10*n + i))
				got := everywhere(t, name, text[b[2]:b[3]], nil, []engine{list[0], list[2], list[5], list[9], list[10]})
				if want := string(text[b[4]:b[5]]); got != want && !*update {
					t.Errorf("%s prints\n%swant\n%s", name, got, want)
				}
				shown.Write(text[at:b[4]])
				shown.WriteString(got)
				at = b[5]
			}
			shown.Write(text[at:])
			if svg, err := os.ReadFile("wave.svg"); n == 0 && (err != nil || !strings.Contains(string(svg), "a wave that dies away")) {
				t.Errorf("the first chapter leaves no plot: %v", err)
			}
			if *update {
				if err := os.WriteFile(full, []byte(shown.String()), 0o666); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

var docCode = regexp.MustCompile("(?m)`[^`\n]*`|^    .*$")

var docLink = regexp.MustCompile(`\]\(([^)#:]+)(#[a-z0-9-]+)?\)`)

// Links of the README and of docs lead to files of the repository, and to headings that they have.
func TestDocLinks(t *testing.T) {
	pages, _ := filepath.Glob(filepath.Join("docs", "*.md"))
	chapters, _ := filepath.Glob(filepath.Join("docs", "tutorial", "*.md"))
	seen := 0
	for _, page := range append(append(pages, chapters...), "README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range docLink.FindAllStringSubmatch(docCode.ReplaceAllString(string(text), ""), -1) {
			seen++
			target := filepath.Join(filepath.Dir(page), filepath.FromSlash(m[1]))
			to, err := os.ReadFile(target)
			if info, err2 := os.Stat(target); err2 == nil && info.IsDir() {
				err = nil
			}
			if err != nil {
				t.Errorf("%s: %v", page, err)
			}
			heading := "\n## " + strings.ReplaceAll(strings.TrimPrefix(m[2], "#"), "-", " ") + "\n"
			if m[2] != "" && !strings.Contains(strings.ToLower(string(to)), heading) {
				t.Errorf("%s: %s has no heading %s", page, m[1], m[2])
			}
		}
	}
	if seen < 30 {
		t.Errorf("%d links: the pattern is out of date", seen)
	}
}

// TestAnswersAreShort: in RATIONALE.md a heading stands once, and an answer has at most fifteen lines.
func TestAnswersAreShort(t *testing.T) {
	text, err := os.ReadFile("RATIONALE.md")
	if err != nil {
		t.Fatal(err)
	}
	heading, lines, seen := "", 0, map[string]bool{}
	for line := range strings.Lines(string(text) + "## \n") {
		switch line = strings.TrimSpace(line); {
		case strings.HasPrefix(line, "#"):
			if lines > 15 || seen[heading] && heading != "" {
				t.Errorf("%q has %d lines, and stood before: %v", heading, lines, seen[heading])
			}
			seen[heading] = true
			heading, lines = line, 0
		case line != "":
			lines++
		}
	}
	if len(seen) < 50 {
		t.Errorf("only %d questions were found", len(seen))
	}
}
