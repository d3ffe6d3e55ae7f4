package op

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"flow/ir/sparsity"
	"flow/ir/types"
	"flow/ir/value"
	"flow/memory"
)

// Sig is the part of a call that a type rule and a cost function see.
type Sig struct {
	Def   *Def
	In    []types.Type
	Attrs *Attrs
	// Consts holds the value of each input that is a plan-time constant, else nil. It may be
	// nil.
	Consts []value.Value
	// Stored holds the estimated nonzeros of each input. It may be nil.
	Stored []sparsity.Estimate
	// Told asks Def.Stored for the estimates that the order of a chain of products follows from. They are
	// part of what a program means, and do not become better.
	Told bool
}

// Of sets s to the signature of a call and returns it. It reuses the memory of s.In.
func (s *Sig) Of(c *Call) *Sig {
	s.Def, s.Attrs, s.In = c.Def, c.Attrs, s.In[:0]
	for _, v := range c.In {
		s.In = append(s.In, v.Type())
	}
	return s
}

// Counted sets what is known of the entries of the inputs to those that the inputs of a call have.
func (s *Sig) Counted(c *Call) {
	for _, v := range c.In {
		var e sparsity.Estimate
		if m, ok := v.(*value.CSR); ok {
			e = sparsity.Estimate{NNZ: float64(m.NNZ()), Basis: sparsity.Counted}
		}
		s.Stored = append(s.Stored, e)
	}
}

// Entries returns the estimated nonzeros of input k. ok is false if it is no sparse matrix, or if
// nothing is known of them.
func (s *Sig) Entries(k int) (n float64, ok bool) {
	if k >= len(s.Stored) || !s.In[k].IsSparse() || s.Stored[k].Basis == sparsity.Guessed {
		return 0, false
	}
	return s.Stored[k].NNZ, true
}

// Fault is a type rule's refusal. The compiler turns it into a diagnostic at argument Arg.
type Fault struct {
	Arg  int    // the argument at fault, values before attributes; -1: the whole call
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

// Failure is a run-time failure that users see: a matrix that is not positive definite, a file that
// ends early. The runtime adds line, loop indices and rank.
type Failure struct {
	Code string
	Msg  string
	Help string
	// At is the failing place in the text if it is not the node's own: an action in a loop
	// body.
	At Place
}

// BodyFailure is a Failure of an action in a body. Path leads from the call of the operator that
// evaluates bodies to the action.
type BodyFailure struct {
	*Failure
	Path []BodyStep
}

// Unwrap returns the failure.
func (f *BodyFailure) Unwrap() error { return f.Failure }

// BodyStep leads to an action of a body: the number of the body among the call's, or among those of
// the previous step's action. Round is the number of complete rounds of an iterate.
type BodyStep struct {
	Body, Act int
	Round     int64
}

func (f *Failure) Error() string { return f.Msg }

// Failf makes a Failure.
func Failf(code, format string, args ...any) *Failure {
	return &Failure{Code: code, Msg: fmt.Sprintf(format, args...)}
}

// NoMemory returns the failure of a call that lacks memory for its result or for intermediate
// values.
func NoMemory(err error) *Failure {
	return &Failure{Code: "E605", Msg: "no memory for the result: " + err.Error(),
		Help: "choose smaller sizes, raise the limit, or use more ranks on other machines"}
}

// Panicked returns the failure of a kernel's panic, or nil if it panicked for another reason.
// Allocations deep in a kernel panic with a *memory.Error.
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
	// Out is the result. For a dense result the runtime lends a contiguous matrix before Kernel
	// runs (see Def.Accum for its contents); Kernel sets every other kind.
	Out value.Value
	// Body is the fused program of a map node, else nil.
	Body *Program
	// Bodies are the regions of a loop or branch, else nil.
	Bodies []*Body
	// Part: this rank runs only some iterations of the loop, and other ranks run the others. A loop
	// that goes over them several times (Passes) must not need all in one to run another.
	Part bool
	// From..To-1 are the iterations of this rank if Part; both are 0 otherwise. A rank that helps another
	// one also runs iterations outside of its own. If one of these fails, its own rank runs it again.
	From, To int
	// Lo and Hi delimit the rows Lo..Hi-1 of this rank in a call without a Loop, or with a sparse
	// result, whose rows ranks share. Both are 0 in other calls.
	Lo, Hi int
	// Env is the environment of effectful operators and read.
	Env Env
	// Read counts the bytes that the call reads from files. nil: they are not counted.
	Read *atomic.Int64
	// Rounds tells how far the outermost iterate of the call is. nil: it is not told.
	Rounds *RoundCount
	// Stopped reports that the result is dead: no later node reads it. It may be nil. Long
	// work, such as a loop in a body, asks now and then (some nanoseconds) and returns
	// ErrStopped.
	Stopped func() bool

	// Wanted reports whether other tasks wait for a worker. It is set for a loop with Team.
	Wanted func() bool

	// Spare is memory of a call whose result's size only the arguments tell. If it is not nil, the kernel
	// may make the result in it, and leaves there what it has made. Nobody reads the old contents.
	Spare **value.Dense

	asked *Sig // see Repeats
}

// Repeats lets Settle use the same memory for each question. It is for a call that one goroutine makes
// again and again with other arguments. It would be wrong if two goroutines made the call, or copies of
// it.
func (c *Call) Repeats() { c.asked = &Sig{} }

// Window returns the rows lo..hi-1 that a rank makes of a matrix of so many rows: contiguous, and
// as many as others make, or one fewer.
func Window(rank, ranks, rows int) (lo, hi int) {
	return rows * rank / ranks, rows * (rank + 1) / ranks
}

// WindowOf returns the rows lo..hi-1 of a rank if by is a unit or a list. A number is the rows of a
// unit; ranks have equal numbers of units (see Window), and 0 means 1. A list holds the first row of
// each rank, then the number of rows.
func WindowOf(rank, ranks, rows int, by Val) (lo, hi int) {
	if by.Kind == IntsVal {
		return int(by.L[rank]), int(by.L[rank+1])
	}
	unit := max(int(by.I), 1)
	lo, hi = Window(rank, ranks, (rows+unit-1)/unit)
	return min(rows, lo*unit), min(rows, hi*unit)
}

// SendsAll reports whether a rank sends all of its rows to a rank that needs only the listed ones. It
// does if at least 41 of 42 are listed, so at most 1.025 times the needed bytes are sent. All rows need
// no packing and no unpacking.
func SendsAll(listed, rows int) bool { return listed >= rows-rows/42 }

// ErrStopped is the error of an abandoned call. Users do not see it, since the reason for the end
// is reported elsewhere.
var ErrStopped = errors.New("the run has ended")

// RoundCount is how far an iterate is that runs as one call. Its fields may be read at any time.
type RoundCount struct {
	Begun atomic.Int64 // 1 + the round that runs; 0: no iterate runs
	Times atomic.Int64 // the rounds that there will be; -1: a condition decides
}

// Ended reports whether the call is stopped.
func (c *Call) Ended() bool { return c.Stopped != nil && c.Stopped() }

// Dense returns input i as a dense matrix.
func (c *Call) Dense(i int) *value.Dense { return c.In[i].(*value.Dense) }

// Scalar returns input i as a scalar.
func (c *Call) Scalar(i int) value.Scalar { return c.In[i].(value.Scalar) }

// Settle applies the type rule to the actual arguments of a call whose argument sizes were unknown
// before the run, and sets c.Type where it was open. If the arguments do not fit it returns a
// *Failure with the type rule's message.
func (c *Call) Settle() error {
	if c.Def.Type == nil {
		return nil
	}
	s := c.asked
	if s == nil {
		s = &Sig{}
	}
	t, err := c.Def.Type(s.Of(c))
	var f *Fault
	switch {
	case errors.As(err, &f):
		return &Failure{Code: f.Code, Msg: f.Msg, Help: f.Help}
	case err != nil:
		return err
	}
	if c.Type.IsMatrix() && !c.Type.Known() {
		// element types may follow from constants, which are unknown here
		c.Type = t.With(c.Type.Elem)
	}
	return nil
}

// Result returns the lent output matrix.
func (c *Call) Result() *value.Dense { return c.Out.(*value.Dense) }

// Lent returns the memory that the caller has lent for result k, or nil. A single result is number 0.
func (c *Call) Lent(k int) *value.Dense {
	v := c.Out
	if t, ok := v.(value.Tuple); ok {
		v = t[k]
	}
	d, _ := v.(*value.Dense)
	return d
}

// Give sets result k to v. If memory has been lent for it, v is a dense matrix and is copied there.
func (c *Call) Give(k int, v value.Value) {
	if d := c.Lent(k); d != nil {
		if v != d {
			d.CopyFrom(v.(*value.Dense))
		}
		return
	}
	if t, ok := c.Out.(value.Tuple); ok {
		t[k] = v
		return
	}
	c.Out = v
}

// Env is what effectful operators may use. Calls come in program order per sink.
type Env interface {
	// Stdout is where emit prints.
	Stdout() io.Writer
	// Create opens a file sink: a temporary file, renamed when the whole run has succeeded and
	// removed otherwise.
	Create(path string) (io.WriteCloser, error)
	// Path resolves a path of the program, relative to the working directory.
	Path(path string) string
}

// Taker is an Env that can take a value instead of its text on Stdout. Calls come in program order.
// The value belongs to the caller and is valid only during the call.
type Taker interface {
	Env
	// Take takes a value that would be printed under a label ("" for none). It returns false if
	// the value is to be printed.
	Take(label string, v value.Value) bool
}

// MostOperands is the most inputs of a Program that runs as a compiled loop.
const MostOperands = 48

// Program is a fused chain of elementwise operators over one index space: a list of steps over
// registers. Registers 0..len(In)-1 are the inputs; Drawn ones, which are not in a call, come last.
// Step k writes register len(In)+k. The last step is the result.
type Program struct {
	In    []Operand
	Steps []Step

	once sync.Once
	code any
}

// Compiled returns make's result for the program, made once: a kernel's own forms of it. The
// program does not change afterwards.
func (p *Program) Compiled(make func(*Program) any) any {
	p.once.Do(func() { p.code = make(p) })
	return p.code
}

// Elem returns the element type of the result.
func (p *Program) Elem() types.Elem {
	if n := len(p.Steps); n > 0 {
		return p.Steps[n-1].Elem
	}
	return p.In[0].Elem // a copy
}

// Reads returns the element type of the first operand of a step.
func (p *Program) Reads(s *Step) types.Elem {
	if k := s.Args[0] - len(p.In); k >= 0 {
		return p.Steps[k].Elem
	}
	return p.In[s.Args[0]].Elem
}

// Operand says how an input is read at element (i, j) of the index space.
type Operand struct {
	Elem types.Elem
	Mode Mode
	// Gen is the constructor of a Drawn operand, Attrs its attributes.
	Gen   *Def
	Attrs *Attrs
}

// Mode maps the index space to an operand.
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
