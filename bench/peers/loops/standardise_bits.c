#include "exact.h"

// term is what is summed: an element, or the square of its distance from the mean of its column.
static inline double term(double x, const double *mean, long j) {
	double c = mean ? x - mean[j] : x;
	return mean ? c * c : c;
}

// means divides the sum of each column, rounded once, by n.
static inline __attribute__((always_inline)) void means(long n, long m, const double *X, const double *mean, double *out) {
	double high[m], low[m], most[m];
	for (long j = 0; j < m; j++) high[j] = low[j] = most[j] = 0;
#pragma omp parallel
	{
		double s[m], e[m], top[m];
		for (long j = 0; j < m; j++) s[j] = e[j] = top[j] = 0;
#pragma omp for
		for (long i = 0; i < n; i++)
#pragma omp simd
			for (long j = 0; j < m; j++) WIDE(s[j], e[j], top[j], term(X[i * m + j], mean, j));
#pragma omp critical
		for (long j = 0; j < m; j++) {
			most[j] = top[j] > most[j] ? top[j] : most[j];
			WIDE(high[j], low[j], most[j], s[j]);
			low[j] += e[j];
		}
	}
	for (long j = 0; j < m; j++) {
		uint64_t doubt = 0;
		double sum = rounded(high[j], low[j], WIDE_SLACK(2 * n, most[j]), &doubt);
		if (doubt) {
			double *all = DOUBLES(n);
			for (long i = 0; i < n; i++) all[i] = term(X[i * m + j], mean, j);
			sum = exactly(n, all);
			free(all);
		}
		out[j] = sum / n;
	}
}

static void work(long n, long m, const double *X, double *out) {
	double mean[m], scale[m];
	means(n, m, X, NULL, mean);
	means(n, m, X, mean, scale);
	for (long j = 0; j < m; j++) scale[j] = sqrt(scale[j] + 1e-9);
#pragma omp parallel for
	for (long i = 0; i < n; i++)
#pragma omp simd
		for (long j = 0; j < m; j++) out[i * m + j] = (X[i * m + j] - mean[j]) / scale[j];
}

int main(int argc, char **argv) {
	long n = size(argv, 1), m = size(argv, 2);
	double *X = uniforms(n * m, 1, 0, 1), *out = DOUBLES(n * m);
	TIME(work(n, m, X, out), length(n * m, squared(n * m, out)));
}
