#include "peer.h"

static void work(long n, long steps, const double *U0, const double *V0, double *U, double *V, double *U2, double *V2) {
	memcpy(U, U0, n * n * sizeof *U);
	memcpy(V, V0, n * n * sizeof *V);
	for (long s = 0; s < steps; s++) {
		const double *fu = s % 2 ? U2 : U, *fv = s % 2 ? V2 : V;
		double *tu = s % 2 ? U : U2, *tv = s % 2 ? V : V2;
#pragma omp parallel for
		for (long i = 0; i < n; i++) {
			long up = (i + 1) % n * n, down = (i + n - 1) % n * n, at = i * n;
			for (long j = 0; j < n; j++) {
				long left = j + 1 < n ? j + 1 : 0, right = j > 0 ? j - 1 : n - 1;
				double u = fu[at + j], v = fv[at + j], r = u * v * v;
				double lu = fu[up + j] + fu[down + j] + fu[at + left] + fu[at + right] - 4 * u;
				double lv = fv[up + j] + fv[down + j] + fv[at + left] + fv[at + right] - 4 * v;
				tu[at + j] = u + 0.16 * lu - r + 0.035 * (1 - u);
				tv[at + j] = v + 0.08 * lv + r - 0.1 * v;
			}
		}
	}
}

int main(int argc, char **argv) {
	long n = size(argv, 1), steps = size(argv, 2), m = n * n;
	double *U0 = uniforms(m, 1, 0.5, 0.5), *V0 = uniforms(m, 2, 0, 0.25), *U = DOUBLES(m), *V = DOUBLES(m), *U2 = DOUBLES(m), *V2 = DOUBLES(m);
	TIME(work(n, steps, U0, V0, U, V, U2, V2), steps % 2 ? sum(m, U2) + sum(m, V2) : sum(m, U) + sum(m, V));
}
