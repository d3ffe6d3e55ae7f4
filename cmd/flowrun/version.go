package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"flow/kernels/blas"
	"flow/kernels/loop/launch"
	"flow/runtime/dist/transport/mpi"
)

// This file defines `flowrun version`: what this build contains and what this machine offers it.

func (s *session) versionCommand() *cli.Command {
	return &cli.Command{
		Name:  "version",
		Usage: "print what this build contains: kernels, targets of loops, CPU features, MPI, OpenBLAS",
		Action: func(c *cli.Context) error {
			if c.NArg() > 0 {
				return usagef("flowrun version takes no %s", c.Args().First())
			}
			return s.version()
		},
	}
}

func (s *session) version() error {
	selected, err := blas.Select("")
	if err != nil {
		return err
	}
	names := blas.Names()
	target, err := launch.Target()
	if err != nil {
		return err
	}
	targets := slices.Clone(launch.Targets())
	targets[slices.Index(targets, target)] += " (selected)"
	openblas := "no OpenBLAS in this build (build with -tags openblas)"
	for i, n := range names {
		if n == selected.Name {
			names[i] += " (selected)"
		}
	}
	if libraries := blas.Libraries(); len(libraries) > 0 {
		openblas = strings.Join(libraries, ", ") + "; chosen with --kernels=openblas"
	}
	lib := "no MPI in this build (build with -tags mpi)"
	if mpi.Available() {
		lib = mpi.Version()
	}
	features := strings.Join(blas.Features(), " ")
	if features == "" {
		features = "no vector features that the kernels use"
	}
	fmt.Fprintf(s.out, "flowrun   %s\n", buildVersion())
	fmt.Fprintf(s.out, "go        %s %s/%s\n", runtime.Version(), runtime.GOOS, runtime.GOARCH)
	fmt.Fprintf(s.out, "kernels   %s\n", strings.Join(names, ", "))
	fmt.Fprintf(s.out, "loops     %s\n", strings.Join(targets, ", "))
	fmt.Fprintf(s.out, "cpu       %s (%d processors)\n", features, runtime.NumCPU())
	fmt.Fprintf(s.out, "mpi       %s\n", lib)
	fmt.Fprintf(s.out, "openblas  %s\n", openblas)
	return nil
}

// buildVersion returns the module's version, or the commit that the build knows.
func buildVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	version := info.Main.Version
	if version == "" || version == "(devel)" {
		version = "devel"
	}
	for _, set := range info.Settings {
		if set.Key == "vcs.revision" && !strings.Contains(version, set.Value[:min(12, len(set.Value))]) {
			version += " " + set.Value[:min(12, len(set.Value))]
		}
	}
	return version
}
