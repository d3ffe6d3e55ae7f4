#include "exact.h"

#define SERIES (4 * LANES)
#define SAMPLES 64

// some filters SERIES series side by side. Their samples are transposed by blocks of SAMPLES and
// two more.
static void some(long m, const double *x, double *out) {
	double T[SAMPLES + 2][SERIES], y1[SERIES] = {0}, y2[SERIES] = {0}, energy[SERIES] = {0};
	for (long from = 2; from < m; from += SAMPLES) {
		long many = m - from < SAMPLES ? m - from : SAMPLES;
		for (long p = 0; p < SERIES; p += 4)
			for (long k = 0; k < many + 2; k++)
				for (long q = p; q < p + 4; q++) T[k][q] = x[q * m + from - 2 + k];
		for (long k = 2; k < many + 2; k++)
#pragma omp simd
			for (long p = 0; p < SERIES; p++) {
				double y = 0.07 * (T[k][p] + 2 * T[k - 1][p] + T[k - 2][p]) + 1.2 * y1[p] - 0.5 * y2[p];
				y2[p] = y1[p], y1[p] = y;
				energy[p] += y * y;
			}
	}
	memcpy(out, energy, sizeof energy);
}

static void work(long n, long m, const double *X, double *out) {
#pragma omp parallel for
	for (long i = 0; i < n; i += SERIES) {
		if (i + SERIES <= n) {
			some(m, X + i * m, out + i);
			continue;
		}
		for (long p = i; p < n; p++) {
			const double *x = X + p * m;
			double y1 = 0, y2 = 0, energy = 0;
			for (long k = 2; k < m; k++) {
				double y = 0.07 * (x[k] + 2 * x[k - 1] + x[k - 2]) + 1.2 * y1 - 0.5 * y2;
				y2 = y1, y1 = y;
				energy += y * y;
			}
			out[p] = energy;
		}
	}
}

int main(int argc, char **argv) {
	long n = size(argv, 1), m = size(argv, 2);
	double *X = uniforms(n * m, 1, 0, 1), *out = DOUBLES(n);
	TIME(work(n, m, X, out), total(n, out));
}
