#include "exact_math.h"

#define WIDTH (2 * LANES)

// some computes WIDTH sums of bells, none of which exceeds 1.
static uint64_t some(long n, const double *x, const double *y, const double *z, long i, double *out) {
	double s[WIDTH], e[WIDTH] = {0}, start = START(n, 1.001);
	uint64_t lost[WIDTH] = {0}, all = 0;
	for (long p = 0; p < WIDTH; p++) s[p] = start;
	for (long j = 0; j < n; j++)
#pragma omp simd
		for (long p = 0; p < WIDTH; p++) {
			double dx = x[j] - x[i + p], dy = y[j] - y[i + p], dz = z[j] - z[i + p];
			NEAR(s[p], e[p], exponential(-0.5 * sumOf3(dx * dx, dy * dy, dz * dz, &lost[p])));
		}
	for (long p = 0; p < WIDTH; p++) {
		out[i + p] = rounded(s[p] - start, e[p], NEAR_SLACK(n, start), &all);
		all |= lost[p];
	}
	return all << 1;
}

static void slowly(long n, const double *x, const double *y, const double *z, long i, double *out) {
	double *bell = DOUBLES(n);
	for (long j = 0; j < n; j++) {
		double D[3] = {x[j] - x[i], y[j] - y[i], z[j] - z[i]}, squares[3] = {D[0] * D[0], D[1] * D[1], D[2] * D[2]};
		bell[j] = exponential(-0.5 * exactly(3, squares));
	}
	out[i] = exactly(n, bell);
	free(bell);
}

static void work(long n, const double *X, double *x, double *y, double *z, double *out) {
	for (long i = 0; i < n; i++) x[i] = X[3 * i], y[i] = X[3 * i + 1], z[i] = X[3 * i + 2];
#pragma omp parallel for
	for (long i = 0; i < n; i += WIDTH)
		if (i + WIDTH > n || some(n, x, y, z, i, out))
			for (long p = i; p < i + WIDTH && p < n; p++) slowly(n, x, y, z, p, out);
}

int main(int argc, char **argv) {
	long n = size(argv, 1);
	double *X = uniforms(3 * n, 1, 0, 1), *x = DOUBLES(n), *y = DOUBLES(n), *z = DOUBLES(n), *out = DOUBLES(n);
	TIME(work(n, X, x, y, z, out), total(n, out));
}
