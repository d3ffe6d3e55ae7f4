/* What cgo cannot express: MPI's constants are macros with casts in one library and
 * integers in another, and a status is read by functions and macros. Everything
 * here is static, so that each Go file that includes it has its own. */
#ifndef FLOW_MPI_BINDING_H
#define FLOW_MPI_BINDING_H
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* A finished one: its position in the tested array, its error and how many bytes a
 * receive has got (on truncation: how many the message had, if the library says). */
typedef struct {
	int index, rc, source, tag, cancelled;
	long long bytes;
} flow_completion;

/* A started operation. If it was looked at and has finished, request is MPI_REQUEST_NULL and done says
 * how; its index is -1 otherwise. */
typedef struct {
	MPI_Request request;
	int rc;
	flow_completion done;
} flow_started;

/* What is tested together: the requests and what MPI says of them, for up to room of them. */
typedef struct {
	int room, count;
	MPI_Request *reqs;
	int *indices;
	MPI_Status *statuses;
	flow_completion *done;
} flow_tests;

typedef struct {
	int rc, flag, source, tag;
	long long bytes;
	MPI_Message message;
} flow_probe;

static inline MPI_Comm flow_world(void) { return MPI_COMM_WORLD; }
static inline MPI_Request flow_request_null(void) { return MPI_REQUEST_NULL; }

/* Sets whether Open MPI yields the processor in calls that find nothing to do, and returns the setting before.
 * The function is not documented. Without it, as in other libraries, this does nothing and returns false. */
static inline bool flow_yields(bool on) {
	bool (*set)(bool) = (bool (*)(bool))dlsym(RTLD_DEFAULT, "opal_progress_set_yield_when_idle");
	return set != NULL && set(on);
}

static inline int flow_return_errors(MPI_Comm c) {
	return MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
}

static inline int flow_tag_upper_bound(MPI_Comm c, int *bound) {
	int *value, found;
	int rc = MPI_Comm_get_attr(c, MPI_TAG_UB, &value, &found);
	*bound = rc == MPI_SUCCESS && found ? *value : 32767; /* the standard's minimum */
	return rc;
}

static inline void flow_read_status(flow_completion *f, MPI_Status *st) {
	MPI_Count n = 0;
	MPI_Get_elements_x(st, MPI_BYTE, &n);
	f->bytes = n;
	f->source = st->MPI_SOURCE;
	f->tag = st->MPI_TAG;
	MPI_Test_cancelled(st, &f->cancelled);
}

/* Looks once at what has just been started, so that what is finished already costs no crossing from Go of its own. An
 * operation that goes on makes some progress instead. */
static inline void flow_look(flow_started *s) {
	MPI_Status st;
	int flag = 0;
	s->done.rc = MPI_Test(&s->request, &flag, &st);
	if (!flag && s->done.rc == MPI_SUCCESS)
		return;
	s->done.index = 0;
	s->done.bytes = 0;
	if (flag)
		flow_read_status(&s->done, &st);
}

/* Buffers travel as integers: their memory is pinned by the caller for the time of
 * the request, and cgo would otherwise examine each pointer again. */
static inline flow_started flow_isend(uintptr_t buf, int n, int dst, int tag, MPI_Comm c, int look) {
	flow_started s;
	s.done.index = -1;
	s.rc = MPI_Isend((const void *)buf, n, MPI_BYTE, dst, tag, c, &s.request);
	if (look && s.rc == MPI_SUCCESS)
		flow_look(&s);
	return s;
}

/* A header on its own tag and communicator, and behind it the first piece. */
typedef struct {
	flow_started header, piece;
} flow_headed;

static inline flow_headed flow_isend_headed(uintptr_t header, int bytes, int tag, MPI_Comm c,
                                            uintptr_t piece, int n, int series, MPI_Comm pieces, int dst) {
	flow_headed h;
	h.header = flow_isend(header, bytes, dst, tag, c, 0);
	h.piece = flow_isend(piece, n, dst, series, pieces, 0);
	if (h.header.rc == MPI_SUCCESS)
		flow_look(&h.header);
	return h;
}

static inline flow_started flow_irecv(uintptr_t buf, int n, int src, int tag, MPI_Comm c, int look) {
	flow_started s;
	s.done.index = -1;
	s.rc = MPI_Irecv((void *)buf, n, MPI_BYTE, src, tag, c, &s.request);
	if (look && s.rc == MPI_SUCCESS)
		flow_look(&s);
	return s;
}

/* Polls the first n up to polls times, in C because each crossing from Go costs as much as a
 * poll; bounded because nobody else can call MPI meanwhile. at is the address of a flow_tests, whose
 * count becomes the number of finished requests. */
static inline int flow_testsome(uintptr_t at, int n, int polls) {
	flow_tests *t = (flow_tests *)at;
	int rc = MPI_SUCCESS, outcount = 0;
	for (int k = 0; k < polls && outcount == 0 && rc == MPI_SUCCESS; k++)
		rc = MPI_Testsome(n, t->reqs, &outcount, t->indices, t->statuses);
	t->count = 0;
	if (rc != MPI_SUCCESS && rc != MPI_ERR_IN_STATUS)
		return rc;
	if (outcount == MPI_UNDEFINED) /* no request was active */
		return MPI_SUCCESS;
	for (int k = 0; k < outcount; k++) {
		t->done[k].index = t->indices[k];
		/* The field is only defined when the call says MPI_ERR_IN_STATUS. */
		t->done[k].rc = rc == MPI_ERR_IN_STATUS ? t->statuses[k].MPI_ERROR : MPI_SUCCESS;
		flow_read_status(&t->done[k], &t->statuses[k]);
	}
	t->count = outcount;
	return MPI_SUCCESS;
}

/* Makes room for n of them; what was in the arrays stays. */
static inline int flow_reserve(uintptr_t at, int n) {
	flow_tests *t = (flow_tests *)at;
	void *p;
#define FLOW_GROW(array) \
	if (!(p = realloc(t->array, (size_t)n * sizeof *t->array))) \
		return 0; \
	t->array = p
	FLOW_GROW(reqs);
	FLOW_GROW(indices);
	FLOW_GROW(statuses);
	FLOW_GROW(done);
#undef FLOW_GROW
	t->room = n;
	return 1;
}

static inline int flow_cancel(MPI_Request r) { return MPI_Cancel(&r); }

static inline flow_probe flow_improbe(MPI_Comm c) {
	flow_probe p;
	MPI_Status st;
	MPI_Count n = 0;
	p.rc = MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, c, &p.flag, &p.message, &st);
	if (p.rc == MPI_SUCCESS && p.flag) {
		MPI_Get_elements_x(&st, MPI_BYTE, &n);
		p.source = st.MPI_SOURCE;
		p.tag = st.MPI_TAG;
	}
	p.bytes = n;
	return p;
}

static inline int flow_mrecv(uintptr_t buf, int n, MPI_Message m) {
	return MPI_Mrecv((void *)buf, n, MPI_BYTE, &m, MPI_STATUS_IGNORE);
}

static inline MPI_Datatype flow_datatype(int t) {
	switch (t) {
	case 0: return MPI_INT64_T;
	case 1: return MPI_DOUBLE;
	default: return MPI_BYTE;
	}
}

static inline MPI_Op flow_op(int o) {
	switch (o) {
	case 0: return MPI_SUM;
	case 1: return MPI_MIN;
	case 2: return MPI_MAX;
	case 3: return MPI_REPLACE;
	default: return MPI_NO_OP;
	}
}

static inline flow_started flow_iallreduce(uintptr_t in, uintptr_t out, int n, int type, int op, MPI_Comm c) {
	flow_started s;
	s.rc = MPI_Iallreduce((const void *)in, (void *)out, n, flow_datatype(type), flow_op(op), c, &s.request);
	return s;
}

static inline flow_started flow_ibarrier(MPI_Comm c) {
	flow_started s;
	s.rc = MPI_Ibarrier(c, &s.request);
	return s;
}

/* The window's memory comes from MPI: only then can ranks of one node reach each
 * other's directly (measured: 0.14 us, instead of waiting until the owner calls MPI).
 * Where all ranks share a node it is asked for as shared: Open MPI 4.1.4 otherwise
 * takes its rdma component over shared memory, whose MPI_Compare_and_swap crashes
 * when the target is the calling rank. */
static inline int flow_win_allocate(MPI_Aint bytes, int unit, MPI_Comm c, void **base, MPI_Win *w) {
	MPI_Comm node;
	int rc, all, near;
	rc = MPI_Comm_split_type(c, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
	if (rc != MPI_SUCCESS)
		return rc;
	MPI_Comm_size(c, &all);
	MPI_Comm_size(node, &near);
	MPI_Comm_free(&node);
	/* One rank sees the whole communicator on its node if and only if all do. */
	if (near == all)
		rc = MPI_Win_allocate_shared(bytes, unit, MPI_INFO_NULL, c, base, w);
	else
		rc = MPI_Win_allocate(bytes, unit, MPI_INFO_NULL, c, base, w);
	if (rc == MPI_SUCCESS)
		rc = MPI_Win_set_errhandler(*w, MPI_ERRORS_RETURN);
	return rc;
}

/* The operation and its completion, at one crossing. */
static inline int flow_fetch_and_op(int64_t operand, int64_t *result, int target, MPI_Aint at, int op, MPI_Win w) {
	int rc = MPI_Fetch_and_op(&operand, result, MPI_INT64_T, target, at, flow_op(op), w);
	return rc != MPI_SUCCESS ? rc : MPI_Win_flush(target, w);
}

static inline int flow_compare_and_swap(int64_t desired, int64_t expected, int64_t *result, int target, MPI_Aint at, MPI_Win w) {
	int rc = MPI_Compare_and_swap(&desired, &expected, result, MPI_INT64_T, target, at, w);
	return rc != MPI_SUCCESS ? rc : MPI_Win_flush(target, w);
}

#endif
