#include "peer.h"

static inline void slope(const double *s, double *d) {
	d[0] = 10 * (s[1] - s[0]);
	d[1] = s[0] * (28 - s[2]) - s[1];
	d[2] = s[0] * s[1] - 8.0 / 3 * s[2];
}

static void work(long n, long steps, const double *X, double *out) {
	const double h = 0.005;
#pragma omp parallel for
	for (long i = 0; i < n; i++) {
		double s[3] = {X[3 * i], X[3 * i + 1], X[3 * i + 2]}, a[3], b[3], c[3], d[3], u[3];
		for (long k = 0; k < steps; k++) {
			slope(s, a);
			for (int p = 0; p < 3; p++) u[p] = s[p] + h / 2 * a[p];
			slope(u, b);
			for (int p = 0; p < 3; p++) u[p] = s[p] + h / 2 * b[p];
			slope(u, c);
			for (int p = 0; p < 3; p++) u[p] = s[p] + h * c[p];
			slope(u, d);
			for (int p = 0; p < 3; p++) s[p] += h / 6 * (a[p] + 2 * b[p] + 2 * c[p] + d[p]);
		}
		for (int p = 0; p < 3; p++) out[3 * i + p] = s[p];
	}
}

int main(int argc, char **argv) {
	long n = size(argv, 1), steps = size(argv, 2);
	double *X = uniforms(3 * n, 1, 1, 1), *out = DOUBLES(3 * n);
	TIME(work(n, steps, X, out), sum(3 * n, out));
}
