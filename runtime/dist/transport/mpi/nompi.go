//go:build !mpi

package mpi

import (
	"errors"

	"flow/runtime/dist/transport"
)

// ErrUnavailable is what Init returns in a build without MPI.
var ErrUnavailable = errors.New("this build has no MPI: build with -tags mpi (needs a C compiler, pkg-config and Open MPI's or MPICH's development files)")

// Available tells whether this build has MPI.
func Available() bool { return false }

// Version describes the MPI library; empty in a build without one.
func Version() string { return "" }

// Init joins the ranks of the job. In this build it returns ErrUnavailable.
func Init() (transport.Comm, error) { return nil, ErrUnavailable }
