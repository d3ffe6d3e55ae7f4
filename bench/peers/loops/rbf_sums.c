#include "peer.h"

static void work(long n, const double *X, double *x, double *y, double *z, double *out) {
	for (long i = 0; i < n; i++) x[i] = X[3 * i], y[i] = X[3 * i + 1], z[i] = X[3 * i + 2];
#pragma omp parallel for
	for (long i = 0; i < n; i++) {
		double s = 0;
		for (long j = 0; j < n; j++) {
			double dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];
			s += exp(-0.5 * (dx * dx + dy * dy + dz * dz));
		}
		out[i] = s;
	}
}

int main(int argc, char **argv) {
	long n = size(argv, 1);
	double *X = uniforms(3 * n, 1, 0, 1), *x = DOUBLES(n), *y = DOUBLES(n), *z = DOUBLES(n), *out = DOUBLES(n);
	TIME(work(n, X, x, y, z, out), sum(n, out));
}
