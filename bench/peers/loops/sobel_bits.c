#include "exact.h"

static void work(long n, const double *X, double *out) {
	const long m = n - 2;
#pragma omp parallel for
	for (long i = 0; i < m; i++)
#pragma omp simd
		for (long j = 0; j < m; j++) {
			const double *x = X + i * n + j;
			double gx = x[2] - x[0] + 2 * (x[n + 2] - x[n]) + x[2 * n + 2] - x[2 * n];
			double gy = x[2 * n] - x[0] + 2 * (x[2 * n + 1] - x[1]) + x[2 * n + 2] - x[2];
			out[i * m + j] = sqrt(gx * gx + gy * gy);
		}
}

int main(int argc, char **argv) {
	long n = size(argv, 1);
	double *X = uniforms(n * n, 1, 0, 1), *out = DOUBLES(n * n);
	TIME(work(n, X, out), total((n - 2) * (n - 2), out));
}
