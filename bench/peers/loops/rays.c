#include "peer.h"

static void work(long n, long m, const double *R, const double *x, const double *y, const double *z, const double *c, double *out) {
#pragma omp parallel for
	for (long i = 0; i < n; i++) {
		double nearest = 1000;
		for (long j = 0; j < m; j++) {
			double b = x[j] * R[3 * i] + y[j] * R[3 * i + 1] + z[j] * R[3 * i + 2], q = b * b - c[j];
			double t = q >= 0 && b > 0 ? b - sqrt(q > 0 ? q : 0) : 1000;
			nearest = t < nearest ? t : nearest;
		}
		out[i] = nearest;
	}
}

int main(int argc, char **argv) {
	long n = size(argv, 1), m = size(argv, 2);
	double *R = uniforms(3 * n, 1, -0.5, 1), *C = uniforms(3 * m, 2, -2, 4), *out = DOUBLES(n);
	double *x = DOUBLES(m), *y = DOUBLES(m), *z = DOUBLES(m), *c = DOUBLES(m);
	for (long i = 0; i < n; i++) {
		double r = sqrt(norm2(3, R + 3 * i));
		for (long k = 0; k < 3; k++) R[3 * i + k] /= r;
	}
	for (long j = 0; j < m; j++) x[j] = C[3 * j], y[j] = C[3 * j + 1], z[j] = C[3 * j + 2], c[j] = norm2(3, C + 3 * j) - 0.04;
	TIME(work(n, m, R, x, y, z, c, out), sum(n, out));
}
