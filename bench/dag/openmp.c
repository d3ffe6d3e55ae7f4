/* openmp FILE: the tasks of a graph as OpenMP tasks with depend clauses, one creator, OMP_NUM_THREADS workers. A task's own byte
 * of done stands for it in the clauses. */
#include "dag.h"

#define TASK(clauses) _Pragma(#clauses) visit(i); break

static void run(void)
{
#pragma omp parallel
#pragma omp single
	for (int32_t i = 0; i < g.n; i++) {
		const int32_t *p = g.pred + g.off[i];
		switch (g.off[i + 1] - g.off[i]) {
		case 0: TASK(omp task firstprivate(i) depend(out : done[i]));
		case 1: TASK(omp task firstprivate(i) depend(out : done[i]) depend(in : done[p[0]]));
		case 2: TASK(omp task firstprivate(i) depend(out : done[i]) depend(in : done[p[0]], done[p[1]]));
		case 3: TASK(omp task firstprivate(i) depend(out : done[i]) depend(in : done[p[0]], done[p[1]], done[p[2]]));
		case 4: TASK(omp task firstprivate(i) depend(out : done[i]) depend(in : done[p[0]], done[p[1]], done[p[2]], done[p[3]]));
		}
	}
}

int main(int argc, char **argv)
{
	if (argc != 2)
		fail("usage: openmp FILE");
	load(argv[1]);
	measure(run);
}
