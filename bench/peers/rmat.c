// rmat SCALE FACTOR FILE: a symmetric graph of 2^SCALE vertices from FACTOR 2^SCALE edges by the rule of R-MAT
// (Chakrabarti, Zhan, Faloutsos 2004; .57, .19, .19, .05; seed 42) without loops and double entries, in the form of graph.h.
#include "peer.h"

static int ascending(const void *a, const void *b) {
	int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
	return (x > y) - (x < y);
}

static void put(const void *from, size_t size, size_t many, FILE *f) {
	if (fwrite(from, size, many, f) != many) {
		perror("the graph cannot be written");
		exit(1);
	}
}

int main(int argc, char **argv) {
	long scale = size(argv, 1);
	int64_t n = (int64_t)1 << scale, edges = size(argv, 2) << scale, m = 0;
	int32_t *from = memory(edges, sizeof *from), *to = memory(edges, sizeof *to);
#pragma omp parallel for
	for (int64_t e = 0; e < edges; e++) {
		int32_t r = 0, c = 0;
		for (long level = 0; level < scale; level++) {
			double u = uniform(42, e * scale + level);
			r = 2 * r + (u >= 0.76);
			c = 2 * c + ((u >= 0.57 && u < 0.76) || u >= 0.95);
		}
		from[e] = r, to[e] = c;
	}
	int64_t *start = calloc(n + 1, sizeof *start), *at = memory(n, sizeof *at);
	for (int64_t e = 0; e < edges; e++)
		if (from[e] != to[e]) start[from[e] + 1]++, start[to[e] + 1]++;
	for (int64_t i = 0; i < n; i++) start[i + 1] += start[i], at[i] = start[i];
	int32_t *column = memory(start[n], sizeof *column);
	for (int64_t e = 0; e < edges; e++)
		if (from[e] != to[e]) column[at[from[e]]++] = to[e], column[at[to[e]]++] = from[e];
	for (int64_t i = 0; i < n; i++) {
		int64_t first = start[i], end = at[i];
		start[i] = m; // rows before this one have shrunk already
		qsort(column + first, end - first, sizeof *column, ascending);
		for (int64_t p = first; p < end; p++)
			if (p == first || column[p] != column[p - 1]) column[m++] = column[p];
	}
	start[n] = m;
	FILE *f = fopen(argument(argv, 3), "wb");
	if (!f) {
		perror(argv[3]);
		return 1;
	}
	put(&n, sizeof n, 1, f);
	put(&m, sizeof m, 1, f);
	put(start, sizeof *start, n + 1, f);
	put(column, sizeof *column, m, f);
	return fclose(f) != 0;
}
