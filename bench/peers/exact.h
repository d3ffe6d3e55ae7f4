// What the programs NAME_bits.c share. They give the bytes that Flow gives (lang/spec.md, section
// 11): sums are exact and rounded once, nothing is contracted. They are compiled without
// -ffast-math.
#ifndef EXACT_H
#define EXACT_H
#include "peer.h"
#if defined(__AVX512F__) || defined(__FMA__)
#include <immintrin.h>
#endif

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

// ADD adds x to the exact sum of s and e (Knuth's sum and its error). lost gets bits, apart from a
// sign, when e was rounded: the sum of two numbers was not if it gives either of them when the
// other is taken off.
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

// exactly returns the sum of n numbers rounded once, however many words it takes: an expansion
// whose parts do not overlap (J. Shewchuk, "Adaptive precision floating-point arithmetic and fast
// robust geometric predicates", 1997).
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

// WIDE adds x to the sum of s and e, of which s has no error and e some: after n numbers at most n
// * n * most * 2^-106, most being the greatest |s|. See rounded.
#define WIDE(s, e, most, x)                                         \
	do {                                                        \
		double x_ = (x), t_ = s + x_, v_ = t_ - s, m_ = fabs(t_); \
		e += (s - (t_ - v_)) + (x_ - v_);                   \
		most = m_ > most ? m_ : most;                       \
		s = t_;                                             \
	} while (0)
#define WIDE_SLACK(n, most) ((double)(n) * (n) * (most) * 0x1p-105)

// NEAR is WIDE for an s that begins at START of a bound of the numbers' magnitude: s stays in one
// binade above the numbers, where three operations give the error of a sum (T. Dekker 1971, theorem
// 4.7).
#define NEAR(s, e, x)                            \
	do {                                     \
		double x_ = (x), t_ = s + x_;    \
		e += x_ - (t_ - s);              \
		s = t_;                          \
	} while (0)
// EXACT is NEAR for an e that begins at REST of where s began and fewer than 2^13 numbers: lost
// gets bits if e was rounded. Numbers with few bits, whose sums may lie in the middle of two
// floats, need that.
#define EXACT(s, e, lost, x)                                             \
	do {                                                             \
		double x_ = (x), t_ = s + x_, d_ = x_ - (t_ - s), f_ = e + d_; \
		lost |= word(f_ - e) ^ word(d_);                         \
		s = t_, e = f_;                                          \
	} while (0)
#define REST(start) ((start) * 0x1p-39)

// EXACTV is EXACT in every lane.
#define EXACTV(s, e, lost, x)                                       \
	do {                                                        \
		V x_ = (x), t_ = s + x_, d_ = x_ - (t_ - s), f_ = e + d_; \
		lost |= (W)(f_ - e) ^ (W)d_;                        \
		s = t_, e = f_;                                     \
	} while (0)
#define START(n, bound) ldexp(1.5, ilogb((n) * (bound)) + 2)
#define NEAR_SLACK(n, start) WIDE_SLACK(n, start)

// rounded returns s + e rounded once and notes in *doubt if that could be another number for an e
// within slack (A. Ziv 1991).
static inline double rounded(double s, double e, double slack, uint64_t *doubt) {
	slack += fabs(e) * 0x1p-52;
	double r = s + (e - slack);
	*doubt |= r == s + (e + slack) ? 0 : 2;
	return r;
}

// sumOf3 returns the sum of three squares, rounded once, and notes in *lost where that is not sure.
static inline double sumOf3(double a, double b, double c, uint64_t *lost) {
	double s = a + b, v = s - a, e = (a - (s - v)) + (b - v), t = s + c, w = t - s, d = (s - (t - w)) + (c - w), g = e + d;
	*lost |= (word(g - e) ^ word(d)) | (word(g - d) ^ word(e));
	return t + g;
}

// fmaV is fma in every lane.
static inline V fmaV(V a, V b, V c) {
#if defined(__AVX512F__)
	return (V)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
#elif defined(__FMA__)
	return (V)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#else
	for (int k = 0; k < LANES; k++) c[k] = fma(a[k], b[k], c[k]);
	return c;
#endif
}

// balanced returns the sum of n numbers that are stride apart by adding neighbours, then neighbours
// among the sums, and so on. It overwrites them.
static inline double balanced(long n, long stride, double *x) {
	for (; n > 1; n = (n + 1) / 2)
		for (long i = 0; i < n; i += 2) x[i / 2 * stride] = i + 1 < n ? x[i * stride] + x[(i + 1) * stride] : x[i * stride];
	return x[0];
}
#define PANEL 32768 // the longest chain of a contraction

// VARIANCE is the state of a sum, by EXACT, and of a sum of squares, by NEAR; squares are products
// and their errors.
#define VARIANCE(s, e, lost, q, f, x)                                 \
	do {                                                          \
		double y_ = (x), h_ = y_ * y_, r_ = fma(y_, y_, -h_); \
		EXACT(s, e, lost, y_);                                \
		NEAR(q, f, h_);                                       \
		f += r_;                                              \
	} while (0)

// variance returns (n q - s^2) / n^2, rounded once, of sums s + e of n numbers and q + f of their
// squares. bound, which no number exceeds in magnitude, tells how far the sums may be off.
static inline __attribute__((always_inline)) double variance(long n, double s, double e, double q, double f, double bound, uint64_t *doubt) {
	double m = n, most = m * bound, slack = m * most * most * 0x1p-94; // of n q - s^2
	double s0 = s + e, s1 = (s - s0) + e, q0 = q + f, q1 = (q - q0) + f;
	double a = m * q0, b = fma(m, q0, -a) + m * q1, c = s0 * s0, d = fma(s0, s0, -c) + 2 * s0 * s1;
	double t = a - c, v = t - a, u = (a - (t - v)) + (-c - v), high = t + (u + (b - d)), low = (t - high) + (u + (b - d));
	double square = m * m, w = high * (1 / square), rest = (fma(-w, square, high) + low) * (1 / square);
	return rounded(w, rest, (slack + fabs(high) * 0x1p-98) * (1 / square), doubt);
}

// greatest returns the greatest magnitude of n numbers, none of them nan.
static inline double greatest(long n, const double *x) {
	double most = 0;
#pragma omp simd reduction(max : most)
	for (long i = 0; i < n; i++) most = fabs(x[i]) > most ? fabs(x[i]) : most;
	return most;
}

// total returns the exact sum of n numbers, rounded once.
static inline double total(long n, const double *x) {
	double s = 0, e = 0;
	uint64_t lost = 0;
	for (long i = 0; i < n; i++) ADD(s, e, lost, x[i]);
	return lost << 1 ? exactly(n, x) : s + e;
}

// length returns the root of the exact sum of squares, which is rounded before. The sum is that of
// the squares and of what rounding took off them.
static inline double length(long n, const double *x) {
	double *y = DOUBLES(2 * n);
	for (long i = 0; i < n; i++) y[2 * i] = x[i] * x[i], y[2 * i + 1] = fma(x[i], x[i], -y[2 * i]);
	double s = sqrt(exactly(2 * n, y));
	free(y);
	return s;
}

// varianceSlowly returns the variance of n numbers by the squares of their differences, of which
// each is an exact sum of two, to 106 bits.
static inline double varianceSlowly(long n, const double *x) {
	double *terms = DOUBLES(3 * n * n + 1);
	long many = 0;
	for (long i = 0; i < n; i++)
		for (long j = 0; j < i; j++) {
			double h = x[i] - x[j], v = h - x[i], l = (x[i] - (h - v)) + (-x[j] - v), twice = 2 * h;
			double parts[6] = {h * h, 0, twice * l, 0, l * l, 0};
			parts[1] = fma(h, h, -parts[0]), parts[3] = fma(twice, l, -parts[2]), parts[5] = fma(l, l, -parts[4]);
			memcpy(terms + many, parts, sizeof parts);
			many += 6;
		}
	double high = exactly(many, terms);
	terms[many] = -high;
	double low = exactly(many + 1, terms);
	free(terms);
	return (double)(((__float128)high + low) / ((__float128)n * n));
}
#endif
