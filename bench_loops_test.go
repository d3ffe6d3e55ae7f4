package flow

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// This file tests the programs of the benchmark sections `loops` and `everyday`: small sizes, every
// engine, the C programs beside them.

// benchLoop is a line of a programs.txt: name, program, sizes, small sizes, tolerance, twin.
type benchLoop struct {
	name, program string
	small         []Setting
	tolerance     float64
	twin          string
}

func benchLoops(t *testing.T, folder string) (list []benchLoop) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, "programs.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) == 0 || strings.HasPrefix(line, "#") {
			continue
		}
		if len(f) != 6 {
			t.Fatalf("%d fields in %q", len(f), line)
		}
		l := benchLoop{name: f[0], program: f[1], twin: strings.TrimPrefix(f[5], "-")}
		for _, s := range strings.Split(f[3], ",") {
			name, value, _ := strings.Cut(s, "=")
			l.small = append(l.small, Setting{Name: name, Text: value})
		}
		if l.tolerance, err = strconv.ParseFloat(f[4], 64); err != nil {
			t.Fatal(err)
		}
		list = append(list, l)
	}
	return list
}

// Every loop gives the same bytes on several engines, another formulation gives the bytes of the
// first one, and C gives the same number within the tolerance that the table uses.
func TestBenchLoops(t *testing.T) {
	for folder, source := range map[string]string{"bench/loops": "bench/peers/loops", "bench/everyday": "bench/everyday"} {
		list := benchLoops(t, folder)
		if want := map[string]int{"bench/loops": 40, "bench/everyday": 10}[folder]; len(list) < want {
			t.Errorf("%s lists %d loops, want %d", folder, len(list), want)
		}
		used := map[string]bool{}
		printed := map[string]string{}
		for _, l := range list {
			used[l.program+".flow"] = true
			text, err := os.ReadFile(filepath.Join(folder, l.program+".flow"))
			if err != nil {
				t.Error(err)
				continue
			}
			all := engines(1)
			out := everywhere(t, l.name, append(text, "emit all r as \"all\"\n"...), l.small, []engine{all[0], all[2], all[6], all[10]})
			if strings.Contains(out, "FAILED") || !strings.HasPrefix(out, "check: ") {
				t.Errorf("%s prints\n%s", l.name, clip(out))
			}
			printed[l.name] = out
			if first := printed[l.twin]; l.twin != "" && first != out {
				t.Errorf("%s is no formulation of %s: it prints\n%swant\n%s", l.name, l.twin, clip(out), clip(first))
			}
		}
		files, err := filepath.Glob(filepath.Join(folder, "*.flow"))
		if err != nil || len(files) != len(used) {
			t.Errorf("%d programs in %s, %d in its list: %v", len(files), folder, len(used), err)
		}
		t.Run("C", func(t *testing.T) {
			if _, err := exec.LookPath("gcc"); err != nil {
				t.Skip("no gcc")
			}
			bin := oneProgram(t, source)
			for _, l := range list {
				if l.twin == "" {
					compareWithC(t, bin, source, l, printed[l.name])
				}
			}
		})
	}
}

var (
	cFunction = regexp.MustCompile(`(?m)^(?:static|int|INLINE) [^=;{\n]*?\b([a-z]\w*)\([^(]`)
	cMacro    = regexp.MustCompile(`(?m)^#define (\w+)`)
)

// oneProgram compiles the C programs of a folder as one and returns its path. That takes a fifth of the
// time of a compiler for each. The first argument is the name of a program. Each program keeps its
// functions and macros to itself: the functions have other names, and the macros end with it.
func oneProgram(t *testing.T, folder string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.c"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no C programs in %s: %v", folder, err)
	}
	var text, main strings.Builder
	text.WriteString("#include \"peer.h\"\n")
	for k, file := range files {
		path, err := filepath.Abs(file)
		if err != nil {
			t.Fatal(err)
		}
		program, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(program, []byte(`#include "pairs.h"`)) { // it differs among the programs that include it
			header, err := os.ReadFile(filepath.Join(folder, "pairs.h"))
			if err != nil {
				t.Fatal(err)
			}
			program = append(program, header...)
		}
		defined := map[string]bool{}
		for _, m := range cFunction.FindAllSubmatch(program, -1) {
			defined[string(m[1])] = true
		}
		for name := range defined {
			fmt.Fprintf(&text, "#define %s program%d_%[1]s\n", name, k)
		}
		fmt.Fprintf(&text, "#include %q\n", path)
		for _, m := range cMacro.FindAllSubmatch(program, -1) {
			defined[string(m[1])] = true
		}
		for name := range defined {
			fmt.Fprintf(&text, "#undef %s\n", name)
		}
		fmt.Fprintf(&main, "\tif (!strcmp(argv[1], %q)) return program%d_main(argc - 1, argv + 1), 0;\n", strings.TrimSuffix(filepath.Base(file), ".c"), k)
	}
	fmt.Fprintf(&text, "int main(int argc, char **argv) {\n%s\treturn 2;\n}\n", main.String())
	all := filepath.Join(t.TempDir(), "all.c")
	if err := os.WriteFile(all, []byte(text.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	return compileC(t, all)
}

// compileC compiles a C program of a benchmark and returns the path of the result, "" if there is none.
func compileC(t *testing.T, source string) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "program")
	out, err := exec.Command("gcc", "-O0", "-ffp-contract=off", "-fopenmp", "-I", "bench/peers", "-o", bin, source, "-lm").CombinedOutput()
	if err != nil {
		t.Errorf("%s: %v\n%s", source, err, out)
		return ""
	}
	return bin
}

// runC runs a C program of a benchmark and returns the number that it prints.
func runC(t *testing.T, bin string, args ...string) (check float64, ok bool) {
	t.Helper()
	if bin == "" { // it has been said why
		return 0, false
	}
	run := exec.Command(bin, args...)
	run.Env = append(os.Environ(), "OMP_WAIT_POLICY=passive") // threads that wait leave the processors to other tests
	out, err := run.Output()
	if err != nil {
		t.Errorf("%q: %v", args, err)
		return 0, false
	}
	var line struct{ Seconds, Check float64 }
	if err := json.Unmarshal(out, &line); err != nil {
		t.Errorf("%q prints %q: %v", args, out, err)
		return 0, false
	}
	return line.Check, true
}

// nearC reports whether C's number is Flow's within a tolerance. A number that is 0 compares nothing.
func nearC(printed string, c, tolerance float64) bool {
	first, _, _ := strings.Cut(printed, "\n")
	ours, err := strconv.ParseFloat(first, 64)
	return err == nil && ours != 0 && math.Abs(ours-c) <= tolerance*math.Abs(ours)
}

// compareWithC compares a loop's C program at the small sizes with what Flow printed.
func compareWithC(t *testing.T, bin, source string, l benchLoop, printed string) {
	t.Helper()
	args := []string{l.program}
	for _, s := range l.small {
		args = append(args, s.Text)
	}
	c, ok := runC(t, bin, args...)
	if ours := strings.TrimPrefix(printed, "check: "); ok && !nearC(ours, c, l.tolerance) {
		t.Errorf("%s: Flow gives %s, C %.17g", l.name, clip(ours), c)
	}
	args[0] += "_bits"
	if _, err := os.Stat(filepath.Join(source, args[0]+".c")); err != nil {
		return
	}
	c, ok = runC(t, bin, args...)
	if ours := strings.TrimPrefix(printed, "check: "); ok && !nearC(ours, c, 0) {
		t.Errorf("%s: Flow gives %s, C with the same bytes %.17g", l.name, clip(ours), c)
	}
}

// The C programs of the other sections do the work of the Flow programs that they are measured beside.
func TestBenchPeers(t *testing.T) {
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("no gcc")
	}
	for _, p := range []struct{ source, args, program, sets, label string }{
		{"fused", "1000 sum", "fused", "n=1000", "sum"},
		{"fused", "1000 y", "fused", "n=1000 kept=true", "sum"},
		{"transpose", "56 16", "transpose", "n=56", "check"},
		{"nbody", "30 4", "nbody", "n=30 steps=4", "sum of the positions"},
		{"kmeans", "200 3", "kmeans", "n=200 rounds=3", "sum of the centroids"},
		{"escape", "30 50 dynamic 1", "irregular", "n=30 cap=50", "rounds"},
	} {
		text, err := os.ReadFile(filepath.Join("bench", p.program+".flow"))
		if err != nil {
			t.Fatal(err)
		}
		var sets []Setting
		for _, s := range strings.Fields(p.sets) {
			name, value, _ := strings.Cut(s, "=")
			sets = append(sets, Setting{Name: name, Text: value})
		}
		printed := engines(1)[2].output(p.program, text, sets)
		c, ok := runC(t, compileC(t, filepath.Join("bench", "peers", p.source+".c")), strings.Fields(p.args)...)
		_, ours, labelled := strings.Cut(printed, p.label+": ")
		if ok && (!labelled || !nearC(ours, c, 1e-9)) {
			t.Errorf("%s %s: Flow prints %s, C %.17g", p.source, p.args, clip(printed), c)
		}
	}
}
