#include "peer.h"

static void work(long n, long k, const double *x, const double *w, double *out) {
#pragma omp parallel for
	for (long i = 0; i <= n - k; i++) {
		double s = 0;
		for (long j = 0; j < k; j++) s += w[j] * x[i + j];
		out[i] = s;
	}
}

int main(int argc, char **argv) {
	long n = size(argv, 1), k = size(argv, 2);
	double *x = uniforms(n, 1, 0, 1), *w = uniforms(k, 2, 0, 1), *out = DOUBLES(n);
	TIME(work(n, k, x, w, out), sum(n - k + 1, out));
}
