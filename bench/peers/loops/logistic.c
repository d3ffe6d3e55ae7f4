#include "peer.h"

static void work(long n, long d, const double *X, const double *y, const double *w, double *g) {
	for (long j = 0; j < d; j++) g[j] = 0;
#pragma omp parallel for reduction(+ : g[:d])
	for (long i = 0; i < n; i++) {
		const double *x = X + i * d;
		double z = 0;
		for (long j = 0; j < d; j++) z += x[j] * w[j];
		double r = (1 / (1 + exp(-z)) - y[i]) / n;
		for (long j = 0; j < d; j++) g[j] += x[j] * r;
	}
}

int main(int argc, char **argv) {
	long n = size(argv, 1), d = size(argv, 2);
	double *X = uniforms(n * d, 1, -0.5, 1), *y = uniforms(n, 2, 0, 1), *w = uniforms(d, 3, 0, 1), *g = DOUBLES(d);
	for (long i = 0; i < n; i++) y[i] = y[i] < 0.5;
	TIME(work(n, d, X, y, w, g), sqrt(norm2(d, g)));
}
