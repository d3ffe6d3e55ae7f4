package flow

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"flow/ir"
	"flow/ir/eval"
	"flow/ir/op"
	"flow/ir/plan"
	"flow/lang/source"
	"flow/runtime/dist"
	"flow/runtime/local"
)

// This file converts the failure of a task to a diagnostic: code, line, loop indices, rank.

// Explain converts the error of a run to a *Refusal or *Bug, or returns it unchanged (a cancelled
// context, a transport).
func (p *Program) Explain(err error) error {
	if err == nil {
		return nil
	}
	return explain(p, err)
}

// explain converts err to a Refusal or a Bug.
func explain(p *Program, err error) error {
	var refusal *Refusal
	var bug *Bug
	if errors.As(err, &refusal) || errors.As(err, &bug) {
		return err
	}
	g, node, rank := p.made.Plan.Graph, ir.None, -1
	var within []ir.Step
	unsettled := false
	var task *local.TaskFailure
	var defined *eval.Error
	switch {
	case errors.As(err, &task):
		node, rank, within = task.Node, task.Rank, task.Within
		unsettled = task.Unsettled
	case errors.As(err, &defined):
		g, node, within = p.made.Program, defined.Node, defined.Within
	}
	var failure *op.Failure
	if errors.As(err, &failure) {
		d := source.Diagnostic{Code: source.Code(failure.Code), Message: failure.Msg, Help: failure.Help}
		if node != ir.None && int(node) < g.Len() {
			if d.Code == "E605" && inBranch(g, node, within) {
				d.Help = "the smaller branch is admitted, and this one is taken: `flowrun plan` tells what the larger branches need; choose smaller sizes or raise the limit"
			}
			d = p.made.Files.ToUser(place(d, p, g, node, within, failure.At, rank))
		}
		if unsettled {
			d = d.WithNote(source.Span{}, "an earlier failure may exist: what comes before was still running when the run ended (--grace)")
		}
		return &Refusal{Files: p.made.Files, Diagnostics: source.Diagnostics{d}, Ran: true}
	}
	var failed *dist.Failure
	if errors.As(err, &failed) && node == ir.None && failed.Code != "" {
		return explainRanks(p.made.Files, failed)
	}
	if node == ir.None || errors.Is(err, context.Canceled) {
		return err
	}
	b := &Bug{Text: fmt.Sprintf("task %s: %v", g.Line(node), errors.Unwrap(err))}
	var panicked *local.PanicError
	if errors.As(err, &panicked) {
		b.Text = fmt.Sprintf("task %s: panic: %v", g.Line(node), panicked.Value)
		b.Stack = panicked.Stack
	}
	return b
}

// inBranch reports whether steps lead into a branch from node id of g.
func inBranch(g *ir.Graph, id ir.ID, steps []ir.Step) bool {
	for k := range steps {
		if in, at, ok := g.Follow(id, steps[:k]); ok && in.Nodes[at].Op.Control == op.Select {
			return true
		}
	}
	return false
}

// during returns a message with the origin of its task: a channel element, or only the loop
// indices, which precede those that a parfor put into the message.
func during(message, where string) string {
	indices, alone := strings.CutPrefix(where, "(")
	body, own, inside := strings.Cut(message, " (at ")
	switch {
	case where == "":
		return message
	case !alone:
		return message + ", in " + where
	case inside && strings.HasSuffix(own, ")"):
		end := strings.LastIndex(indices, ")")
		return body + " (at " + indices[:end] + ", " + own + indices[end+1:]
	}
	return message + " (at " + indices
}

// explainRanks converts a common failure of the ranks.
func explainRanks(files *source.FileSet, f *dist.Failure) *Refusal {
	var differ *dist.MismatchError
	d := source.Errorf(source.Code(f.Code), source.Span{}, "%v", f.Err)
	mismatch := errors.As(f, &differ)
	if mismatch && differ.Files {
		d = d.WithHelp("give all ranks the same file; --verify-inputs compares every byte of every file")
	}
	return &Refusal{Files: files, Diagnostics: source.Diagnostics{d}, Ran: !mismatch, cause: f}
}

// wrote reports whether the user wrote the operator of n, and not another sign, as + of texts for
// fmt.
func wrote(files *source.FileSet, n *ir.Node) bool {
	f := files.File(n.Span.From)
	return n.Op.Infix != "" || f == nil || f.Library || strings.Contains(files.Text(n.Span), n.Op.Source())
}

// place adds to d the origin of node, or of the node in its regions that within leads to; place is
// the place in its body, if any.
func place(d source.Diagnostic, p *Program, g *ir.Graph, node ir.ID, within []ir.Step, place op.Place, rank int) source.Diagnostic {
	outer := &plan.Plan{Graph: g}
	in, at, ok := g.Follow(node, within)
	if !ok {
		return d
	}
	n := &in.Nodes[at]
	d.Span = n.Span
	if place != (op.Place{}) {
		d.Span = source.Span{From: source.Pos(place.From), To: source.Pos(place.To)}
	}
	if wrote(p.made.Files, n) {
		d.Message = n.Op.Told(d.Message)
	}
	d.Message = during(d.Message, outer.WhereWithin(node, within))
	if p.made.Plan.Ranks > 1 && rank >= 0 {
		d = d.WithNote(source.Span{}, "on rank %d", rank)
	}
	for k := len(within); k >= 0; k-- { // the calls around the node, then those around its loop
		in, at, _ := g.Follow(node, within[:k])
		n := &in.Nodes[at]
		if k < len(within) && n.Op.Control == op.Iterate {
			d = d.WithNote(n.Span, "in round %d of this loop", within[k].Round+1)
		}
		for call := n.Call; call > 0; call = in.Calls[call].Parent {
			d = d.WithNote(in.Calls[call].Span, "in this call of %s", in.Calls[call].Name)
		}
	}
	return d
}
