#include "peer.h"

static void work(long n, long m, const double *X, double *out) {
#pragma omp parallel for
	for (long i = 0; i < n; i++) {
		const double *x = X + i * m;
		double *e = out + i * m, most = x[0], s = 0;
		for (long j = 0; j < m; j++) most = x[j] > most ? x[j] : most;
		for (long j = 0; j < m; j++) s += e[j] = exp(x[j] - most);
		for (long j = 0; j < m; j++) e[j] /= s;
	}
}

int main(int argc, char **argv) {
	long n = size(argv, 1), m = size(argv, 2);
	double *X = uniforms(n * m, 1, 0, 8), *out = DOUBLES(n * m);
	TIME(work(n, m, X, out), sqrt(norm2(n * m, out)));
}
