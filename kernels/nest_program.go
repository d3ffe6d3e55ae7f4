package kernels

// This file writes the program of a chain as a nest of the loop form, and keeps the nests with
// their program: one for each way in which its operands may lie.

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/kernels/define"
	"flow/kernels/dense"
	"flow/kernels/loop/launch"
	"flow/kernels/nest"
)

// nestShape is what the nest of a program depends on beside the program.
type nestShape struct {
	modes   [mostIn]op.Mode // as operands are bound: see machine.bind
	tall    bool            // vectors go along the rows: of matrices that are higher than wide
	fold    string          // the reductions of a pipeline: see foldsNamed
	columns bool            // of a loop that reduces columns: see columnWorker
}

// mostIn is the most operands of a nest of a program: a worker has room for its results besides.
const mostIn = op.MostOperands

// programNest is a nest of a program, which is made when enough work has been seen.
type programNest struct {
	seen    *launch.Steps
	loop    func() *launch.Loop // nil: there is none
	small   func() *launch.Loop // interpreted
	bad     atomic.Bool         // no target runs it
	defined atomic.Int64        // steps on elements that ran by definition
}

// programNests is the nests of a program.
type programNests struct {
	by     define.Made[nestShape, *programNest]
	fails  bool         // a step may have no value of its operands
	native bool         // a step is a Go function, which machine code does not call
	kept   sync.Map     // loops of other forms, by what they depend on
	shapes atomic.Int64 // how many of these there have been
	steps  int          // of an element, about: a function counts as several, as it takes as long and longer to compile
}

// nestsOf is the nests of a program, which stay with it.
func nestsOf(p *op.Program) *programNests {
	return p.Compiled(func(p *op.Program) any {
		n := &programNests{}
		for _, s := range p.Steps {
			n.fails = n.fails || s.Def.Fails(p.Reads(&s), s.Elem)
			n.native = n.native || s.Def.Body == nil
			n.steps += 1 + int(s.Def.Cost(&op.Sig{Def: s.Def}, types.DenseOf(s.Elem, 1, 1)).Flops)/4
		}
		for _, o := range p.In {
			if o.Mode == op.Drawn {
				n.steps += int(o.Gen.Cost(&op.Sig{Def: o.Gen, Attrs: o.Attrs}, types.DenseOf(o.Elem, 1, 1)).Flops) / 4
			}
		}
		n.steps = max(1, n.steps)
		return n
	}).(*programNests)
}

// callElements is how many elements a call counts for beside its own: the interpreter takes as long to
// begin an operation. See launch.Steps.
const callElements = 1 << 6

// definedSteps is from how many steps on elements on a chain is a loop: by definition they take about
// as long as it takes to make one for the interpreter, 50 us.
const definedSteps = 1 << 9

// of is the nest of a program in some shape.
func (n *programNests) of(p *op.Program, s nestShape) *programNest {
	return n.by.Of(s, func() *programNest {
		made := func(by func(n *loop.Nest) *launch.Loop) func() *launch.Loop {
			return sync.OnceValue(func() *launch.Loop {
				if n := writeNest(p, s); n != nil {
					return by(n)
				}
				return nil
			})
		}
		return &programNest{seen: stepsOf(p, s), loop: made(nest.LoopOf), small: made(launch.Interpreted)}
	})
}

// counted holds a counter of steps for each text of a program.
var counted = &define.Made[string, *launch.Steps]{Most: 512}

// stepsOf returns the counter of steps of all programs with the text of p in shape s. Several calls of
// a function make programs of one text: they count their work together, and so get machine code sooner.
// The text leaves out attributes, so programs that differ in them count together too. That changes no
// result.
func stepsOf(p *op.Program, s nestShape) *launch.Steps {
	text := fmt.Append(nil, s.modes[:len(p.In)], s.tall, s.fold, s.columns)
	for _, o := range p.In {
		if text = fmt.Append(text, o.Elem); o.Mode == op.Drawn {
			text = fmt.Append(text, o.Gen.Name)
		}
	}
	for _, t := range p.Steps {
		text = fmt.Append(text, t.Def.Name, t.Args, t.Elem)
	}
	return counted.Of(string(text), func() *launch.Steps { return &launch.Steps{} })
}

// chain is the loop of a chain in some shape: it is interpreted until enough work has been seen for
// machine code, and nil before there is enough for that. last: more work does not change the loop.
func (n *programNests) chain(p *op.Program, s nestShape, work int) (l *launch.Loop, last bool) {
	x := n.of(p, s)
	if l = n.nest(p, s, work); l != nil {
		return l, true
	}
	if most := int64(definedSteps); x.defined.Load() < most && x.defined.Add(int64(work*n.steps)) < most && launch.PaysFrom > 0 {
		return nil, false
	}
	return x.small(), n.native || x.bad.Load()
}

// nest is the loop of a program in some shape, or nil as long as little work has been seen, and
// where there is none. work is how many elements it is about to run on.
func (n *programNests) nest(p *op.Program, s nestShape, work int) *launch.Loop {
	x := n.of(p, s)
	if n.native || x.bad.Load() || !x.seen.Pay(int64(work)+callElements, func() int { return n.operations(p, s) }) {
		return nil
	}
	return x.loop()
}

// operations is how many operations an element of a program takes in some shape. The nest that is
// counted is that of the interpreter.
func (n *programNests) operations(p *op.Program, s nestShape) int {
	count := foldSteps * len(strings.Fields(s.fold))
	s.fold, s.columns = "", false
	if l := n.of(p, s).small(); l != nil {
		count += launch.Operations(l.Nest())
	}
	return count
}

// writeNest is the nest of a program, or nil where a step has no body. Its operands are those of
// the program, then the rows and the columns of the index space; a check that fails has the number
// of its step.
func writeNest(p *op.Program, s nestShape) (out *loop.Nest) {
	nest.Written(func() { out = nestOf(p, s) })
	return out
}

func nestOf(p *op.Program, s nestShape) *loop.Nest {
	b := loop.New()
	for k, o := range p.In {
		kind, e := loop.DenseParam, dense.Storage(o.Elem)
		switch s.modes[k] {
		case op.Single:
			kind = loop.ScalarParam
		case op.Drawn:
			e = types.I64
		}
		b.Param(kind, e)
	}
	rows := loop.Of(loop.ParamSym, b.Param(loop.ScalarParam, types.I64))
	cols := loop.Of(loop.ParamSym, b.Param(loop.ScalarParam, types.I64))
	index := func(name string, to loop.Lin) loop.Lin {
		return loop.Of(loop.IndexSym, b.Index(name, loop.Range{Kind: loop.Steps, To: to, By: 1}))
	}
	var i, j loop.Lin
	switch {
	case s.columns:
		writeColumns(b, p, s, rows, cols)
		return b.Done()
	case s.tall:
		j = index("j", cols)
		i = index("i", rows)
	default:
		i = index("i", rows)
		j = index("j", cols)
	}
	last := elementOf(b, p, s, wordsIn(b, p), i, j)
	var folded []foldPart
	stored := true
	if s.fold != "" {
		folded, stored = foldParts(s.fold, p.Elem(), false)
	}
	if stored {
		r := b.Result(dense.Storage(p.Elem()), rows, cols)
		b.Store(loop.Mem{Kind: loop.ResultMem, N: r}, i, j, last)
	}
	contribute(b, folded, last, loop.Num(1), loop.Num(0), func() loop.Val {
		return b.Op(loop.Add, b.Op(loop.Mul, b.Number(i), b.Number(cols)), b.Number(j))
	})
	return b.Done()
}

// elementOf writes the element of a program at (i, j). words has the words of drawn operands, by
// operand.
func elementOf(b *loop.Builder, p *op.Program, s nestShape, words map[int][]loop.Val, i, j loop.Lin) loop.Val {
	return nest.Chain(b, p, true, func(k int) loop.Val {
		m := loop.Mem{Kind: loop.ParamMem, N: k}
		switch s.modes[k] {
		case op.Single:
			return b.Load(m)
		case op.Drawn:
			return p.In[k].Gen.Draw.Element(b, p.In[k].Elem, i, j, func(n int) loop.Val { return words[k][n] })
		}
		row, col := nest.Place(s.modes[k], i, j)
		return b.Load(m, row, col)
	})
}

// wordsIn loads the words of drawn operands (op.DrawWords), by operand. It is called before any inner
// loop begins.
func wordsIn(b *loop.Builder, p *op.Program) map[int][]loop.Val {
	list := map[int][]loop.Val{}
	for k := range p.In {
		if p.In[k].Mode == op.Drawn {
			for n := range (op.DrawWords{}) {
				list[k] = append(list[k], b.Load(loop.Mem{Kind: loop.ParamMem, N: k}, loop.Num(0), loop.Num(int64(n))))
			}
		}
	}
	return list
}
