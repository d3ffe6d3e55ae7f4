package code

// This file maps memory for code.

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	// blockBytes is the least size of a block: some hundred loops.
	blockBytes = 256 << 10
	// alignment of a piece of code: a cache line, which also aligns its constants.
	alignment = 64
)

// Added counts the pieces of code that were made, for tests.
var Added atomic.Int64

// Memory holds code. It is safe for concurrent use. A block is unmapped when no Func in it is
// reachable any more.
type Memory struct {
	mu    sync.Mutex
	block *block
	used  int
}

// block is one piece of memory under two addresses.
type block struct {
	write, execute []byte
}

// New makes memory for code. It fails where the system does not let a process execute memory that
// it wrote.
func New() (*Memory, error) {
	m := &Memory{}
	return m, m.grow(blockBytes)
}

// grow starts a new block.
func (m *Memory) grow(size int) error {
	fd, err := unix.MemfdCreate("flow-loops", unix.MFD_CLOEXEC)
	if err != nil {
		return fmt.Errorf("no memory for machine code: %w", err)
	}
	defer unix.Close(fd)
	if err := unix.Ftruncate(fd, int64(size)); err != nil {
		return fmt.Errorf("no memory for machine code: %w", err)
	}
	w, err := unix.Mmap(fd, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("no memory for machine code: %w", err)
	}
	x, err := unix.Mmap(fd, 0, size, unix.PROT_READ|unix.PROT_EXEC, unix.MAP_SHARED)
	if err != nil {
		_ = unix.Munmap(w)
		return fmt.Errorf("the system does not execute memory that was written: %w", err)
	}
	b := &block{write: w, execute: x}
	runtime.AddCleanup(b, func(both [2][]byte) {
		_, _ = unix.Munmap(both[0]), unix.Munmap(both[1])
	}, [2][]byte{w, x})
	m.block, m.used = b, 0
	return nil
}

// Func is a piece of code that can be called. It is safe for concurrent use.
type Func struct {
	entry uintptr
	size  int
	block *block
}

// Add copies a piece of code into the memory.
func (m *Memory) Add(text []byte) (*Func, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	room := (len(text) + alignment - 1) / alignment * alignment
	if m.used+room > len(m.block.write) {
		if err := m.grow(max(blockBytes, (room+0xfff)&^0xfff)); err != nil {
			return nil, err
		}
	}
	copy(m.block.write[m.used:], text)
	f := &Func{entry: uintptr(unsafe.Pointer(&m.block.execute[m.used])), size: len(text), block: m.block}
	m.used += room
	Added.Add(1)
	return f, nil
}

// Size is the number of bytes of the code.
func (f *Func) Size() int { return f.size }

// Entry is where the code begins, for maps that profilers read.
func (f *Func) Entry() uintptr { return f.entry }

// Call runs the code on the block of arguments. Memory that the arguments point to without a Go
// pointer is the caller's to keep alive.
func (f *Func) Call(args unsafe.Pointer) {
	call(f.entry, args)
	runtime.KeepAlive(f)
}

// call is the trampoline.
//
//go:noescape
func call(entry uintptr, args unsafe.Pointer)
