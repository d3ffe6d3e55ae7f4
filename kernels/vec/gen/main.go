// Command gen writes the functions of package vec: functions_gen.go, their Go, and the text of their
// loops for package ir/loop. Run it with `go generate flow/kernels/vec`; a test of that package fails
// when what is committed is not what it writes.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	out := flag.String("out", ".", "directory to write to")
	flag.Parse()
	if err := generate(*out); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// generate writes all files into dir.
func generate(dir string) error {
	if err := writeGo(dir, allFunctions); err != nil {
		return err
	}
	return writeLoops(dir, allFunctions)
}
