//go:build mpi

package mpi

// #cgo LDFLAGS: -ldl
// #include "binding.h"
import "C"

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"unsafe"
)

// Available tells whether this build has MPI.
func Available() bool { return true }

// Version describes the MPI library in one line. It may be called before Init.
func Version() string {
	buf := (*C.char)(C.malloc(C.MPI_MAX_LIBRARY_VERSION_STRING))
	defer C.free(unsafe.Pointer(buf))
	var n C.int
	if C.MPI_Get_library_version(buf, &n) != C.MPI_SUCCESS {
		return "unknown MPI"
	}
	line, _, _ := strings.Cut(C.GoStringN(buf, n), "\n")
	return strings.TrimRight(line, "\x00 ")
}

// Error is an error that MPI has reported.
type Error struct {
	Op      string // the MPI function
	Code    int    // MPI's error code
	Class   int    // its class, MPI_ERR_...
	Message string // MPI's text
}

func (e *Error) Error() string { return e.Op + ": " + e.Message }

// check turns a return code into an error, or nil.
func check(op string, rc C.int) error {
	if rc == C.MPI_SUCCESS {
		return nil
	}
	var class, n C.int
	C.MPI_Error_class(rc, &class)
	buf := (*C.char)(C.malloc(C.MPI_MAX_ERROR_STRING))
	defer C.free(unsafe.Pointer(buf))
	e := &Error{Op: op, Code: int(rc), Class: int(class)}
	if C.MPI_Error_string(rc, buf, &n) == C.MPI_SUCCESS {
		e.Message = C.GoStringN(buf, n)
	} else {
		e.Message = fmt.Sprintf("error %d", int(rc))
	}
	return e
}

// truncated tells whether a message was longer than its receive's buffer.
func truncated(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Class == C.MPI_ERR_TRUNCATE
}

// Environment is the process's part in the MPI job. Its mutex lies round every
// call into MPI; the exported methods of this package take it.
type Environment struct {
	mu   sync.Mutex
	null C.MPI_Request

	tests  *C.flow_tests // in C memory; see reserve
	yields bool          // the setting before polling, which Finalize restores
}

// InitThread initialises MPI with MPI_THREAD_SERIALIZED. MPI allows that once in
// the life of a process.
func InitThread() (*Environment, error) {
	var already, provided C.int
	C.MPI_Initialized(&already)
	if already != 0 {
		return nil, errors.New("MPI_Init_thread: MPI was already initialised in this process")
	}
	if err := eager(); err != nil {
		return nil, err
	}
	if err := check("MPI_Init_thread", C.MPI_Init_thread(nil, nil, C.MPI_THREAD_SERIALIZED, &provided)); err != nil {
		return nil, err
	}
	if provided < C.MPI_THREAD_SERIALIZED {
		return nil, fmt.Errorf("MPI_Init_thread: this MPI library (%s) gives thread level %d, MPI_THREAD_SERIALIZED is needed", Version(), int(provided))
	}
	e := &Environment{null: C.flow_request_null()}
	e.tests = (*C.flow_tests)(C.calloc(1, C.size_t(unsafe.Sizeof(C.flow_tests{}))))
	e.reserve(64)
	return e, check("MPI_Comm_set_errhandler", C.flow_return_errors(C.flow_world()))
}

// eager makes Open MPI send messages up to eagerLimit in shared memory at once, if the user has set no
// limit. From 4 KiB on it would ask the receiver first, so a row of a halo would need more polls of
// both ranks. A C program then sends 8 KiB in 0.9 us instead of 3.5 (Zen 4). bareLimit relies on it.
// The transport has another name in Open MPI 5, and other libraries ignore both variables.
func eager() error {
	for _, name := range []string{"OMPI_MCA_btl_vader_eager_limit", "OMPI_MCA_btl_sm_eager_limit"} {
		if os.Getenv(name) == "" {
			if err := os.Setenv(name, strconv.Itoa(eagerLimit)); err != nil {
				return err
			}
		}
	}
	return nil
}

// polling tells MPI not to yield the processor in polls. Where ranks share a processor, Open MPI yields
// in each call that finds nothing. That helps a rank that waits inside of MPI. Here a busy worker polls
// between parts of its work, and ranks with short parts would lose their turns to the others, which got
// up to twice their processor time. It would be wrong for a rank that waits by polling; ours sleeps
// between its polls.
func (e *Environment) polling() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.yields = yields(false)
}

// yields sets whether polls yield the processor, and returns the setting before. Only Open MPI has it.
func yields(on bool) (before bool) { return bool(C.flow_yields(C.bool(on))) }

// reserve makes room for testing n requests at once. e.mu is held (or nobody else
// knows e yet).
func (e *Environment) reserve(n int) {
	if room := int(e.tests.room); n > room && C.flow_reserve(e.at(), C.int(max(n, 2*room))) == 0 {
		panic("out of memory for the requests of MPI")
	}
}

// at is the address of e.tests as C's functions take it: a pointer would be examined at every call.
func (e *Environment) at() C.uintptr_t { return C.uintptr_t(uintptr(unsafe.Pointer(e.tests))) }

// requests is the array that testsome tests, as long as there is room.
func (e *Environment) requests() []C.MPI_Request {
	return unsafe.Slice(e.tests.reqs, int(e.tests.room))
}

// testsome tests the first n requests, up to polls times, and returns
// what has finished; the result is valid until the next call. e.mu is held.
func (e *Environment) testsome(n, polls int) ([]C.flow_completion, error) {
	if n == 0 {
		return nil, nil
	}
	rc := C.flow_testsome(e.at(), C.int(n), C.int(polls))
	return unsafe.Slice(e.tests.done, int(e.tests.count)), check("MPI_Testsome", rc)
}

// Finalize ends MPI. All requests must be finished and all windows freed. It waits
// for the other ranks; if one of them has died, the launcher ends the job.
func (e *Environment) Finalize() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	t := e.tests
	for _, p := range []unsafe.Pointer{unsafe.Pointer(t.reqs), unsafe.Pointer(t.indices), unsafe.Pointer(t.statuses), unsafe.Pointer(t.done), unsafe.Pointer(t)} {
		C.free(p)
	}
	e.tests = nil
	yields(e.yields)
	return check("MPI_Finalize", C.MPI_Finalize())
}
