package flow

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// This file runs the last column of the table of idioms.

// idiomSetup is what the rows of the table assume.
const idiomSetup = "A = [[4.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 2.0]]\nB = [[1.0, 0.0, 2.0], [0.0, 1.0, 0.0], [3.0, 0.0, 1.0]]\nx = [2, 3, 1]\ny = [3, 1, 2]\nn = 3\n"

// idiomProgram is the program of a cell: an expression is emitted, a declaration is used.
func idiomProgram(cell string) string {
	text := idiomSetup
	first, rest, _ := strings.Cut(cell, " ")
	name, _, _ := strings.Cut(rest, "(")
	name, _, _ = strings.Cut(name, " ")
	switch {
	case first == "emit" || first == "assert":
		text += cell
	case first == "fn":
		text += cell + "\nemit " + name + "(3)"
	case first == "iterate":
		text += cell + "\nemit " + name
	case strings.HasPrefix(cell, "Q, R = "):
		text += cell + "\nemit R\nemit norm(Q @ R - A) < 1e-12"
	default:
		text += "emit " + cell
	}
	return text + "\n"
}

// Every cell of Flow's column prints its golden on every engine, numbers within 1e-9: the elements
// of a factorisation depend on the processor's kernel set. Where the cell of NumPy is an expression
// without random numbers, the golden has been compared with its value; they agree but for the signs
// in qr. go test . -run Idioms -update writes the golden.
func TestIdioms(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("docs", "idioms.md"))
	if err != nil {
		t.Fatal(err)
	}
	goldenPath, err := filepath.Abs(filepath.Join("testdata", "idioms.txt"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if err := os.WriteFile("a.csv", []byte("1,2\n3,4\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	rows := 0
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| |") {
			continue
		}
		if len(cells) != 6 {
			t.Errorf("%d cells in %s", len(cells), line)
			continue
		}
		rows++
		cell := strings.Trim(cells[5], " `")
		list := engines(uint64(rows))
		got := everywhere(t, cells[0], []byte(idiomProgram(cell)), nil, []engine{list[0], list[2], list[5], list[9]})
		if strings.Contains(got, "FAILED") {
			t.Errorf("%s: %s", cell, got)
		}
		fmt.Fprintf(&all, "# %s\n%s", cell, got)
	}
	if rows < 60 {
		t.Errorf("%d rows", rows)
	}
	if csv, err := os.ReadFile("a.csv"); err != nil || !strings.HasPrefix(string(csv), "4,1,0\n") {
		t.Errorf("the row that writes a file leaves %q, %v", csv, err)
	}
	if svg, err := os.ReadFile("a.svg"); err != nil || !strings.Contains(string(svg), "<svg") {
		t.Errorf("the row that writes a picture leaves %.40q, %v", svg, err)
	}
	if *update {
		if err := os.WriteFile(goldenPath, []byte(all.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(goldenPath)
	if err != nil {
		t.Fatal(err)
	}
	a, b := strings.Split(all.String(), "\n"), strings.Split(string(want), "\n")
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || !nearText(a[i], b[i]) {
			t.Fatalf("line %d of %s differs; the table gives\n%s", i+1, goldenPath, all.String())
		}
	}
}

// nearText reports the same words, numbers within 1e-9.
func nearText(a, b string) bool {
	if a == b {
		return true
	}
	x, y := strings.Fields(a), strings.Fields(b)
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		p, err := strconv.ParseFloat(x[i], 64)
		q, err2 := strconv.ParseFloat(y[i], 64)
		if x[i] != y[i] && (err != nil || err2 != nil || !(math.Abs(p-q) <= 1e-9*max(1, math.Abs(q)))) {
			return false
		}
	}
	return true
}
