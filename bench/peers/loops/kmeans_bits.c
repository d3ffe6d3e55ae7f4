#include "exact.h"

#define BLOCK 64 // points whose coordinates are transposed
#define VECTORS 4

// nearest writes the clusters with the least |c|^2 - 2 x c, products being chains.
static inline __attribute__((always_inline)) void nearest(long rows, long d, long k, const double *x, const double *C, const double *size, double T[][BLOCK], int32_t *to) {
	for (long p = 0; p < rows; p++)
		for (long j = 0; j < d; j++) T[j][p] = x[p * d + j];
	for (long p = 0; p < rows; p += VECTORS * LANES) {
		V least[VECTORS];
		W place[VECTORS] = {0};
		for (long v = 0; v < VECTORS; v++) least[v] = INFINITY - (V){0};
		for (long g = 0; g < k; g++) {
			V s[VECTORS] = {0};
			for (long j = 0; j < d; j++)
#pragma GCC unroll 4
				for (long v = 0; v < VECTORS; v++) s[v] = fmaV(at(&T[j][p + v * LANES]), C[g * d + j] - (V){0}, s[v]);
#pragma GCC unroll 4
			for (long v = 0; v < VECTORS; v++) {
				V now = size[g] - 2 * s[v];
				W less = (W)(now < least[v]);
				place[v] = (less & (uint64_t)g) | (~less & place[v]);
				least[v] = (V)((less & (W)now) | (~less & (W)least[v]));
			}
		}
		for (long q = 0; q < VECTORS * LANES; q++) to[p + q] = (int32_t)place[q / LANES][q % LANES];
	}
}

// sums adds each point to its cluster, in order.
static inline __attribute__((always_inline)) void sums(long rows, long d, const double *x, const int32_t *to, double *restrict s, int64_t *restrict count) {
	for (long p = 0; p < rows; p++) {
		double *restrict mine = s + to[p] * d;
		for (long j = 0; j < d; j++) mine[j] += x[p * d + j];
		count[to[p]]++;
	}
}

// The sums are products with a matrix of zeros and ones: chains of panels, added in a balanced tree.
static void work(long n, long d, long k, long rounds, const double *X, double *C, double *part, double *size) {
	long panels = (n + PANEL - 1) / PANEL;
	memcpy(C, X, k * d * sizeof *C);
	for (long r = 0; r < rounds; r++) {
		int64_t count[k];
		memset(count, 0, sizeof count);
		for (long g = 0; g < k; g++) {
			double squares[d];
			for (long j = 0; j < d; j++) squares[j] = C[g * d + j] * C[g * d + j];
			size[g] = total(d, squares);
		}
#pragma omp parallel
		{
			double T[d][BLOCK];
			int32_t to[BLOCK];
			int64_t mine[k];
			memset(T, 0, sizeof T);
			memset(mine, 0, sizeof mine);
#pragma omp for schedule(dynamic)
			for (long b = 0; b < panels; b++) {
				double *s = part + b * k * d;
				memset(s, 0, k * d * sizeof *s);
				for (long i = b * PANEL; i < n && i < (b + 1) * PANEL; i += BLOCK) {
					long rows = n - i < BLOCK ? n - i : BLOCK;
					if (d == 8) { // as loops of constant length
						nearest(rows, 8, k, X + i * d, C, size, T, to);
						sums(rows, 8, X + i * d, to, s, mine);
					} else {
						nearest(rows, d, k, X + i * d, C, size, T, to);
						sums(rows, d, X + i * d, to, s, mine);
					}
				}
			}
#pragma omp critical
			for (long g = 0; g < k; g++) count[g] += mine[g];
		}
		for (long p = 0; p < k * d; p++) C[p] = balanced(panels, k * d, part + p) / count[p / d];
	}
}

int main(int argc, char **argv) {
	long n = size(argv, 1), d = size(argv, 2), k = size(argv, 3), rounds = size(argv, 4);
	double *X = uniforms(n * d, 1, 0, 1), *C = DOUBLES(k * d), *part = DOUBLES((n / PANEL + 1) * k * d), *size = DOUBLES(k);
	TIME(work(n, d, k, rounds, X, C, part, size), length(k * d, C));
}
