// escape N CAP static|dynamic|guided CHUNK: escape times of z^2 + c on N x N points, whose early rows cost most; all rounds.
#include "peer.h"
#include <omp.h>

static void work(long n, long cap, int64_t *out) {
#pragma omp parallel for schedule(runtime)
	for (long y = 0; y < n; y++)
		for (long x = 0; x < n; x++) {
			double cr = -2 + 2.6 * x / n, ci = 1.3 * y / n, a = 0, b = 0;
			long k = 0;
			for (; k < cap && a * a + b * b <= 4; k++) {
				double re = a * a - b * b + cr;
				b = 2 * a * b + ci;
				a = re;
			}
			out[y * n + x] = k;
		}
}

int main(int argc, char **argv) {
	long n = size(argv, 1), cap = size(argv, 2);
	const char *kind = argument(argv, 3);
	omp_set_schedule(*kind == 's' ? omp_sched_static : *kind == 'd' ? omp_sched_dynamic : omp_sched_guided, (int)size(argv, 4));
	int64_t *out = memory(n * n, sizeof *out), total = 0;
	TIME(work(n, cap, out), ({ for (long i = 0; i < n * n; i++) total += out[i]; total; }));
}
