package looptest

// This file draws the statements that hold others: branches and loops.

import (
	"fmt"
	"strings"

	"flow/ir/types"
)

// inside draws the statements of a block and returns one visible value of each type.
func (d *drawing) inside(level int, want []types.Elem) (yields []string) {
	for range d.IntN(5) {
		d.statement(level + 1)
	}
	for _, e := range want {
		yields = append(yields, fmt.Sprintf("v%d", d.of(e)))
	}
	return yields
}

func (d *drawing) branch(level int) {
	c := d.of(types.Bool)
	want := []types.Elem{d.elem(), d.elem()}[:1+d.IntN(2)]
	var results []string
	first := d.count
	for range want {
		results = append(results, fmt.Sprintf("v%d", d.count))
		d.count++
	}
	d.line("%s = if v%d {", strings.Join(results, ", "), c)
	for _, end := range []string{"} else {", "}"} {
		outer := len(d.visible)
		d.depth++
		d.line("yield %s", strings.Join(d.inside(level, want), ", "))
		d.depth--
		d.line("%s", end)
		d.visible = d.visible[:outer]
	}
	for k, e := range want {
		d.visible = append(d.visible, val{first + k, e})
	}
}

// loop draws a loop of few rounds, with a break or a bound that depends on the data.
func (d *drawing) loop(level int) {
	want := []types.Elem{d.elem(), types.F64, types.I64}[:1+d.IntN(3)]
	var inits, results, carried []string
	for _, e := range want {
		inits = append(inits, fmt.Sprintf("v%d", d.of(e)))
	}
	end := d.IntN(6)
	rng := fmt.Sprintf("0..%d", end)
	switch d.IntN(5) {
	case 0: // downwards
		rng = fmt.Sprintf("%d..-1 by -1", end-1)
	case 1: // from an operand's size on, at least that of the margin
		end = 0
		rng = "%0.rows..%0.rows+3 by 2"
	case 2, 3: // 0 to 7 rounds, by the data
		x, seven := d.of(types.I64), d.count
		d.line("v%d = i64 7", d.fresh(types.I64))
		d.line("v%d = and v%d, v%d", d.fresh(types.I64), x, seven)
		end = 8
		rng = fmt.Sprintf("0..v%d", d.count-1)
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
		carried = append(carried, fmt.Sprintf("v%d", d.count))
		pairs = append(pairs, fmt.Sprintf("v%d = %s", d.fresh(e), inits[k]))
	}
	d.line("%s = for q%d: %s (%s) {", strings.Join(results, ", "), d.loops, rng, strings.Join(pairs, ", "))
	d.depth++
	if end > 0 {
		d.open = append(d.open, round{fmt.Sprintf("q%d", d.loops), end})
		defer func() { d.open = d.open[:len(d.open)-1] }()
	}
	if d.IntN(2) == 0 {
		d.line("v%d = index q%d", d.fresh(types.I64), d.loops)
	}
	if d.IntN(2) == 0 { // by a value of the round, half of the time
		for range d.IntN(2) * 3 {
			d.operation()
		}
		d.line("break v%d", d.of(types.Bool))
	}
	yields := d.inside(level, want)
	if d.IntN(4) == 0 && len(want) > 1 && want[0] == want[1] {
		yields[0], yields[1] = carried[1], carried[0] // the carried values change places
	}
	d.line("next %s", strings.Join(yields, ", "))
	d.depth--
	d.line("}")
	d.visible = d.visible[:outer]
	for k, e := range want {
		d.visible = append(d.visible, val{first + k, e})
	}
}
