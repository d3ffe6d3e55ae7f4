//go:build linux

package launch

// This file is the target amd64: machine code of this processor.

import (
	"sync"
	"unsafe"

	"golang.org/x/sys/cpu"

	"flow/ir/loop"
	"flow/kernels/loop/amd64"
	"flow/kernels/loop/code"
)

// memory is where all code of the process lies, or why there is none.
var memory = sync.OnceValues(code.New)

type machineCode struct {
	*amd64.Code
	f    *code.Func
	fuel uint64
}

func compiled(n *loop.Nest, lay layout, levels int) (executable, error) {
	return machineCodeOf(n, lay, levels, rootsHold)
}

func machineCodeOf(n *loop.Nest, lay layout, levels int, roots func() bool) (executable, error) {
	target, err := Target()
	if err != nil {
		return nil, err
	}
	if target == Interp {
		return interpretedCode(n)
	}
	m, err := memory()
	if err != nil {
		return nil, err
	}
	if len(n.Params)+len(n.Results) > most {
		return nil, &amd64.Unsupported{What: "so many operands"}
	}
	params, results := layouts(n, lay)
	c, err := amd64.Compile(amd64.Target(target), n, params, results, levels, amd64.Schedule{First: lay&lanesFirst != 0, Stream: lay&streamed != 0, Fetch: lay&fetched != 0, Keep: lay&keeping != 0, Roots: roots})
	if err != nil {
		return nil, err
	}
	f, err := m.Add(c.Text)
	if err != nil {
		return nil, err
	}
	mapped(f.Entry(), f.Size())
	return &machineCode{c, f, uint64(c.Fuel)}, nil
}

// machineTargets lists the instruction sets that code is made for and that this processor has.
func machineTargets() (list []string) {
	if _, err := memory(); err != nil {
		return nil
	}
	x := cpu.X86
	if !x.HasAVX2 || !x.HasFMA {
		return nil
	}
	if x.HasAVX512F && x.HasAVX512BW && x.HasAVX512CD && x.HasAVX512DQ && x.HasAVX512VL {
		list = append(list, string(amd64.AVX512))
	}
	return append(list, string(amd64.AVX2))
}

func (c *machineCode) states() map[int]*loop.State { return c.States }

func (c *machineCode) worker() *Worker {
	w := &Worker{args: make([]uint64, c.Words), fuel: c.fuel, points: c.Points}
	w.call = func(w *Worker) { c.f.Call(unsafe.Pointer(&w.args[0])) }
	return w
}
