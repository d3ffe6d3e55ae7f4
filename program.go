package flow

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"flow/compiler"
	"flow/ir"
	"flow/ir/op"
	"flow/ir/plan"
	"flow/ir/value"
	"flow/kernels"
	"flow/kernels/inout"
	"flow/lang/source"
	"flow/memory"
	"flow/runtime/schedule"
	"flow/stdlib"
)

// This file defines a compiled program and what it is compiled with. Everything else in this package
// stands on it.

// Setting is one `--set name=value`.
type Setting = compiler.Setting

// Param is a param of a program.
type Param = compiler.Param

// CompileOptions are the inputs of a program beside its text. The zero value is the common case.
type CompileOptions struct {
	Set      []Setting // values of params
	Kernels  string    // a kernel set; "": the best for this CPU
	Ranks    int       // how many ranks the plan is for; 0: 1
	Disable  []string  // passes to leave out
	MaxTasks int       // 0: two million
	// the program's definition will not be evaluated, and takes no memory
	PlanOnly bool
	Verify   bool                           // check every invariant after every pass
	Dump     func(pass string, g *ir.Graph) // called after each pass; for tools
	Rates    plan.Rates                     // measured costs; nil: guesses
	// Memory is the memory of this machine for the run: Compile refuses a program whose values take
	// more at one time, by the prediction of Plan.Memory. Zero is no limit; MostMemory returns this
	// process's.
	Memory memory.Limit
	// Together is the number of ranks that share Memory; 0: all.
	Together int
	// Load reads an imported file; nil: from the file system, at most source.MostText bytes.
	Load func(path string) ([]byte, error)
	// Path lists the directories to search for an imported file that is not beside the
	// importing one; nil: those of the environment variable FLOWPATH, separated as in PATH.
	Path []string
	// Input provides standard input and other streams; nil: the standard input of this process.
	// Programs with one Input see the same contents.
	Input *Input
	// Values are inputs by name. A scalar (float64, float32, int, int64, bool, string) is the
	// value of the param of that name, as by Set. Anything else is a matrix that the program
	// gets by read("name"): a slice is a column, a slice of equally long slices is a matrix by
	// rows; a Matrix, a Sparse and anything with Dims and At, such as gonum's matrices, are
	// taken as they are. Elements may be float64, float32, int, int64 and bool. The memory of a
	// []float64, []float32, []int64 or of a Matrix of these is not copied: the program reads
	// what it holds during the run, and it must not be written meanwhile. A name that the
	// program neither declares nor reads is an error.
	Values map[string]any
	store  *inout.Store // of a session; nil: there is none
	apart  bool         // the ranks of the session share no memory
	// Operators are rows of the caller, after those of Flow.
	Operators []Operator
}

// Input provides what can be read only once, such as pipes.
type Input = inout.Input

// options converts o for the compiler.
func (o CompileOptions) options() (co compiler.Options, in *Input, err error) {
	if in = o.Input; in == nil {
		in = &Input{}
	}
	path := o.Path
	if path == nil {
		path = filepath.SplitList(os.Getenv("FLOWPATH"))
	}
	set, err := o.given(in)
	if err != nil {
		return co, nil, err
	}
	rows, err := ownRows(o.Operators)
	if err != nil {
		return co, nil, err
	}
	if o.store != nil {
		rows = append(rows, inout.Keeping(o.store, o.apart)...)
	}
	table, err := kernels.TableReading(o.Kernels, in, rows...)
	if err != nil {
		return co, nil, err
	}
	return compiler.Options{
		Table: table, Ranks: max(o.Ranks, 1), Sets: set, Disable: o.Disable, Verify: o.Verify, Dump: o.Dump,
		Rates: o.Rates, Memory: o.Memory, Together: o.Together, PlanOnly: o.PlanOnly, MaxTasks: o.MaxTasks, Std: stdlib.Files, Load: o.Load, Path: path, Schedule: knownSchedule,
		Elaborated: in.Settled,
	}, in, nil
}

// given splits Values into settings of params and matrices to read, which it puts into in.
func (o CompileOptions) given(in *Input) ([]Setting, error) {
	set := slices.Clone(o.Set)
	for _, name := range slices.Sorted(maps.Keys(o.Values)) {
		text, scalar := textOf(o.Values[name])
		if scalar {
			set = append(set, Setting{Name: name, Text: text})
			continue
		}
		if o.Input != nil {
			return nil, errors.New("Values with matrices and an Input exclude each other: one Input serves several programs")
		}
		v, err := valueOf(o.Values[name])
		if err != nil {
			return nil, fmt.Errorf("the value %s: %w", name, err)
		}
		if in.Given == nil {
			in.Given = map[string]value.Value{}
		}
		in.Given[name] = v
	}
	return set, nil
}

// knownSchedule checks the name of a technique.
func knownSchedule(name string) error {
	_, err := schedule.Lookup(name)
	var unknown *schedule.UnknownError
	if errors.As(err, &unknown) && unknown.Suggest != "" {
		return fmt.Errorf("%w; did you mean %s?", err, unknown.Suggest)
	}
	return err
}

// Program is a compiled program. It is read-only and may be run any number of times.
type Program struct {
	made    *compiler.Result
	table   *op.Table
	kernels string                 // the set in table
	given   map[string]value.Value // the matrices that it was given

	name    string // what Compile was given
	text    []byte
	options CompileOptions
	earlier int // how many of Files belong to earlier entries of a session
}

// Warnings returns the compiler's warnings as the command prints them, without colour, or "".
func (p *Program) Warnings() string {
	var b strings.Builder
	source.RenderAll(&b, p.made.Files, p.made.Warnings, false)
	return b.String()
}

// Params returns the params of the program, in textual order.
func (p *Program) Params() []Param { return p.made.Params }

// Compiled returns the compiler's result, for tools that look at plans, such as the command. It
// changes with the compiler, and must not be modified.
func (p *Program) Compiled() *compiler.Result { return p.made }

// compile is Compile with the compiler's options. It returns soon after the end of ctx; the
// compiler's work then ends by itself.
func compile(ctx context.Context, name string, text []byte, o CompileOptions, co compiler.Options) (*Program, error) {
	type compiled struct {
		p   *Program
		err error
	}
	c, late := soon(ctx, func() (c compiled) {
		c.p, c.err = compileNow(ctx, name, text, o, co)
		return c
	})
	if late != nil {
		return nil, context.Cause(ctx)
	}
	return c.p, c.err
}

func compileNow(ctx context.Context, name string, text []byte, o CompileOptions, co compiler.Options) (p *Program, err error) {
	defer func() {
		if v := recover(); v != nil {
			p, err = nil, &Bug{Text: fmt.Sprintf("compiling %s: %v", name, v), Stack: debug.Stack()}
		}
	}()
	r, ds := compiler.Compile(ctx, name, text, co)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err := refused(r.Files, ds, co.Table); err != nil {
		return nil, err
	}
	return &Program{made: r, table: co.Table, kernels: o.Kernels, name: name, text: text, options: o}, nil
}

// refused returns the error of a compilation: a *Bug, a *Refusal, or nil if there is no mistake.
func refused(files *source.FileSet, ds source.Diagnostics, table *op.Table) error {
	for _, d := range ds {
		if d.Code == codeBug {
			return bugOf(d)
		}
	}
	if ds.HasErrors() {
		return &Refusal{Files: files, Diagnostics: ds, looked: lookedAt(table)}
	}
	return nil
}

// lookedAt returns the files that the rows of a table have read.
func lookedAt(t *op.Table) (all []op.Looked) {
	for _, d := range t.Rows() {
		if d.Looked != nil {
			all = append(all, d.Looked()...)
		}
	}
	slices.SortFunc(all, func(a, b op.Looked) int { return strings.Compare(a.Path, b.Path) })
	return slices.CompactFunc(all, func(a, b op.Looked) bool { return a.Path == b.Path })
}

// interrupted is how long Run waits for a cancelled run. A kernel that does not notice ends later;
// its result is discarded.
const interrupted = 300 * time.Millisecond

// soon calls f and returns its result. If f takes longer than interrupted after the end of ctx,
// late is not nil and delivers it.
func soon[T any](ctx context.Context, f func() T) (result T, late <-chan T) {
	if ctx.Done() == nil {
		return f(), nil
	}
	ended := make(chan T, 1)
	go func() { ended <- f() }()
	select {
	case result = <-ended:
		return result, nil
	case <-ctx.Done():
	}
	select {
	case result = <-ended:
		return result, nil
	case <-time.After(interrupted):
		return result, ended
	}
}
