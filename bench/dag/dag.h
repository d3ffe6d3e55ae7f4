/* A directed acyclic graph of tasks that do nothing, read from the file that bench/tasks.go writes: little-endian
 * int32, the number n of tasks, the number m of edges, n + 1 offsets, and m predecessors: those of task i are
 * pred[off[i]] to pred[off[i+1]-1], each smaller than i. */
#ifndef DAG_H
#define DAG_H
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST = 4 }; /* predecessors of a task */

typedef struct {
	int32_t n, *off, *pred;
} dag;

static dag g;
static char *done;      /* by task, 1 once it has run */
static int checking;    /* the first round: every task looks whether its predecessors have run */
static int out_of_order;

/* What a task does. Stores of a byte are all that the rounds that count do. */
static inline void visit(int32_t i)
{
	if (checking)
		for (int32_t k = g.off[i]; k < g.off[i + 1]; k++)
			if (!__atomic_load_n(&done[g.pred[k]], __ATOMIC_ACQUIRE))
				__atomic_store_n(&out_of_order, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&done[i], 1, __ATOMIC_RELEASE);
}

static void fail(const char *why)
{
	fprintf(stderr, "%s\n", why);
	exit(1);
}

static void load(const char *path)
{
	int32_t head[2];
	FILE *f = fopen(path, "rb");
	if (!f || fread(head, sizeof head, 1, f) != 1)
		fail("the graph cannot be read");
	g.n = head[0];
	g.off = malloc((g.n + 1) * sizeof *g.off);
	g.pred = malloc((head[1] + 1) * sizeof *g.pred);
	done = malloc(g.n);
	if (!g.off || !g.pred || !done)
		fail("no memory for the graph");
	if (fread(g.off, sizeof *g.off, g.n + 1, f) != (size_t)g.n + 1 ||
	    fread(g.pred, sizeof *g.pred, head[1], f) != (size_t)head[1] || g.off[g.n] != head[1])
		fail("the graph's file is cut");
	fclose(f);
	for (int32_t i = 0; i < g.n; i++) {
		if (g.off[i + 1] < g.off[i] || g.off[i + 1] - g.off[i] > MOST)
			fail("a task has too many predecessors");
		for (int32_t k = g.off[i]; k < g.off[i + 1]; k++)
			if (g.pred[k] < 0 || g.pred[k] >= i)
				fail("the tasks are not in order");
	}
}

static double seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

/* Runs the graph twice, checked and then timed, and prints the seconds of the second round. */
static void measure(void (*run)(void))
{
	double begin = 0, end = 0;
	for (int round = 0; round < 2; round++) {
		int32_t ran = 0;
		memset(done, 0, g.n);
		checking = round == 0;
		begin = seconds();
		run();
		end = seconds();
		for (int32_t i = 0; i < g.n; i++)
			ran += done[i];
		if (ran != g.n)
			fail("not every task has run");
		if (out_of_order)
			fail("a task has run before one that it waits for");
	}
	printf("{\"seconds\":%.9g}\n", end - begin);
}
#endif
