#include "peer.h"

static void work(long n, const double *x, double *out) {
	double s = 0;
	for (long i = 0; i < n; i++) out[i] = s += x[i];
}

int main(int argc, char **argv) {
	long n = size(argv, 1);
	double *x = uniforms(n, 1, -0.5, 1), *out = DOUBLES(n);
	TIME(work(n, x, out), sqrt(norm2(n, out)));
}
