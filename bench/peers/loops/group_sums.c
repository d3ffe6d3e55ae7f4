#include "peer.h"

static void work(long n, long k, const int64_t *a, const double *x, double *s, double *count, double *out) {
	for (long g = 0; g < k; g++) s[g] = count[g] = 0;
#pragma omp parallel for reduction(+ : s[:k], count[:k])
	for (long i = 0; i < n; i++) {
		s[a[i]] += x[i];
		count[a[i]]++;
	}
	for (long g = 0; g < k; g++) out[g] = s[g] / count[g];
}

int main(int argc, char **argv) {
	long n = size(argv, 1), k = size(argv, 2);
	int64_t *a = memory(n, sizeof *a);
	double *x = uniforms(n, 2, 0, 1), *s = DOUBLES(k), *count = DOUBLES(k), *out = DOUBLES(k);
	for (long i = 0; i < n; i++) a[i] = (int64_t)(k * uniform(1, i));
	TIME(work(n, k, a, x, s, count, out), sqrt(norm2(k, out)));
}
