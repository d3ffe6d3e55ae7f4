#include "peer.h"

static void work(long n, long m, const double *X, double *out) {
	double mean[m], scale[m];
	for (long j = 0; j < m; j++) mean[j] = scale[j] = 0;
#pragma omp parallel for reduction(+ : mean[:m])
	for (long i = 0; i < n; i++)
		for (long j = 0; j < m; j++) mean[j] += X[i * m + j];
	for (long j = 0; j < m; j++) mean[j] /= n;
#pragma omp parallel for reduction(+ : scale[:m])
	for (long i = 0; i < n; i++)
		for (long j = 0; j < m; j++) {
			double c = X[i * m + j] - mean[j];
			scale[j] += c * c;
		}
	for (long j = 0; j < m; j++) scale[j] = sqrt(scale[j] / n + 1e-9);
#pragma omp parallel for
	for (long i = 0; i < n; i++)
		for (long j = 0; j < m; j++) out[i * m + j] = (X[i * m + j] - mean[j]) / scale[j];
}

int main(int argc, char **argv) {
	long n = size(argv, 1), m = size(argv, 2);
	double *X = uniforms(n * m, 1, 0, 1), *out = DOUBLES(n * m);
	TIME(work(n, m, X, out), sqrt(norm2(n * m, squared(n * m, out))));
}
