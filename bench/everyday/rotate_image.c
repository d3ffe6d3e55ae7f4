#include "peer.h"

static long between(long x, long lo, long hi) { return x < lo ? lo : x > hi ? hi : x; }
static double share(double x) { return x < 0 ? 0 : x > 1 ? 1 : x; }

static void work(long n, double angle, const double *X, double *out) {
	double c = cos(angle), s = sin(angle), h = n / 2.0;
#pragma omp parallel for
	for (long i = 0; i < n; i++)
		for (long j = 0; j < n; j++) {
			double y = c * (i - h) - s * (j - h) + h, x = s * (i - h) + c * (j - h) + h;
			long a = between((long)floor(y), 0, n - 2), b = between((long)floor(x), 0, n - 2);
			double p = share(y - a), q = share(x - b);
			const double *u = X + a * n + b;
			out[i * n + j] = (1 - p) * ((1 - q) * u[0] + q * u[1]) + p * ((1 - q) * u[n] + q * u[n + 1]);
		}
}

int main(int argc, char **argv) {
	long n = size(argv, 1);
	double *X = uniforms(n * n, 1, 0, 1), *out = DOUBLES(n * n);
	TIME(work(n, 0.3, X, out), sum(n * n, out));
}
