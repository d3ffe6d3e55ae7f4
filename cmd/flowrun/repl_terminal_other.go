//go:build !linux

package main

import (
	"errors"
	"os"
)

// adoptTerminal is not supported here: entries come from a pipe.
func adoptTerminal(string) error {
	return errors.New("not supported on this system; entries on a pipe are: flowrun repl --distributed --backend=mpi < FILE")
}

func takeTerminal(*os.File) {}
