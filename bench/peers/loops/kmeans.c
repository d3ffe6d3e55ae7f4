#include "peer.h"

static void work(long n, long d, long k, long rounds, const double *X, double *C, double *s, double *count) {
	memcpy(C, X, k * d * sizeof *C);
	for (long r = 0; r < rounds; r++) {
		for (long p = 0; p < k * d; p++) s[p] = 0;
		for (long g = 0; g < k; g++) count[g] = 0;
#pragma omp parallel for reduction(+ : s[:k * d], count[:k])
		for (long i = 0; i < n; i++) {
			const double *x = X + i * d;
			double least = 1e300;
			long to = 0;
			for (long g = 0; g < k; g++) {
				double q = 0;
				for (long j = 0; j < d; j++) q += (x[j] - C[g * d + j]) * (x[j] - C[g * d + j]);
				if (q < least) least = q, to = g;
			}
			count[to]++;
			for (long j = 0; j < d; j++) s[to * d + j] += x[j];
		}
		for (long g = 0; g < k; g++)
			for (long j = 0; j < d; j++) C[g * d + j] = s[g * d + j] / count[g];
	}
}

int main(int argc, char **argv) {
	long n = size(argv, 1), d = size(argv, 2), k = size(argv, 3), rounds = size(argv, 4);
	double *X = uniforms(n * d, 1, 0, 1), *C = DOUBLES(k * d), *s = DOUBLES(k * d), *count = DOUBLES(k);
	TIME(work(n, d, k, rounds, X, C, s, count), sqrt(norm2(k * d, C)));
}
