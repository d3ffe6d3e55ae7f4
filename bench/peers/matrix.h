// The matrix of the Cholesky programs, 1/(1+|i-j|) with 32 more on the diagonal, in square tiles of
// the lower triangle, each column by column; and the four kernels on them, of OpenBLAS.
#ifndef MATRIX_H
#define MATRIX_H
#include "peer.h"
#include <cblas.h>

#ifdef SINGLE
#define REAL float
#define POTRF spotrf_
#define TRSM cblas_strsm
#define SYRK cblas_ssyrk
#define GEMM cblas_sgemm
#else
#define REAL double
#define POTRF dpotrf_
#define TRSM cblas_dtrsm
#define SYRK cblas_dsyrk
#define GEMM cblas_dgemm
#endif

extern void POTRF(const char *, const int *, REAL *, const int *, int *); // LAPACK of OpenBLAS

static inline REAL element(long i, long j) { return (REAL)(1.0 / (1 + labs(i - j)) + (i == j ? 32 : 0)); }

// tiles returns the number of tiles along an edge; the order has to be a multiple of the tile.
static inline long tiles(long n, long nb) {
	if (n % nb) {
		fprintf(stderr, "%ld is no multiple of %ld\n", n, nb);
		exit(2);
	}
	return n / nb;
}

static inline REAL **space(long nt, long nb) {
	REAL **A = calloc(nt * nt, sizeof *A);
	for (long i = 0; i < nt; i++)
		for (long j = 0; j <= i; j++) A[i * nt + j] = memory(nb * nb, sizeof(REAL));
	return A;
}

static inline void fill(long nt, long nb, REAL **A) {
	for (long i = 0; i < nt; i++)
		for (long j = 0; j <= i; j++)
			for (long c = 0; c < nb; c++)
				for (long r = 0; r < nb; r++) A[i * nt + j][c * nb + r] = element(i * nb + r, j * nb + c);
}

static inline double logdet(long nt, long nb, REAL **A) {
	double s = 0;
	for (long i = 0; i < nt; i++)
		for (long k = 0; k < nb; k++) s += 2 * log(A[i * nt + i][k * nb + k]);
	return s;
}

static inline void factor(long nb, REAL *a) {
	int n = (int)nb, info;
	POTRF("L", &n, a, &n, &info);
	if (info) {
		fprintf(stderr, "the matrix is not positive definite\n");
		exit(1);
	}
}

static inline void divide(long nb, const REAL *l, REAL *a) {
	TRSM(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, nb, nb, 1, l, nb, a, nb);
}

static inline void square(long nb, const REAL *a, REAL *c) {
	SYRK(CblasColMajor, CblasLower, CblasNoTrans, nb, nb, -1, a, nb, 1, c, nb);
}

static inline void product(long nb, const REAL *a, const REAL *b, REAL *c) {
	GEMM(CblasColMajor, CblasNoTrans, CblasTrans, nb, nb, nb, -1, a, nb, b, nb, 1, c, nb);
}
#endif
