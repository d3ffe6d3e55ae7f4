package compiler_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"flow/compiler"
	"flow/kernels"
	"flow/lang/source"
	"flow/stdlib"
)

// imported are the files that the chunks import.
var imported = map[string]string{
	"lib.flow":   "fn twice(x) = 2 * x\nparam eps = 0.5\n",
	"bad.flow":   "a = 1\n",
	"cycle.flow": "import \"cycle.flow\" as c\n",
}

func load(path string) ([]byte, error) {
	if text, ok := imported[filepath.Base(path)]; ok {
		return []byte(text), nil
	}
	return nil, fs.ErrNotExist
}

// diagnose compiles for diagnostics alone.
func diagnose(t testing.TB, text string, sets ...compiler.Setting) (*source.FileSet, source.Diagnostics) {
	t.Helper()
	table, err := kernels.Table("")
	if err != nil {
		t.Fatal(err)
	}
	r, ds := compiler.Compile(context.Background(), "x.flow", []byte(text), compiler.Options{
		Table: table, Verify: true, Std: stdlib.Files, Sets: sets, Load: load})
	return r.Files, ds
}

// told is a diagnostic as the chunks match it.
func told(files *source.FileSet, d source.Diagnostic) string {
	s := fmt.Sprintf("%s: %s", d.Code, d.Message)
	if d.Label != "" {
		s += " | " + d.Label
	}
	for _, n := range d.Notes {
		_, line, _ := files.Position(n.Span.From)
		s += fmt.Sprintf(" | note %d: %s", line, n.Text)
	}
	if d.Help != "" {
		s += " | help: " + d.Help
	}
	return s
}

// TestErrors checks testdata/errors: each chunk is a program, and the lines that say
// so, and no others, are reported.
func TestErrors(t *testing.T) {
	files, err := filepath.Glob("testdata/errors/*.flow")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	fired := map[source.Code]bool{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		first := 1
		for _, chunk := range strings.Split(string(data), "\n---\n") {
			checkChunk(t, file, first, chunk, fired)
			first += strings.Count(chunk, "\n") + 2
		}
	}
	// Every code that elaboration gives has a chunk.
	for _, code := range codesOf(t) {
		if !fired[code] && !elsewhere[code] {
			t.Errorf("no chunk provokes %s", code)
		}
	}
}

// elsewhere are codes with tests of their own, and those that only a bug or a signal gives.
var elsewhere = map[source.Code]bool{"E410": true, "E608": true, "E706": true, "B001": true, "W002": true,
	"E113": true, // TestDeepCalls
	"E114": true, // the parser finds every case first
	"L011": true, // every operator of the grammar has a row
}

// A long line of functions that call one another is no recursion, and one that gets itself as an
// argument is.
func TestDeepCalls(t *testing.T) {
	var b strings.Builder
	b.WriteString("fn f0(x) = x\n")
	for i := 1; i <= 70; i++ {
		fmt.Fprintf(&b, "fn f%d(x) = f%d(x)\n", i, i-1)
	}
	for _, c := range []struct{ text, code string }{
		{b.String() + "emit f63(1)\n", ""},
		{b.String() + "emit f70(1)\n", "E113"},
		{"fn f(g, x) = g(g, x)\nemit f(f, 1)\n", "E130"},
	} {
		_, ds := compiler.Compile(context.Background(), "x.flow", []byte(c.text), compiler.Options{Table: tinyTable(t)})
		got := ""
		for _, d := range ds {
			got += string(d.Code)
		}
		if got != c.code {
			t.Errorf("got %q, want %q of\n%s", got, c.code, c.text[max(0, len(c.text)-60):])
		}
	}
}

func checkChunk(t *testing.T, file string, first int, chunk string, fired map[source.Code]bool) {
	t.Helper()
	mark := regexp.MustCompile(`[ \t]*### (".*")$`)
	quoted := regexp.MustCompile(`"[^"]*"`)
	lines := strings.Split(chunk, "\n")
	want := map[int][]*regexp.Regexp{}
	var sets []compiler.Setting
	for i, l := range lines {
		if m := mark.FindStringSubmatch(l); m != nil {
			for _, q := range quoted.FindAllString(m[1], -1) {
				want[i+1] = append(want[i+1], regexp.MustCompile(q[1:len(q)-1]))
			}
			lines[i] = strings.TrimSuffix(l, m[0])
		}
		if rest, ok := strings.CutPrefix(lines[i], "# --set "); ok {
			for _, s := range strings.Split(rest, " --set ") {
				name, val, _ := strings.Cut(s, "=")
				sets = append(sets, compiler.Setting{Name: name, Text: val})
			}
		}
	}
	files, ds := diagnose(t, strings.Join(lines, "\n"), sets...)
	last := 0
next:
	for _, d := range ds {
		fired[d.Code] = true
		line := 1
		if d.Span.IsValid() {
			_, line, _ = files.Position(d.Span.From)
			if d.Severity != source.Warning && line < last {
				t.Errorf("%s:%d: reported after line %d", file, first+line-1, first+last-1)
			}
			last = line
		}
		got := told(files, d)
		for i, re := range want[line] {
			if re.MatchString(got) {
				want[line] = append(want[line][:i], want[line][i+1:]...)
				continue next
			}
		}
		t.Errorf("%s:%d: not expected: %s", file, first+line-1, got)
	}
	for line, res := range want {
		for _, re := range res {
			t.Errorf("%s:%d: nothing matched %q", file, first+line-1, re.String())
		}
	}
}

// codesOf is every code that compiler/lower and compiler/check mention.
func codesOf(t *testing.T) []source.Code {
	t.Helper()
	seen := map[source.Code]bool{}
	var out []source.Code
	for _, pattern := range []string{"*.go", "lower/*.go", "check/*.go"} {
		files, _ := filepath.Glob(pattern)
		for _, f := range files {
			if strings.HasSuffix(f, "_test.go") {
				continue
			}
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range regexp.MustCompile(`"([EWLB][0-9]{3})"`).FindAllStringSubmatch(string(text), -1) {
				if c := source.Code(m[1]); !seen[c] {
					seen[c] = true
					out = append(out, c)
				}
			}
		}
	}
	if len(out) < 40 {
		t.Fatalf("only %d codes were found: the search is broken", len(out))
	}
	return out
}

// doubling is a chain of n functions of which each calls the one before twice: 2^n calls that make
// no task.
func doubling(n int) string {
	text := "fn f0(x) = x + 1\n"
	for i := 1; i <= n; i++ {
		text += fmt.Sprintf("fn f%d(x) = f%d(f%d(x))\n", i, i-1, i-1)
	}
	return fmt.Sprintf("%semit f%d(1)", text, n)
}

func TestOptionErrors(t *testing.T) {
	table, err := kernels.Table("")
	if err != nil {
		t.Fatal(err)
	}
	text := "chan L = tiles(rand_spd(40, seed = 1), 2)\nfor k in 0..20 { for i in k..20 { L[i,k] <- L[i,k] * 2 } }\nemit untile(L)"
	big := "A = rand(1_000_000, 1_000_000)\nemit max(A @ A)"
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range []struct {
		ctx  context.Context
		text string
		o    compiler.Options
		want string
	}{
		{context.Background(), text, compiler.Options{MaxTasks: 100}, `^E410: the program unrolls to more than 100 tasks`},
		{context.Background(), big, compiler.Options{MaxTasks: 100_000}, `^E410: the elements of .* are .*iB: cut into blocks, the program has more than 100000 tasks`},
		{context.Background(), "emit sum(rand(1_000_000_000, 1_000_000_000))", compiler.Options{}, `^E410: the elements of .* are .*iB: cut into blocks, the program has more than`},
		{context.Background(), "emit sum(rand(1_000_000_000_000_000_000, 1))", compiler.Options{}, `^E410: the elements of .* are .*iB: cut into blocks, the program has more than`},
		{context.Background(), "emit sum(rand(2, 1_000_000_000_000_000_000))", compiler.Options{}, `^E605: .rand.: 2 x 1000000000000000000 elements take 13.9 EiB, more than there is`},
		{context.Background(), "emit sum(rand(2, 100_000_000_000_000_000))", compiler.Options{}, `^E410: the elements of .* are .*iB: cut into blocks, the program has more than`},
		{context.Background(), "emit sum(t(zeros(100_000_000, 100_000_000)) + 1)", compiler.Options{}, `^E410: the elements of .* are .*iB: cut into blocks, the program has more than`},
		{context.Background(), "chan c: grid[1_000_000, 10_000_000_000_000] of f64", compiler.Options{}, `^E410: the array has more than`},
		{context.Background(), "chan c = tiles(eye(1_000_000), 1)", compiler.Options{}, `^E410: the array has more than`},
		{context.Background(), "chan c[i in 0..1_000_000_000] = 1.0", compiler.Options{MaxTasks: 1000}, `^E410: the array has more than`},
		{context.Background(), "iterate c = 0 times 1_000_000 with (unroll = 1_000_000) { next c = c + 1 }", compiler.Options{MaxTasks: 1_000_000 / 4}, `^E410: the program unrolls to more than`},
		{context.Background(), "chan F[i in 0..1_000_000] = if i == 999_999 { 1.0 } else { F[i + 1] }\nemit F[0]", compiler.Options{}, `^E410: the equations of F need each other more than`},
		{context.Background(), "emit sum(ones(2, 2))", compiler.Options{Ranks: 2}, `^W002: 1 of 2 ranks have little or nothing to do`},
		{context.Background(), oneRanksLoop, compiler.Options{Ranks: 2}, `^W002: 1 of 2 ranks have little or nothing to do`},
		{context.Background(), doubling(40), compiler.Options{MaxTasks: 1000}, `^E410: there are more than 8000 calls and rounds of .for. before the run`},
		{context.Background(), "for i in 0..100_000, j in 0..100_000 { x = i }\nfor i in 0..10 { y = i }", compiler.Options{MaxTasks: 1000}, `^E410: there are more than 8000 calls`},
		{context.Background(), "a = sum(for i in 0..1_000 => sum(for j in 0..1_000 => i * j))\nemit a", compiler.Options{MaxTasks: 1000}, `^E410: there are more than 8000 calls`},
		{context.Background(), "a = sum(for i in 0..1_000_000_000 => i)", compiler.Options{MaxTasks: 1000}, `^E410: the list has more than`},
		{context.Background(), text, compiler.Options{Ranks: -1}, `^E706: -1 ranks`},
		{context.Background(), text, compiler.Options{Disable: []string{"fus"}}, "^E203: no pass or rule `fus` can be switched off.*did you mean `fuse`"},
		{context.Background(), text, compiler.Options{Disable: []string{"place"}}, "^E203: no pass or rule `place` can be switched off"},
		{context.Background(), text, compiler.Options{Disable: []string{"undo-twic"}}, "^E203: no pass or rule .*did you mean `undo-twice`"},
		{context.Background(), text, compiler.Options{Disable: []string{"order-chain"}}, "^E203: the rule `order-chain` defines what a program means and cannot be switched off"},
		{cancelled, text, compiler.Options{}, `^E608: interrupted while compiling`},
	} {
		c.o.Table = table
		r, ds := compiler.Compile(c.ctx, "x.flow", []byte(c.text), c.o)
		if len(ds) != 1 || !regexp.MustCompile(c.want).MatchString(told(r.Files, ds[0])) {
			t.Errorf("want %s, got %v", c.want, ds)
		}
	}
}

// oneRanksLoop is a loop that one rank runs, as its operator makes no row alone.
const oneRanksLoop = `R = rand(200, 200, seed = 1)
iterate B = R times 20 { next B = eigvecs(B + t(B)) }
emit sum(B)
`
