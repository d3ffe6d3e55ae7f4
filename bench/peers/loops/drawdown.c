#include "peer.h"

static void work(long n, long m, const double *R, double *price, double *peak, double *out) {
#pragma omp parallel
	{
#pragma omp for
		for (long j = 0; j < m; j++) price[j] = 1, peak[j] = out[j] = 0;
		for (long i = 0; i < n; i++)
#pragma omp for nowait // the same thread has the same prices every time
			for (long j = 0; j < m; j++) {
				price[j] *= 1 + 0.04 * (R[i * m + j] - 0.5);
				peak[j] = price[j] > peak[j] ? price[j] : peak[j];
				double fall = 1 - price[j] / peak[j];
				out[j] = fall > out[j] ? fall : out[j];
			}
	}
}

int main(int argc, char **argv) {
	long n = size(argv, 1), m = size(argv, 2);
	double *R = uniforms(n * m, 1, 0, 1), *price = DOUBLES(m), *peak = DOUBLES(m), *out = DOUBLES(m);
	TIME(work(n, m, R, price, peak, out), sum(m, out));
}
