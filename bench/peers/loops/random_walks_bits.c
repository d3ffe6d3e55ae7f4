#include "exact.h"

// Sums of whole numbers are exact.
static void work(long n, long m, const double *U, double *at, double *most) {
#pragma omp parallel
	{
#pragma omp for nowait // the same thread has the same walks every time
		for (long j = 0; j < n; j++) at[j] = most[j] = 0;
		for (long i = 0; i < m; i++)
#pragma omp for simd nowait
			for (long j = 0; j < n; j++) {
				double a = at[j] + (U[i * n + j] < 0.5 ? -1 : 1), d = fabs(a);
				at[j] = a;
				most[j] = d > most[j] ? d : most[j];
			}
	}
}

int main(int argc, char **argv) {
	long n = size(argv, 1), m = size(argv, 2);
	double *U = uniforms(n * m, 1, 0, 1), *at = DOUBLES(n), *most = DOUBLES(n);
	TIME(work(n, m, U, at, most), total(n, most));
}
