#include "peer.h"

static double normcdf(double x) { return 0.5 * erfc(-x * M_SQRT1_2); }

static void work(long n, const double *S, const double *K, const double *T, double *out) {
	const double r = 0.03, v = 0.25;
#pragma omp parallel for
	for (long i = 0; i < n; i++) {
		double d1 = (log(S[i] / K[i]) + (r + 0.5 * v * v) * T[i]) / (v * sqrt(T[i]));
		double d2 = d1 - v * sqrt(T[i]);
		out[i] = S[i] * normcdf(d1) - K[i] * exp(-r * T[i]) * normcdf(d2);
	}
}

int main(int argc, char **argv) {
	long n = size(argv, 1);
	double *S = uniforms(n, 1, 80, 40), *K = uniforms(n, 2, 80, 40), *T = uniforms(n, 3, 0.1, 1), *out = DOUBLES(n);
	TIME(work(n, S, K, T, out), sum(n, out));
}
