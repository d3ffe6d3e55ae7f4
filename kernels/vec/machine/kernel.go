package machine

// This file defines what a caller sees: kernels, which are compiled when they are first called.

import (
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"flow/kernels/loop/amd64"
	"flow/kernels/loop/code"
)

// Set is an instruction set.
type Set uint8

// The sets. AVX2 includes FMA, AVX512 the extensions DQ, BW and VL.
const (
	AVX2 Set = iota
	AVX512
	sets
)

// Kernel is a loop. Its arguments are 8-byte words, in the order of its parameters, and behind them
// room for its results. It is safe for concurrent use.
type Kernel struct {
	name   string
	params []string
	write  func(e *emitter)
	only   []Set // none: both
	code   [sets]atomic.Pointer[code.Func]
}

// memory is where all kernels of the process lie, or why there is none.
var memory = sync.OnceValues(code.New)

// Possible reports that this system executes code that a process wrote. A kernel must not be called
// where it does not.
func Possible() bool {
	_, err := memory()
	return err == nil
}

// Call runs the kernel. The processor has the instruction set s; args is the block of words.
func (k *Kernel) Call(s Set, args unsafe.Pointer) {
	f := k.code[s].Load()
	if f == nil {
		f = k.compiled(s)
	}
	f.Call(args)
}

// compiled is the kernel's code, made now.
func (k *Kernel) compiled(s Set) *code.Func {
	text, err := k.text(s)
	if err != nil {
		panic(err)
	}
	m, err := memory()
	if err != nil {
		panic("BUG: a kernel is called where no code can be executed: " + err.Error())
	}
	f, err := m.Add(text)
	if err != nil {
		panic(err) // no memory is left
	}
	k.code[s].Store(f) // another goroutine may have stored the same
	return f
}

// text is the machine code.
func (k *Kernel) text(s Set) ([]byte, error) {
	e := newEmitter(k, s)
	k.write(e)
	return e.finished()
}

// of is the kernel of a name, for the instruction sets of a list or, without one, for both.
func of(name, params string, write func(e *emitter), only ...Set) *Kernel {
	k := &Kernel{name: name, params: strings.Fields(params), write: write, only: only}
	all = append(all, k)
	return k
}

// all lists the kernels.
var all []*Kernel

func target(s Set) amd64.Target {
	if s == AVX512 {
		return amd64.AVX512
	}
	return amd64.AVX2
}
