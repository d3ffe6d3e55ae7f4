package loop

// This file is the definition. It evaluates a nest point by point, statement by statement. It is
// slow and obvious, and every target is compared with it.

import (
	"errors"
	"fmt"
	"slices"

	"flow/ir/types"
	"flow/ir/value"
)

// Env is what a nest needs from its caller.
type Env struct {
	// Stopped reports that the run has been stopped. nil: never.
	Stopped func() bool
}

// ErrStopped is the error of an evaluation that was stopped.
var ErrStopped = errors.New("the run was stopped")

// Failure is a failed check.
type Failure struct {
	Site  int          // the number of the check
	Args  []Word       // its values
	Types []types.Elem // their types
	Point []int64      // the indices of the space
	Origin
	path []int
}

func (f *Failure) Error() string { return fmt.Sprintf("check %d failed at %v", f.Site, f.Point) }

// Eval computes the results for these operands. Points are evaluated in ascending order, the last
// index fastest.
//
// Of several failures it reports the first of the unfused program, which runs each statement, and
// each round of an inner loop, for all points before the next: the first by statement and round,
// then by point.
func (n *Nest) Eval(in []value.Value, env Env) ([]value.Value, error) {
	if len(in) != len(n.Params) {
		return nil, fmt.Errorf("BUG: %d operands for a nest of %d", len(in), len(n.Params))
	}
	e := &evaluator{nest: n, in: in, env: env, frames: map[*Function]*frame{}}
	e.frame = newFrame(n.Types, n.Names, n.Tables)
	e.locals = make([]*value.Dense, len(n.Locals))
	for _, r := range n.Results {
		e.out = append(e.out, newOutput(r, e.lin(r.Rows), e.lin(r.Cols)))
	}
	if err := e.points(0); err != nil {
		return nil, err
	}
	if e.first != nil {
		return nil, e.first
	}
	results := make([]value.Value, len(e.out))
	for i, o := range e.out {
		results[i] = o.finish()
	}
	return results, nil
}

type evaluator struct {
	*frame
	nest   *Nest
	in     []value.Value
	env    Env
	locals []*value.Dense
	out    []*output
	first  *Failure
	buffer []Word               // of the operands of one statement
	frames map[*Function]*frame // of the functions that have been called; none calls itself
}

// frame is the state of one body: a nest's or a function's.
type frame struct {
	types  []types.Elem
	tables []Table
	vals   []Word
	index  []int64 // by name
	path   []int   // the enclosing statements and rounds
}

func newFrame(types []types.Elem, names []string, tables []Table) *frame {
	return &frame{types: types, tables: tables, vals: make([]Word, len(types)), index: make([]int64, len(names))}
}

// points evaluates the body for all values of the indices from number k on.
func (e *evaluator) points(k int) error {
	if k < len(e.nest.Space) {
		return e.each(e.nest.Space[k], func(int) (bool, error) { return false, e.points(k + 1) })
	}
	if e.env.Stopped != nil && e.env.Stopped() {
		return ErrStopped
	}
	for i, l := range e.nest.Locals {
		e.locals[i] = e.local(l)
	}
	e.path = e.path[:0]
	_, err := e.block(&e.nest.Body)
	f, failed := err.(*Failure)
	if !failed {
		return err
	}
	if e.first == nil || slices.Compare(f.path, e.first.path) < 0 {
		for _, x := range e.nest.Space {
			f.Point = append(f.Point, e.index[x.Name])
		}
		e.first = f
	}
	return nil
}

func (e *evaluator) local(l Local) *value.Dense {
	return value.New(l.Elem, int(e.lin(l.Rows)), int(e.lin(l.Cols)))
}

// each runs body for every value of an index, with the number of the round, until it returns stop.
func (e *evaluator) each(x Index, body func(round int) (stop bool, err error)) error {
	r := x.Range
	round := 0
	step := func() (bool, error) {
		stop, err := body(round)
		round++
		return stop, err
	}
	if r.Kind == Forever {
		for i := int64(0); ; i++ {
			e.index[x.Name] = i
			if stop, err := step(); stop || err != nil {
				return err
			}
			if e.env.Stopped != nil && e.env.Stopped() {
				return ErrStopped
			}
		}
	}
	i, to := e.lin(r.From), e.lin(r.To)
	for r.By > 0 && i < to || r.By < 0 && i > to {
		e.index[x.Name] = i
		if stop, err := step(); stop || err != nil {
			return err
		}
		next := i + r.By
		if (next > i) != (r.By > 0) {
			return nil // beyond the integers
		}
		i = next
	}
	e.index[x.Name] = i // see Loop.After
	return nil
}

func (e *evaluator) lin(l Lin) int64 {
	sum := l.Const
	for _, t := range l.Terms {
		sum += t.Coef * e.sym(t.Sym)
	}
	return sum
}

func (e *evaluator) sym(s Sym) int64 {
	switch s.Kind {
	case IndexSym:
		return e.index[s.N]
	case ValSym:
		return int64(e.vals[s.N])
	case ParamSym:
		return e.in[s.N].(value.Scalar).I
	}
	t := e.in[s.N].Type()
	if s.Kind == RowsSym {
		return int64(t.Rows)
	}
	return int64(t.Cols)
}

// WordOf returns a scalar as a word.
func WordOf(s value.Scalar) Word {
	if s.Elem.IsFloat() {
		return fromFloat(s.Elem, s.F)
	}
	return Word(s.I)
}

// ScalarOf returns a word as a scalar of e.
func ScalarOf(e types.Elem, w Word) value.Scalar {
	if e.IsFloat() {
		return value.Scalar{Elem: e, F: toFloat(e, w)}
	}
	return value.Scalar{Elem: e, I: int64(w)}
}

// Eval evaluates the function. Its body loads nothing and applies nothing.
func (f *Function) Eval(args ...Word) []Word {
	e := &evaluator{frame: newFrame(f.Types, f.Names, f.Tables)}
	copy(e.vals, args)
	if _, err := e.block(&f.Body); err != nil {
		panic("BUG: " + err.Error())
	}
	return e.words(f.Body.Yield)
}
