#include "peer.h"

static void work(long n, const double *A, double *out) {
#pragma omp parallel for
	for (long i = 0; i < n; i++) {
		const double *a = A + 9 * i;
		out[i] = a[0] * (a[4] * a[8] - a[5] * a[7]) - a[1] * (a[3] * a[8] - a[5] * a[6]) + a[2] * (a[3] * a[7] - a[4] * a[6]);
	}
}

int main(int argc, char **argv) {
	long n = size(argv, 1);
	double *A = uniforms(9 * n, 1, 0, 1), *out = DOUBLES(n);
	TIME(work(n, A, out), sqrt(norm2(n, out)));
}
