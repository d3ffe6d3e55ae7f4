// What the C programs beside Flow share: arguments, the random numbers of Flow, the clock, the line
// that is printed. A program makes its data, does its work once to warm up and PEER_REPS times (1)
// for the clock, and prints the median of the seconds and a number that Flow's program prints, too.
#ifndef PEER_H
#define PEER_H
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// bits returns number k of the stream of that seed: SplitMix64 (Steele, Lea, Flood 2014) by counter.
static inline uint64_t bits(uint64_t seed, uint64_t k) {
	uint64_t z = seed + (k + 1) * 0x9E3779B97F4A7C15u;
	z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
	z = (z ^ z >> 27) * 0x94D049BB133111EBu;
	return z ^ z >> 31;
}

// uniform returns number k of the stream of that seed in [0, 1), as Flow's rand does.
static inline double uniform(uint64_t seed, uint64_t k) { return (double)(bits(seed, k) >> 11) * 0x1p-53; }

// memory returns space for n elements of that size, on a line of the cache.
static inline void *memory(long n, size_t size) {
	void *p = aligned_alloc(64, (n * size + 127) / 64 * 64);
	if (!p) {
		fprintf(stderr, "no memory for %ld elements\n", n);
		exit(1);
	}
	return p;
}

#define DOUBLES(n) ((double *)memory((n), sizeof(double)))

// uniforms returns n numbers a + b u of the stream of a seed.
static inline double *uniforms(long n, uint64_t seed, double a, double b) {
	double *x = DOUBLES(n);
#pragma omp parallel for
	for (long i = 0; i < n; i++) x[i] = a + b * uniform(seed, i);
	return x;
}

// argument returns argument i of the command line.
static inline const char *argument(char **argv, int i) {
	for (int k = 1; k <= i; k++)
		if (!argv[k]) {
			fprintf(stderr, "argument %d is missing\n", i);
			exit(2);
		}
	return argv[i];
}

// size returns argument i of the command line as a number, "1e8" included.
static inline long size(char **argv, int i) { return (long)atof(argument(argv, i)); }

static inline double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

static inline double sum(long n, const double *x) {
	double s = 0;
	for (long i = 0; i < n; i++) s += x[i];
	return s;
}

// norm2 returns the sum of squares.
static inline double norm2(long n, const double *x) {
	double s = 0;
	for (long i = 0; i < n; i++) s += x[i] * x[i];
	return s;
}

// squared squares x in place. The sum of squares of what was standardised is about its length, whatever the data;
// that of its squares is not.
static inline double *squared(long n, double *x) {
	for (long i = 0; i < n; i++) x[i] *= x[i];
	return x;
}

// repetitions returns how often the clock runs.
static inline int repetitions(void) {
	const char *text = getenv("PEER_REPS");
	int n = text ? atoi(text) : 1;
	return n < 1 ? 1 : n > 99 ? 99 : n;
}

static int later(const void *a, const void *b) { return *(const double *)a > *(const double *)b ? 1 : -1; }

// median sorts n numbers and returns the middle one.
static inline double median(int n, double *x) {
	qsort(x, n, sizeof *x, later);
	return n % 2 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
}

static inline void report(double seconds, double check) {
	printf("{\"seconds\": %.9g, \"check\": %.17g}\n", seconds, check);
}

// TIME prepares and does the work, for the warm-up and for every repetition, and prints the median
// of the seconds of the work and the number to compare.
#define TIME2(prepare, work, check)                        \
	do {                                               \
		double took[99];                           \
		int many = repetitions();                  \
		for (int turn = -1; turn < many; turn++) { \
			prepare;                           \
			double begun = now();              \
			work;                              \
			if (turn >= 0) took[turn] = now() - begun; \
		}                                          \
		report(median(many, took), (double)(check)); \
	} while (0)
#define TIME(work, check) TIME2((void)0, work, check)
#endif
