// A graph in a file: the order and the number of entries as 64-bit integers, then where each row
// begins (one more than rows, 64 bits), then the columns (32 bits).
#ifndef GRAPH_H
#define GRAPH_H
#include "peer.h"

typedef struct {
	int64_t n, m;
	int64_t *start;
	int32_t *column;
} Graph;

static void take(void *to, size_t size, size_t many, FILE *f) {
	if (fread(to, size, many, f) != many) {
		fprintf(stderr, "the graph ends early\n");
		exit(1);
	}
}

static Graph graph(const char *path) {
	FILE *f = fopen(path, "rb");
	Graph g;
	if (!f) {
		perror(path);
		exit(1);
	}
	take(&g.n, sizeof g.n, 1, f);
	take(&g.m, sizeof g.m, 1, f);
	g.start = memory(g.n + 1, sizeof *g.start);
	g.column = memory(g.m, sizeof *g.column);
	take(g.start, sizeof *g.start, g.n + 1, f);
	take(g.column, sizeof *g.column, g.m, f);
	fclose(f);
	return g;
}
#endif
