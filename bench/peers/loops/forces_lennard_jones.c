#include "peer.h"

// law returns the force over the distance, of the squared distance.
static inline double law(double d2) {
	double s = d2 + 0.01, c = 1 / (s * s * s);
	return (2 * c * c - c) / s;
}

static void two(long n, const double *P, double *x, double *y, double *out) {
	for (long i = 0; i < n; i++) x[i] = P[2 * i], y[i] = P[2 * i + 1];
#pragma omp parallel for
	for (long i = 0; i < n; i++) {
		double fx = 0, fy = 0;
		for (long j = 0; j < n; j++) {
			double dx = x[i] - x[j], dy = y[i] - y[j], f = law(dx * dx + dy * dy);
			fx += dx * f, fy += dy * f;
		}
		out[2 * i] = fx, out[2 * i + 1] = fy;
	}
}

static void three(long n, const double *P, double *x, double *y, double *z, double *out) {
	for (long i = 0; i < n; i++) x[i] = P[3 * i], y[i] = P[3 * i + 1], z[i] = P[3 * i + 2];
#pragma omp parallel for
	for (long i = 0; i < n; i++) {
		double fx = 0, fy = 0, fz = 0;
		for (long j = 0; j < n; j++) {
			double dx = x[i] - x[j], dy = y[i] - y[j], dz = z[i] - z[j], f = law(dx * dx + dy * dy + dz * dz);
			fx += dx * f, fy += dy * f, fz += dz * f;
		}
		out[3 * i] = fx, out[3 * i + 1] = fy, out[3 * i + 2] = fz;
	}
}

int main(int argc, char **argv) {
	long n = size(argv, 1), d = size(argv, 2);
	double *P = uniforms(n * d, 1, 0, 1), *x = DOUBLES(n), *y = DOUBLES(n), *z = DOUBLES(n), *out = DOUBLES(n * d);
	if (d == 2)
		TIME(two(n, P, x, y, out), sqrt(norm2(n * d, out)));
	else
		TIME(three(n, P, x, y, z, out), sqrt(norm2(n * d, out)));
}
