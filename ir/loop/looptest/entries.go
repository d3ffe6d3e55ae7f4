package looptest

// This file draws sparse operands and loops over their entries.

import (
	"fmt"
	"strings"

	"flow/ir/types"
	"flow/ir/value"
)

// sparseCols is the number of columns of sparse operands, at most that of a local.
const sparseCols = localCols

// sparse draws two sparse operands with this number of rows.
func (d *drawing) sparse(rows int) {
	for range 2 {
		e := []types.Elem{types.F64, types.F32, types.I64, types.Bool}[d.IntN(4)]
		m := value.NewCSR(e, rows, sparseCols, rows*sparseCols)
		n := 0
		for i := range rows {
			for j := range sparseCols {
				if d.IntN(2) == 0 {
					continue
				}
				x := float64(1 + d.IntN(9))
				m.Col[n] = int32(j)
				switch e {
				case types.F64:
					m.F64[n] = x / 4
				case types.F32:
					m.F32[n] = float32(x) / 4
				case types.I64:
					m.I64[n] = int64(x)
				}
				n++
			}
			m.Ptr[i+1] = int64(n)
		}
		d.c.In = append(d.c.In, m)
		d.params = append(d.params, e)
	}
}

// sparseRow draws a row of a sparse operand: the same for all points, or the point's own.
func (d *drawing) sparseRow() string {
	switch d.IntN(3) {
	case 0:
		return d.subscript(2)
	case 1:
		return "1"
	}
	if d.c.one {
		return "j+1"
	}
	return "i+1"
}

// entries draws a loop over the entries of a row, or of two.
func (d *drawing) entries(level int) {
	kind := []string{"row", "row", "both", "either"}[d.IntN(4)]
	rows := d.sparseRow()
	rng := fmt.Sprintf("%s(%%6, %s", kind, rows)
	sides := []int{6}
	if kind != "row" {
		second := 6 + d.IntN(2)
		rng += fmt.Sprintf(", %%%d, %s", second, d.sparseRow())
		sides = append(sides, second)
	}
	want := []types.Elem{d.elem(), types.I64}[:1+d.IntN(2)]
	var inits, results []string
	for _, e := range want {
		inits = append(inits, fmt.Sprintf("v%d", d.of(e)))
	}
	first := d.count
	for range want {
		results = append(results, fmt.Sprintf("v%d", d.count))
		d.count++
	}
	d.loops++
	outer := len(d.visible)
	var pairs []string
	for k, e := range want {
		pairs = append(pairs, fmt.Sprintf("v%d = %s", d.fresh(e), inits[k]))
	}
	name := fmt.Sprintf("q%d", d.loops)
	d.line("%s = for %s: %s) (%s) {", strings.Join(results, ", "), name, rng, strings.Join(pairs, ", "))
	d.depth++
	if d.IntN(4) == 0 {
		d.line("break v%d", d.of(types.Bool))
	}
	column := d.fresh(types.I64)
	d.line("v%d = column %s", column, name)
	d.open = append(d.open, round{fmt.Sprintf("v%d", column), sparseCols})
	for _, k := range sides {
		d.line("v%d = entry %%%d %s", d.fresh(d.c.In[k].Type().Elem), k, name)
	}
	yields := d.inside(level, want)
	d.open = d.open[:len(d.open)-1]
	d.line("next %s", strings.Join(yields, ", "))
	d.depth--
	d.line("}")
	d.visible = d.visible[:outer]
	for k, e := range want {
		d.visible = append(d.visible, val{first + k, e})
	}
}
