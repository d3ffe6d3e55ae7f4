//go:build openblas && cgo

package blas

// This file defines the optional set on OpenBLAS, by direct cgo on row-major slices. Results do not
// follow the chain.

/*
#cgo LDFLAGS: -lopenblas
#cgo noescape flow_gemm
#cgo nocallback flow_gemm
#cgo noescape flow_syrk
#cgo nocallback flow_syrk
#cgo noescape flow_trsm
#cgo nocallback flow_trsm
#cgo noescape flow_potrf
#cgo nocallback flow_potrf

// The prototypes, so that no header has to be found: every variant of the library has the same ones.
extern void openblas_set_num_threads(int);
extern int openblas_get_parallel(void);
extern char *openblas_get_config(void);
extern char *openblas_get_corename(void);

enum { row_major = 101, no_trans = 111, trans = 112, lower = 122, non_unit = 131, right = 142 };

#define PROTOTYPES(T, x)                                                                                           \
	extern void cblas_##x##gemm(int, int, int, int, int, int, T, const T *, int, const T *, int, T, T *, int); \
	extern void cblas_##x##syrk(int, int, int, int, int, T, const T *, int, T, T *, int);                      \
	extern void cblas_##x##trsm(int, int, int, int, int, int, int, T, const T *, int, T *, int);               \
	extern void x##potrf_(const char *, const int *, T *, const int *, int *, unsigned long);

PROTOTYPES(double, d)
PROTOTYPES(float, s)

// The functions of the library for float or double. single chooses.
#define CALL(name, ...) (single ? cblas_s##name(__VA_ARGS__) : cblas_d##name(__VA_ARGS__))

static void flow_gemm(int single, int ta, int tb, int m, int n, int k, double alpha, const void *a, int lda,
		      const void *b, int ldb, void *c, int ldc) {
	CALL(gemm, row_major, ta ? trans : no_trans, tb ? trans : no_trans, m, n, k, alpha, a, lda, b, ldb, 1, c, ldc);
}

static void flow_syrk(int single, int n, int k, double alpha, const void *a, int lda, void *c, int ldc) {
	CALL(syrk, row_major, lower, no_trans, n, k, alpha, a, lda, 1, c, ldc);
}

static void flow_trsm(int single, int m, int n, const void *l, int ldl, void *b, int ldb) {
	CALL(trsm, row_major, right, lower, trans, non_unit, m, n, 1, l, ldl, b, ldb);
}

// The lower triangle by rows is the upper one by columns, so nothing is copied, as LAPACKE would.
static int flow_potrf(int single, int n, void *a, int lda) {
	int info = 0;
	if (single)
		spotrf_("U", &n, a, &lda, &info, 1);
	else
		dpotrf_("U", &n, a, &lda, &info, 1);
	return info;
}
*/
import "C"

import (
	"sync"
	"unsafe"
)

// pthreads is the number by which openblas_get_parallel names that variant.
const pthreads = 1

// openblasReady sets OpenBLAS to one thread, once, and reports whether the variant in this build is the
// one that can be used.
//
// Its own pool would multiply with the workers that call it. Only the pthread variant does as asked
// on every thread: the OpenMP one ignores the setting on threads other than the one that made it,
// the serial one gives wrong results when two threads call it.
var openblasReady = sync.OnceValue(func() bool {
	C.openblas_set_num_threads(1)
	return C.openblas_get_parallel() == pthreads
})

// optional lists the sets that a build tag adds: openblas, unless the library is a variant that
// cannot be used.
func optional() []*Set {
	if !openblasReady() {
		return nil
	}
	return []*Set{{"openblas", false, openblasKernels[float64](), openblasKernels[float32]()}}
}

// Libraries describes the C libraries that kernels of this build call, whether or not the set is
// offered: their version, kernels and variant.
func Libraries() []string {
	config := C.GoString(C.openblas_get_config()) + " " + C.GoString(C.openblas_get_corename())
	if !openblasReady() {
		return []string{config + " (not the pthread variant: not used)"}
	}
	return []string{config + " (one thread)"}
}

// flag is a truth value in C.
func flag(b bool) C.int {
	if b {
		return 1
	}
	return 0
}

// finish clears what a factor leaves above the diagonal. It returns info, or the order of the first
// leading minor whose pivot is not a number, which OpenBLAS does not report.
func finish[T element](info, n int, a []T, lda int) (minor int) {
	if info != 0 {
		return info
	}
	for i := range n {
		if x := a[i*lda+i]; x != x {
			return i + 1
		}
		clear(a[i*lda+i+1 : i*lda+n])
	}
	return 0
}

// openblasKernels returns the kernels of the set. The library takes no size of zero.
func openblasKernels[T element]() Kernels[T] {
	single := flag(unsafe.Sizeof(*new(T)) == 4)
	at := func(x []T) unsafe.Pointer { return unsafe.Pointer(&x[0]) }
	alpha := func(sub bool) C.double { return 1 - 2*C.double(flag(sub)) }
	gemm := func(ta, tb, sub bool, m, n, k int, a []T, lda int, b []T, ldb int, c []T, ldc int) {
		if m != 0 && n != 0 && k != 0 {
			C.flow_gemm(single, flag(ta), flag(tb), C.int(m), C.int(n), C.int(k), alpha(sub), at(a), C.int(lda), at(b), C.int(ldb), at(c), C.int(ldc))
		}
	}
	return Kernels[T]{
		Gemm: func(_ *Workspace, tb, sub bool, m, n, k int, a []T, lda int, b []T, ldb int, c []T, ldc int) {
			gemm(false, tb, sub, m, n, k, a, lda, b, ldb, c, ldc)
		},
		GemmTN: func(_ *Workspace, sub bool, m, n, k int, a []T, lda int, b []T, ldb int, c []T, ldc int) {
			gemm(true, false, sub, m, n, k, a, lda, b, ldb, c, ldc)
		},
		Syrk: func(_ *Workspace, sub bool, n, k int, a []T, lda int, c []T, ldc int) {
			if n != 0 && k != 0 {
				C.flow_syrk(single, C.int(n), C.int(k), alpha(sub), at(a), C.int(lda), at(c), C.int(ldc))
			}
		},
		Trsm: func(_ *Workspace, m, n int, l []T, ldl int, b []T, ldb int) {
			if m != 0 && n != 0 {
				C.flow_trsm(single, C.int(m), C.int(n), at(l), C.int(ldl), at(b), C.int(ldb))
			}
		},
		Potrf: func(_ *Workspace, n int, a []T, lda int) int {
			if n == 0 {
				return 0
			}
			return finish(int(C.flow_potrf(single, C.int(n), at(a), C.int(lda))), n, a, lda)
		},
	}.WithTall()
}
