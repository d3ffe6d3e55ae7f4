// fused N sum|y: y = sqrt(a x + b) c - d over N numbers; the sum of y, or all of y and its sum.
#include "peer.h"

static double chain(long n, const double *x) {
	double s = 0;
#pragma omp parallel for simd reduction(+ : s)
	for (long i = 0; i < n; i++) s += sqrt(1.5 * x[i] + 0.25) * 2 - 0.125;
	return s;
}

static double stored(long n, const double *x, double *y) {
	double s = 0;
#pragma omp parallel for simd reduction(+ : s)
	for (long i = 0; i < n; i++) s += y[i] = sqrt(1.5 * x[i] + 0.25) * 2 - 0.125;
	return s;
}

int main(int argc, char **argv) {
	long n = size(argv, 1);
	int keep = !strcmp(argument(argv, 2), "y");
	double *x = DOUBLES(n), *y = keep ? DOUBLES(n) : NULL, s;
#pragma omp parallel for
	for (long i = 0; i < n; i++) x[i] = (i + 0.5) / n;
	TIME(s = keep ? stored(n, x, y) : chain(n, x), s);
}
