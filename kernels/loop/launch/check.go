package launch

// This file checks machine code: with FLOW_LOOPS=check each window is evaluated by the interpreter,
// too, and both must give the same bytes.

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/dense"
	"flow/kernels/loop/interp"
)

// CheckVariable is the environment variable that makes runs check machine code: its value is
// CheckValue, or it is not set.
const (
	CheckVariable = "FLOW_LOOPS"
	CheckValue    = "check"
)

// CheckError says what is wrong with the value of the variable.
var CheckError = sync.OnceValue(func() error {
	if v := os.Getenv(CheckVariable); v != "" && v != CheckValue {
		return fmt.Errorf("%s=%s: the only value is %s", CheckVariable, v, CheckValue)
	}
	return nil
})

// Checks reports that machine code is checked.
var Checks = sync.OnceValue(func() bool { return os.Getenv(CheckVariable) == CheckValue })

const (
	// checkedRows and checkedLanes are the most rows and lanes of a strip that is checked.
	checkedRows  = 3
	checkedLanes = 700
)

// interpret gives a worker what it needs where the run is interpreted or checked.
func (w *Worker) interpret() {
	w.check = nil
	if c, ok := w.run.v.code.(*interpreted); ok {
		if w.beside == nil {
			w.beside = &beside{}
		}
		w.beside.bind(w.run, c.code, w.run.out)
		for _, x := range w.run.loop.byRow {
			w.beside.ByRow(x.result, x.offset)
		}
	} else if Checks() {
		w.check = newCheck(w.run)
	}
}

// newCheck begins a check; nil where the interpreter cannot take the nest.
func newCheck(r *Run) *check {
	n := r.loop.nest
	code, err := r.loop.beside()
	if err != nil {
		return nil
	}
	c := &check{random: rand.New(rand.NewPCG(1, 2))}
	out := make([]*value.Dense, len(r.out))
	for k, res := range n.Results {
		out[k] = r.out[k]
		if res.Class != loop.NoClass {
			c.reduces = true
			out[k] = value.New(res.Elem, r.out[k].Rows, r.out[k].Cols)
		}
	}
	c.shadow = out
	c.beside = &beside{}
	c.beside.bind(r, code, out)
	c.beside.Compare()
	return c
}

// window checks a window that machine code has evaluated: a strip of it at random, or all of it
// where results are reduced.
func (c *check) window(w *Worker, r0, r1, l0, l1 int) {
	if c.overwrites(w, r0, r1, l0, l1) {
		c.off = c.off || c.reduces
		return
	}
	if c.off {
		return
	}
	if c.reduces {
		c.rows = append(c.rows, [2]int{r0, r1})
	} else {
		r0, r1 = strip(c.random, r0, r1, checkedRows)
		l0, l1 = strip(c.random, l0, l1, checkedLanes)
	}
	c.follow(w, r0, r1, l0, l1)
	flagged, err := c.beside.Window(r0, r1, l0, l1, nil)
	c.let()
	switch d := (*interp.Difference)(nil); {
	case errors.As(err, &d):
		c.report(d)
	case err != nil:
		panic("BUG: " + err.Error())
	case flagged:
		panic(fmt.Sprintf("BUG: a check of a loop fails in the interpreter, and not in machine code, in rows %d to %d and lanes %d to %d of\n%s", r0, r1, l0, l1, c.run.loop.nest))
	}
}

func (c *check) report(d *interp.Difference) {
	panic(fmt.Sprintf("BUG: machine code of a loop differs from the interpreter: %v\n%s", d, c.run.loop.nest))
}

// strip is a random part of from to to.
func strip(r *rand.Rand, from, to, most int) (int, int) {
	if to-from <= most {
		return from, to
	}
	from += r.IntN(to - from - most + 1)
	return from, from + most
}

// overwrites reports a stored result in the memory of an operand, which is then not what it was
// when the result was made.
func (c *check) overwrites(w *Worker, r0, r1, l0, l1 int) bool {
	n := c.run.loop.nest
	extent := func(number int, mem loop.Mem, e types.Elem) (from, to uint64) {
		a := w.args[firstOperand+wordsOfOperand*number:]
		size := int64(e.Size())
		first, last := c.touched(mem, int64(a[1])/size, r0, r1, l0, l1)
		return a[0] + uint64(first*size), a[0] + uint64((last+1)*size)
	}
	for k, res := range n.Results {
		if res.Class != loop.NoClass {
			continue
		}
		from, to := extent(len(n.Params)+k, loop.Mem{Kind: loop.ResultMem, N: k}, res.Elem)
		for i, p := range n.Params {
			if p.Kind != loop.DenseParam {
				continue
			}
			if a, b := extent(i, loop.Mem{Kind: loop.ParamMem, N: i}, p.Elem); from < b && a < to {
				return true
			}
		}
	}
	return false
}

// finish compares the reduced results. Of one with an element a row it compares those of the rows
// that windows had.
func (c *check) finish() {
	if !c.reduces || c.off {
		return
	}
	c.beside.Worker.Finish()
	for _, r := range c.run.reduced {
		there := c.run.out[r.result]
		rows := [][2]int{{0, there.Rows}}
		if r.extent == oneEach {
			rows = nil
			for _, x := range c.rows {
				rows = append(rows, [2]int{x[0] + int(r.offset), x[1] + int(r.offset)})
			}
		}
		for _, x := range rows {
			for i := x[0]; i < x[1]; i++ {
				for j := range there.Cols {
					c.same(&r, i, j, there.At(i, j))
				}
			}
		}
	}
}

// same compares an element of a reduced result with that of the interpreter.
func (c *check) same(r *reducing, i, j int, there value.Scalar) {
	if want := c.shadow[r.result].At(i, j); !there.Same(want) {
		c.report(&interp.Difference{Result: r.result, Row: i, Col: j, There: there, Want: want})
	}
}

// partial compares the states of a reduced result that the caller takes itself, without a call of
// finish.
func (c *check) partial(r *reducing, p *part) {
	if c.off || r.extent == oneEach {
		return
	}
	there := value.New(r.out.Elem, 1, p.n)
	if to := dense.SlabOf(there, 0, p.n); r.exact() {
		p.exact.Result(&to, 0, p.n)
	} else {
		r.fast.Results(there, 0, 1, p.words, p.n, 0, p.n)
	}
	c.beside.Worker.Finish()
	for i := range p.n {
		c.same(r, (p.first+i)/r.cols, (p.first+i)%r.cols, there.At(0, i))
	}
}

// forget empties the reduced results as Worker.Forget does.
func (c *check) forget(w *Worker) {
	c.rows, c.off = nil, false
	for k := range w.parts {
		r, p := &w.run.reduced[k], &w.parts[k]
		first, n := p.first, p.n
		if r.extent == oneEach {
			first, n = 0, r.rows*r.cols
		}
		c.beside.Forget(r.result, first, n)
	}
}
