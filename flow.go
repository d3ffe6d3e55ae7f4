package flow

import (
	"context"
	"errors"
	"fmt"
	"io"

	"flow/compiler"
	"flow/ir/eval"
	"flow/memory"
	"flow/runtime/dist"
	"flow/runtime/dist/transport"
	"flow/runtime/local"
)

// This file defines what a Go program calls: Compile, then Run or Evaluate. It is wiring for the
// packages that it imports.

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

// RunRank executes one rank's part of the plan, together with the other ranks of comm, which must
// run the same program: differences are named before anything runs. The plan must be for
// comm.Size() ranks. Output is as in Run; only rank 0 prints. On rank 0 the report covers all
// ranks.
func (p *Program) RunRank(ctx context.Context, comm transport.Comm, o RunOptions) (*Report, error) {
	return p.runRank(comm, o, func(why string) error { return dist.Refuse(ctx, comm, why) },
		func(pool *local.Pool, do dist.Options) (*dist.Report, error) {
			return dist.Run(ctx, comm, pool, p.made.Plan, do)
		})
}

// runRank is RunRank with given ways to refuse a run and to run.
func (p *Program) runRank(comm transport.Comm, o RunOptions, refuse func(why string) error, run func(*local.Pool, dist.Options) (*dist.Report, error)) (*Report, error) {
	if p.made.Plan.Ranks != comm.Size() {
		return nil, fmt.Errorf("the plan is for %d ranks, and there are %d", p.made.Plan.Ranks, comm.Size())
	}
	out, own := o.output()
	err := p.canStart(o, 1)
	if comm.Rank() == 0 && err == nil { // the one that writes
		err = p.checkSinks(out)
	}
	if err != nil {
		if e := refuse(err.Error()); e != nil {
			err = e
		}
		return nil, finish(out, own, p, err)
	}
	pool := local.NewPool(o.Threads, o.Schedule.pool())
	defer pool.Close()
	var r *dist.Report
	err = p.withChoices(o.Schedule, func(s Scheduling) (err error) {
		o := o
		o.Schedule = s
		do := p.rankOptions(comm.Rank(), pool.Workers(), out, o)
		do.Read = p.read()
		if o.Memory.Bytes == 0 {
			do.Buffers = o.Buffers
		}
		r, err = run(pool, do)
		return err
	})
	return reportOf(r), refusedRun(finish(out, own, p, err))
}

// refusedRun marks what a rank or another one refuses as a failed run: after Meet all have a valid
// program.
func refusedRun(err error) error {
	if r := (*Refusal)(nil); errors.As(err, &r) {
		r.Ran = true
	}
	return err
}

// MostMemory returns the memory that this process could use if all others were idle, by machine,
// control group and ulimit.
func MostMemory() memory.Limit { return memory.Most() }

// BoundMemory limits the memory that this process takes from now on, including values whose size only
// the run tells and the private memory of kernels. A run fails (E605) before it makes a piece that
// exceeds the limit, and before the process takes more than one and a half times the limit and 64
// MiB. A zero limit ends it.
func BoundMemory(l memory.Limit) { memory.Bound(l) }

// MemoryOf returns the limit that a text gives, such as 800M or 16GiB: powers of 1024. by says in
// messages who has set it.
func MemoryOf(text, by string) (memory.Limit, error) { return memory.Parse(text, by) }
