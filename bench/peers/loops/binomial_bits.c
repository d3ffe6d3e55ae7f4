#include "exact_math.h"

// ofWhole returns u to the power y, an integer: some powers are products.
static double ofWhole(double u, long y) { return y == 2 ? u * u : y == 3 ? u * u * u : y == -1 ? 1 / u : labs(y) < 16 ? product(u, (double)y) : power(u, (double)y); }

static void work(long n, long m, const double *S, double *out) {
	double r = 0.03, dt = 1.0 / m, u = exponential(0.25 * sqrt(dt)), p = (exponential(r * dt) - 1 / u) / (u - 1 / u), disc = exponential(-r * dt);
	double *of[2] = {DOUBLES(m + 1), DOUBLES(m + 1)}; // powers of u from -m on, the even and the odd places
	for (long j = 0; j <= 2 * m; j++) of[j % 2][j / 2] = ofWhole(u, j - m);
#pragma omp parallel
	{
		double *value = DOUBLES(m + 2), *pay[2] = {DOUBLES(m + 1), DOUBLES(m + 1)};
#pragma omp for schedule(dynamic, 16)
		for (long i = 0; i < n; i++) {
			for (long j = 0; j <= 2 * m; j++) pay[j % 2][j / 2] = 100 - S[i] * of[j % 2][j / 2];
			for (long j = 0; j <= m; j++) value[j] = pay[0][j] > 0 ? pay[0][j] : 0;
			for (long k = m; k > 0; k--) {
				const double *now = pay[(m - k + 1) % 2] + (m - k + 1) / 2; // only a triangle of the tree counts
#pragma omp simd
				for (long j = 0; j < k; j++) {
					double hold = disc * (p * value[j + 1] + (1 - p) * value[j]);
					value[j] = hold > now[j] ? hold : now[j];
				}
			}
			out[i] = value[0];
		}
		free(value), free(pay[0]), free(pay[1]);
	}
	free(of[0]), free(of[1]);
}

int main(int argc, char **argv) {
	long n = size(argv, 1), m = size(argv, 2);
	double *S = uniforms(n, 1, 80, 40), *out = DOUBLES(n);
	TIME(work(n, m, S, out), total(n, out));
}
