package main

import (
	"os"
	"syscall"
	"unsafe"
)

// This file replaces the Go runtime's dump by one sentence when the runtime finds no memory or no
// thread. See "What prints the last sentence of a process without memory?" in RATIONALE.md.

// overrideWrite is the hook of the Go runtime for what it writes itself, print and the dump of a
// fatal error; it keeps the name and type of the hook for those who link to it. It is set before
// anything runs: the runtime may fail to reserve its first memory.
//
//go:linkname overrideWrite runtime.overrideWrite
var overrideWrite func(fd uintptr, p unsafe.Pointer, n int32) int32 = lastWords

// fatalText is the runtime's output so far, which may be the beginning of a fatal error. The
// runtime writes under a lock of its own, or from the dying thread.
type fatalText struct {
	text [1024]byte
	n    int
	pass bool // it was none: everything is written
}

var (
	last  fatalText
	rank  [32]byte // "rank 3: "
	rankN int
)

func init() { last.pass = os.Getenv("FLOW_DEBUG") != "" }

// speakAs sets the name of a rank for the last sentence.
func speakAs(name string) { rankN = copy(rank[:], name+": ") }

// The last sentences.
const (
	noMemory = "flowrun: out of memory: the system gives this process no more\n" +
		"  = help: ulimit -v and the memory limit of the container say how much there is; FLOW_DEBUG=1 shows where it ran out\n"
	noThread = "flowrun: the system starts no more threads for this process\n" +
		"  = help: --threads 1 needs the fewest; ulimit -u, ulimit -v and the limits of the container say how many there may be\n"
	aborted = "flowrun: a C library has given up; what it said is above\n" +
		"  = help: where it could start no thread, ulimit -u and ulimit -v say how many there may be; FLOW_DEBUG=1 shows where\n"
)

// lastWords takes what the runtime writes. It runs where nothing may be allocated and the stack may
// not grow, possibly in a signal handler or before the runtime is there.
//
//go:nosplit
//go:norace
func lastWords(fd uintptr, p unsafe.Pointer, n int32) int32 {
	if fd != 2 || last.pass {
		return writeAll(fd, p, n)
	}
	for i := int32(0); i < n; i++ {
		if sentence := last.hear(*(*byte)(unsafe.Add(p, i))); sentence != "" {
			die(sentence)
		}
		if last.pass {
			writeAll(2, unsafe.Pointer(&last.text), int32(last.n))
			writeAll(2, unsafe.Add(p, i+1), n-i-1)
			break
		}
	}
	return n
}

// hear takes a byte and returns the sentence that is to be said instead of all there is; "" if
// there is none yet.
//
//go:nosplit
//go:norace
func (w *fatalText) hear(c byte) string {
	w.text[w.n] = c
	w.n++
	if c != '\n' {
		w.pass = w.n == len(w.text)
		return ""
	}
	switch fatal := w.has("fatal error: "); {
	case w.has("SIGABRT: "):
		return aborted
	case fatal && (w.has("failed to create new OS thread") || w.has("newosproc")):
		return noThread
	case fatal && (w.has("out of memory") || w.has("cannot allocate") || w.has("failed to reserve") || w.has("failed to allocate") ||
		w.has("cannot map pages")):
		return noMemory
	default: // the runtime may say more before it gives up
		w.pass = fatal || !w.has("runtime: ") && !w.has("runtime/")
	}
	return ""
}

// has reports that the text so far contains a string.
//
//go:nosplit
//go:norace
func (w *fatalText) has(s string) bool {
	for at := 0; at+len(s) <= w.n; at++ {
		k := 0
		for k < len(s) && w.text[at+k] == s[k] {
			k++
		}
		if k == len(s) {
			return true
		}
	}
	return false
}

// die says the last sentence and ends the process.
//
//go:nosplit
//go:norace
func die(sentence string) {
	writeAll(2, unsafe.Pointer(&rank), int32(rankN))
	writeAll(2, unsafe.Pointer(unsafe.StringData(sentence)), int32(len(sentence)))
	for {
		syscall.RawSyscall(syscall.SYS_EXIT_GROUP, exitFailed, 0, 0)
	}
}

// writeAll writes n bytes by the system call alone.
//
//go:nosplit
//go:norace
func writeAll(fd uintptr, p unsafe.Pointer, n int32) int32 {
	done, _, err := syscall.RawSyscall(syscall.SYS_WRITE, fd, uintptr(p), uintptr(n))
	if err != 0 {
		return -int32(err)
	}
	return int32(done)
}
