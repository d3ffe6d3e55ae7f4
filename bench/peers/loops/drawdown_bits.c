#include "exact.h"

// A running product is rounded at every step. No price is nan, and no fall is -0.
static void work(long n, long m, const double *R, double *price, double *peak, double *out) {
#pragma omp parallel
	{
#pragma omp for nowait // the same thread has the same prices every time
		for (long j = 0; j < m; j++) price[j] = 1, peak[j] = out[j] = 0;
		for (long i = 0; i < n; i++)
#pragma omp for simd nowait
			for (long j = 0; j < m; j++) {
				double p = price[j] * (1 + 0.04 * (R[i * m + j] - 0.5)), high = p > peak[j] ? p : peak[j], fall = 1 - p / high;
				price[j] = p, peak[j] = high;
				out[j] = fall > out[j] ? fall : out[j];
			}
	}
}

int main(int argc, char **argv) {
	long n = size(argv, 1), m = size(argv, 2);
	double *R = uniforms(n * m, 1, 0, 1), *price = DOUBLES(m), *peak = DOUBLES(m), *out = DOUBLES(m);
	TIME(work(n, m, R, price, peak, out), total(m, out));
}
