// What the programs NAME_bits.c share. They give the bytes that Flow gives (lang/spec.md, section 11): sums are exact and
// rounded once, nothing is contracted. They are compiled without -ffast-math.
#ifndef EXACT_H
#define EXACT_H
#include "peer.h"

#ifdef __AVX512F__
#define LANES 8
#else
#define LANES 4
#endif

// V is LANES numbers, W their bits.
typedef double V __attribute__((vector_size(8 * LANES), aligned(8)));
typedef uint64_t W __attribute__((vector_size(8 * LANES), aligned(8)));

static inline uint64_t word(double x) {
	uint64_t w;
	memcpy(&w, &x, sizeof w);
	return w;
}

static inline V at(const double *x) { return *(const V *)x; }

// any reports a lane with bits apart from the sign.
static inline int any(W lost) {
	uint64_t all = 0;
	for (int k = 0; k < LANES; k++) all |= lost[k];
	return all << 1 != 0;
}

// ADD adds x to the exact sum of s and e (Knuth's sum and its error). lost gets bits, apart from a sign, when e was
// rounded: the sum of two numbers was not if it gives either of them when the other is taken off.
#define ADD(s, e, lost, x)                                                                                \
	do {                                                                                              \
		double x_ = (x), t_ = s + x_, v_ = t_ - s, d_ = (s - (t_ - v_)) + (x_ - v_), f_ = e + d_; \
		lost |= (word(f_ - e) ^ word(d_)) | (word(f_ - d_) ^ word(e));                            \
		s = t_, e = f_;                                                                           \
	} while (0)

// ADDV is ADD in every lane.
#define ADDV(s, e, lost, x)                                                                          \
	do {                                                                                         \
		V x_ = (x), t_ = s + x_, v_ = t_ - s, d_ = (s - (t_ - v_)) + (x_ - v_), f_ = e + d_; \
		lost |= ((W)(f_ - e) ^ (W)d_) | ((W)(f_ - d_) ^ (W)e);                               \
		s = t_, e = f_;                                                                      \
	} while (0)

// exactly returns the sum of n numbers rounded once, however many words it takes: an expansion whose parts do not
// overlap (J. Shewchuk, "Adaptive precision floating-point arithmetic and fast robust geometric predicates", 1997).
static inline double exactly(long n, const double *x) {
	double part[64];
	int many = 0;
	for (long i = 0; i < n; i++) {
		double y = x[i];
		int kept = 0;
		for (int k = 0; k < many; k++) {
			double s = y + part[k], v = s - y, e = (y - (s - v)) + (part[k] - v);
			if (e != 0) part[kept++] = e;
			y = s;
		}
		part[kept++] = y;
		many = kept;
	}
	if (!many) return 0;
	double high = part[--many], low = 0;
	while (many > 0 && low == 0) {
		double s = high + part[--many];
		low = part[many] - (s - high), high = s;
	}
	if (many > 0 && ((low < 0 && part[many - 1] < 0) || (low > 0 && part[many - 1] > 0))) { // half a unit, and more
		double twice = 2 * low, s = high + twice;
		if (twice == s - high) high = s;
	}
	return high + 0.0;
}

// total returns the exact sum of n numbers, rounded once.
static inline double total(long n, const double *x) {
	double s = 0, e = 0;
	uint64_t lost = 0;
	for (long i = 0; i < n; i++) ADD(s, e, lost, x[i]);
	return lost << 1 ? exactly(n, x) : s + e;
}

// length returns the root of the exact sum of squares, which is rounded before. The sum is that of the squares and of
// what rounding took off them.
static inline double length(long n, const double *x) {
	double *y = DOUBLES(2 * n);
	for (long i = 0; i < n; i++) y[2 * i] = x[i] * x[i], y[2 * i + 1] = fma(x[i], x[i], -y[2 * i]);
	double s = sqrt(exactly(2 * n, y));
	free(y);
	return s;
}
#endif
