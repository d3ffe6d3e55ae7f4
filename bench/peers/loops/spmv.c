#include "peer.h"

static void work(long n, long k, const int64_t *start, const int32_t *column, const double *value, const double *x, const double *b, double *out) {
#pragma omp parallel for
	for (long i = 0; i < n; i++) {
		double s = 0;
		for (int64_t p = start[i]; p < start[i + 1]; p++) s += value[p] * x[column[p]];
		s = s / k - b[i];
		out[i] = s > 0 ? s : 0;
	}
}

static int ascending(const void *a, const void *b) { return *(const int32_t *)a - *(const int32_t *)b; }

int main(int argc, char **argv) {
	long n = size(argv, 1), k = size(argv, 2), m = 0;
	int64_t *start = memory(n + 1, sizeof *start);
	int32_t *column = memory(n * k, sizeof *column), *row = memory(k, sizeof *row);
	double *value = DOUBLES(n * k), *x = uniforms(n, 2, 0, 1), *b = uniforms(n, 3, 0.25, 0.5), *out = DOUBLES(n);
	for (long i = 0; i < n; i++) { // a column that a row names twice is one entry of value 2
		for (long j = 0; j < k; j++) row[j] = (int32_t)(n * uniform(1, i * k + j));
		qsort(row, k, sizeof *row, ascending);
		start[i] = m;
		for (long j = 0; j < k; j++) {
			if (j > 0 && row[j] == row[j - 1])
				value[m - 1]++;
			else
				column[m] = row[j], value[m++] = 1;
		}
	}
	start[n] = m;
	TIME(work(n, k, start, column, value, x, b, out), sqrt(norm2(n, out)));
}
