#include "peer.h"

static void work(long n, long steps, const double *U0, double *U, double *V) {
	memcpy(U, U0, n * n * sizeof *U);
	memcpy(V, U0, n * n * sizeof *V);
	for (long s = 0; s < steps; s++) {
		double *from = s % 2 ? V : U, *to = s % 2 ? U : V;
#pragma omp parallel for
		for (long i = 1; i < n - 1; i++)
			for (long j = 1; j < n - 1; j++) {
				const double *u = from + i * n + j;
				to[i * n + j] = 0.25 * u[0] + 0.125 * (u[-n] + u[n] + u[-1] + u[1]) + 0.0625 * (u[-n - 1] + u[-n + 1] + u[n - 1] + u[n + 1]);
			}
	}
}

int main(int argc, char **argv) {
	long n = size(argv, 1), steps = size(argv, 2);
	double *U0 = uniforms(n * n, 1, 0, 1), *U = DOUBLES(n * n), *V = DOUBLES(n * n);
	TIME(work(n, steps, U0, U, V), norm2(n * n, steps % 2 ? V : U));
}
