package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// This file defines a run of the benchmarks: what is built for it, and what it leaves out.

// bench is one run of the benchmarks.
type bench struct {
	out     io.Writer
	root    string // the project
	dir     string // files built for this run; removed at the end
	flowrun string // built without C
	mpi     string // built with MPI; "" where that fails
	peers   peers
	reps    int
	sizes   []int
	// what a section measures of its tables and rows; see the flag
	match string
}

// projectRoot returns the directory of go.mod.
func projectRoot() (string, error) {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", err
	}
	return filepath.Dir(strings.TrimSpace(string(out))), nil
}

// build makes the flowrun of all ratios, without C, unless one is given, and one with MPI for the
// sections over ranks.
func (b *bench) build() error {
	if b.flowrun == "" {
		b.flowrun = filepath.Join(b.dir, "flowrun")
		cmd := exec.Command("go", "build", "-o", b.flowrun, "./cmd/flowrun")
		cmd.Dir, cmd.Env = b.root, append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("building flowrun: %w\n%s", err, out)
		}
	}
	b.mpi = filepath.Join(b.dir, "flowrun-mpi")
	cmd := exec.Command("go", "build", "-tags", "mpi", "-o", b.mpi, "./cmd/flowrun")
	cmd.Dir = b.root
	if _, err := cmd.CombinedOutput(); err != nil {
		b.mpi = ""
	}
	return nil
}

// skip says that something is left out and why.
func (b *bench) skip(format string, args ...any) {
	fmt.Fprintf(b.out, "Left out: %s.\n\n", fmt.Sprintf(format, args...))
}
