// Package mpi is the transport between ranks that an MPI launcher has started.
//
// Built with -tags mpi it has two layers. The thin binding (Environment,
// Communicator, Request, Window) names things as gompi and the MPI standard do and
// does nothing on its own. Comm, made by Init, is the transport.Comm on top of it.
// Without the tag only Available, Version, Launched and an Init that refuses are
// left, and nothing of C is needed.
//
// The build finds Open MPI by pkg-config as ompi-c, the name that Open MPI installs
// itself and that Debian's libopenmpi-dev provides; with -tags mpi,mpich it finds
// MPICH as mpich.
//
// Threads: MPI is asked for MPI_THREAD_SERIALIZED and one mutex lies round all
// calls, so any goroutine may call and none is tied to a thread. A locked thread
// would cost a futex hand-over, 5-124 us, per message. Testsome and TryRecv return
// at once, with nothing, when another goroutine is inside MPI.
//
// What the launcher and the environment decide, and what suits this transport with
// Open MPI: --bind-to none (the default binds each rank to one core, and its workers
// with it); OMPI_MCA_btl_vader_single_copy_mechanism=none may win or lose for
// payloads of tens of megabytes within a node, so measure; the eager limits must not
// go below 16 KiB, which Init asks for in shared memory (see pieces.go).
package mpi
