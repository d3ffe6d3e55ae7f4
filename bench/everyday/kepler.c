#include "peer.h"

static void work(long n, const double *M, const double *e, double *out) {
#pragma omp parallel for
	for (long i = 0; i < n; i++) {
		double E = M[i], step = 1;
		for (long k = 0; k < 30 && fabs(step) >= 1e-10; k++) {
			step = (E - e[i] * sin(E) - M[i]) / (1 - e[i] * cos(E));
			E -= step;
		}
		out[i] = E;
	}
}

int main(int argc, char **argv) {
	long n = size(argv, 1);
	double *M = uniforms(n, 1, 0, 3), *e = uniforms(n, 2, 0, 0.8), *out = DOUBLES(n);
	TIME(work(n, M, e, out), sum(n, out));
}
