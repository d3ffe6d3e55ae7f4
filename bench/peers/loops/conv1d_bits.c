#include "exact.h"

#define BLOCK 256

static void slowly(long from, long to, long k, const double *x, const double *w, double *out) {
	double terms[k];
	for (long i = from; i < to; i++) {
		for (long j = 0; j < k; j++) terms[j] = w[j] * x[i + j];
		out[i] = exactly(k, terms);
	}
}

// block computes samples from to to. No weight exceeds most.
static void block(long from, long to, long k, const double *x, const double *w, double most, double *out) {
	W lost = {0};
	double first = START(k, most * greatest(to - from + k - 1, x + from));
	V start = first - (V){0}, rest = REST(first) - (V){0};
	for (long i = from; i < to && to - from >= 2 * LANES && k < 8192; i += 2 * LANES) {
		long p = i + 2 * LANES <= to ? i : to - 2 * LANES; // the last ones once more
		V s = start, e = rest, t = start, f = rest;
		for (long j = 0; j < k; j++) {
			EXACTV(s, e, lost, w[j] * at(x + p + j));
			EXACTV(t, f, lost, w[j] * at(x + p + j + LANES));
		}
		*(V *)(out + p) = (s - start) + (e - rest), *(V *)(out + p + LANES) = (t - start) + (f - rest);
	}
	if (any(lost) || to - from < 2 * LANES || k >= 8192) slowly(from, to, k, x, w, out);
}

static void work(long n, long k, const double *x, const double *w, double *out) {
	double most = greatest(k, w);
#pragma omp parallel for
	for (long b = 0; b <= n - k; b += BLOCK) block(b, b + BLOCK < n - k + 1 ? b + BLOCK : n - k + 1, k, x, w, most, out);
}

int main(int argc, char **argv) {
	long n = size(argv, 1), k = size(argv, 2);
	double *x = uniforms(n, 1, 0, 1), *w = uniforms(k, 2, 0, 1), *out = DOUBLES(n);
	TIME(work(n, k, x, w, out), total(n - k + 1, out));
}
