package op

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"flow/ir/types"
	"flow/ir/value"
)

// Body is a region as definitions and kernels see it: a list of actions over registers. Registers
// 0..len(Args)-1 are the arguments; action k writes register len(Args)+k. It is immutable and safe
// for concurrent use.
type Body struct {
	Args   []types.Type
	Acts   []Action
	Yields []int

	once  sync.Once
	code  any
	spare atomic.Pointer[evaluation]
}

// Action applies one operator to registers.
type Action struct {
	Def   *Def
	Attrs *Attrs
	Type  types.Type
	Args  []int
	// Chain is the program of a map. Bodies are the regions of loops and branches.
	Chain  *Program
	Bodies []*Body
	At     Place
	// Asks: the call's argument shapes are checked before it runs (Call.Settle).
	Asks bool
}

// Place is a range of the source text, as positions of lang/source, or zero.
type Place struct{ From, To int32 }

// Compiled returns make's result for the body, made once: a kernel's own form of it.
func (b *Body) Compiled(make func(*Body) any) any {
	b.once.Do(func() { b.code = make(b) })
	return b.code
}

// evaluation is the memory of an evaluation of a body: its registers, the operands of its actions one
// after the other, and the call of one action.
type evaluation struct {
	reg, in []value.Value
	call    Call
}

// Eval defines a body: it evaluates every action in order by its definition and returns the yields.
// A failure names the place of its action in the text. within gives the environment and whether the
// call is stopped.
//
// A body is evaluated once an index, so it keeps the memory of an evaluation for the next one. It would
// be wrong if a definition kept its Call or the list of its operands.
func (b *Body) Eval(args []value.Value, within *Call) ([]value.Value, error) {
	e := b.spare.Swap(nil)
	if e == nil {
		most := 0
		for k := range b.Acts {
			most += len(b.Acts[k].Args)
		}
		e = &evaluation{reg: make([]value.Value, len(b.Args)+len(b.Acts)), in: make([]value.Value, most)}
	}
	out, err := b.eval(e, args, within)
	clear(e.reg)
	clear(e.in)
	e.call = Call{}
	b.spare.Store(e)
	return out, err
}

func (b *Body) eval(e *evaluation, args []value.Value, within *Call) ([]value.Value, error) {
	reg, rest, c := e.reg, e.in, &e.call
	if copy(reg, args) != len(b.Args) {
		return nil, fmt.Errorf("BUG: %d arguments for a body of %d", len(args), len(b.Args))
	}
	for k := range b.Acts {
		a := &b.Acts[k]
		m := len(a.Args)
		in := rest[:m:m]
		rest = rest[m:]
		for i, r := range a.Args {
			in[i] = reg[r]
		}
		*c = Call{Def: a.Def, Attrs: a.Attrs, In: in, Type: a.Type, Env: within.Env, Stopped: within.Stopped, Body: a.Chain, Bodies: a.Bodies}
		v, err := a.eval(c)
		if err != nil {
			return nil, a.Failed(k, err)
		}
		reg[len(b.Args)+k] = v
	}
	out := make([]value.Value, len(b.Yields))
	for i, r := range b.Yields {
		out[i] = reg[r]
	}
	return out, nil
}

// eval evaluates the action by its definition: the call c, which ends with it.
func (a *Action) eval(c *Call) (value.Value, error) {
	switch a.Def.Control {
	case Part:
		if a.Type.Kind == types.Effect { // it orders actions, which run in sequence anyway
			return nil, nil
		}
		return c.In[0].(value.Tuple)[a.Attrs.Int("at")], nil
	case Select:
		k := 0
		if !c.In[0].(value.Scalar).True() {
			k = 1
		}
		out, err := a.Bodies[k].Eval(c.In[1:], c)
		return value.Tuple(out), InBody(err, k, 0)
	case Iterate:
		return a.iterate(c)
	}
	if a.Def.Ref == nil {
		return nil, fmt.Errorf("BUG: %s has no definition", a.Def.Name)
	}
	if a.Asks {
		if err := c.Settle(); err != nil {
			return nil, err
		}
	}
	return a.Def.Ref(c)
}

func (a *Action) iterate(c *Call) (value.Value, error) {
	args, carry := append([]value.Value(nil), c.In...), a.Attrs.Int("carry")
	times, counted := a.Attrs.Get("times")
	for round := int64(0); !counted || round < times.I; round++ {
		if c.Ended() {
			return nil, ErrStopped
		}
		if !counted {
			stop, err := a.Bodies[1].Eval(args, c)
			if err != nil {
				return nil, InBody(err, 1, round)
			}
			if stop[0].(value.Scalar).True() {
				break
			}
		}
		next, err := a.Bodies[0].Eval(args, c)
		if err != nil {
			return nil, InBody(err, 0, round)
		}
		for i, v := range next {
			if was, is := args[i].Type(), v.Type(); was != is {
				return nil, a.ChangedShape(was, is)
			}
		}
		copy(args, next)
	}
	return value.Tuple(args[:carry:carry]), nil
}

// ChangedShape returns the failure of an iterate whose carried value was of one type and would become
// of another.
func (a *Action) ChangedShape(was, is types.Type) error {
	return &Failure{Code: "E415", Msg: fmt.Sprintf("a carried value was %v and would become %v", was, is), At: a.At,
		Help: "a carried value has the same shape in every round"}
}

// Failed returns err as the failure of action k, with its place unless an inner action has given
// its own.
func (a *Action) Failed(k int, err error) error {
	var f *Failure
	if !errors.As(err, &f) {
		return err
	}
	g := *f
	if g.At == (Place{}) {
		g.At = a.At
	}
	path := []BodyStep{{Act: k}}
	var inner *BodyFailure
	if errors.As(err, &inner) {
		path = append(path, inner.Path...)
	}
	return &BodyFailure{&g, path}
}

// InBody adds to err, from Eval of a body, the number of the body and the completed rounds.
func InBody(err error, body int, round int64) error {
	if f, ok := err.(*BodyFailure); ok {
		f.Path[0].Body, f.Path[0].Round = body, round
	}
	return err
}

// Register returns the type of register r.
func (b *Body) Register(r int) types.Type {
	if r < len(b.Args) {
		return b.Args[r]
	}
	return b.Acts[r-len(b.Args)].Type
}

// Type returns the type of the first yield.
func (b *Body) Type() types.Type { return b.Register(b.Yields[0]) }
