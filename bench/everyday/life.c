#include "peer.h"

static int64_t *work(long n, long steps, const int64_t *X) {
	int64_t *a = memory(n * n, 8), *b = memory(n * n, 8);
	memcpy(a, X, n * n * 8);
	for (long s = 0; s < steps; s++) {
#pragma omp parallel for
		for (long i = 0; i < n; i++) {
			const int64_t *up = a + (i ? i - 1 : n - 1) * n, *at = a + i * n, *down = a + (i + 1 < n ? i + 1 : 0) * n;
			for (long j = 0; j < n; j++) {
				long l = j ? j - 1 : n - 1, r = j + 1 < n ? j + 1 : 0;
				int64_t c = up[l] + up[j] + up[r] + at[l] + at[r] + down[l] + down[j] + down[r];
				b[i * n + j] = c == 3 || (c == 2 && at[j] == 1);
			}
		}
		int64_t *t = a;
		a = b, b = t;
	}
	free(b);
	return a;
}

static double check(long n, const int64_t *r) {
	long s = 0;
	for (long i = 0; i < n; i++)
		for (long j = 0; j < n; j++) s += r[i * n + j] * (1 + i % 7);
	return s;
}

int main(int argc, char **argv) {
	long n = size(argv, 1), steps = size(argv, 2);
	int64_t *X = memory(n * n, 8), *r = NULL;
	for (long i = 0; i < n * n; i++) X[i] = uniform(1, i) < 0.3;
	TIME((free(r), r = work(n, steps, X)), check(n, r));
}
