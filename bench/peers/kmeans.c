// kmeans [N ROUNDS]: twenty rounds, or ROUNDS, of Lloyd's k-means of a million points, or N, of twenty coordinates, ten
// clusters; the sum of the centroids.
#include "peer.h"

enum { D = 20, K = 10 };

static void work(long n, long rounds, const double *X, double *C) {
	memcpy(C, X, K * D * sizeof *C);
	for (long r = 0; r < rounds; r++) {
		double s[K * D] = {0}, count[K] = {0};
#pragma omp parallel for reduction(+ : s, count)
		for (long i = 0; i < n; i++) {
			const double *x = X + i * D;
			double least = 1e300;
			int to = 0;
			for (int g = 0; g < K; g++) {
				double q = 0;
				for (int j = 0; j < D; j++) q += (x[j] - C[g * D + j]) * (x[j] - C[g * D + j]);
				if (q < least) least = q, to = g;
			}
			count[to]++;
			for (int j = 0; j < D; j++) s[to * D + j] += x[j];
		}
		for (int g = 0; g < K; g++)
			for (int j = 0; j < D; j++) C[g * D + j] = s[g * D + j] / count[g];
	}
}

int main(int argc, char **argv) {
	long n = argc > 1 ? size(argv, 1) : 1000000, rounds = argc > 1 ? size(argv, 2) : 20;
	double *X = uniforms(n * D, 3, 0, 1), *C = DOUBLES(K * D);
	TIME(work(n, rounds, X, C), sum(K * D, C));
}
