//go:build mpi

package main

import "github.com/rogpeppe/go-internal/testscript"

// soakScripts are the scripts that a soak repeats.
func soakScripts() []string { return []string{"mpi/ends.txtar", "mpi/wrong.txtar"} }

// mpiCommands are the script commands that need ranks.
func mpiCommands() map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){"killed": killed, "launcherkilled": launcherKilled,
		"unsampled": unsampled, "otherbuild": otherBuild}
}
