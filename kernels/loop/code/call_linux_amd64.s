#include "textflag.h"

// func call(entry uintptr, args unsafe.Pointer)
//
// The code is a leaf and needs no stack beside its return address. It changes BP: a function with a frame saves it.
TEXT ·call(SB), NOSPLIT, $8-16
	MOVQ entry+0(FP), AX
	MOVQ args+8(FP), DI
	CALL AX
	RET
