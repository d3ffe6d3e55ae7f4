#include "exact.h"

#define BLOCK 256

static void slowly(long from, long to, long k, const double *x, const double *w, double *out) {
	double terms[k];
	for (long i = from; i < to; i++) {
		for (long j = 0; j < k; j++) terms[j] = w[j] * x[i + j];
		out[i] = exactly(k, terms);
	}
}

// block computes samples from to to.
static void block(long from, long to, long k, const double *x, const double *w, double *out) {
	W lost = {0};
	long i = from;
	for (; i + 2 * LANES <= to; i += 2 * LANES) {
		V s = {0}, e = {0}, t = {0}, f = {0};
		for (long j = 0; j < k; j++) {
			ADDV(s, e, lost, w[j] * at(x + i + j));
			ADDV(t, f, lost, w[j] * at(x + i + j + LANES));
		}
		*(V *)(out + i) = s + e, *(V *)(out + i + LANES) = t + f;
	}
	slowly(any(lost) ? from : i, to, k, x, w, out);
}

static void work(long n, long k, const double *x, const double *w, double *out) {
#pragma omp parallel for
	for (long b = 0; b <= n - k; b += BLOCK) block(b, b + BLOCK < n - k + 1 ? b + BLOCK : n - k + 1, k, x, w, out);
}

int main(int argc, char **argv) {
	long n = size(argv, 1), k = size(argv, 2);
	double *x = uniforms(n, 1, 0, 1), *w = uniforms(k, 2, 0, 1), *out = DOUBLES(n);
	TIME(work(n, k, x, w, out), total(n - k + 1, out));
}
