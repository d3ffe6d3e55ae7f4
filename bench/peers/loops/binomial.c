#include "peer.h"

static void work(long n, long m, const double *S, double *out) {
	double r = 0.03, dt = 1.0 / m, u = exp(0.25 * sqrt(dt)), p = (exp(r * dt) - 1 / u) / (u - 1 / u), disc = exp(-r * dt);
	double *power = DOUBLES(2 * m + 1); // of u, from -m to m
	for (long j = -m; j <= m; j++) power[m + j] = pow(u, j);
#pragma omp parallel
	{
		double *V = DOUBLES(m + 1);
#pragma omp for schedule(dynamic, 16)
		for (long i = 0; i < n; i++) {
			for (long j = 0; j <= m; j++) V[j] = fmax(100 - S[i] * power[2 * j], 0);
			for (long k = m; k > 0; k--)
				for (long j = 0; j < k; j++) {
					double hold = disc * (p * V[j + 1] + (1 - p) * V[j]);
					V[j] = fmax(hold, 100 - S[i] * power[m + 2 * j - k + 1]);
				}
			out[i] = V[0];
		}
		free(V);
	}
	free(power);
}

int main(int argc, char **argv) {
	long n = size(argv, 1), m = size(argv, 2);
	double *S = uniforms(n, 1, 80, 40), *out = DOUBLES(n);
	TIME(work(n, m, S, out), sum(n, out));
}
