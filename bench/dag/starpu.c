/* starpu FILE: the tasks of a graph as StarPU tasks with explicit dependencies, which need no data handles; the main thread submits, and
 * STARPU_NCPU workers run what is ready meanwhile. A task is kept until the graph has run, because later ones may name it. */
#include "dag.h"
#include <starpu.h>

static void body(void *buffers[], void *arg)
{
	(void)buffers;
	visit((int32_t)(intptr_t)arg);
}

static struct starpu_codelet codelet = {.cpu_funcs = {body}, .nbuffers = 0};
static struct starpu_task **tasks;

static void run(void)
{
	struct starpu_task *before[MOST];
	for (int32_t i = 0; i < g.n; i++) {
		struct starpu_task *t = tasks[i] = starpu_task_create();
		int n = 0;
		t->cl = &codelet;
		t->cl_arg = (void *)(intptr_t)i;
		t->destroy = 0;
		for (int32_t k = g.off[i]; k < g.off[i + 1]; k++)
			before[n++] = tasks[g.pred[k]];
		if (n > 0)
			starpu_task_declare_deps_array(t, n, before);
		if (starpu_task_submit(t))
			fail("StarPU does not take a task");
	}
	starpu_task_wait_for_all();
	for (int32_t i = 0; i < g.n; i++)
		starpu_task_destroy(tasks[i]);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		fail("usage: starpu FILE");
	load(argv[1]);
	if (!(tasks = malloc(g.n * sizeof *tasks)))
		fail("no memory for the tasks");
	if (starpu_init(NULL))
		fail("StarPU does not start");
	measure(run);
	starpu_shutdown();
}
