#include "exact.h"

#define WIDTH (2 * LANES)

static void slowly(long m, long n, const double *x, double *out) {
	for (long j = 0; j < m; j++) {
		double window[49];
		for (long a = 0; a < 49; a++) window[a] = x[a / 7 * n + j + a % 7];
		out[j] = (x[3 * n + j + 3] - exactly(49, window) / 49) / (sqrt(varianceSlowly(49, window)) + 0.01);
	}
}

static void row(long m, long n, const double *x, double *out) {
	double bound = greatest(7 * n, x);
	double start = START(49, bound), squares = START(49, bound * bound);
	uint64_t doubt[WIDTH] = {0}, all = 0;
	for (long at = 0; at < m && m >= WIDTH; at += WIDTH) {
		long j = at + WIDTH <= m ? at : m - WIDTH; // the last ones once more
		double s[WIDTH], e[WIDTH], q[WIDTH], f[WIDTH] = {0};
		for (long p = 0; p < WIDTH; p++) s[p] = start, e[p] = REST(start), q[p] = squares;
		for (long a = 0; a < 7; a++)
#pragma GCC unroll 7
			for (long b = 0; b < 7; b++)
#pragma omp simd
				for (long p = 0; p < WIDTH; p++) VARIANCE(s[p], e[p], doubt[p], q[p], f[p], x[a * n + j + b + p]);
#pragma omp simd
		for (long p = 0; p < WIDTH; p++) {
			double sum = s[p] - start, rest = e[p] - REST(start), mean = (sum + rest) / 49;
			double v = variance(49, sum, rest, q[p] - squares, f[p], bound, &doubt[p]);
			out[j + p] = (x[3 * n + j + p + 3] - mean) / (sqrt(v) + 0.01);
		}
	}
	for (long p = 0; p < WIDTH; p++) all |= doubt[p];
	if (all || m < WIDTH) slowly(m, n, x, out);
}

static void work(long n, const double *X, double *out) {
	const long m = n - 6;
#pragma omp parallel for
	for (long i = 0; i < m; i++) row(m, n, X + i * n, out + i * m);
}

int main(int argc, char **argv) {
	long n = size(argv, 1);
	double *X = uniforms(n * n, 1, 0, 1), *out = DOUBLES(n * n);
	TIME(work(n, X, out), length((n - 6) * (n - 6), out));
}
