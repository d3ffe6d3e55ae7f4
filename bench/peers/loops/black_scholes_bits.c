#include "exact_math.h"

static void work(long n, const double *S, const double *K, const double *T, double *out) {
	const double r = 0.03, v = 0.25;
#pragma omp parallel for simd
	for (long i = 0; i < n; i++) {
		double root = v * sqrt(T[i]), d1 = (logarithm(S[i] / K[i]) + (r + 0.5 * (v * v)) * T[i]) / root;
		out[i] = S[i] * normcdf(d1) - K[i] * exponential(-r * T[i]) * normcdf(d1 - root);
	}
}

int main(int argc, char **argv) {
	long n = size(argv, 1);
	double *S = uniforms(n, 1, 80, 40), *K = uniforms(n, 2, 80, 40), *T = uniforms(n, 3, 0.1, 1), *out = DOUBLES(n);
	TIME(work(n, S, K, T, out), total(n, out));
}
