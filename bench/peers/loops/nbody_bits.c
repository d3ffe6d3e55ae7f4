#include "exact.h"

// four returns what n bodies do to four, exact sums of each component. x ^ 1.5 is x sqrt(x).
static uint64_t four(long n, const double *x, const double *y, const double *z, long i, double A[3][4]) {
	double s[3][4] = {0}, e[3][4] = {0};
	uint64_t lost[4] = {0}, all = 0;
	for (long j = 0; j < n; j++)
#pragma omp simd
		for (long p = 0; p < 4; p++) {
			double dx = x[j] - x[i + p], dy = y[j] - y[i + p], dz = z[j] - z[i + p], a = dx * dx, b = 0;
			ADD(a, b, lost[p], dy * dy);
			ADD(a, b, lost[p], dz * dz);
			double r2 = (a + b) + 1e-2, f = r2 * sqrt(r2);
			ADD(s[0][p], e[0][p], lost[p], dx / f);
			ADD(s[1][p], e[1][p], lost[p], dy / f);
			ADD(s[2][p], e[2][p], lost[p], dz / f);
		}
	for (long p = 0; p < 4; p++) {
		for (long k = 0; k < 3; k++) A[k][p] = s[k][p] + e[k][p];
		all |= lost[p];
	}
	return all << 1;
}

static void slowly(long n, const double *x, const double *y, const double *z, long i, double *A) {
	double *terms = DOUBLES(3 * n);
	for (long j = 0; j < n; j++) {
		double d[3] = {x[j] - x[i], y[j] - y[i], z[j] - z[i]}, squares[3] = {d[0] * d[0], d[1] * d[1], d[2] * d[2]};
		double r2 = exactly(3, squares) + 1e-2, f = r2 * sqrt(r2);
		for (long k = 0; k < 3; k++) terms[k * n + j] = d[k] / f;
	}
	for (long k = 0; k < 3; k++) A[k] = exactly(n, terms + k * n);
	free(terms);
}

static void work(long n, long steps, const double *P, double *x, double *y, double *z, double *V, double *A) {
	for (long i = 0; i < n; i++) x[i] = P[3 * i], y[i] = P[3 * i + 1], z[i] = P[3 * i + 2];
	memset(V, 0, 3 * n * sizeof *V);
	for (long s = 0; s < steps; s++) {
#pragma omp parallel for
		for (long i = 0; i < n; i += 4) {
			double a[3][4];
			if (i + 4 <= n && !four(n, x, y, z, i, a)) {
				for (long p = 0; p < 4; p++)
					for (long k = 0; k < 3; k++) A[3 * (i + p) + k] = a[k][p] / n;
				continue;
			}
			for (long p = i; p < i + 4 && p < n; p++) {
				slowly(n, x, y, z, p, A + 3 * p);
				for (long k = 0; k < 3; k++) A[3 * p + k] /= n;
			}
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
	TIME(work(n, steps, P, x, y, z, V, A), length(3 * n, V));
}
