// cholesky_scalapack N BLOCK ROWS, on MPI ranks: p?potrf of ScaLAPACK on a grid of ROWS rows of ranks; the logarithm of the
// determinant. With SINGLE in f32.
#include "matrix.h"
#include <mpi.h>

extern void Cblacs_get(int, int, int *), Cblacs_gridinit(int *, const char *, int, int), Cblacs_gridinfo(int, int *, int *, int *, int *);
extern int numroc_(const int *, const int *, const int *, const int *, const int *);
extern void descinit_(int *, const int *, const int *, const int *, const int *, const int *, const int *, const int *, const int *, int *);
#ifdef SINGLE
#define PPOTRF pspotrf_
#else
#define PPOTRF pdpotrf_
#endif
extern void PPOTRF(const char *, const int *, REAL *, const int *, const int *, const int *, int *);

// whole returns the number in the whole matrix of element l of a rank's rows or columns.
static long whole(long l, long nb, long rank, long ranks) { return (l / nb * ranks + rank) * nb + l % nb; }

int main(int argc, char **argv) {
	int n = (int)size(argv, 1), nb = (int)size(argv, 2), rows = (int)size(argv, 3), ranks, rank, grid, me, mine, zero = 0, one = 1, info = 0;
	MPI_Init(&argc, &argv);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	int cols = ranks / rows;
	Cblacs_get(-1, 0, &grid);
	Cblacs_gridinit(&grid, "Row", rows, cols);
	Cblacs_gridinfo(grid, &rows, &cols, &me, &mine);
	int r = numroc_(&n, &nb, &me, &zero, &rows), c = numroc_(&n, &nb, &mine, &zero, &cols), lead = r > 1 ? r : 1, desc[9];
	descinit_(desc, &n, &n, &nb, &nb, &zero, &zero, &grid, &lead, &info);
	REAL *a = memory((long)lead * (c + 1), sizeof *a);
	double took[99], s = 0, all = 0;
	int many = repetitions();
	for (int turn = -1; turn < many; turn++) {
		for (long j = 0; j < c; j++)
			for (long i = 0; i < r; i++) a[j * lead + i] = element(whole(i, nb, me, rows), whole(j, nb, mine, cols));
		MPI_Barrier(MPI_COMM_WORLD);
		double begun = MPI_Wtime();
		PPOTRF("L", &n, a, &one, &one, desc, &info);
		MPI_Barrier(MPI_COMM_WORLD);
		if (turn >= 0) took[turn] = MPI_Wtime() - begun;
		if (info) {
			fprintf(stderr, "p?potrf: %d\n", info);
			MPI_Abort(MPI_COMM_WORLD, 1);
		}
	}
	for (long j = 0; j < c; j++)
		for (long i = 0; i < r; i++)
			if (whole(i, nb, me, rows) == whole(j, nb, mine, cols)) s += 2 * log(a[j * lead + i]);
	MPI_Reduce(&s, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 0) report(median(many, took), all);
	MPI_Finalize();
}
