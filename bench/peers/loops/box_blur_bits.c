#include "exact.h"

static void slowly(long n, const double *x, double *out) {
	for (long j = 0; j < n - 4; j++) {
		double window[25];
		for (long a = 0; a < 25; a++) window[a] = x[a / 5 * n + j + a % 5];
		out[j] = exactly(25, window) / 25;
	}
}

static void row(long n, const double *x, double *out) {
	W lost = {0};
	double from = START(25, greatest(5 * n, x));
	V start = from - (V){0}, rest = REST(from) - (V){0};
	const long m = n - 4;
	for (long i = 0; i < m && m >= 2 * LANES; i += 2 * LANES) {
		long j = i + 2 * LANES <= m ? i : m - 2 * LANES; // the last ones once more
		V s = start, e = rest, t = start, f = rest;
#pragma GCC unroll 5
		for (long a = 0; a < 5; a++)
#pragma GCC unroll 5
			for (long b = 0; b < 5; b++) {
				const double *y = x + a * n + j + b;
				EXACTV(s, e, lost, at(y));
				EXACTV(t, f, lost, at(y + LANES));
			}
		*(V *)(out + j) = ((s - start) + (e - rest)) / 25, *(V *)(out + j + LANES) = ((t - start) + (f - rest)) / 25;
	}
	if (any(lost) || m < 2 * LANES) slowly(n, x, out);
}

static void work(long n, const double *X, double *out) {
	const long m = n - 4;
#pragma omp parallel for
	for (long i = 0; i < m; i++)
		row(n, X + i * n, out + i * m);
}

int main(int argc, char **argv) {
	long n = size(argv, 1);
	double *X = uniforms(n * n, 1, 0, 1), *out = DOUBLES(n * n);
	TIME(work(n, X, out), total((n - 4) * (n - 4), out));
}
