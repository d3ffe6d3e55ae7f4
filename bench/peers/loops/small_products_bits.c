#include "exact.h"

static void work(long n, const double *A, double *out) {
#pragma omp parallel for simd
	for (long i = 0; i < n; i++) {
		const double *a = A + 12 * i, *x = a + 9;
		for (long j = 0; j < 3; j++) out[3 * i + j] = fma(a[3 * j + 2], x[2], fma(a[3 * j + 1], x[1], a[3 * j] * x[0]));
	}
}

int main(int argc, char **argv) {
	long n = size(argv, 1);
	double *A = uniforms(12 * n, 1, 0, 1), *out = DOUBLES(3 * n);
	TIME(work(n, A, out), length(3 * n, out));
}
