//go:build openblas && cgo

// Package openblas binds the four kernels of OpenBLAS, on row-major slices, by direct cgo. Without
// the build tag openblas it is empty.
package openblas

/*
#cgo LDFLAGS: -lopenblas
#cgo noescape flow_dgemm
#cgo nocallback flow_dgemm
#cgo noescape flow_sgemm
#cgo nocallback flow_sgemm
#cgo noescape flow_dsyrk
#cgo nocallback flow_dsyrk
#cgo noescape flow_ssyrk
#cgo nocallback flow_ssyrk
#cgo noescape flow_dtrsm
#cgo nocallback flow_dtrsm
#cgo noescape flow_strsm
#cgo nocallback flow_strsm
#cgo noescape flow_dpotrf
#cgo nocallback flow_dpotrf
#cgo noescape flow_spotrf
#cgo nocallback flow_spotrf

// The prototypes, so that no header has to be found: every variant of the library has the same ones.
extern void openblas_set_num_threads(int);
extern int openblas_get_parallel(void);
extern char *openblas_get_config(void);
extern char *openblas_get_corename(void);

enum { row_major = 101, no_trans = 111, trans = 112, lower = 122, non_unit = 131, right = 142 };

// potrf: the lower triangle by rows is the upper one by columns, so nothing is copied, as LAPACKE
// would.
#define KERNELS(T, x)                                                                                                  \
	extern void cblas_##x##gemm(int, int, int, int, int, int, T, const T *, int, const T *, int, T, T *, int);     \
	extern void cblas_##x##syrk(int, int, int, int, int, T, const T *, int, T, T *, int);                          \
	extern void cblas_##x##trsm(int, int, int, int, int, int, int, T, const T *, int, T *, int);                   \
	extern void x##potrf_(const char *, const int *, T *, const int *, int *, unsigned long);                      \
	static void flow_##x##gemm(int ta, int tb, int m, int n, int k, T alpha, const T *a, int lda, const T *b,      \
				   int ldb, T *c, int ldc) {                                                           \
		cblas_##x##gemm(row_major, ta ? trans : no_trans, tb ? trans : no_trans, m, n, k, alpha, a, lda, b,    \
				ldb, 1, c, ldc);                                                                       \
	}                                                                                                              \
	static void flow_##x##syrk(int n, int k, T alpha, const T *a, int lda, T *c, int ldc) {                        \
		cblas_##x##syrk(row_major, lower, no_trans, n, k, alpha, a, lda, 1, c, ldc);                           \
	}                                                                                                              \
	static void flow_##x##trsm(int m, int n, const T *l, int ldl, T *b, int ldb) {                                 \
		cblas_##x##trsm(row_major, right, lower, trans, non_unit, m, n, 1, l, ldl, b, ldb);                    \
	}                                                                                                              \
	static int flow_##x##potrf(int n, T *a, int lda) {                                                             \
		int info = 0;                                                                                          \
		x##potrf_("U", &n, a, &lda, &info, 1);                                                                 \
		return info;                                                                                           \
	}

KERNELS(double, d)
KERNELS(float, s)
*/
import "C"

import (
	"sync"
	"unsafe"
)

// pthreads is the number by which openblas_get_parallel names that variant.
const pthreads = 1

// Ready sets OpenBLAS to one thread, once, and reports whether the variant in this build is the one
// that can be used.
//
// Its own pool would multiply with the workers that call it. Only the pthread variant does as asked
// on every thread: the OpenMP one ignores the setting on threads other than the one that made it,
// the serial one gives wrong results when two threads call it.
var Ready = sync.OnceValue(func() bool {
	C.openblas_set_num_threads(1)
	return C.openblas_get_parallel() == pthreads
})

// Config describes the library in the build: its version, kernels and variant.
func Config() string {
	return C.GoString(C.openblas_get_config()) + " " + C.GoString(C.openblas_get_corename())
}

func cbool(b bool) C.int {
	if b {
		return 1
	}
	return 0
}

func f64(x []float64) *C.double { return (*C.double)(unsafe.Pointer(&x[0])) }
func f32(x []float32) *C.float  { return (*C.float)(unsafe.Pointer(&x[0])) }

// Dgemm computes c = c + alpha*op(a)@op(b), op being the transpose where ta or tb says so. No size
// may be zero.
func Dgemm(ta, tb bool, m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int, c []float64, ldc int) {
	C.flow_dgemm(cbool(ta), cbool(tb), C.int(m), C.int(n), C.int(k), C.double(alpha), f64(a), C.int(lda), f64(b), C.int(ldb), f64(c), C.int(ldc))
}

// Dsyrk computes the lower triangle of c = c + alpha*a@t(a). No size may be zero.
func Dsyrk(n, k int, alpha float64, a []float64, lda int, c []float64, ldc int) {
	C.flow_dsyrk(C.int(n), C.int(k), C.double(alpha), f64(a), C.int(lda), f64(c), C.int(ldc))
}

// Dtrsm computes b = b@inverse(t(l)) for the lower triangle l. No size may be zero.
func Dtrsm(m, n int, l []float64, ldl int, b []float64, ldb int) {
	C.flow_dtrsm(C.int(m), C.int(n), f64(l), C.int(ldl), f64(b), C.int(ldb))
}

// Dpotrf factors the lower triangle of a in place and leaves the rest. It returns LAPACK's info; a
// pivot that is not a number goes unreported. n may not be zero.
func Dpotrf(n int, a []float64, lda int) (info int) {
	return int(C.flow_dpotrf(C.int(n), f64(a), C.int(lda)))
}

// Sgemm computes c = c + alpha*op(a)@op(b), op being the transpose where ta or tb says so. No size
// may be zero.
func Sgemm(ta, tb bool, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, c []float32, ldc int) {
	C.flow_sgemm(cbool(ta), cbool(tb), C.int(m), C.int(n), C.int(k), C.float(alpha), f32(a), C.int(lda), f32(b), C.int(ldb), f32(c), C.int(ldc))
}

// Ssyrk computes the lower triangle of c = c + alpha*a@t(a). No size may be zero.
func Ssyrk(n, k int, alpha float32, a []float32, lda int, c []float32, ldc int) {
	C.flow_ssyrk(C.int(n), C.int(k), C.float(alpha), f32(a), C.int(lda), f32(c), C.int(ldc))
}

// Strsm computes b = b@inverse(t(l)) for the lower triangle l. No size may be zero.
func Strsm(m, n int, l []float32, ldl int, b []float32, ldb int) {
	C.flow_strsm(C.int(m), C.int(n), f32(l), C.int(ldl), f32(b), C.int(ldb))
}

// Spotrf factors the lower triangle of a in place and leaves the rest. It returns LAPACK's info; a
// pivot that is not a number goes unreported. n may not be zero.
func Spotrf(n int, a []float32, lda int) (info int) {
	return int(C.flow_spotrf(C.int(n), f32(a), C.int(lda)))
}
