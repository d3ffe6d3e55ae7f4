#include "exact_math.h"

#define BLOCK 64 // rows
#define MOST 4   // vectors of a row

// panel adds one chain for each of d columns into g: of x times what the model misses.
INLINE void panel(long n, long d, long vectors, const double *X, const double *y, const double *w, double *g) {
	double T[BLOCK], rest[MOST * LANES];
	V sum[MOST] = {0};
	for (long from = 0; from < n; from += BLOCK) {
		long rows = n - from < BLOCK ? n - from : BLOCK;
		const double *x = X + from * d;
		for (long p = 0; p < rows; p++) T[p] = 0;
		for (long p = 0; p + 4 <= rows; p += 4) // four chains at a time
			for (long j = 0; j < d; j++)
				for (long q = p; q < p + 4; q++) T[q] = fma(x[q * d + j], w[j], T[q]);
		for (long p = rows / 4 * 4; p < rows; p++)
			for (long j = 0; j < d; j++) T[p] = fma(x[p * d + j], w[j], T[p]);
#pragma omp simd
		for (long p = 0; p < rows; p++) T[p] = sigmoid(T[p]) - y[from + p];
		long whole = rows * d - vectors * LANES >= 0 ? (rows * d - vectors * LANES) / d + 1 : 0; // rows that can be read as vectors
		for (long p = 0; p < whole; p++)
			for (long v = 0; v < vectors; v++) sum[v] = fmaV(at(x + p * d + v * LANES), T[p] - (V){0}, sum[v]);
		for (long p = whole; p < rows; p++)
			for (long v = 0; v < vectors; v++) {
				for (long k = 0; k < LANES; k++) rest[k] = v * LANES + k < d ? x[p * d + v * LANES + k] : 0;
				sum[v] = fmaV(at(rest), T[p] - (V){0}, sum[v]);
			}
	}
	for (long j = 0; j < d; j++) g[j] = sum[j / LANES][j % LANES];
}

static void work(long n, long d, const double *X, const double *y, const double *w, double *part, double *g) {
	long panels = (n + PANEL - 1) / PANEL;
#pragma omp parallel for schedule(dynamic)
	for (long k = 0; k < panels; k++) {
		long from = k * PANEL, rows = n - from < PANEL ? n - from : PANEL;
		const double *x = X + from * d;
		switch ((d + LANES - 1) / LANES) {
		case 1: panel(rows, d, 1, x, y + from, w, part + k * d); break;
		case 2: panel(rows, d, 2, x, y + from, w, part + k * d); break;
		case 3: panel(rows, d, 3, x, y + from, w, part + k * d); break;
		default: panel(rows, d, 4, x, y + from, w, part + k * d);
		}
	}
	for (long j = 0; j < d; j++) g[j] = balanced(panels, d, part + j) / n;
}

int main(int argc, char **argv) {
	long n = size(argv, 1), d = size(argv, 2);
	if (d > MOST * LANES) {
		fprintf(stderr, "more than %d columns\n", MOST * LANES);
		return 2;
	}
	double *X = uniforms(n * d, 1, -0.5, 1), *y = uniforms(n, 2, 0, 1), *w = uniforms(d, 3, 0, 1), *g = DOUBLES(d), *part = DOUBLES((n / PANEL + 1) * d);
	for (long i = 0; i < n; i++) y[i] = y[i] < 0.5;
	TIME(work(n, d, X, y, w, part, g), length(d, g));
}
