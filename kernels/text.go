package kernels

// This file bounds the length of a str.

import (
	"flow/ir/op"
	"flow/ir/types"
)

// mostText is the number of bytes of the longest str that is computed. Doubling one forty times would ask for 5 TB.
const mostText = 16 << 20

func tooLong(size int) error {
	return op.Failf(codeMemory, "a str of %s: it has at most %s", types.InBytes(float64(size)), types.InBytes(mostText)).
		WithHelp("numbers are kept in matrices, and written to files by emit .. to")
}
