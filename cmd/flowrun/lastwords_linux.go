package main

import (
	"os"
	"syscall"
	"unsafe"
)

// This file puts one sentence in the place of the Go runtime's dump when the runtime finds no memory or no thread. See
// "What says the last sentence of a process without memory?" in RATIONALE.md.

// overrideWrite is the hook of the Go runtime for what it writes itself, print and the dump of a fatal error; it keeps
// the name and type of the hook for those who link to it. It is set before anything runs: the runtime may fail to
// reserve its first memory.
//
//go:linkname overrideWrite runtime.overrideWrite
var overrideWrite func(fd uintptr, p unsafe.Pointer, n int32) int32 = lastWords

// last is what the runtime has said that may be the beginning of a fatal error. The runtime writes under a lock of its
// own, or from the one thread that is dying.
var last struct {
	text  [1024]byte
	n     int
	pass  bool     // it was none: everything is written
	rank  [32]byte // "rank 3: "
	rankN int
}

func init() {
	if os.Getenv("FLOW_DEBUG") != "" {
		last.pass = true
	}
}

// speakAs sets the name of a rank before the last sentence.
func speakAs(name string) { last.rankN = copy(last.rank[:], name+": ") }

// The last sentences.
const (
	noMemory = "flowrun: out of memory: the system gives this process no more\n" +
		"  = help: ulimit -v and the memory limit of the container say how much there is; FLOW_DEBUG=1 shows where it ran out\n"
	noThread = "flowrun: the system starts no more threads for this process\n" +
		"  = help: --threads 1 needs the fewest; ulimit -u, ulimit -v and the limits of the container say how many there may be\n"
	aborted = "flowrun: a C library has given up; what it said is above\n" +
		"  = help: where it could start no thread, ulimit -u and ulimit -v say how many there may be; FLOW_DEBUG=1 shows where\n"
)

// lastWords takes what the runtime writes. It runs where nothing may be allocated and the stack may not grow, possibly
// in a signal handler or before the runtime is there.
//
//go:nosplit
//go:norace
func lastWords(fd uintptr, p unsafe.Pointer, n int32) int32 {
	if fd != 2 || last.pass {
		return writeAll(fd, p, n)
	}
	for i := int32(0); i < n; i++ {
		if last.n == len(last.text) {
			return flushWords(p, i, n)
		}
		c := *(*byte)(unsafe.Add(p, i))
		last.text[last.n] = c
		last.n++
		if c != '\n' {
			continue
		}
		switch {
		case says("SIGABRT: "):
			die(aborted)
		case !says("fatal error: ") && !says("runtime: ") && !says("runtime/"):
			return flushWords(p, i+1, n)
		case !says("fatal error: "): // it says more before it gives up
		case says("failed to create new OS thread") || says("newosproc"):
			die(noThread)
		case says("out of memory") || says("cannot allocate memory") || says("failed to reserve") || says("failed to allocate") ||
			says("cannot map pages") || says("cannot allocate heap"):
			die(noMemory)
		default:
			return flushWords(p, i+1, n)
		}
	}
	return n
}

// says reports that the text so far contains a string.
//
//go:nosplit
//go:norace
func says(s string) bool {
	for at := 0; at+len(s) <= last.n; at++ {
		k := 0
		for k < len(s) && last.text[at+k] == s[k] {
			k++
		}
		if k == len(s) {
			return true
		}
	}
	return false
}

// flushWords writes what was held back and the rest of a write of n bytes from byte i on, and all that comes.
//
//go:nosplit
//go:norace
func flushWords(p unsafe.Pointer, i, n int32) int32 {
	last.pass = true
	writeAll(2, unsafe.Pointer(&last.text), int32(last.n))
	last.n = 0
	writeAll(2, unsafe.Add(p, i), n-i)
	return n
}

// die says the last sentence and ends the process.
//
//go:nosplit
//go:norace
func die(sentence string) {
	writeAll(2, unsafe.Pointer(&last.rank), int32(last.rankN))
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
