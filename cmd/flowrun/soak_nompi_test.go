//go:build !mpi

package main

import "github.com/rogpeppe/go-internal/testscript"

// soakScripts are the scripts that a soak repeats.
func soakScripts() []string {
	return []string{"script/signals.txtar", "script/memory.txtar", "script/mem.txtar"}
}

// faultScripts are the scripts of faults, each of which a soak repeats a hundred times.
func faultScripts() []string { return []string{"script/leftovers.txtar", "script/memory_ends.txtar"} }

// mpiCommands are the script commands that need ranks: none in this build.
func mpiCommands() map[string]func(*testscript.TestScript, bool, []string) { return nil }
