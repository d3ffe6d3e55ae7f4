package flow

import (
	"bytes"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

// documents are the texts whose words in backticks are names of this repository.
var documents = []string{"RATIONALE.md", "README.md", "CONTRIBUTING.md", "SECURITY.md", "lang/spec.md", "docs/flowrun.md"}

// otherNames are the words that look like names of this repository and are others': of programs and
// projects that a text compares with, standards, people, and placeholders.
const otherNames = `
	arXiv DejaVu DeRose FreeBSD GitHub LaTeX ModRM NaNs NoSpace kP sRGB
	SetCrashOutput bubbline chzyer cloudwego copysign dmesg gompi iasm liner pdist sbromberger twitchyliquid64 uniseg
	TRACE WORD first.flow g.txt lib/x.flow`

// namesOfCode are the names that the repository has.
type namesOfCode struct {
	words map[string]bool            // names and words of texts in code, and parts of file names
	of    map[string]map[string]bool // names in packages, by the name of the package
	files []string                   // slash-separated
	at    map[string]bool            // files and directories, and "*/" with every end of a file's path
	other map[string]bool            // otherNames that were seen
}

// comment is a comment of a Go file.
type comment struct {
	file, text string
	line       int
}

// TestNamesExist holds that texts name what exists: in comments files, names of packages and words with
// a capital letter within, in the documents all words in backticks. A word exists if code has it
// anywhere.
func TestNamesExist(t *testing.T) {
	names, comments := readNames(t)
	for _, c := range comments {
		for i, line := range strings.Split(c.text, "\n") {
			for _, word := range nameWords(line) {
				if !names.inComment(path.Dir(c.file), path.Base(c.file) == "doc.go", word) {
					t.Errorf("%s:%d: there is no %s", c.file, c.line+i, word)
				}
			}
		}
	}
	code := regexp.MustCompile("`[^`]+`")
	seen := 0
	for _, file := range documents {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			for _, item := range code.FindAllString(line, -1) {
				for _, word := range nameWords(item) {
					if seen++; !names.inDocument(word) {
						t.Errorf("%s:%d: there is no %s", file, i+1, word)
					}
				}
			}
		}
	}
	if len(comments) < 10000 || seen < 1000 {
		t.Errorf("%d comments and %d names in documents were read", len(comments), seen)
	}
	for _, w := range strings.Fields(otherNames) {
		if !names.other[w] {
			t.Errorf("no text has %s: it needs no place in otherNames", w)
		}
	}
}

// readNames reads all files. What this file says does not count.
func readNames(t *testing.T) (n namesOfCode, comments []comment) {
	n = namesOfCode{map[string]bool{}, map[string]map[string]bool{}, nil, map[string]bool{}, map[string]bool{}}
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if file = filepath.ToSlash(file); err != nil || file == "." {
			return err
		}
		if strings.HasPrefix(d.Name(), ".") && d.IsDir() {
			return fs.SkipDir
		}
		n.at[file] = true
		n.add(n.words, d.Name())
		if d.IsDir() {
			return nil
		}
		n.files = append(n.files, file)
		for end := file; end != ""; _, end, _ = strings.Cut(end, "/") {
			n.at["*/"+end] = true
		}
		switch path.Ext(file) {
		case ".go":
			text, err := os.ReadFile(file)
			if err == nil && file != "names_test.go" {
				comments = append(comments, n.addGo(file, text)...)
			}
			return err
		case ".flow", ".txt", ".s", ".c", ".h", ".py", "":
			text, err := os.ReadFile(file)
			if !bytes.Contains(text, []byte{0}) { // a program that was built has names of libraries
				n.add(n.words, string(text))
			}
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n, comments
}

// addGo adds the names of a Go file, and returns its comments.
func (n *namesOfCode) addGo(file string, text []byte) (comments []comment) {
	set := token.NewFileSet()
	f := set.AddFile(file, -1, len(text))
	var s scanner.Scanner
	s.Init(f, text, nil, scanner.ScanComments)
	var of map[string]bool
	for last := token.ILLEGAL; ; {
		pos, tok, lit := s.Scan()
		switch tok {
		case token.EOF:
			return comments
		case token.COMMENT:
			if strings.HasPrefix(lit, "// ") || strings.HasPrefix(lit, "//\t") {
				comments = append(comments, comment{file, lit, f.Line(pos)})
			}
		case token.STRING:
			n.add(n.words, lit)
		case token.IDENT:
			if last == token.PACKAGE {
				if of = n.of[lit]; of == nil {
					of = map[string]bool{}
					n.of[lit] = of
				}
			}
			n.words[lit], of[lit] = true, true
		}
		last = tok
	}
}

// add adds the words of a text.
func (n *namesOfCode) add(to map[string]bool, text string) {
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return !inName(r) }) {
		to[w] = true
	}
}

func inName(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// nameWords splits a text at what is in no name and no file name.
func nameWords(text string) (words []string) {
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return !inName(r) && !strings.ContainsRune("./*-", r) }) {
		if w = strings.Trim(w, "./-"); w != "" {
			words = append(words, w)
		}
	}
	return words
}

// inComment: a file is beside the comment, or above it, or the text has its path; doc.go may mean any.
func (n *namesOfCode) inComment(dir string, doc bool, word string) bool {
	if strings.HasSuffix(word, ".go") {
		for _, d := range []string{dir, path.Dir(dir)} {
			if n.file(path.Join(d, word)) {
				return true
			}
		}
		return strings.Contains(word, "/") && (n.file(word) || n.file("*/"+word)) || doc && n.file("*/"+word)
	}
	parts := strings.FieldsFunc(word, func(r rune) bool { return !inName(r) })
	if pkg, name, ok := strings.Cut(word, "."); ok && n.of[pkg] != nil && name != "" && unicode.IsUpper(rune(name[0])) && !n.of[pkg][parts[1]] {
		return false
	}
	for _, p := range parts {
		if camel(p) && !n.exists(p) {
			return false
		}
	}
	return true
}

// inDocument: words of up to three letters are no names.
func (n *namesOfCode) inDocument(word string) bool {
	switch path.Ext(word) {
	case ".go", ".md", ".flow", ".s", ".c", ".py", ".txt":
		return n.file(word) || n.file("*/"+word) || n.exists(word)
	}
	for _, p := range strings.FieldsFunc(word, func(r rune) bool { return !inName(r) }) {
		if len(p) > 3 && !unicode.IsDigit(rune(p[0])) && !n.exists(p) {
			return false
		}
	}
	return true
}

// exists reports whether the word is a name of the code, or of others.
func (n *namesOfCode) exists(word string) bool {
	if n.words[word] || n.at[word] {
		return true
	}
	for _, w := range strings.Fields(otherNames) {
		if w == word {
			n.other[w] = true
			return true
		}
	}
	return false
}

// file reports whether a file has that path, in which a name may have stars.
func (n *namesOfCode) file(pattern string) bool {
	if n.at[pattern] || !strings.Contains(pattern, "*") {
		return n.at[pattern]
	}
	end, anywhere := strings.CutPrefix(pattern, "*/")
	for _, f := range n.files {
		if anywhere {
			f = path.Base(f)
		}
		if ok, _ := path.Match(end, f); ok {
			return true
		}
	}
	return false
}

// camel reports whether a word has a capital after a small letter.
func camel(word string) bool {
	small := false
	for _, r := range word {
		if unicode.IsUpper(r) && small {
			return true
		}
		small = small || unicode.IsLower(r)
	}
	return false
}
