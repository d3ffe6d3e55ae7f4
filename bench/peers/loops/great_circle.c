#include "peer.h"

static void work(long n, const double *A, const double *B, double *out) {
#pragma omp parallel for
	for (long i = 0; i < n; i++)
		for (long j = 0; j < n; j++) {
			double p = sin((A[j] - A[i]) / 2), q = sin((B[j] - B[i]) / 2);
			out[i * n + j] = 2 * asin(sqrt(p * p + cos(A[i]) * cos(A[j]) * q * q));
		}
}

int main(int argc, char **argv) {
	long n = size(argv, 1);
	double *A = uniforms(n, 1, -1.5, 3), *B = uniforms(n, 2, -3, 6), *out = DOUBLES(n * n);
	TIME(work(n, A, B, out), sum(n * n, out));
}
