// nbody N STEPS: all-pairs gravity by symplectic Euler; the sum of the positions.
#include "peer.h"

static void work(long n, long steps, double *p, double *v, double *a) {
	const double *x = p, *y = p + n, *z = p + 2 * n;
	for (long s = 0; s < steps; s++) {
#pragma omp parallel for
		for (long i = 0; i < n; i++) {
			double ax = 0, ay = 0, az = 0;
			for (long j = 0; j < n; j++) {
				double dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];
				double r2 = dx * dx + dy * dy + dz * dz + 1e-2, f = 1 / (r2 * sqrt(r2));
				ax += f * dx, ay += f * dy, az += f * dz;
			}
			a[i] = ax / n, a[n + i] = ay / n, a[2 * n + i] = az / n;
		}
		for (long k = 0; k < 3 * n; k++) {
			v[k] += 1e-3 * a[k];
			p[k] += 1e-3 * v[k];
		}
	}
}

int main(int argc, char **argv) {
	long n = size(argv, 1), steps = size(argv, 2);
	double *start = uniforms(3 * n, 5, 0, 1), *p = DOUBLES(3 * n), *v = DOUBLES(3 * n), *a = DOUBLES(3 * n);
	TIME2((memcpy(p, start, 3 * n * sizeof *p), memset(v, 0, 3 * n * sizeof *v)), work(n, steps, p, v, a), sum(3 * n, p));
}
