#include "exact.h"

// A sum of a group is a product with a sparse matrix: one chain, in the order of the numbers.
static void work(long n, long k, const int64_t *a, const double *x, double *s, int64_t *count, double *out) {
	memset(s, 0, k * sizeof *s);
	memset(count, 0, k * sizeof *count);
#pragma omp parallel sections
	{
#pragma omp section
		for (long i = 0; i < n; i++) s[a[i]] += x[i];
#pragma omp section
		for (long i = 0; i < n; i++) count[a[i]]++;
	}
	for (long g = 0; g < k; g++) out[g] = s[g] / count[g];
}

int main(int argc, char **argv) {
	long n = size(argv, 1), k = size(argv, 2);
	int64_t *a = memory(n, sizeof *a), *count = memory(k, sizeof *count);
	double *x = uniforms(n, 2, 0, 1), *s = DOUBLES(k), *out = DOUBLES(k);
	for (long i = 0; i < n; i++) a[i] = (int64_t)(k * uniform(1, i));
	TIME(work(n, k, a, x, s, count, out), length(k, out));
}
