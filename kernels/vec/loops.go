package vec

// This file defines the loops that processors run as vectors (package machine): AVX-512 or AVX2
// where the CPU has it, for whole vectors, and the plain loop for what is left. IEEE arithmetic is
// the same in all of them, so the choice shows in no bit.

//go:generate go run flow/kernels/vec/gen -out .

import (
	"math"
	"unsafe"

	"golang.org/x/sys/cpu"

	"flow/kernels/vec/machine"
)

// What this machine can run; fixed for the life of the process.
var (
	haveAVX2   = cpu.X86.HasAVX2 && cpu.X86.HasFMA && machine.Possible()
	haveAVX512 = haveAVX2 && cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ
	haveGather = haveAVX512 && cpu.X86.HasAVX512VL && cpu.X86.HasBMI2
)

// set is the instruction set of kernels, where there is one.
func set() machine.Set {
	if haveAVX512 {
		return machine.AVX512
	}
	return machine.AVX2
}

// whole is the part of n elements that fills whole vectors, 0 where there are none.
func whole[T Element](n int) int {
	var x T
	switch {
	case haveAVX512:
		return n &^ (64/int(unsafe.Sizeof(x)) - 1)
	case haveAVX2:
		return n &^ (32/int(unsafe.Sizeof(x)) - 1)
	}
	return 0
}

// Terms is room for the terms of a cascade and its vector of lost errors.
type Terms [72]float64

// exact reports that the w lost errors after n terms are all zero; a NaN anywhere in a cascade ends
// up there.
func (t *Terms) exact(n, w int) bool {
	var bad uint64
	for _, v := range t[n : n+w] {
		bad |= math.Float64bits(v) << 1
	}
	return bad == 0
}

// cascade is the shape of a cascade of vectors: lanes elements a vector, chains vectors a round,
// levels of sums.
type cascade struct{ lanes, chains, levels int }

// plan is the cascade for this machine; lanes is 0 if it has none. Squares of float64 have long low
// halves.
func plan(longSquares bool) cascade {
	c := cascade{chains: 4, levels: 2}
	if longSquares {
		c.chains, c.levels = 2, 3
	}
	switch {
	case haveAVX512:
		c.lanes = 8
	case haveAVX2:
		c.lanes = 4
	}
	return c
}

// rounds is how many rounds n elements make.
func (c cascade) rounds(n int) int {
	if c.lanes == 0 {
		return 0
	}
	return n / (c.lanes * c.chains)
}

// CascadeF64 sums elements of x from the front, or their squares h + l (h = x*x rounded, l its
// error), without rounding: if ok, the exact sum of terms[:n] is that of the first done elements.
// Without vector hardware, or for a short x, ok is false, as when an error was lost or a number was
// not finite.
func CascadeF64(x []float64, squares bool, terms *Terms) (n, done int, ok bool) {
	return plan(squares).sliceF64(x, squares, terms)
}

func (c cascade) sliceF64(x []float64, squares bool, terms *Terms) (n, done int, ok bool) {
	rounds := c.rounds(len(x))
	if rounds == 0 {
		return 0, 0, false
	}
	round := c.lanes * c.chains
	args := struct {
		x            *float64
		rounds, step int
		acc          *float64
	}{&x[0], rounds, 8 * round, &terms[0]}
	set, f := machine.AVX2, machine.SumF64
	if c.lanes == 8 {
		set = machine.AVX512
	}
	if squares {
		f = machine.SquaresF64
	}
	f.Call(set, unsafe.Pointer(&args))
	n = round * c.levels
	return n, rounds * round, terms.exact(n, c.lanes)
}
