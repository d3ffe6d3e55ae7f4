#include "peer.h"

static void work(long n, const double *X, double *out) {
#pragma omp parallel for
	for (long i = 0; i < n; i++) {
		double x = X[i];
		out[i] = (((((((0.03 * x - 0.11) * x + 0.5) * x - 0.7) * x + 0.2) * x + 1.3) * x - 0.9) * x + 0.4) * x + 1;
	}
}

int main(int argc, char **argv) {
	long n = size(argv, 1);
	double *X = uniforms(n, 1, 0, 1), *out = DOUBLES(n);
	TIME(work(n, X, out), sum(n, out));
}
