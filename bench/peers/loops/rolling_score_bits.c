#include "exact.h"

#define BLOCK 256
#define WIDTH (2 * LANES)

static void slowly(long from, long to, long k, const double *x, double *out) {
	for (long i = from; i < to; i++) out[i] = (x[i + k] - exactly(k, x + i) / k) / sqrt(varianceSlowly(k, x + i));
}

// block computes the scores from from to to. No number exceeds bound.
static void block(long from, long to, long k, const double *x, double *out) {
	double bound = greatest(to - from + k - 1, x + from);
	double start = START(k, bound), squares = START(k, bound * bound);
	uint64_t doubt[WIDTH] = {0}, all = 0;
	for (long at = from; at < to && to - from >= WIDTH; at += WIDTH) {
		long i = at + WIDTH <= to ? at : to - WIDTH; // the last ones once more
		double s[WIDTH], e[WIDTH], q[WIDTH], f[WIDTH] = {0};
		for (long p = 0; p < WIDTH; p++) s[p] = start, e[p] = REST(start), q[p] = squares;
		for (long j = 0; j < k; j++)
#pragma omp simd
			for (long p = 0; p < WIDTH; p++) VARIANCE(s[p], e[p], doubt[p], q[p], f[p], x[i + p + j]);
#pragma omp simd
		for (long p = 0; p < WIDTH; p++) {
			double sum = s[p] - start, rest = e[p] - REST(start), mean = (sum + rest) / k;
			out[i + p] = (x[i + p + k] - mean) / sqrt(variance(k, sum, rest, q[p] - squares, f[p], bound, &doubt[p]));
		}
	}
	for (long p = 0; p < WIDTH; p++) all |= doubt[p];
	if (all || to - from < WIDTH) slowly(from, to, k, x, out);
}

static void work(long n, long k, const double *x, double *out) {
#pragma omp parallel for
	for (long b = 0; b < n - k; b += BLOCK) block(b, b + BLOCK < n - k ? b + BLOCK : n - k, k, x, out);
}

int main(int argc, char **argv) {
	long n = size(argv, 1), k = size(argv, 2);
	double *x = uniforms(n, 1, 0, 1), *out = DOUBLES(n);
	TIME(work(n, k, x, out), length(n - k, out));
}
