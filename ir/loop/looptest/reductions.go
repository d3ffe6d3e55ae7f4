package looptest

// This file draws reduced results.

import (
	"fmt"

	"flow/ir/loop"
	"flow/ir/types"
)

var reduced = []loop.Class{loop.Sum, loop.Sum, loop.Mean, loop.Norm, loop.Var, loop.Stddev, loop.Least, loop.Greatest, loop.Any, loop.All, loop.Count,
	loop.ArgLeast, loop.ArgGreatest, loop.Product, loop.Chain}

// reductions draws contributions to one or two results: one for all points, one a row, one a lane,
// or chosen by the data.
func (d *drawing) reductions() {
	for range d.IntN(3) {
		class := reduced[d.IntN(len(reduced))]
		info := class.Info()
		e := info.On[d.IntN(len(info.On))]
		args := fmt.Sprintf("v%d", d.of(e))
		switch {
		case class == loop.ArgLeast || class == loop.ArgGreatest:
			n := d.fresh(types.I64)
			d.line("v%d = index j", n)
			args += fmt.Sprintf(", v%d", n)
		case info.Args == 2:
			args += fmt.Sprintf(", v%d", d.of(e))
		}
		s := shape{class.Gives(e), 1, 1}
		at, size := "0, 0", "1, 1"
		free := class.Free(e)
		switch k := d.IntN(5); {
		case !free || k == 0: // one result a lane: the order is that of the rows
			at, size, s.cols = "0, j", "1, %0.cols-2", d.c.Lanes
			if d.c.one {
				at, size, s.rows, s.cols = "j, 0", "%0.rows-2, 1", d.c.Lanes, 1
			}
		case k == 1 && !d.c.one:
			at, size, s.rows = "i, 0", "%0.rows-2, 1", d.c.Rows
		case k == 2:
			at, size, s.rows, s.cols = d.subscript(4)+", "+d.subscript(2), "4, 2", 4, 2
		}
		d.c.shapes = append(d.c.shapes, s)
		d.line("reduce out%d[%s] %s", len(d.results), at, args)
		d.results = append(d.results, fmt.Sprintf("%s %v[%s]", info.Name, s.elem, size))
	}
}
