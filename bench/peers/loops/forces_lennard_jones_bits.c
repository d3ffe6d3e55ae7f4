static inline double law(double d2);
#define LAW law
#include "pairs.h"

static inline __attribute__((always_inline)) double law(double d2) {
	double s = d2 + 0.01;
	return (2 / product(s, 6) - 1 / (s * s * s)) / s;
}
