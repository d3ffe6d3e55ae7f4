static inline double law(double d2);
#define LAW law
#define BOUND 1.001
#include "pairs.h"

static inline __attribute__((always_inline)) double law(double d2) { return exponential(-4 * d2); }
