// cholesky_omp N TILE: the tiled Cholesky factorisation as OpenMP tasks on the kernels of OpenBLAS; the logarithm of the
// determinant. With SINGLE in f32.
#include "matrix.h"

static void work(long nt, long nb, REAL **A) {
#define T(i, j) A[(i) * nt + (j)]
#pragma omp parallel
#pragma omp single
	for (long k = 0; k < nt; k++) {
#pragma omp task depend(inout : T(k, k)[0]) priority(3)
		factor(nb, T(k, k));
		for (long i = k + 1; i < nt; i++)
#pragma omp task depend(in : T(k, k)[0]) depend(inout : T(i, k)[0]) priority(2)
			divide(nb, T(k, k), T(i, k));
		for (long i = k + 1; i < nt; i++) {
#pragma omp task depend(in : T(i, k)[0]) depend(inout : T(i, i)[0]) priority(1)
			square(nb, T(i, k), T(i, i));
			for (long j = k + 1; j < i; j++)
#pragma omp task depend(in : T(i, k)[0], T(j, k)[0]) depend(inout : T(i, j)[0])
				product(nb, T(i, k), T(j, k), T(i, j));
		}
	}
}

int main(int argc, char **argv) {
	long n = size(argv, 1), nb = size(argv, 2), nt = tiles(n, nb);
	REAL **A = space(nt, nb);
	TIME2(fill(nt, nb, A), work(nt, nb, A), logdet(nt, nb, A));
}
