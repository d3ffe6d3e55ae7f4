#include "exact.h"

static void work(long n, const double *D0, double *D) {
	memcpy(D, D0, n * n * sizeof *D);
	for (long k = 0; k < n; k++)
#pragma omp parallel for
		for (long i = 0; i < n; i++) {
			double *row = D + i * n, via = row[k];
			const double *from = D + k * n;
#pragma omp simd
			for (long j = 0; j < n; j++) {
				double t = via + from[j];
				row[j] = t < row[j] ? t : row[j]; // no number is nan or -0
			}
		}
}

int main(int argc, char **argv) {
	long n = size(argv, 1);
	double *D0 = uniforms(n * n, 1, 0, 1), *D = DOUBLES(n * n);
	for (long i = 0; i < n * n; i++) D0[i] *= D0[i];
	TIME(work(n, D0, D), total(n * n, D));
}
