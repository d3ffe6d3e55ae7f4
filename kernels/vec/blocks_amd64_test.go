package vec

import (
	"math/rand/v2"
	"testing"
	"unsafe"
)

// The machine's blocks are 8 x 8 elements of matrices, turned or as they lie, and it writes nothing else.
func TestBlocks(t *testing.T) {
	if !HaveBlocks {
		t.Skip("no AVX-512")
	}
	r := rand.New(rand.NewPCG(9, 9))
	const n, blocks = 41, 4
	x, y := make([]float64, n*n), make([]float64, n*n)
	for i := range x {
		x[i], y[i] = r.Float64(), r.Float64()
	}
	var half [Block * Block]float64
	Fill(half[:], 0.5)
	at := func(m []float64, i, j int) unsafe.Pointer { return unsafe.Pointer(&m[i*n+j]) }
	const row = 8 * n
	got := make([]float64, n*n)
	Blocks([]BlockLink{ // got[1+i, 2+j] = x[4+j, 3+i] * 0.5 + y[5+i, 6+j], rows 0..7, columns 0..31
		{LinkTurn, at(x, 4, 3), Block * row, row},
		{LinkMul, unsafe.Pointer(&half[0]), 0, 64},
		{LinkAdd, at(y, 5, 6), 64, row},
		{LinkStore, at(got, 1, 2), 64, row},
		{Op: LinkEnd},
	}, blocks)
	for i := range n {
		for j := range n {
			want := 0.0
			if a, b := i-1, j-2; a >= 0 && a < Block && b >= 0 && b < blocks*Block {
				want = x[(4+b)*n+3+a]*0.5 + y[(5+a)*n+6+b]
			}
			if g := got[i*n+j]; g != want {
				t.Fatalf("element %d,%d is %v, want %v", i, j, g, want)
			}
		}
	}
}
