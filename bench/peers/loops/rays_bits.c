#include "exact.h"

// eight traces eight rays. A comparison of three products has one exact sum of two words.
static uint64_t eight(long i, long m, const double *x, const double *y, const double *z, const double *c, double R[3][8], double *out) {
	double nearest[8];
	uint64_t lost[8] = {0}, all = 0;
	for (long p = 0; p < 8; p++) nearest[p] = 1000;
	for (long j = 0; j < m; j++)
#pragma omp simd
		for (long p = 0; p < 8; p++) {
			double s = x[j] * R[0][p], e = 0;
			ADD(s, e, lost[p], y[j] * R[1][p]);
			ADD(s, e, lost[p], z[j] * R[2][p]);
			double b = s + e, q = b * b - c[j], t = b - sqrt(q > 0 ? q : 0);
			t = (q >= 0) & (b > 0) ? t : 1000;
			nearest[p] = t < nearest[p] ? t : nearest[p];
		}
	for (long p = 0; p < 8; p++) out[i + p] = nearest[p], all |= lost[p];
	return all << 1;
}

static void slowly(long i, long m, const double *R, const double *x, const double *y, const double *z, const double *c, double *out) {
	out[i] = 1000;
	for (long j = 0; j < m; j++) {
		double terms[3] = {x[j] * R[3 * i], y[j] * R[3 * i + 1], z[j] * R[3 * i + 2]}, b = exactly(3, terms), q = b * b - c[j];
		double t = q >= 0 && b > 0 ? b - sqrt(q) : 1000;
		if (t < out[i]) out[i] = t;
	}
}

static void work(long n, long m, const double *R, const double *x, const double *y, const double *z, const double *c, double *out) {
#pragma omp parallel for
	for (long i = 0; i < n; i += 8) {
		long to = i + 8;
		if (to <= n) {
			double r[3][8];
			for (long p = 0; p < 8; p++)
				for (long k = 0; k < 3; k++) r[k][p] = R[3 * (i + p) + k];
			if (!eight(i, m, x, y, z, c, r, out)) continue;
		} else
			to = n;
		for (long p = i; p < to; p++) slowly(p, m, R, x, y, z, c, out);
	}
}

int main(int argc, char **argv) {
	long n = size(argv, 1), m = size(argv, 2);
	double *R = uniforms(3 * n, 1, -0.5, 1), *C = uniforms(3 * m, 2, -2, 4), *out = DOUBLES(n);
	double *x = DOUBLES(m), *y = DOUBLES(m), *z = DOUBLES(m), *c = DOUBLES(m);
	for (long i = 0; i < n; i++) {
		double r = length(3, R + 3 * i);
		for (long k = 0; k < 3; k++) R[3 * i + k] /= r;
	}
	for (long j = 0; j < m; j++) {
		double squares[3];
		for (long k = 0; k < 3; k++) squares[k] = C[3 * j + k] * C[3 * j + k];
		x[j] = C[3 * j], y[j] = C[3 * j + 1], z[j] = C[3 * j + 2], c[j] = total(3, squares) - 0.04;
	}
	TIME(work(n, m, R, x, y, z, c, out), total(n, out));
}
