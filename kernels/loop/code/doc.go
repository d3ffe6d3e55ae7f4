// Package code keeps machine code that was made at run time and calls it.
//
// No page is ever writable and executable at once through one address: a block of memory is mapped
// twice, once to write and once to execute, and code that runs is never overwritten. Memory that
// the system refuses to execute is an error of New, and the caller interprets instead.
//
// The code that is called is a leaf. It gets one pointer, in DI; it keeps BP and SP, uses no stack,
// may change all other registers, ends with VZEROUPPER and RET, and returns within some 20 us,
// because the Go runtime cannot stop a goroutine inside it. Memory that it reads and writes is kept
// alive by the caller. A fault inside it ends the process: whoever makes code checks its operands
// before a call.
//
// The package knows neither loops nor instructions.
package code
