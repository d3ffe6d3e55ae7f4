package main

import (
	"strings"
	"testing"
)

// What the runtime says, as Go 1.26 and older versions say it, and what is said instead of it; ""
// where a bug of Flow is told as it is.
func TestLastWords(t *testing.T) {
	for _, c := range []struct{ name, said, want string }{
		{"a large allocation", "runtime: out of memory: cannot allocate 1342177280-byte block (1354334208 in use)\nfatal error: out of memory\n", noMemory},
		{"a span", "fatal error: runtime: out of memory\n", noMemory},
		{"at start", "fatal error: failed to reserve page summary memory\n", noMemory},
		{"metadata", "fatal error: runtime: cannot allocate memory\n", noMemory},
		{"an arena", "runtime: mmap(0xc000000000, 67108864) returned 0x0, 12\nfatal error: runtime: cannot map pages in arena address space\n", noMemory},
		{"threads", "runtime: failed to create new OS thread (have 5 already; errno=11)\nruntime: may need to increase max user processes (ulimit -u)\nfatal error: newosproc\n", noThread},
		{"threads of C", "SIGABRT: abort\n", aborted},
		{"deadlock", "fatal error: all goroutines are asleep - deadlock!\n", ""},
		{"a race on a map", "fatal error: concurrent map writes\n", ""},
		{"a stack", "runtime: goroutine stack exceeds 1000000000-byte limit\nruntime: sp=0x1 stack=[0x2, 0x3]\nfatal error: stack overflow\n", ""},
		{"a panic", "panic: out of memory of this test\n", ""},
		{"a signal", "SIGSEGV: segmentation violation\n", ""},
		{"a long line", strings.Repeat("runtime: x", 200), ""},
	} {
		var w fatalText
		said, at := "", 0
		for at < len(c.said) && said == "" && !w.pass {
			said = w.hear(c.said[at])
			at++
		}
		switch {
		case said != c.want:
			t.Errorf("%s: %q is said, want %q", c.name, said, c.want)
		case said == "" && (!w.pass || string(w.text[:w.n]) != c.said[:at]):
			t.Errorf("%s: %q of %q is passed on", c.name, w.text[:w.n], c.said[:at])
		case said != "" && at != len(c.said):
			t.Errorf("%s: decided after %q", c.name, c.said[:at])
		}
	}
	if overrideWrite == nil {
		t.Error("the runtime does not know of it")
	}
}
