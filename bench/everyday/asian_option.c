#include "peer.h"

static void work(long n, long m, const double *U, double *out) {
#pragma omp parallel for
	for (long i = 0; i < n; i++) {
		double s = 100, total = 0;
		for (long k = 0; k < m; k++) {
			s *= 1 + 0.0002 + 0.035 * (U[i * m + k] - 0.5);
			total += s;
		}
		out[i] = fmax(total / m - 100, 0);
	}
}

int main(int argc, char **argv) {
	long n = size(argv, 1), m = size(argv, 2);
	double *U = uniforms(n * m, 1, 0, 1), *out = DOUBLES(n);
	TIME(work(n, m, U, out), sum(n, out) / n);
}
