#include "peer.h"

static void work(long n, long cap, int64_t *out) {
#pragma omp parallel for schedule(dynamic, 8)
	for (long y = 0; y < n; y++)
		for (long x = 0; x < n; x++) {
			double cr = -1.2 + 2.4 * x / n, ci = 1.4 * y / n, a = 0, b = 0;
			long k = 0;
			while (a * a + b * b <= 8 && k < cap) {
				double re = a * (a * a - 3 * b * b) + cr, im = b * (3 * a * a - b * b) + ci;
				a = re, b = im, k++;
			}
			out[y * n + x] = k;
		}
}

int main(int argc, char **argv) {
	long n = size(argv, 1), cap = size(argv, 2);
	int64_t *out = memory(n * n, sizeof *out), total = 0;
	TIME(work(n, cap, out), ({ for (long i = 0; i < n * n; i++) total += out[i]; total; }));
}
