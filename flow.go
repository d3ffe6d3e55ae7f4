package flow

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"flow/compiler"
	"flow/ir"
	"flow/ir/eval"
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

// This file defines what a Go program calls: Compile, then Run or Evaluate. It is wiring for the
// packages that it imports.

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

// MostMemory returns the memory that this process could use if all others were idle, by machine,
// control group and ulimit.
func MostMemory() memory.Limit { return memory.Most() }

// BoundMemory limits the memory that this process takes from now on, including values whose size only the
// run tells and the private memory of kernels. A run that would take more fails before it does (E605). A
// zero limit ends it.
func BoundMemory(l memory.Limit) { memory.Bound(l) }

// MemoryOf returns the limit that a text gives, such as 800M or 16GiB: powers of 1024. by says in messages
// who has set it.
func MemoryOf(text, by string) (memory.Limit, error) { return memory.Parse(text, by) }

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

// Compile makes a plan of a program. name is for messages. The error is a *Refusal for a wrong
// program and a *Bug for a fault of Flow. Params are plan-time constants, so another value needs
// another Compile. Headers of input files are read here.
func Compile(ctx context.Context, name string, text []byte, o CompileOptions) (p *Program, err error) {
	co, in, err := o.options()
	if err != nil {
		return nil, err
	}
	in.Until(ctx.Done())
	o.Input = in
	p, err = compile(ctx, name, text, o, co)
	if err != nil {
		return nil, err
	}
	if unread := in.Unread(); len(unread) > 0 {
		return nil, fmt.Errorf("%s does not read %q, which it is given", name, unread[0])
	}
	p.given = in.Given
	return p, nil
}

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
	for _, d := range ds {
		if d.Code == codeBug {
			return nil, bugOf(d)
		}
	}
	if ds.HasErrors() {
		return nil, &Refusal{Files: r.Files, Diagnostics: ds, looked: lookedAt(co.Table)}
	}
	return &Program{made: r, table: co.Table, kernels: o.Kernels, name: name, text: text, options: o}, nil
}

// Params lists a program's params without planning or running it.
func Params(name string, text []byte, o CompileOptions) ([]Param, error) {
	co, _, err := o.options()
	if err != nil {
		return nil, err
	}
	list, files, ds := compiler.Params(name, text, co)
	if ds.HasErrors() {
		return nil, &Refusal{Files: files, Diagnostics: ds}
	}
	return list, nil
}

// RunOptions says how a program is run. The zero value runs it on all processors and discards its
// output.
type RunOptions struct {
	Stdout io.Writer // where emit prints; nil: nowhere
	// Take gets each value emitted to standard output, in program order, instead of its text;
	// of several ranks, rank 0 calls it. nil: values are printed.
	Take    func(Result)
	Threads int // 0: one a processor
	// Schedule says how loops are handed out to the threads.
	Schedule Scheduling
	// Output receives files; nil: an Output over Stdout that the run commits. A caller's Output
	// is committed by the caller, or discarded if the run fails.
	Output *Output
	// Stats asks for busy times and arithmetic, by kernel and by call.
	Stats bool
	// Trace asks for a recording of every task.
	Trace bool
	// Progress is called a few times a second.
	Progress func(Progress)
	// Notice, on ranks in processes of their own, gets messages about other ranks: one has been
	// silent for ten seconds, or is heard again. Of several ranks, one calls it.
	Notice func(text string)
	// Memory bounds the values of each rank whose size the plan knows: one beyond it is a failure. Zero
	// is what the system gives.
	Memory memory.Limit
	// Grace is how long after a failure earlier parts of the program may still run, so that the
	// first failure in the text is reported and everything before it is printed; 0 means ten
	// seconds. A failure reported after that says so.
	Grace time.Duration
}

// Scheduling says how the loops of a run are handed out to its threads. It does not change a bit of
// the result. The zero value is the default technique and one queue.
type Scheduling struct {
	Plan schedule.Plan // Groups are those of the machine
	Pin  bool          // bind each thread to a processor
	// Forget: AUTO neither reads nor writes the file of its choices.
	Forget bool
	// OneThreadPerCore counts cores, not processors, if RunOptions.Threads is 0.
	OneThreadPerCore bool
}

// Run executes the plan in this process; a plan for several ranks runs as goroutines that exchange
// messages. Files appear when all of it has succeeded. The error is a *Refusal if the user can
// correct it, a *Bug otherwise, or the context's. The report exists even after a failure of a task.
func (p *Program) Run(ctx context.Context, o RunOptions) (*Report, error) {
	out, own := o.output()
	err := p.canStart(o, p.made.Plan.Ranks)
	if err == nil {
		err = p.checkSinks(out)
	}
	if err != nil {
		return nil, finish(out, own, p, err)
	}
	var report *Report
	err = p.withChoices(o.Schedule, func(s Scheduling) (err error) {
		o := o
		if o.Schedule = s; p.made.Plan.Ranks > 1 {
			report, err = p.runMem(ctx, out, o)
		} else {
			report, err = p.runLocal(ctx, out, o)
		}
		return err
	})
	return report, finish(out, own, p, err)
}

// output returns where a run writes, and whether the run has to commit it.
func (o RunOptions) output() (out *Output, own bool) {
	if out, own = o.Output, false; out == nil {
		w := o.Stdout
		if w == nil {
			w = io.Discard
		}
		out, own = NewOutput(w), true
	}
	if o.Take != nil {
		out.take = o.Take
	}
	return out, own
}

// finish commits or discards the run's own output, and converts err for the user.
func finish(out *Output, own bool, p *Program, err error) error {
	if own {
		if err == nil {
			err = out.Commit()
		} else {
			out.Discard()
		}
	}
	return p.Explain(err)
}

// Evaluate runs the program by the definitions of its operators, one node at a time: slow, and the
// reference for every engine. It prints what Run prints.
func (p *Program) Evaluate(stdout io.Writer) error {
	if p.made.Program == nil {
		return &Bug{Text: "a program that was compiled with PlanOnly is evaluated by its definition"}
	}
	out := NewOutput(stdout)
	if err := p.checkSinks(out); err != nil {
		return finish(out, true, p, err)
	}
	_, err := eval.Run(p.made.Program, out)
	return finish(out, true, p, err)
}

// Explain converts the error of a run to a *Refusal or *Bug, or returns it unchanged (a cancelled
// context, a transport).
func (p *Program) Explain(err error) error {
	if err == nil {
		return nil
	}
	return explain(p, err)
}
