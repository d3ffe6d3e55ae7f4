#include "peer.h"

static void work(long n, long d, const double *X, double *out) {
#pragma omp parallel for
	for (long i = 0; i < n; i++) {
		double least = 1e300;
		for (long j = 0; j < n; j++) {
			double s = 0;
			for (long k = 0; k < d; k++) s += fabs(X[j * d + k] - X[i * d + k]) / (X[j * d + k] + X[i * d + k]);
			if (j != i && s < least) least = s;
		}
		out[i] = least;
	}
}

int main(int argc, char **argv) {
	long n = size(argv, 1), d = size(argv, 2);
	double *X = uniforms(n * d, 1, 0.1, 1), *out = DOUBLES(n);
	TIME(work(n, d, X, out), sum(n, out));
}
