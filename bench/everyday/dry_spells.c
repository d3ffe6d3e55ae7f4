#include "peer.h"

static void work(long n, long m, const double *rain, double *out) {
#pragma omp parallel for
	for (long i = 0; i < n; i++) {
		long run = 0, longest = 0;
		for (long day = 0; day < m; day++) {
			run = rain[i * m + day] < 0.8 ? run + 1 : 0;
			if (run > longest) longest = run;
		}
		out[i] = longest;
	}
}

int main(int argc, char **argv) {
	long n = size(argv, 1), m = size(argv, 2);
	double *rain = uniforms(n * m, 1, 0, 1), *out = DOUBLES(n);
	TIME(work(n, m, rain, out), sum(n, out));
}
