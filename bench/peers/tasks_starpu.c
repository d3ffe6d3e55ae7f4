// tasks_starpu chain|fan N: N empty tasks, each after the one before, or all between a first and a last one.
#include "peer.h"
#include <starpu.h>

static void nothing(void *buffers[], void *arg) { (void)buffers, (void)arg; }

static struct starpu_codelet writes = {.cpu_funcs = {nothing}, .nbuffers = 1, .modes = {STARPU_RW}};
static struct starpu_codelet reads = {.cpu_funcs = {nothing}, .nbuffers = 1, .modes = {STARPU_R}};

static void insert(struct starpu_codelet *c, starpu_data_handle_t h, enum starpu_data_access_mode mode) {
	if (starpu_task_insert(c, mode, h, 0)) {
		fprintf(stderr, "StarPU takes no task\n");
		exit(1);
	}
}

static void work(int is_chain, long n, starpu_data_handle_t h) {
	insert(&writes, h, STARPU_RW);
	for (long i = 2; i < n; i++) insert(is_chain ? &writes : &reads, h, is_chain ? STARPU_RW : STARPU_R);
	insert(&writes, h, STARPU_RW);
	starpu_task_wait_for_all();
}

int main(int argc, char **argv) {
	int is_chain = *argument(argv, 1) == 'c';
	long n = size(argv, 2);
	double x = 0;
	starpu_data_handle_t h;
	if (starpu_init(NULL)) return 1;
	starpu_variable_data_register(&h, STARPU_MAIN_RAM, (uintptr_t)&x, sizeof x);
	TIME(work(is_chain, n, h), n);
	starpu_data_unregister(h);
	starpu_shutdown();
}
