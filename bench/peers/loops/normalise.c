#include "peer.h"

static void work(long n, long m, const double *X, double *out) {
#pragma omp parallel for
	for (long i = 0; i < n; i++) {
		const double *x = X + i * m;
		double *c = out + i * m, mean = sum(m, x) / m, s = 0;
		for (long j = 0; j < m; j++) {
			c[j] = x[j] - mean;
			s += c[j] * c[j];
		}
		double scale = sqrt(s / m + 1e-9);
		for (long j = 0; j < m; j++) c[j] /= scale;
	}
}

int main(int argc, char **argv) {
	long n = size(argv, 1), m = size(argv, 2);
	double *X = uniforms(n * m, 1, 0, 1), *out = DOUBLES(n * m), square = 0;
	TIME(work(n, m, X, out), ({ for (long i = 0; i < n; i++) square += norm2(m / 2, out + i * m); sqrt(square); }));
}
