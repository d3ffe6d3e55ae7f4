#include "peer.h"

static void work(long n, long steps, const double *U0, double *U, double *V) {
	memcpy(U, U0, n * n * n * sizeof *U);
	memcpy(V, U0, n * n * n * sizeof *V);
	for (long s = 0; s < steps; s++) {
		double *from = s % 2 ? V : U, *to = s % 2 ? U : V;
#pragma omp parallel for
		for (long i = 1; i < n - 1; i++)
			for (long j = 1; j < n - 1; j++)
				for (long k = 1; k < n - 1; k++) {
					const double *u = from + (i * n + j) * n + k;
					to[(i * n + j) * n + k] = u[0] + 0.1 * (u[-n * n] + u[n * n] + u[-n] + u[n] + u[-1] + u[1] - 6 * u[0]);
				}
	}
}

int main(int argc, char **argv) {
	long n = size(argv, 1), steps = size(argv, 2), m = n * n * n;
	double *U0 = uniforms(m, 1, 0, 1), *U = DOUBLES(m), *V = DOUBLES(m);
	TIME(work(n, steps, U0, U, V), norm2(m, steps % 2 ? V : U));
}
