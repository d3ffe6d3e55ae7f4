#include "peer.h"

static void work(long n, int64_t *out) {
#pragma omp parallel for schedule(dynamic, 1000)
	for (long i = 0; i < n; i++) {
		int64_t x = 1 + i, k = 0;
		while (x != 1) {
			x = x % 2 == 0 ? x / 2 : 3 * x + 1;
			k++;
		}
		out[i] = k;
	}
}

int main(int argc, char **argv) {
	long n = size(argv, 1);
	int64_t *out = memory(n, sizeof *out), total = 0;
	TIME(work(n, out), ({ for (long i = 0; i < n; i++) total += out[i]; total; }));
}
