#include "peer.h"

static void work(long n, long k, const double *x, double *c, double *out) {
	double s = 0;
	for (long i = 0; i < n; i++) c[i] = s += x[i];
#pragma omp parallel for
	for (long i = 0; i < n - k; i++) out[i] = (c[i + k] - c[i]) / k;
}

int main(int argc, char **argv) {
	long n = size(argv, 1), k = size(argv, 2);
	double *x = uniforms(n, 1, -0.5, 1), *c = DOUBLES(n), *out = DOUBLES(n);
	TIME(work(n, k, x, c, out), sqrt(norm2(n - k, out)));
}
