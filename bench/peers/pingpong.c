// pingpong, on two MPI ranks: messages there and back. Prints {"points": {"bytes": [us, GB/s]}} of half a round trip.
#include "peer.h"
#include <mpi.h>

// half returns the seconds of half a round trip of n bytes.
static double half(int rank, char *buffer, int n, int rounds) {
	MPI_Barrier(MPI_COMM_WORLD);
	double begun = MPI_Wtime();
	for (int r = 0; r < rounds; r++)
		for (int turn = 0; turn < 2; turn++) {
			if (rank == turn)
				MPI_Send(buffer, n, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD);
			else
				MPI_Recv(buffer, n, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		}
	return (MPI_Wtime() - begun) / (2 * rounds);
}

int main(int argc, char **argv) {
	static const int sizes[] = {1, 64, 1024, 8192, 65536, 1 << 20, 16 << 20, 64 << 20};
	int rank, ranks, many = repetitions();
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (ranks != 2) {
		fprintf(stderr, "pingpong needs 2 ranks and has %d\n", ranks);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	char *buffer = calloc(64 << 20, 1);
	if (rank == 0) printf("{\"points\": {");
	for (unsigned k = 0; k < sizeof sizes / sizeof *sizes; k++) {
		int n = sizes[k], rounds = n <= 1024 ? 20000 : n <= 65536 ? 5000 : n <= 1 << 20 ? 500 : 20;
		double took[99];
		half(rank, buffer, n, rounds);
		for (int r = 0; r < many; r++) took[r] = half(rank, buffer, n, rounds);
		double t = median(many, took);
		if (rank == 0) printf("%s\"%d\": [%.6g, %.6g]", k ? ", " : "", n, t * 1e6, n / t / 1e9);
	}
	if (rank == 0) printf("}}\n");
	MPI_Finalize();
}
