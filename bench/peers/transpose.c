// transpose N BLOCK: y = x + t(x) of order N, block by block, y written past the caches; y[17,42], for N above 42.
#include "peer.h"
#ifdef __SSE2__
#include <immintrin.h>
#endif

// two stores two numbers at an address that is a multiple of 16.
static inline void two(double *to, double a, double b) {
#ifdef __SSE2__
	_mm_stream_pd(to, _mm_set_pd(b, a));
#else
	to[0] = a, to[1] = b;
#endif
}

// eight stores the eight numbers of a line.
static inline void eight(double *to, const double *from) {
#ifdef __AVX512F__
	_mm512_stream_pd(to, _mm512_load_pd(from));
#else
	for (int k = 0; k < 8; k += 2) two(to + k, from[k], from[k + 1]);
#endif
}

static void work(long n, long block, const double *x, double *y) {
#pragma omp parallel for collapse(2) schedule(static)
	for (long i0 = 0; i0 < n; i0 += block)
		for (long j0 = 0; j0 < n; j0 += block) {
			long i1 = i0 + block < n ? i0 + block : n, j1 = j0 + block < n ? j0 + block : n;
			for (long i = i0; i < i1; i++) {
				long j = j0;
				for (; n % 8 == 0 && j + 8 <= j1; j += 8) {
					double line[8] __attribute__((aligned(64)));
					for (int k = 0; k < 8; k++) line[k] = x[i * n + j + k] + x[(j + k) * n + i];
					eight(y + i * n + j, line);
				}
				for (; j < j1; j++) y[i * n + j] = x[i * n + j] + x[j * n + i];
			}
		}
}

int main(int argc, char **argv) {
	long n = size(argv, 1), block = size(argv, 2);
	if (n <= 42) return 2;
	double *x = uniforms(n * n, 1, 0, 1), *y = DOUBLES(n * n);
	TIME(work(n, block, x, y), y[17 * n + 42]);
}
