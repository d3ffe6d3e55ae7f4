#include "peer.h"

static void work(long n, long steps, const double *P, double *x, double *y, double *z, double *V, double *A) {
	for (long i = 0; i < n; i++) x[i] = P[3 * i], y[i] = P[3 * i + 1], z[i] = P[3 * i + 2];
	memset(V, 0, 3 * n * sizeof *V);
	for (long s = 0; s < steps; s++) {
#pragma omp parallel for
		for (long i = 0; i < n; i++) {
			double ax = 0, ay = 0, az = 0;
			for (long j = 0; j < n; j++) {
				double dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i], r2 = dx * dx + dy * dy + dz * dz + 1e-2;
				double f = 1 / (r2 * sqrt(r2));
				ax += dx * f, ay += dy * f, az += dz * f;
			}
			A[3 * i] = ax / n, A[3 * i + 1] = ay / n, A[3 * i + 2] = az / n;
		}
		for (long i = 0; i < n; i++) {
			for (long k = 0; k < 3; k++) V[3 * i + k] += 1e-3 * A[3 * i + k];
			x[i] += 1e-3 * V[3 * i], y[i] += 1e-3 * V[3 * i + 1], z[i] += 1e-3 * V[3 * i + 2];
		}
	}
}

int main(int argc, char **argv) {
	long n = size(argv, 1), steps = size(argv, 2);
	double *P = uniforms(3 * n, 1, 0, 1), *x = DOUBLES(n), *y = DOUBLES(n), *z = DOUBLES(n), *V = DOUBLES(3 * n), *A = DOUBLES(3 * n);
	TIME(work(n, steps, P, x, y, z, V, A), sqrt(norm2(3 * n, V)));
}
