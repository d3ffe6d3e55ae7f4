#include "exact.h"

// The edges of the bins are i / k, so that the product tells the bin where it is exact: k is a
// power of two.
static void work(long n, long k, const double *x, int64_t *count) {
	memset(count, 0, k * sizeof *count);
#pragma omp parallel
	{
		int32_t mine[4][k];
		memset(mine, 0, sizeof mine);
#pragma omp for
		for (long i = 0; i < n / 4; i++)
			for (long p = 0; p < 4; p++) {
				long b = (long)(x[4 * i + p] * k);
				mine[p][b < k ? b : k - 1]++;
			}
#pragma omp critical
		for (long p = 0; p < 4; p++)
			for (long b = 0; b < k; b++) count[b] += mine[p][b];
	}
	for (long i = n / 4 * 4; i < n; i++) {
		long b = (long)(x[i] * k);
		count[b < k ? b : k - 1]++;
	}
}

int main(int argc, char **argv) {
	long n = size(argv, 1), k = size(argv, 2);
	double *x = uniforms(n, 1, 0, 1), sum = 0;
	int64_t *count = memory(k, sizeof *count);
	if (k & (k - 1)) {
		fprintf(stderr, "%ld is no power of two\n", k);
		return 2;
	}
	for (long i = 0; i < n; i++) x[i] *= x[i];
	TIME(work(n, k, x, count), ({ sum = 0; for (long b = 0; b < k; b++) sum += (double)count[b] * b; sum; }));
}
