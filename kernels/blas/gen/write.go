package main

// This file writes what avo has built as a file of assembly and one of Go declarations.

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/pass"
	"github.com/mmcloughlin/avo/printer"
)

func main() {
	// avo has flags of its own in the default set, and writes one file a run with them.
	flags := flag.NewFlagSet("gen", flag.ExitOnError)
	out := flags.String("out", ".", "directory to write to")
	if err := flags.Parse(os.Args[1:]); err != nil {
		os.Exit(2)
	}
	if err := generate(*out); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// highRegister is a vector register that needs AVX-512: avo gives them out all the same where too
// much is live at a time.
var highRegister = regexp.MustCompile(`\b[XY](1[6-9]|2[0-9]|3[01])\b`)

// write compiles what ctx holds and writes <stem>_amd64.s and <stem>_amd64.go of package blas. Only
// files whose stem names AVX-512 may use its registers.
func write(dir, stem string, ctx *build.Context) error {
	file, err := ctx.Result()
	if err != nil {
		return err
	}
	if err := pass.Compile.Execute(file); err != nil {
		return err
	}
	cfg := printer.Config{Name: "flow/kernels/blas/gen", Pkg: "blas"}
	for name, p := range map[string]printer.Printer{
		stem + "_amd64.s":  printer.NewGoAsm(cfg),
		stem + "_amd64.go": printer.NewStubs(cfg),
	} {
		text, err := p.Print(file)
		if err != nil {
			return err
		}
		if high := highRegister.Find(text); high != nil && !strings.Contains(stem, "avx512") {
			return fmt.Errorf("%s uses %s, which only AVX-512 has: too much is live at a time", name, high)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
