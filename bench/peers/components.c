// components GRAPH static|dynamic|guided CHUNK: every vertex takes the greatest label of itself and its neighbours until
// nothing changes; the labels are LABEL. CHUNK 0 is OpenMP's own. The number of components.
#include "graph.h"
#include <omp.h>

// work returns the labels.
static LABEL *work(Graph g, LABEL *a, LABEL *b) {
	for (int64_t i = 0; i < g.n; i++) a[i] = (LABEL)(i + 1);
	for (long changed = 1; changed;) {
		changed = 0;
#pragma omp parallel for schedule(runtime) reduction(+ : changed)
		for (int64_t i = 0; i < g.n; i++) {
			LABEL most = a[i];
			for (int64_t p = g.start[i]; p < g.start[i + 1]; p++) most = a[g.column[p]] > most ? a[g.column[p]] : most;
			changed += most != a[i];
			b[i] = most;
		}
		LABEL *t = a;
		a = b, b = t;
	}
	return a;
}

int main(int argc, char **argv) {
	Graph g = graph(argument(argv, 1));
	const char *kind = argument(argv, 2);
	omp_set_schedule(*kind == 's' ? omp_sched_static : *kind == 'd' ? omp_sched_dynamic : omp_sched_guided, (int)size(argv, 3));
	LABEL *a = memory(g.n, sizeof *a), *b = memory(g.n, sizeof *b), *c;
	long parts = 0; // the vertex of a component's greatest number keeps its own
	TIME(c = work(g, a, b), ({ for (int64_t i = 0; i < g.n; i++) parts += c[i] == (LABEL)(i + 1); parts; }));
}
