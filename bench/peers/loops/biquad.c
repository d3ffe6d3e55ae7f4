#include "peer.h"

static void work(long n, long m, const double *X, double *out) {
#pragma omp parallel for
	for (long i = 0; i < n; i++) {
		const double *x = X + i * m;
		double y1 = 0, y2 = 0, energy = 0;
		for (long k = 2; k < m; k++) {
			double y = 0.07 * (x[k] + 2 * x[k - 1] + x[k - 2]) + 1.2 * y1 - 0.5 * y2;
			y2 = y1, y1 = y;
			energy += y * y;
		}
		out[i] = energy;
	}
}

int main(int argc, char **argv) {
	long n = size(argv, 1), m = size(argv, 2);
	double *X = uniforms(n * m, 1, 0, 1), *out = DOUBLES(n);
	TIME(work(n, m, X, out), sum(n, out));
}
