#include "exact_math.h"

#define WIDTH (2 * LANES)

// row divides the exponentials of a row, none of which exceeds 1, by their sum.
static void row(long m, const double *x, double *out) {
	double most = x[0], start = START(m, 1.001), s[WIDTH], e[WIDTH] = {0}, high = 0, low = 0, size = 0;
#pragma omp simd reduction(max : most)
	for (long j = 0; j < m; j++) most = x[j] > most ? x[j] : most;
	for (long p = 0; p < WIDTH; p++) s[p] = start;
	long j = 0;
	for (; j + WIDTH <= m; j += WIDTH)
#pragma omp simd
		for (long p = 0; p < WIDTH; p++) {
			out[j + p] = exponential(x[j + p] - most);
			NEAR(s[p], e[p], out[j + p]);
		}
	for (; j < m; j++) {
		out[j] = exponential(x[j] - most);
		NEAR(s[0], e[0], out[j]);
	}
	for (long p = 0; p < WIDTH; p++) {
		WIDE(high, low, size, s[p] - start);
		low += e[p];
	}
	uint64_t doubt = 0;
	double all = rounded(high, low, 2 * NEAR_SLACK(m + WIDTH, start), &doubt);
	if (doubt) all = exactly(m, out);
#pragma omp simd
	for (long j = 0; j < m; j++) out[j] /= all;
}

static void work(long n, long m, const double *X, double *out) {
#pragma omp parallel for
	for (long i = 0; i < n; i++) row(m, X + i * m, out + i * m);
}

int main(int argc, char **argv) {
	long n = size(argv, 1), m = size(argv, 2);
	double *X = uniforms(n * m, 1, 0, 8), *out = DOUBLES(n * m);
	TIME(work(n, m, X, out), length(n * m, out));
}
