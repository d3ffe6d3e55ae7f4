package loop

// This file evaluates statements.

import (
	"fmt"
	"math"
	"slices"

	"flow/ir/types"
	"flow/ir/value"
)

// block evaluates statements in order. broke: a break was taken.
func (e *evaluator) block(b *Block) (broke bool, err error) {
	e.path = append(e.path, 0)
	for i := range b.Stmts {
		e.path[len(e.path)-1] = i
		if broke, err = e.stmt(&b.Stmts[i]); broke || err != nil {
			break
		}
	}
	e.path = e.path[:len(e.path)-1]
	return broke, err
}

// words returns the words of values. The next call takes the memory again.
func (e *evaluator) words(list []Val) []Word {
	e.buffer = e.appendTo(e.buffer[:0], list)
	return e.buffer
}

func (e *evaluator) appendTo(out []Word, list []Val) []Word {
	for _, v := range list {
		out = append(out, e.vals[v])
	}
	return out
}

func (e *evaluator) fails(s *Stmt, f Failure) error {
	f.Origin, f.path = s.Origin, slices.Clone(e.path)
	return &f
}

func (e *evaluator) stmt(s *Stmt) (broke bool, err error) {
	in := e.words(s.Args)
	if s.Code.IsOp() {
		e.vals[s.Dst] = canonical(e.types[s.Dst], s.Code, s.Code.Eval(e.types[s.Args[0]], in...))
		return false, nil
	}
	switch s.Code {
	case Const:
		e.vals[s.Dst] = s.Imm
	case IndexOf:
		e.vals[s.Dst] = Word(e.index[s.Imm])
	case Load:
		e.vals[s.Dst] = e.load(s)
	case Look:
		e.vals[s.Dst] = e.tables[s.Mem.N].Words[in[0]]
	case Store:
		if s.Mem.Kind == LocalMem {
			d := e.locals[s.Mem.N]
			i, j := e.at(s, d.Rows, d.Cols)
			d.Set(i, j, ScalarOf(d.Elem, in[0]))
			return false, nil
		}
		o := e.out[s.Mem.N]
		i, j := e.at(s, o.rows, o.cols)
		o.store(i, j, in[0])
	case Reduce:
		o := e.out[s.Mem.N]
		i, j := e.at(s, o.rows, o.cols)
		o.contribute(i, j, e.types[s.Args[0]], in)
	case Check:
		if in[0] == 0 {
			var list []types.Elem
			for _, v := range s.Args[1:] {
				list = append(list, e.types[v])
			}
			return false, e.fails(s, Failure{Site: int(s.Imm), Args: slices.Clone(in[1:]), Types: list})
		}
	case Break:
		return in[0] != 0, nil
	case Apply:
		return false, e.apply(s, in)
	case If:
		b := s.Then
		if in[0] == 0 {
			b = s.Else
		}
		if _, err := e.block(b); err != nil {
			return false, err
		}
		copy(e.vals[max(0, s.Dst):], e.words(b.Yield))
	case For:
		return false, e.loop(s)
	default:
		panic(fmt.Sprintf("BUG: no statement %d", s.Code))
	}
	return false, nil
}

// canonical makes all NaNs equal, since the processor decides the bits of a NaN. Operations on bits
// keep them.
func canonical(t types.Elem, c Code, w Word) Word {
	if c != F64Bits && c != Select && t.IsFloat() && toFloat(t, w) != toFloat(t, w) {
		return fromFloat(t, math.NaN())
	}
	return w
}

// loop evaluates a For: the carried values go from round to round.
func (e *evaluator) loop(s *Stmt) error {
	l, x := s.Loop, s.Loop.Index
	if l.After > 0 {
		x.Range.From = Num(e.index[l.After-1])
	}
	carried := e.appendTo(nil, l.Init)
	e.path = append(e.path, 0)
	err := e.each(x, func(round int) (bool, error) {
		e.path[len(e.path)-1] = round
		if l.Carry != NoVal {
			copy(e.vals[l.Carry:], carried)
		}
		broke, err := e.block(&l.Body)
		if broke || err != nil {
			return broke, err
		}
		carried = e.appendTo(carried[:0], l.Body.Yield)
		return false, nil
	})
	e.path = e.path[:len(e.path)-1]
	if s.N > 0 {
		copy(e.vals[s.Dst:], carried)
	}
	return err
}

// apply evaluates the body of a function in a frame of its own.
func (e *evaluator) apply(s *Stmt, in []Word) error {
	f := s.Func
	if f.Go != nil {
		x := each(in, func(w Word) float64 { return toFloat(types.F64, w) })
		e.vals[s.Dst] = fromFloat(types.F64, f.Go(x))
		return nil
	}
	outer := e.frame
	if e.frame = e.frames[f]; e.frame == nil {
		e.frame = newFrame(f.Types, f.Names, f.Tables)
		e.frames[f] = e.frame
	}
	e.path = outer.path
	copy(e.vals, in)
	_, err := e.block(&f.Body)
	out := e.words(f.Body.Yield)
	outer.path = e.path
	e.frame = outer
	copy(e.vals[s.Dst:], out)
	return err
}

// at returns the place of a memory access. It panics outside the memory: the nest lacks a check.
func (e *evaluator) at(s *Stmt, rows, cols int) (i, j int) {
	i, j = int(e.lin(s.At[0])), int(e.lin(s.At[1]))
	if i < 0 || i >= rows || j < 0 || j >= cols {
		panic(fmt.Sprintf("BUG: %v[%d, %d] of %d x %d", s.Mem, i, j, rows, cols))
	}
	return i, j
}

func (e *evaluator) load(s *Stmt) Word {
	if s.Mem.Kind == LocalMem {
		d := e.locals[s.Mem.N]
		i, j := e.at(s, d.Rows, d.Cols)
		return WordOf(d.At(i, j))
	}
	switch a := e.in[s.Mem.N].(type) {
	case *value.Dense:
		i, j := e.at(s, a.Rows, a.Cols)
		return WordOf(a.At(i, j))
	case value.Scalar:
		return WordOf(a)
	}
	panic("BUG: load of neither scalar nor matrix")
}

// output is a result under construction.
type output struct {
	Result
	rows, cols int
	dense      *value.Dense
	in         map[[2]int]*contribution // of a reduced one
	of         types.Elem               // the type of its contributions
}

type contribution [][]Word

func newOutput(r Result, rows, cols int64) *output {
	return &output{Result: r, rows: int(rows), cols: int(cols), dense: value.New(r.Elem, int(rows), int(cols)), in: map[[2]int]*contribution{}, of: r.Elem}
}

func (o *output) store(i, j int, w Word) { o.dense.Set(i, j, ScalarOf(o.Elem, w)) }

func (o *output) contribute(i, j int, of types.Elem, in []Word) {
	c := o.in[[2]int{i, j}]
	if c == nil {
		c = new(contribution)
		*c = make(contribution, len(in))
		o.in[[2]int{i, j}], o.of = c, of
	}
	for k, w := range in {
		(*c)[k] = append((*c)[k], w)
	}
}

// finish returns the result after the last point.
func (o *output) finish() value.Value {
	if o.Class == NoClass {
		return o.dense
	}
	for i := range o.rows {
		for j := range o.cols {
			in := make([][]Word, o.Class.Info().Args)
			if c := o.in[[2]int{i, j}]; c != nil {
				in = *c
			}
			o.store(i, j, o.Class.Fold(o.of, in))
		}
	}
	return o.dense
}
