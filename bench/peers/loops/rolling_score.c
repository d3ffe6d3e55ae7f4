#include "peer.h"

static void work(long n, long k, const double *x, double *out) {
#pragma omp parallel for
	for (long i = 0; i < n - k; i++) {
		double mean = sum(k, x + i) / k, v = 0;
		for (long j = 0; j < k; j++) v += (x[i + j] - mean) * (x[i + j] - mean);
		out[i] = (x[i + k] - mean) / sqrt(v / k);
	}
}

int main(int argc, char **argv) {
	long n = size(argv, 1), k = size(argv, 2);
	double *x = uniforms(n, 1, 0, 1), *out = DOUBLES(n);
	TIME(work(n, k, x, out), sqrt(norm2(n - k, out)));
}
