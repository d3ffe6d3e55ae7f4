#include "exact.h"

// point computes column j of a row from that of the rows above and below and from its neighbours.
#define POINT(left, right)                                                                  \
	do {                                                                                \
		double u = fu[j], v = fv[j], r = u * (v * v);                               \
		double lu = fu[up + j] + fu[down + j] + fu[left] + fu[right] - 4 * u;       \
		double lv = fv[up + j] + fv[down + j] + fv[left] + fv[right] - 4 * v;       \
		tu[j] = u + 0.16 * lu - r + 0.035 * (1 - u), tv[j] = v + 0.08 * lv + r - 0.1 * v; \
	} while (0)

// from and to hold U and behind it V.
static void work(long n, long steps, const double *U0, const double *V0, double *from, double *to) {
	long m = n * n;
	memcpy(from, U0, m * sizeof *from);
	memcpy(from + m, V0, m * sizeof *from);
	for (long s = 0; s < steps; s++) {
#pragma omp parallel for
		for (long i = 0; i < n; i++) {
			const double *fu = from + i * n, *fv = fu + m;
			double *tu = to + i * n, *tv = tu + m;
			long up = ((i + 1) % n - i) * n, down = ((i + n - 1) % n - i) * n, j = 0;
			POINT(1, n - 1);
#pragma omp simd
			for (long j = 1; j < n - 1; j++) POINT(j + 1, j - 1);
			j = n - 1;
			POINT(0, n - 2);
		}
		double *t = from;
		from = to, to = t;
	}
}

int main(int argc, char **argv) {
	long n = size(argv, 1), steps = size(argv, 2), m = n * n;
	double *U0 = uniforms(m, 1, 0.5, 0.5), *V0 = uniforms(m, 2, 0, 0.25), *a = DOUBLES(2 * m), *b = DOUBLES(2 * m);
	TIME(work(n, steps, U0, V0, a, b), total(2 * m, steps % 2 ? b : a));
}
