package op

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"flow/ir/types"
	"flow/ir/value"
	"flow/memory"
)

// Sig is what a type rule and a cost function see of a call.
type Sig struct {
	Def   *Def
	In    []types.Type
	Attrs *Attrs
	// Consts holds the value of each input that is a plan-time constant, else nil; it may be nil altogether.
	Consts []value.Value
}

// Fault is a type rule's refusal. The compiler turns it into a diagnostic at the
// argument it names.
type Fault struct {
	Arg  int    // index of the argument at fault, values first then attributes; -1: the whole call
	Code string // a code of the diagnostics table, such as "E210"
	Msg  string
	Help string
}

func (f *Fault) Error() string { return f.Msg }

// Faultf makes a Fault.
func Faultf(arg int, code, format string, args ...any) *Fault {
	return &Fault{Arg: arg, Code: code, Msg: fmt.Sprintf(format, args...)}
}

// WithHelp adds a help line.
func (f *Fault) WithHelp(format string, args ...any) *Fault {
	f.Help = fmt.Sprintf(format, args...)
	return f
}

// Failure is a run-time failure that is the user's to see: a matrix that is not
// positive definite, a file that ends early. The runtime adds line, loop indices
// and rank.
type Failure struct {
	Code string
	Msg  string
	Help string
	// At is where in the text, when that is not where the node comes from: an action in the body of a loop.
	At Place
}

// BodyFailure is a Failure of an action in a body. Path leads from the call of the operator that evaluates bodies to the action.
type BodyFailure struct {
	*Failure
	Path []BodyStep
}

// Unwrap returns the failure.
func (f *BodyFailure) Unwrap() error { return f.Failure }

// BodyStep leads to an action of a body: of that number among the call's, or among those of the action of the step before.
// Round is how many rounds of an iterate were complete.
type BodyStep struct {
	Body, Act int
	Round     int64
}

func (f *Failure) Error() string { return f.Msg }

// Failf makes a Failure.
func Failf(code, format string, args ...any) *Failure {
	return &Failure{Code: code, Msg: fmt.Sprintf(format, args...)}
}

// NoMemory is the failure of a call for whose result, or for what it needs on the way, there is no memory.
func NoMemory(err error) *Failure {
	return &Failure{Code: "E605", Msg: "no memory for the result: " + err.Error(),
		Help: "choose smaller sizes, raise the limit, or use more ranks on other machines"}
}

// Panicked returns the failure that a kernel has panicked with, nil where it panicked for any other reason: allocations
// deep in a kernel, which return no error, panic with a *memory.Error.
func Panicked(v any) *Failure {
	if e, ok := v.(*memory.Error); ok {
		return NoMemory(e)
	}
	return nil
}

// WithHelp adds a help line.
func (f *Failure) WithHelp(help string) *Failure {
	f.Help = help
	return f
}

// Call is one execution of an operator.
type Call struct {
	Def   *Def
	Attrs *Attrs
	In    []value.Value
	// Type is the result's type.
	Type types.Type
	// Out: for a dense result the runtime lends a contiguous matrix before Kernel runs (see Def.Accum for its
	// contents); for every other kind Kernel sets it.
	Out value.Value
	// Body is the fused program of a map node; nil for all others.
	Body *Program
	// Bodies are the regions of a loop or a branch; nil for all others.
	Bodies []*Body
	// Env is the world outside, for effectful operators and read.
	Env Env
	// Stopped says that nobody will see the result any more; nil: somebody will. What may go on for long, such as a loop in a
	// body, asks now and then (it costs some nanoseconds) and gives up with ErrStopped.
	Stopped func() bool
}

// ErrStopped is the error of a call that has been given up because it was stopped. It tells a user nothing: why the run ends,
// somebody else says.
var ErrStopped = errors.New("the run has ended")

// Ended reports that the call is stopped.
func (c *Call) Ended() bool { return c.Stopped != nil && c.Stopped() }

// Dense is input i as a dense matrix.
func (c *Call) Dense(i int) *value.Dense { return c.In[i].(*value.Dense) }

// Scalar is input i as a scalar.
func (c *Call) Scalar(i int) value.Scalar { return c.In[i].(value.Scalar) }

// Settle asks the type rule again, with the arguments at hand, for a call of which the sizes of arguments were not known
// before the run. It puts the result's type into c.Type where that was open. Arguments that turn out not to fit are a
// *Failure, with what the rule would have said before the run.
func (c *Call) Settle() error {
	if c.Def.Type == nil {
		return nil
	}
	s := &Sig{Def: c.Def, Attrs: c.Attrs}
	for _, v := range c.In {
		s.In = append(s.In, v.Type())
	}
	t, err := c.Def.Type(s)
	var f *Fault
	switch {
	case errors.As(err, &f):
		return &Failure{Code: f.Code, Msg: f.Msg, Help: f.Help}
	case err != nil:
		return err
	}
	if c.Type.IsMatrix() && !c.Type.Known() {
		c.Type = t.With(c.Type.Elem) // element types may follow from constants, which are not at hand here
	}
	return nil
}

// Result is the lent output matrix.
func (c *Call) Result() *value.Dense { return c.Out.(*value.Dense) }

// Env is what effectful operators may touch. Calls come in program order per sink.
type Env interface {
	// Stdout is where emit prints.
	Stdout() io.Writer
	// Create opens a file sink: written under a temporary name, renamed when the whole run has
	// succeeded, removed when it has not.
	Create(path string) (io.WriteCloser, error)
	// Path resolves a path of the program (relative paths belong to the working directory).
	Path(path string) string
}

// Taker is an Env that may take a value as it is, in place of its text on Stdout. Calls come in the order of the program. The value
// is the caller's and holds during the call alone.
type Taker interface {
	Env
	// Take takes what would be printed under a label, "" for none, or reports that it is to be printed.
	Take(label string, v value.Value) bool
}

// Program is a fused chain of elementwise operators over one index space: a list of
// steps over registers. Registers 0..len(In)-1 are the inputs, Drawn ones, which no call has, at the end; step k writes
// register len(In)+k; the last step is the result.
type Program struct {
	In    []Operand
	Steps []Step

	once sync.Once
	code any
}

// Compiled is what make gives for the program, made once: a kernel's own forms of it. The program does not change afterwards.
func (p *Program) Compiled(make func(*Program) any) any {
	p.once.Do(func() { p.code = make(p) })
	return p.code
}

// Elem is the element type of the result.
func (p *Program) Elem() types.Elem {
	if n := len(p.Steps); n > 0 {
		return p.Steps[n-1].Elem
	}
	return p.In[0].Elem // a copy
}

// Operand says how an input is read at element (i, j) of the index space.
type Operand struct {
	Elem types.Elem
	Mode Mode
	// Gen is the constructor of a Drawn operand, with its attributes.
	Gen   *Def
	Attrs *Attrs
}

// Mode is how an operand lies in the index space.
type Mode uint8

// The modes of an operand.
const (
	Full   Mode = iota // same shape
	Trans              // same shape transposed: read at (j, i)
	RowVec             // 1 x m: read at (0, j)
	ColVec             // n x 1: read at (i, 0)
	Single             // scalar or 1 x 1
	Drawn              // no input: element (i, j) of a constructor
)

// Step applies one elementwise operator.
type Step struct {
	Def  *Def
	Args []int      // registers
	Elem types.Elem // of the result
}
