// Command gen writes the assembly of package blas: for each instruction set and element type one _amd64.s file and
// the Go declarations beside it. Run it with `go generate flow/kernels/blas`; a test of that package fails when
// what is committed is not what it writes.
//
// The kernels and the registers they use are described at each emitter: gemm.go, narrow.go, solve.go, potf.go, pack.go.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

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

// generate writes all files into dir.
func generate(dir string) error {
	for _, t := range targets {
		e := newEmitter(t)
		e.gemmKernels()
		e.packingKernels()
		e.narrowKernels()
		e.solveKernels()
		e.potf()
		if err := write(dir, t.stem(), e.Context); err != nil {
			return err
		}
	}
	// Packing needs no wide registers: one version serves both instruction sets.
	e := newEmitter(targets[0])
	e.packKernels()
	return write(dir, "pack", e.Context)
}

// write compiles what ctx holds and writes <stem>_amd64.s and <stem>_amd64.go.
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
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
