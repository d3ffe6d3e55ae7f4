//go:build !linux || !amd64

package code

import (
	"errors"
	"sync/atomic"
	"unsafe"
)

// Added is 0: see the file for Linux.
var Added atomic.Int64

// Memory holds code; there is none on this system.
type Memory struct{}

// New fails: no code is made for this system.
func New() (*Memory, error) { return nil, errors.New("no machine code is made for this system") }

// Func is a piece of code that can be called.
type Func struct{}

// Add fails as New does.
func (m *Memory) Add([]byte) (*Func, error) {
	return nil, errors.New("no machine code is made for this system")
}

// Size is 0.
func (f *Func) Size() int { return 0 }

// Entry is 0.
func (f *Func) Entry() uintptr { return 0 }

// Call panics: there is no code.
func (f *Func) Call(unsafe.Pointer) { panic("BUG: a call of code that cannot be made") }
