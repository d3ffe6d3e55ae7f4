#include "peer.h"

static void work(long n, int64_t *out) {
#pragma omp parallel for schedule(dynamic, 8)
	for (long y = 0; y < n; y++)
		for (long x = 0; x < n; x++) {
			double a = 4 * (x + 0.5) / n - 2, b = 4 * (y + 0.5) / n - 2;
			long k = 0;
			for (; k < 60; k++) {
				double re = a * a * a - 3 * a * b * b - 1, im = 3 * a * a * b - b * b * b;
				if (re * re + im * im < 1e-12) break;
				double c = a * a - b * b, d = 2 * a * b, s = c * c + d * d;
				a = (2 * a + c / s) / 3;
				b = (2 * b - d / s) / 3;
			}
			out[y * n + x] = k;
		}
}

int main(int argc, char **argv) {
	long n = size(argv, 1);
	int64_t *out = memory(n * n, sizeof *out), total = 0;
	TIME(work(n, out), ({ for (long i = 0; i < n * n; i++) total += out[i]; total; }));
}
