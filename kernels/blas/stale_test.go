package blas

// This file tests that the committed assembly is what the generator writes.

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestGeneratedFilesAreCurrent(t *testing.T) {
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go command to run the generator with")
	}
	dir := t.TempDir()
	if out, err := exec.Command(tool, "run", "./gen", "-out", dir).CombinedOutput(); err != nil {
		t.Fatalf("the generator fails: %v\n%s", err, out)
	}
	fresh, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range fresh {
		want, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(f.Name()); err != nil || string(got) != string(want) {
			t.Errorf("%s is not what the generator writes: run go generate ./kernels/blas", f.Name())
		}
	}
	if committed, _ := filepath.Glob("*_amd64.s"); 2*len(committed) != len(fresh) {
		t.Errorf("%d assembly files are committed, the generator writes %d files: remove what it no longer writes", len(committed), len(fresh))
	}
}

// TestEveryReturnCleansRegisters reads the assembly, because not every CPU slows down where it is
// forgotten.
func TestEveryReturnCleansRegisters(t *testing.T) {
	files, _ := filepath.Glob("*_amd64.s")
	returns := 0
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		last := ""
		for line := range strings.Lines(string(text)) {
			line = strings.TrimSpace(line)
			if line == "RET" {
				returns++
				if last != "VZEROUPPER" {
					t.Errorf("%s: a return after %q instead of VZEROUPPER", f, last)
				}
			}
			last = line
		}
	}
	if returns == 0 {
		t.Error("no return found: the test shows nothing")
	}
}
