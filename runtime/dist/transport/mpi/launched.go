package mpi

import "os"

// Launched tells whether this process was started by an MPI launcher (mpirun,
// mpiexec, srun with PMI or PMIx), that is whether Init joins other ranks. It looks
// at the environment alone and so answers in any build and before Init. An srun
// without MPI support is not taken for a launcher: its processes could not meet.
func Launched() bool {
	for _, name := range []string{
		"OMPI_COMM_WORLD_SIZE", // Open MPI's mpirun
		"PMIX_RANK",            // any PMIx launcher: prterun, srun --mpi=pmix
		"PMI_RANK",             // MPICH's hydra, srun --mpi=pmi2
		"PMI_FD",
	} {
		if os.Getenv(name) != "" {
			return true
		}
	}
	return false
}
