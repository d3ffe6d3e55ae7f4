package flow

import (
	"context"
	"errors"

	"flow/ir/op"
	"flow/lang/source"
	"flow/runtime/dist"
	"flow/runtime/dist/transport"
)

// This file lets ranks compare what they run and read, between compiling and running.

// MeetOptions are the options of Meet and Decline. The zero value is the common case.
type MeetOptions struct {
	// compare every byte of the files that ranks read, not a sample
	VerifyInputs bool
	Notice       func(text string) // as in RunOptions
}

// Meet compares this rank's build, program, params and input files with those of the other ranks of
// comm, which all call Meet or Decline, and then RunRank. It returns the program to run: p, or, if
// ranks have copies of a file instead of sharing it, p compiled again so that only rank 0 reads it.
// Of large files a sample is compared, with VerifyInputs every byte. The error is a *Refusal that
// says what differs, or the context's.
func (p *Program) Meet(ctx context.Context, comm transport.Comm, o MeetOptions) (*Program, error) {
	unshared, err := dist.Agree(ctx, comm, dist.Introduction{Items: p.fingerprint(), Inputs: inputs(lookedAt(p.table), o.VerifyInputs), Notice: o.Notice})
	if err != nil {
		return nil, p.Explain(err)
	}
	if len(unshared) == 0 {
		return p, nil
	}
	co, _, err := p.options.options()
	if err != nil {
		return nil, err
	}
	co.Table, co.Unshared = p.table, unshared // whose rows have read the heads already
	again, err := compile(ctx, p.name, p.text, p.options, co)
	if err == nil {
		again.given = p.given
	}
	return again, err
}

// Decline is called instead of Meet when Compile has failed with failed; why is the reason in one
// line for the other ranks. It blocks until all ranks have called it or Meet. nil means that they
// know. A *Refusal says that ranks have different files under one name, the likely reason. After
// any other error the job must be aborted.
func Decline(ctx context.Context, comm transport.Comm, failed error, why string, o MeetOptions) error {
	var own *Refusal
	mine := dist.Introduction{Refusal: why, Notice: o.Notice}
	if errors.As(failed, &own) {
		mine.Inputs = inputs(own.looked, o.VerifyInputs)
	}
	_, err := dist.Agree(ctx, comm, mine)
	var f *dist.Failure
	var differ *dist.MismatchError
	if !errors.As(err, &f) || !errors.As(err, &differ) || !f.Clean {
		return err
	}
	if !differ.Files {
		return nil
	}
	return explainRanks(source.NewFileSet(), f)
}

// inputs reads the properties of files. It skips unreadable ones, which have been reported.
func inputs(looked []op.Looked, whole bool) (all []dist.Input) {
	for _, l := range looked {
		if in, err := dist.InputOf(l.Path, l.Type, whole); err == nil {
			all = append(all, in)
		}
	}
	return all
}
