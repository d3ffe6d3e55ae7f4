// cholesky_starpu N TILE: the tiled Cholesky factorisation as tasks of StarPU on the kernels of OpenBLAS; the logarithm of
// the determinant. With SINGLE in f32.
#include "matrix.h"
#include <starpu.h>

#define AT(k) ((REAL *)STARPU_MATRIX_GET_PTR(b[k]))
#define EDGE(k) STARPU_MATRIX_GET_NX(b[k])

static void run_factor(void *b[], void *arg) { (void)arg, factor(EDGE(0), AT(0)); }
static void run_divide(void *b[], void *arg) { (void)arg, divide(EDGE(0), AT(0), AT(1)); }
static void run_square(void *b[], void *arg) { (void)arg, square(EDGE(0), AT(0), AT(1)); }
static void run_product(void *b[], void *arg) { (void)arg, product(EDGE(0), AT(0), AT(1), AT(2)); }

static struct starpu_perfmodel models[4] = {
	{.type = STARPU_HISTORY_BASED, .symbol = "flow_factor"},
	{.type = STARPU_HISTORY_BASED, .symbol = "flow_divide"},
	{.type = STARPU_HISTORY_BASED, .symbol = "flow_square"},
	{.type = STARPU_HISTORY_BASED, .symbol = "flow_product"},
};
static struct starpu_codelet factors = {.cpu_funcs = {run_factor}, .nbuffers = 1, .modes = {STARPU_RW}, .model = &models[0]};
static struct starpu_codelet divides = {.cpu_funcs = {run_divide}, .nbuffers = 2, .modes = {STARPU_R, STARPU_RW}, .model = &models[1]};
static struct starpu_codelet squares = {.cpu_funcs = {run_square}, .nbuffers = 2, .modes = {STARPU_R, STARPU_RW}, .model = &models[2]};
static struct starpu_codelet products = {
	.cpu_funcs = {run_product}, .nbuffers = 3, .modes = {STARPU_R, STARPU_R, STARPU_RW}, .model = &models[3]};

static void work(long nt, starpu_data_handle_t *H) {
#define T(i, j) H[(i) * nt + (j)]
	for (long k = 0; k < nt; k++) {
		starpu_task_insert(&factors, STARPU_RW, T(k, k), STARPU_PRIORITY, STARPU_MAX_PRIO, 0);
		for (long i = k + 1; i < nt; i++) starpu_task_insert(&divides, STARPU_R, T(k, k), STARPU_RW, T(i, k), STARPU_PRIORITY, 2, 0);
		for (long i = k + 1; i < nt; i++) {
			starpu_task_insert(&squares, STARPU_R, T(i, k), STARPU_RW, T(i, i), STARPU_PRIORITY, 1, 0);
			for (long j = k + 1; j < i; j++)
				starpu_task_insert(&products, STARPU_R, T(i, k), STARPU_R, T(j, k), STARPU_RW, T(i, j), 0);
		}
	}
	starpu_task_wait_for_all();
}

int main(int argc, char **argv) {
	long n = size(argv, 1), nb = size(argv, 2), nt = tiles(n, nb);
	REAL **A = space(nt, nb);
	starpu_data_handle_t *H = calloc(nt * nt, sizeof *H);
	if (starpu_init(NULL)) return 1;
	for (long i = 0; i < nt; i++)
		for (long j = 0; j <= i; j++)
			starpu_matrix_data_register(&T(i, j), STARPU_MAIN_RAM, (uintptr_t)A[i * nt + j], nb, nb, nb, sizeof(REAL));
	TIME2(fill(nt, nb, A), work(nt, H), logdet(nt, nb, A));
	for (long i = 0; i < nt; i++)
		for (long j = 0; j <= i; j++) starpu_data_unregister(T(i, j));
	starpu_shutdown();
}
