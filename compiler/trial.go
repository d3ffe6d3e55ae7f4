package compiler

// This file chooses between a plan in which ranks share matrices by rows and one by blocks.

import (
	"fmt"
	"slices"
	"time"

	"flow/compiler/layout"
	"flow/compiler/pass"
	"flow/ir"
	"flow/ir/op"
	"flow/ir/plan"
)

// A plan by rows is taken at once if it is predicted to be as fast as leastShared of the ranks, or as
// sharedEnough ranks. Otherwise it is taken if it is predicted to take at most rowsFaster of the time
// of a plan by blocks. That is less than 1, because guessed costs are coarse. If ranks share some work
// by rows and send at most rowsSent of the bytes, it is taken unless it is predicted to take longer.
const leastShared, sharedEnough, rowsFaster, rowsSent = 0.5, 1.5, 0.5, 0.1

// tryRows runs the other passes up to lastTried as if ranks shared the matrices of the program by rows
// alone, and keeps the result if ranks share the work well enough. Otherwise it runs them with matrices
// in blocks too, and keeps the faster plan. It keeps the slower plan if only the values of that one fit
// in memory.
func (s *state) tryRows() {
	rows, why := s.trial(true)
	s.because = rows.because
	if why != "" {
		s.shares = why
		return
	}
	kept := rows
	kept.shares, kept.because = "by rows", ir.Node{}
	var blocks *state // nil: not tried, or there is no such plan
	try := func() bool {
		x, why := s.trial(false)
		if blocks = nil; why == "" {
			blocks = &x
		}
		return why == ""
	}
	all := s.o.Sizes.Spread == 1 && rows.speedup > 0 // as tests want it
	if !all && rows.speedup < min(leastShared*float64(s.o.Ranks), sharedEnough) {
		s.shares = "in blocks: by rows they would share nothing"
		if rows.speedup > 0 {
			s.shares = fmt.Sprintf("in blocks: by rows %d ranks would be %.2g times as fast as one", s.o.Ranks, rows.speedup)
		}
		if !try() {
			return
		}
		r, b := rows.predicted(), blocks.predicted()
		fewer := rows.speedup > 1 && r.Makespan <= b.Makespan && float64(r.Bytes) <= rowsSent*float64(b.Bytes)
		if r.Makespan > rowsFaster*b.Makespan && !fewer {
			kept = *blocks
			if one := s.alone(); kept.onOneRank() && one != nil && one.fits() {
				one.shares = kept.shares
				kept = *one
			}
		}
	}
	switch {
	case kept.fits():
	case kept.rows && (blocks != nil || try()) && blocks.fits():
		kept = *blocks
		kept.shares, kept.because = "in blocks: by rows their values take more memory than there is", ir.Node{}
	case !kept.rows && rows.fits():
		kept = rows
		kept.shares, kept.because = "by rows: in blocks their values take more memory than there is", ir.Node{}
	case inParts(kept):
	case !kept.rows && inParts(rows):
		kept = rows
		kept.shares, kept.because = "by rows: in blocks they would not read files in parts", ir.Node{}
	default:
		if one := s.alone(); one != nil && inParts(*one) {
			kept = *one
			kept.shares, kept.because = "on one rank: on several their values take more memory than there is", ir.Node{}
		}
	}
	*s = kept
}

// trial runs the remaining passes, up to lastTried, on a copy of s. rows: no matrix is cut into blocks.
// why says why there is no such plan; "" if there is one.
func (s *state) trial(rows bool) (try state, why string) {
	try = *s
	try.rows, try.program = rows, s.g // passes do not change s.g
	for _, p := range s.rest {
		x := ran{PassStat: PassStat{Name: p.Name}}
		if !slices.Contains(s.o.Disable, p.Name) {
			start := time.Now()
			x.Before = try.g.Len()
			if p.run(&try) != nil {
				return try, "in blocks"
			}
			if try.parts != nil && rows {
				if by, cut := try.parts.Cut(); cut {
					try.because = by
					return try, "in blocks: some operator works by blocks, or a matrix is too large to stay whole"
				}
			}
			x.g, x.After, x.Seconds = try.g, try.g.Len(), time.Since(start).Seconds()
			if s.o.Dump != nil {
				x.g = try.g.Clone() // later passes may change it
			}
		}
		try.tried = append(try.tried, x)
		if p.Name == lastTried {
			break
		}
	}
	return try, ""
}

// onOneRank reports whether only rank 0 has work in the plan.
func (s *state) onOneRank() bool {
	for i, rank := range s.owner {
		if rank != 0 && s.g.Nodes[i].Op.Role != op.Constant {
			return false
		}
	}
	return true
}

// alone returns the plan of a single process, for rank 0 to run: its loops are as large as they are
// there. It returns nil if there is no such plan.
func (s *state) alone() *state {
	o := *s.o
	o.Ranks = 1
	from := *s
	from.o = &o
	one, why := from.trial(false)
	if why != "" {
		return nil
	}
	one.o, one.owner = s.o, layout.Alone(one.g)
	return &one
}

// inParts reports whether the values of plan s fit in memory if files are read in parts.
func inParts(s state) bool { return s.readInParts() }

// predicted predicts the run of a plan with one worker a rank. It uses guessed costs, so that all
// machines get the same plan.
func (s *state) predicted() plan.Summary {
	return plan.Summarise(s.plan(), nil, 1)
}

// plan returns the plan of what the passes so far have made.
func (s *state) plan() *plan.Plan {
	return &plan.Plan{Graph: s.g, Ranks: s.o.Ranks, Owner: s.owner, Prio: pass.Priorities(s.g, nil, false), Uses: s.g.Uses()}
}

// lastTried is the pass that decides what each rank does.
const lastTried = "place"
