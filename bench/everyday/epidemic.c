#include "peer.h"

static void work(long n, long days, const double *rates, double *out) {
#pragma omp parallel for
	for (long i = 0; i < n; i++) {
		double b = 0.2 + 0.3 * rates[2 * i], g = 0.05 + 0.1 * rates[2 * i + 1], s = 0.999, ill = 0.001, most = 0, when = 0;
		for (long day = 0; day < days; day++) {
			double caught = b * s * ill;
			s -= caught;
			ill += caught - g * ill;
			if (ill > most) most = ill, when = day;
		}
		out[2 * i] = most, out[2 * i + 1] = when;
	}
}

int main(int argc, char **argv) {
	long n = size(argv, 1), days = size(argv, 2);
	double *rates = uniforms(2 * n, 1, 0, 1), *out = DOUBLES(2 * n);
	TIME(work(n, days, rates, out), sum(2 * n, out));
}
