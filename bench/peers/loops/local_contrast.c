#include "peer.h"

static void work(long n, const double *X, double *out) {
	const long m = n - 6;
#pragma omp parallel for
	for (long i = 0; i < m; i++)
		for (long j = 0; j < m; j++) {
			double mean = 0, v = 0;
			for (long a = 0; a < 7; a++)
				for (long b = 0; b < 7; b++) mean += X[(i + a) * n + j + b];
			mean /= 49;
			for (long a = 0; a < 7; a++)
				for (long b = 0; b < 7; b++) {
					double d = X[(i + a) * n + j + b] - mean;
					v += d * d;
				}
			out[i * m + j] = (X[(i + 3) * n + j + 3] - mean) / (sqrt(v / 49) + 0.01);
		}
}

int main(int argc, char **argv) {
	long n = size(argv, 1);
	double *X = uniforms(n * n, 1, 0, 1), *out = DOUBLES(n * n);
	TIME(work(n, X, out), sqrt(norm2((n - 6) * (n - 6), out)));
}
