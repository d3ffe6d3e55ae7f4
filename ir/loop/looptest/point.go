package looptest

// This file draws nests without indices.

import (
	"fmt"
	"math/rand/v2"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
)

// Point returns the case as a nest of one point, whose inner loops are the indices of the space.
func (c *Case) Point() *Case {
	n := *c.Nest
	for k := len(n.Space) - 1; k >= 0; k-- {
		n.Body = loop.Block{Stmts: []loop.Stmt{{Code: loop.For, Loop: &loop.Loop{Index: n.Space[k], Body: n.Body}}}}
	}
	n.Space = nil
	parsed, err := loop.Parse(n.String(), loop.Standard{})
	if err != nil {
		panic(err.Error() + "\n" + n.String())
	}
	point := *c
	point.Nest, point.Rows, point.Lanes = parsed, 1, 1
	return &point
}

// DrawRounds returns the nest of one point of a seed. Its rounds change matrices by inner loops along
// rows and columns, whose rounds depend on one another in some nests and do not in others.
func DrawRounds(seed uint64) *Case {
	d := &drawing{Rand: rand.New(rand.NewPCG(seed, 3)), depth: 1}
	e := d.elem()
	rows, cols, rounds := 1+d.IntN(6), 1+d.IntN(40), 1+d.IntN(12)
	c := &Case{Rows: 1, Lanes: 1, shapes: []shape{{e, rows, cols}, {e, rows, cols}}}
	at, in, by := value.New(types.I64, rounds, 4), value.New(e, rows, cols), value.New(types.I64, cols, 1)
	for k := range rounds {
		copy(at.I64[4*k:], []int64{int64(d.IntN(rows)), int64(d.IntN(cols)), int64(d.IntN(rows)), int64(d.IntN(cols))})
	}
	for i := range rows {
		for j := range cols {
			in.Set(i, j, value.F64(number(d.Rand)).Convert(e))
			by.I64[j] = int64(d.IntN(cols))
		}
	}
	c.In = []value.Value{at, in, by}
	size := fmt.Sprintf("%d, %d", rows, cols)
	if d.IntN(2) == 0 {
		size = "%1.rows, %1.cols"
	}
	fmt.Fprintf(&d.b, "nest(%%0: i64[], %%1: %v[], %%2: i64[]) () {\n", e)
	d.line("local w0 %v[%s]", e, size)
	d.line("local w1 %v[%s]", e, size)
	all := func(body func()) {
		d.loops++
		d.line("for r%d: 0..%%1.rows {", d.loops)
		d.line("for c%d: 0..%%1.cols {", d.loops)
		body()
		d.line("}")
		d.line("}")
	}
	all(func() {
		d.line("v%d = load %%1[r%d, c%d]", d.fresh(e), d.loops, d.loops)
		d.line("store w0[r%d, c%d] v%d", d.loops, d.loops, d.count-1)
		d.line("store w1[r%d, c%d] v%d", d.loops, d.loops, d.count-1)
	})
	d.line("for round: 0..%d {", rounds)
	var named [4]int
	for k := range named {
		named[k] = d.fresh(types.I64)
		d.line("v%d = load %%0[round, %d]", named[k], k)
	}
	for range 1 + d.IntN(3) {
		d.sweep(e, named)
	}
	if e != types.Bool && d.IntN(2) == 0 {
		d.chain(e, named)
	}
	if d.IntN(2) == 0 {
		all(func() {
			d.line("v%d = load w1[r%d, c%d]", d.fresh(e), d.loops, d.loops)
			d.line("store w0[r%d, c%d] v%d", d.loops, d.loops, d.count-1)
		})
	}
	d.line("}")
	all(func() {
		for k := range 2 {
			d.line("v%d = load w%d[r%d, c%d]", d.fresh(e), k, d.loops, d.loops)
			d.line("store out%d[r%d, c%d] v%d", k, d.loops, d.loops, d.count-1)
		}
	})
	fmt.Fprintf(&d.b, "} : (%v[%d, %d], %v[%d, %d])\n", e, rows, cols, e, rows, cols)
	n, err := loop.Parse(d.b.String(), loop.Standard{})
	if err != nil {
		panic(fmt.Sprintf("seed %d: %v\n%s", seed, err, d.b.String()))
	}
	c.Nest = n
	return c
}

// sweep draws an inner loop along a row or a column of local matrices. named are values: a row, a
// column, and the same again.
func (d *drawing) sweep(e types.Elem, named [4]int) {
	d.loops++
	k := fmt.Sprintf("k%d", d.loops)
	along, end := 1, "%1.cols" // the subscript that k is
	if d.IntN(3) == 0 {
		along, end = 0, "%1.rows"
	}
	place := func(k string) string {
		other := fmt.Sprintf("v%d", named[1-along+2*d.IntN(2)])
		if along == 1 {
			return other + ", " + k
		}
		return k + ", " + other
	}
	pick := func(list ...string) string { return list[d.IntN(len(list))] }
	d.line("for %s: %s..%s {", k, pick("1", "1", fmt.Sprintf("v%d+1", named[along])), pick(end, end, end, fmt.Sprintf("v%d", named[along+2])))
	load := func(at string) int {
		v := d.fresh(e)
		d.line("v%d = load w%d[%s]", v, d.IntN(2), at)
		return v
	}
	own := place(k)
	x := load(pick(own, own, place(k), place(k+"-1")))
	if along == 1 && d.IntN(3) == 0 {
		v := d.fresh(types.I64)
		d.line("v%d = load %%2[%s, 0]", v, k)
		x = load(place(fmt.Sprintf("v%d", v)))
	}
	if d.IntN(3) == 0 {
		d.line("check 0 v%d", d.truth(fmt.Sprintf("ne v%d, v%d", x, load(fmt.Sprintf("v%d, v%d", named[0], named[1])))))
	}
	y := load(pick(own, place(k), fmt.Sprintf("v%d, v%d", named[0], named[1])))
	op := pick("add", "sub", "mul", "min", "max")
	if e == types.Bool {
		op = pick("and", "or", "xor", "eq", "le", "lt")
	}
	z := d.fresh(e)
	d.line("v%d = %s v%d, v%d", z, op, x, y)
	if d.IntN(2) == 0 {
		v := d.fresh(types.I64)
		d.line("v%d = index %s", v, k)
		c := d.truth(fmt.Sprintf("%s v%d, v%d", pick("lt", "eq", "le"), v, named[along]))
		if d.IntN(2) == 0 {
			v = d.fresh(e)
			d.line("v%d = select v%d, v%d, v%d", v, c, z, y)
			z = v
		} else {
			d.line("if v%d {", c)
			d.line("store w1[%s] v%d", own, x)
			d.line("} else {")
			d.line("}")
		}
	}
	d.line("store w%d[%s] v%d", pick("1", "1", "0")[0]-'0', pick(own, own, own, place(k), place(k+"-1")), z)
	d.line("}")
}

// chain draws an inner loop that carries a number.
func (d *drawing) chain(e types.Elem, named [4]int) {
	d.loops++
	first, out, carried, at, x, next := d.fresh(e), d.fresh(e), d.fresh(e), d.fresh(types.I64), d.fresh(e), d.fresh(e)
	d.line("v%d = load w1[v%d, v%d]", first, named[0], named[1])
	d.line("v%d = for k%d: 0..%%1.cols (v%d = v%d) {", out, d.loops, carried, first)
	d.line("v%d = load %%2[k%d, 0]", at, d.loops)
	d.line("v%d = load %%1[v%d, v%d]", x, named[2], at)
	d.line("v%d = %s v%d, v%d", next, []string{"add", "mul", "min", "max"}[d.IntN(4)], carried, x)
	d.line("next v%d", next)
	d.line("}")
	d.line("store w1[v%d, v%d] v%d", named[0], named[3], out)
}

func (d *drawing) truth(op string) int {
	v := d.fresh(types.Bool)
	d.line("v%d = %s", v, op)
	return v
}
