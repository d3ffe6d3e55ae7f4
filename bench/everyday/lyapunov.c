#include "peer.h"

static void work(long n, long m, double *out) {
#pragma omp parallel for
	for (long i = 0; i < n; i++) {
		double a = 2.5 + 0.9 * i / n, x = 0.3, total = 0;
		for (long k = 0; k < m; k++) {
			total += log(fabs(a * (1 - 2 * x)) + 1e-12);
			x = a * x * (1 - x);
		}
		out[i] = total / m;
	}
}

int main(int argc, char **argv) {
	long n = size(argv, 1), m = size(argv, 2);
	double *out = DOUBLES(n);
	TIME(work(n, m, out), sum(n, out));
}
