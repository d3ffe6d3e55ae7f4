#include "peer.h"

static double price(double y, double coupon, long years) {
	double left = 1, sum = 0;
	for (long k = 0; k < years; k++) {
		left /= 1 + y;
		sum += coupon * left;
	}
	return sum + left;
}

static void work(long n, const double *paid, const double *coupon, const double *years, double *out) {
#pragma omp parallel for schedule(static, 1000)
	for (long i = 0; i < n; i++) {
		long m = 1 + (long)(29 * years[i]);
		double lo = 0, hi = 1;
		for (int k = 0; k < 40; k++) {
			double y = (lo + hi) / 2;
			if (price(y, coupon[i], m) > paid[i]) lo = y;
			else hi = y;
		}
		out[i] = (lo + hi) / 2;
	}
}

int main(int argc, char **argv) {
	long n = size(argv, 1);
	double *paid = uniforms(n, 1, 0.8, 0.2), *coupon = uniforms(n, 2, 0.02, 0.06), *years = uniforms(n, 3, 0, 1), *out = DOUBLES(n);
	TIME(work(n, paid, coupon, years, out), sum(n, out));
}
