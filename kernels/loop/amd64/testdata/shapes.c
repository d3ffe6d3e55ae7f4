// The shapes of shapes_test.go as plain C. The program measures the shape that its argument names and prints the least time of a
// point in nanoseconds.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { N = 16, M = 1024, S = M + 2 };

double A[(M + 2) * S], B[(M + 2) * S], O[M * M], P[M * M];
float F[N * S], FO[N * M];
int64_t I[N * S], IO[N * M];
static volatile double c1 = 1.5, c2 = 2.5;

#define SHAPE(name) __attribute__((noinline)) static void name(double p, double q)
#define POINTS for (int i = 0; i < N; i++) for (int j = 0; j < M; j++)

SHAPE(chain) { POINTS O[i * M + j] = sqrt(A[i * S + j] * p + q) * q - p; }
SHAPE(expo) { POINTS O[i * M + j] = exp(A[i * S + j]); }
SHAPE(stencil) { POINTS O[i * M + j] = (A[i * S + j] + A[i * S + j + 2]) * 0.25 + A[i * S + j + 1] * 0.5; }
SHAPE(escape) {
  POINTS {
    double c = A[i * S + j], x = 0, n = 0;
    for (int k = 0; k < 200; k++) {
      double s = x * x;
      if (s > 4) break;
      x = s * x + c;
      n += 1;
    }
    O[i * M + j] = n;
  }
}
SHAPE(hinge) {
  POINTS {
    double x = A[i * S + j], d = fabs(x) - p;
    O[i * M + j] = d < 0 ? 0.5 * x * x : x < 0 ? p * d - q : p * d + q;
  }
}
SHAPE(rotate) {
  POINTS {
    double x = A[i * S + j], y = B[i * S + j];
    O[i * M + j] = x * p - y * q;
    P[i * M + j] = x * q + y * p;
  }
}
SHAPE(scale_shift) { POINTS O[i * M + j] = A[i * S + j] * B[j] + B[i * S]; }
SHAPE(cross) {
  POINTS {
    double *a = A + i * S + j;
    O[i * M + j] = p * (a[1] + a[S] + a[S + 2] + a[2 * S + 1]) + q * a[S + 1];
  }
}
SHAPE(softplus) {
  POINTS {
    double x = A[i * S + j];
    O[i * M + j] = log1p(exp(-fabs(x))) + fmax(x, 0);
  }
}
SHAPE(newton) {
  POINTS {
    double a = fabs(A[i * S + j]) + 1, x = a;
    for (int k = 0; k < 60; k++) {
      double y = x - (x * x * x - a) / (3 * x * x);
      if (fabs(y - x) < 1e-12) break;
      x = y;
    }
    O[i * M + j] = x;
  }
}
SHAPE(scramble) {
  POINTS {
    uint64_t x = I[i * S + j];
    for (int k = 0; k < 12; k++) {
      x ^= x << 13;
      x ^= x >> 7;
      x ^= x << 17;
    }
    IO[i * M + j] = x;
  }
}
SHAPE(poly32) {
  float a = p, b = q;
  POINTS {
    float x = F[i * S + j];
    FO[i * M + j] = ((((x * a + b) * x + a) * x + b) * x + a) * x + b;
  }
}
SHAPE(turned) {
  for (int i = 0; i < M; i++) for (int j = 0; j < M; j++) O[i * M + j] = A[i * S + j] + B[j * S + i];
}
SHAPE(narrow) {
  for (int i = 0; i < N * M / 3; i++) for (int j = 0; j < 3; j++) O[i * 3 + j] = A[i * 5 + j] * p + q;
}

static const struct { const char *name; void (*run)(double, double); double points; } shapes[] = {
  {"chain", chain, N * M}, {"exp", expo, N * M}, {"stencil", stencil, N * M}, {"escape", escape, N * M}, {"hinge", hinge, N * M},
  {"rotate", rotate, N * M}, {"scale_shift", scale_shift, N * M}, {"cross", cross, N * M}, {"softplus", softplus, N * M},
  {"newton", newton, N * M}, {"scramble", scramble, N * M}, {"poly32", poly32, N * M}, {"turned", turned, M * M},
  {"narrow", narrow, N * M / 3 * 3},
};

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e9 + t.tv_nsec;
}

int main(int argc, char **argv) {
  for (int k = 0; k < (M + 2) * S; k++) {
    A[k] = fmod(k * 0.618, 2) - 1;
    B[k] = fmod(k * 0.414, 2) - 1;
  }
  for (int k = 0; k < N * S; k++) F[k] = A[k], I[k] = k;
  for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
    if (argc < 2 || strcmp(argv[1], shapes[s].name)) continue;
    double least = 1e300, begin = now();
    for (int round = 0; round < 5 || now() - begin < 5e7; round++) {
      double t = now();
      shapes[s].run(c1, c2);
      least = fmin(least, now() - t);
    }
    printf("%g\n", least / shapes[s].points);
    return 0;
  }
  return 2;
}
