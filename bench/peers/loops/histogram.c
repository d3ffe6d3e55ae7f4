#include "peer.h"

static void work(long n, long k, const double *x, int64_t *count) {
	memset(count, 0, k * sizeof *count);
#pragma omp parallel for reduction(+ : count[:k])
	for (long i = 0; i < n; i++) {
		long b = (long)(x[i] * k);
		count[b < k ? b : k - 1]++;
	}
}

int main(int argc, char **argv) {
	long n = size(argv, 1), k = size(argv, 2);
	double *x = uniforms(n, 1, 0, 1), total = 0;
	int64_t *count = memory(k, sizeof *count);
	for (long i = 0; i < n; i++) x[i] *= x[i];
	TIME(work(n, k, x, count), ({ for (long b = 0; b < k; b++) total += (double)count[b] * b; total; }));
}
