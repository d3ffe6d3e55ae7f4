#include "textflag.h"

// func call(entry uintptr, args unsafe.Pointer)
//
// The frame of 0 bytes leaves the stack to the return address of the code, which is a leaf.
TEXT ·call(SB), NOSPLIT, $0-16
	MOVQ entry+0(FP), AX
	MOVQ args+8(FP), DI
	CALL AX
	RET
