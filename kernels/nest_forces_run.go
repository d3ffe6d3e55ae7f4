package kernels

// This file runs sums of forces on blocks of points.

import (
	"unsafe"

	"flow/ir/value"
	"flow/kernels/nest"
	"flow/kernels/vec"
)

// forcePass is what runs a pass of forces. Tests have another one, for processors without.
var forcePass = struct {
	have func() bool
	run  func(f *vec.Forces, rows int) bool
}{vec.HaveForces, (*vec.Forces).Run}

// forceRows is what is the same in every iteration, as a pass reads it.
type forceRows struct {
	columns   [3][]float64
	softening [8]float64
	strength  []float64
	n         int
}

// laidForces lays out the rows of an execution.
func laidForces(c *nest.ForceCall, values []value.Value) *forceRows {
	p := values[c.Rows].(*value.Dense)
	x := &forceRows{n: p.Rows}
	words := make([]float64, 4*p.Rows)
	for k := range x.columns {
		x.columns[k] = words[k*p.Rows:][:p.Rows]
	}
	for i := range p.Rows {
		for k := range x.columns {
			x.columns[k][i] = p.F64[i*p.Stride+k]
		}
	}
	vec.Fill(x.softening[:], values[c.Softening].(value.Scalar).F)
	switch s := values[c.Strength].(type) {
	case value.Scalar:
		x.strength = []float64{s.F}
	case *value.Dense:
		x.strength = words[3*p.Rows:]
		for i := range x.strength {
			x.strength[i] = s.F64[i*s.Stride]
		}
	}
	return x
}

// forceLanes is a worker's points and sums of a block.
type forceLanes struct {
	points, sums [3][]float64
}

func newForceLanes(height int) *forceLanes {
	w := &forceLanes{}
	n := (height + vec.ForceLanes - 1) / vec.ForceLanes * vec.ForceLanes
	words := floatsOver(aligned(make([]uint64, 6*n+8)))
	for k := range w.points {
		w.points[k], w.sums[k] = words[2*k*n:][:n], words[(2*k+1)*n:][:n]
	}
	return w
}

func floatsOver(words []uint64) []float64 {
	return unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(words))), len(words))
}

// run sums the forces of the first n rows of points into those of sums; false: not all are sure.
func (w *forceLanes) run(c *nest.ForceCall, x *forceRows, points, sums *value.Dense, n int) bool {
	for i := range n {
		for k := range w.points {
			w.points[k][i] = points.F64[i*points.Stride+k]
		}
	}
	for at := 0; at < n; at += vec.ForceLanes {
		f := vec.Forces{Softening: unsafe.Pointer(&x.softening[0]), Strength: unsafe.Pointer(&x.strength[0]), Back: c.Back}
		if len(x.strength) > 1 {
			f.Step = 8
		}
		for k := range w.points {
			lanes := w.points[k][at:][:vec.ForceLanes]
			if m := n - at; m < len(lanes) {
				vec.Fill(lanes[m:], lanes[m-1]) // nothing reads the sums of these
			}
			f.Columns[k], f.Lanes[k], f.Chains[k] = unsafe.Pointer(&x.columns[k][0]), unsafe.Pointer(&lanes[0]), unsafe.Pointer(&w.sums[k][at])
		}
		if !forcePass.run(&f, x.n) {
			return false
		}
	}
	for i := range n {
		for k := range w.sums {
			v := w.sums[k][i]
			if v != v {
				return false
			}
			sums.F64[i*sums.Stride+k] = v
		}
	}
	return true
}
