// All-pairs forces with Flow's bytes. A program defines LAW(s), the force over the distance of a
// squared distance, and BOUND, which no |LAW| exceeds; without BOUND the forces are of very
// different sizes. Coordinates are finite.
#include "exact_math.h"

INLINE uint64_t lanes(long n, long d, const double *const *x, long i, double span, double *out) {
	double s[3][LANES], e[3][LANES], most[LANES], start = 0;
	uint64_t lost[LANES], all = 0;
#ifdef BOUND
	start = START(n, span * (BOUND));
#endif
	for (long p = 0; p < LANES; p++) {
		for (long k = 0; k < 3; k++) s[k][p] = start, e[k][p] = 0;
		lost[p] = 0, most[p] = start;
	}
	for (long j = 0; j < n; j++)
#pragma omp simd
		for (long p = 0; p < LANES; p++) {
			double D[3], q;
#pragma GCC unroll 3
			for (long k = 0; k < d; k++) D[k] = x[k][i + p] - x[k][j];
			q = d == 2 ? D[0] * D[0] + D[1] * D[1] : sumOf3(D[0] * D[0], D[1] * D[1], D[2] * D[2], &lost[p]);
			double f = LAW(q);
#pragma GCC unroll 3
			for (long k = 0; k < d; k++)
#ifdef BOUND
				NEAR(s[k][p], e[k][p], D[k] * f);
#else
				WIDE(s[k][p], e[k][p], most[p], D[k] * f);
#endif
		}
	uint64_t doubt = 0;
	for (long p = 0; p < LANES; p++) {
		for (long k = 0; k < d; k++) out[d * (i + p) + k] = rounded(s[k][p] - start, e[k][p], WIDE_SLACK(n, most[p]), &doubt);
		all |= lost[p];
	}
	return doubt | all << 1;
}

static void slowly(long n, long d, const double *const *x, long i, double *out) {
	double *terms = DOUBLES(d * n);
	for (long j = 0; j < n; j++) {
		double D[3], squares[3];
		for (long k = 0; k < d; k++) D[k] = x[k][i] - x[k][j], squares[k] = D[k] * D[k];
		double f = LAW(exactly(d, squares));
		for (long k = 0; k < d; k++) terms[k * n + j] = D[k] * f;
	}
	for (long k = 0; k < d; k++) out[d * i + k] = exactly(n, terms + k * n);
	free(terms);
}

static void work(long n, long d, const double *P, double **x, double *out) {
	double least = P[0], greatest = P[0];
	for (long i = 0; i < n; i++)
		for (long k = 0; k < d; k++) {
			double v = x[k][i] = P[d * i + k];
			least = v < least ? v : least, greatest = v > greatest ? v : greatest;
		}
	const double *const from[3] = {x[0], x[1], x[2]};
#pragma omp parallel for
	for (long i = 0; i < n; i += LANES) {
		if (i + LANES <= n && !(d == 2 ? lanes(n, 2, from, i, greatest - least, out) : lanes(n, 3, from, i, greatest - least, out))) continue;
		for (long p = i; p < i + LANES && p < n; p++) slowly(n, d, from, p, out);
	}
}

int main(int argc, char **argv) {
	long n = size(argv, 1), d = size(argv, 2);
	double *P = uniforms(n * d, 1, 0, 1), *x[3] = {DOUBLES(n), DOUBLES(n), DOUBLES(n)}, *out = DOUBLES(n * d);
	TIME(work(n, d, P, x, out), length(n * d, out));
}
