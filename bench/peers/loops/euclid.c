#include "peer.h"

static void work(long n, int64_t *out) {
#pragma omp parallel for
	for (long i = 0; i < n; i++)
		for (long j = 0; j < n; j++) {
			int64_t a = 1 + i, b = 1 + j;
			while (b != 0) {
				int64_t r = a % b;
				a = b, b = r;
			}
			out[i * n + j] = a;
		}
}

int main(int argc, char **argv) {
	long n = size(argv, 1);
	int64_t *out = memory(n * n, sizeof *out), total = 0;
	TIME(work(n, out), ({ for (long i = 0; i < n * n; i++) total += out[i]; total; }));
}
