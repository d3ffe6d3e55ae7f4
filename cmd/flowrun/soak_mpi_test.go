//go:build mpi

package main

import "github.com/rogpeppe/go-internal/testscript"

// soakScripts are the scripts that a soak repeats.
func soakScripts() []string { return []string{"mpi/ends.txtar", "mpi/wrong.txtar"} }

// faultScripts are the scripts of faults, each of which a soak repeats a hundred times.
func faultScripts() []string { return []string{"mpi/faults.txtar", "script/leftovers.txtar"} }

// mpiCommands are the script commands that need ranks.
func mpiCommands() map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){"killed": killed, "launcherkilled": launcherKilled,
		"jobkilled": jobKilled, "halting": halting, "swept": swept, "unsampled": unsampled, "otherbuild": otherBuild, "everytechnique": everyTechnique}
}
