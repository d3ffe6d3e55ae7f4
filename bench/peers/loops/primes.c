#include "peer.h"

static void work(long n, int64_t *out) {
#pragma omp parallel for schedule(dynamic, 1000)
	for (long i = 0; i < n; i++) {
		int64_t m = 2 + i, d = 2;
		while (d * d <= m && m % d != 0) d++;
		out[i] = d * d > m;
	}
}

int main(int argc, char **argv) {
	long n = size(argv, 1);
	int64_t *out = memory(n, sizeof *out), total = 0;
	TIME(work(n, out), ({ for (long i = 0; i < n; i++) total += out[i]; total; }));
}
