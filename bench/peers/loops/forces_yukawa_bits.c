static inline double law(double d2);
#define LAW law
#define BOUND 1001 // at no distance
#include "pairs.h"

static inline __attribute__((always_inline)) double law(double d2) {
	double s = sqrt(d2 + 0.01);
	return exponential(-s) * (1 + s) / (s * s * s);
}
