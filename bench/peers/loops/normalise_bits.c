#include "exact.h"

// mean returns the mean of n numbers, summed exactly in lanes that are merged at the end.
static double mean(long n, const double *x) {
	double s[2 * LANES] = {0}, e[2 * LANES] = {0}, a = 0, b = 0;
	uint64_t lost[2 * LANES] = {0}, rest = 0;
	long j = 0;
	for (; j + 2 * LANES <= n; j += 2 * LANES)
#pragma omp simd
		for (long p = 0; p < 2 * LANES; p++) ADD(s[p], e[p], lost[p], x[j + p]);
	for (long p = 0; p < 2 * LANES; p++) {
		ADD(a, b, rest, s[p]);
		ADD(a, b, rest, e[p]);
		rest |= lost[p];
	}
	for (; j < n; j++) ADD(a, b, rest, x[j]);
	return (rest << 1 ? exactly(n, x) : a + b) / n;
}

static void work(long n, long m, const double *X, double *out) {
#pragma omp parallel
	{
		double square[m];
#pragma omp for
		for (long i = 0; i < n; i++) {
			const double *x = X + i * m;
			double *c = out + i * m, middle = mean(m, x);
			for (long j = 0; j < m; j++) c[j] = x[j] - middle, square[j] = c[j] * c[j];
			double scale = sqrt(mean(m, square) + 1e-9);
			for (long j = 0; j < m; j++) c[j] /= scale;
		}
	}
}

int main(int argc, char **argv) {
	long n = size(argv, 1), m = size(argv, 2);
	double *X = uniforms(n * m, 1, 0, 1), *out = DOUBLES(n * m);
	TIME(work(n, m, X, out), ({ for (long i = 0; i < n; i++) memmove(out + i * (m / 2), out + i * m, m / 2 * sizeof *out); length(n * (m / 2), out); }));
}
