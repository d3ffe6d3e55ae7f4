// tasks_omp chain|fan N: N empty tasks, each after the one before, or all between a first and a last one.
#include "peer.h"

static long ran;

static void chain(long n) {
	char x;
	(void)x;
#pragma omp parallel
#pragma omp single
	for (long i = 0; i < n; i++)
#pragma omp task depend(inout : x)
		ran++;
}

static void fan(long n) {
	char x;
	(void)x;
#pragma omp parallel
#pragma omp single
	{
#pragma omp task depend(out : x)
		ran++;
		for (long i = 2; i < n; i++)
#pragma omp task depend(in : x)
			(void)0;
#pragma omp task depend(inout : x)
		ran++;
	}
}

int main(int argc, char **argv) {
	const char *what = argument(argv, 1);
	long n = size(argv, 2);
	TIME(*what == 'c' ? chain(n) : fan(n), ran);
}
