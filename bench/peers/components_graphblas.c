// components_graphblas GRAPH THREADS: the labels of components.c by SuiteSparse:GraphBLAS: c = max(c, A max.second c) until
// nothing changes.
#include "graph.h"
#include <GraphBLAS.h>

#define OK(call)                                                      \
	do {                                                          \
		GrB_Info info = call;                                 \
		if (info != GrB_SUCCESS && info != GrB_NO_VALUE) {    \
			fprintf(stderr, "%s: %d\n", #call, (int)info); \
			exit(1);                                      \
		}                                                     \
	} while (0)

static double work(GrB_Matrix A, GrB_Vector start) {
	GrB_Vector c, u, differ;
	GrB_Index n;
	OK(GrB_Vector_size(&n, start));
	OK(GrB_Vector_dup(&c, start));
	OK(GrB_Vector_new(&u, GrB_FP64, n));
	OK(GrB_Vector_new(&differ, GrB_BOOL, n));
	for (bool changed = true; changed;) {
		OK(GrB_Vector_assign(u, NULL, NULL, c, GrB_ALL, n, NULL));
		OK(GrB_mxv(u, NULL, GrB_MAX_FP64, GrB_MAX_SECOND_SEMIRING_FP64, A, c, NULL));
		OK(GrB_eWiseMult(differ, NULL, NULL, GrB_NE_FP64, u, c, NULL));
		changed = false;
		OK(GrB_Vector_reduce_BOOL(&changed, NULL, GrB_LOR_MONOID_BOOL, differ, NULL));
		GrB_Vector t = c;
		c = u, u = t;
	}
	double total;
	OK(GrB_Vector_reduce_FP64(&total, NULL, GrB_PLUS_MONOID_FP64, c, NULL));
	GrB_free(&c);
	GrB_free(&u);
	GrB_free(&differ);
	return total;
}

int main(int argc, char **argv) {
	Graph g = graph(argument(argv, 1));
	OK(GrB_init(GrB_NONBLOCKING));
	OK(GxB_set(GxB_NTHREADS, (int)size(argv, 2)));
	GrB_Index *start = memory(g.n + 1, sizeof *start), *column = memory(g.m, sizeof *column);
	double *one = DOUBLES(g.m), total;
	for (int64_t i = 0; i <= g.n; i++) start[i] = g.start[i];
	for (int64_t p = 0; p < g.m; p++) column[p] = g.column[p], one[p] = 1;
	GrB_Matrix A;
	GrB_Vector c;
	OK(GrB_Matrix_import_FP64(&A, GrB_FP64, g.n, g.n, start, column, one, g.n + 1, g.m, g.m, GrB_CSR_FORMAT));
	OK(GrB_Vector_new(&c, GrB_FP64, g.n));
	for (int64_t i = 0; i < g.n; i++) OK(GrB_Vector_setElement_FP64(c, (double)(i + 1), i));
	OK(GrB_wait(c, GrB_MATERIALIZE));
	TIME(total = work(A, c), total);
}
