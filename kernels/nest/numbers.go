package nest

// This file plans stages of numbers. Such a stage is a group of actions on scalars and matrices of a
// few elements. A nest of one point computes them together. Its results are the values that other
// actions read.

import (
	"slices"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/kernels/window"
)

const (
	// tinyElements is the most elements of a matrix in a stage of numbers.
	tinyElements = 16
	// tinyOps is the most operations of an action there.
	tinyOps = 512
)

// tinyType reports whether t is a scalar or a matrix of up to tinyElements elements.
func tinyType(t types.Type) bool {
	return isNumber(t) || t.Elem.Size() > 0 && t.IsDense() && t.Known() && t.Count() > 0 && t.Count() <= tinyElements
}

// tinyAct reports whether action k may be in a stage of numbers. Such an action is pure and needs no
// shape check. It moves elements of a matrix of any known size, or computes a few elements.
func tinyAct(b *op.Body, k int) bool {
	a := &b.Acts[k]
	d := a.Def
	if a.Asks || a.Attrs.Int("keep") > 0 || a.Attrs.Bool("drawn") || a.Chain != nil || !d.Laws.Has(op.Pure) {
		return false
	}
	for _, r := range a.Args {
		if t := b.Register(r); d.Control != op.Part && !isNumber(t) && !(t.Elem.Size() > 0 && t.IsDense() && t.Known() && t.Count() > 0) {
			return false
		}
	}
	switch {
	case d.Control == op.Part:
		k := a.Args[0] - len(b.Args)
		return isNumber(a.Type) && k >= 0 && tinyAct(b, k)
	case d.Control == op.Select:
		return !slices.ContainsFunc(a.Bodies, func(in *op.Body) bool { return !tinyBody(in) })
	case d.Control != op.NoControl || a.Bodies != nil || len(a.Args) == 0:
		return false
	case d.Laws.Has(op.View) && d.Elements != nil && a.Type.Elem.Size() > 0 && a.Type.IsDense():
		return a.Type.Known() && a.Type.Count() > 0
	case !tinyType(a.Type):
		return false
	case d.Laws.Has(op.Elementwise) && d.Elt != nil:
		return d.Body != nil
	case d.Class != loop.NoClass:
		return sums(d.Class, b.Register(a.Args[0]).Elem, a.Type.Elem) && tinyType(b.Register(a.Args[0]))
	case d.Elements != nil && d.Cost != nil:
		return flopsOf(b, a) <= tinyOps
	}
	return d.Elements != nil
}

// tinyBody reports whether a side of a branch computes only numbers.
func tinyBody(b *op.Body) bool {
	if slices.ContainsFunc(b.Yields, func(y int) bool { return !isNumber(b.Register(y)) }) {
		return false
	}
	for k := range b.Acts {
		if a := &b.Acts[k]; !(a.Def.Role == op.Constant && isNumber(a.Type)) && !tinyAct(b, k) {
			return false
		}
	}
	return true
}

// groupNumbers groups actions into stages of numbers. It takes the actions that are in no stage, or in
// a stage whose result has a few elements. A group takes actions in order, until an action outside of
// it reads one of its results. It also takes a later action whose operands are all known when the group
// runs.
func (s *Stages) groupNumbers() {
	b := s.body
	own := s.numbers()
	in := make([]int, len(b.Acts)) // by action, 1 + its group; 0: it has no group
	var groups [][]int
	var turn []int // by group, the last action of those that it replaces: the group runs in its place
	open := false  // the last group takes further actions
	for k := range b.Acts {
		for i := range k + 1 { // an action that runs in the place of k and reads the last group closes it
			now := i == k && s.root[k] < 0 || s.root[i] == k || slices.Contains(s.roots[i], k)
			for _, r := range b.Acts[i].Args {
				open = open && !(now && !own[i] && r >= len(b.Args) && in[r-len(b.Args)] == len(groups))
			}
		}
		if !own[k] {
			continue
		}
		g := 0
		for _, r := range b.Acts[k].Args {
			switch i := r - len(b.Args); {
			case i < 0:
			case own[i]:
				g = max(g, in[i]-1)
			default:
				for g < len(groups) && turn[g] < i {
					g++
				}
			}
		}
		last := len(groups) - 1
		switch early := isNumber(b.Acts[k].Type) || b.Acts[k].Def.Control == op.Select; {
		case g < last && early || g == last && early && !open: // a number needs no memory before its place
		case open:
			g, turn[last] = last, k
		default:
			g, open, groups, turn = len(groups), true, append(groups, nil), append(turn, k)
		}
		in[k], groups[g] = g+1, append(groups[g], k)
	}
	for g, group := range groups {
		if len(group) > 1 && s.givesTiny(group) {
			for _, k := range group {
				s.root[k] = turn[g]
			}
			s.tiny[turn[g]] = true
		}
	}
}

// numbers reports, by action, whether it may be in a stage of numbers. A stage with any other action
// stays whole.
func (s *Stages) numbers() []bool {
	b := s.body
	own := make([]bool, len(b.Acts))
	for k := range own {
		own[k] = tinyAct(b, k) && s.roots[k] == nil
	}
	for h := range own {
		if s.root[h] != h {
			continue
		}
		all := tinyType(b.Acts[h].Type) && s.over[h] == 0
		in := func(k int) bool { return s.root[k] == h || slices.Contains(s.roots[k], h) }
		for k := range own {
			all = all && (own[k] || !in(k))
		}
		for k := range own {
			own[k] = own[k] && (all || !in(k))
		}
	}
	for k := range own {
		if a := &b.Acts[k]; a.Def.Control == op.Part && own[k] {
			own[k] = own[a.Args[0]-len(b.Args)]
		}
	}
	return own
}

// given lists the registers of a group of actions that are yielded or that actions outside of the group
// read.
func (s *Stages) given(group []int) (list []int) {
	b := s.body
	own, read := make([]bool, len(b.Acts)), make([]bool, len(b.Args)+len(b.Acts))
	for _, k := range group {
		own[k] = true
	}
	for _, r := range b.Yields {
		read[r] = true
	}
	for i := range b.Acts {
		for _, r := range b.Acts[i].Args {
			read[r] = read[r] || !own[i]
		}
	}
	for _, k := range group {
		if r := len(b.Args) + k; read[r] {
			list = append(list, r)
		}
	}
	return list
}

// givesTiny reports whether all results of a group have a few elements.
func (s *Stages) givesTiny(group []int) bool {
	return !slices.ContainsFunc(s.given(group), func(r int) bool { return !tinyType(s.body.Register(r)) })
}

// writeNumbers writes the nest of the stage of numbers whose last action is h. It returns nil if some
// action has no form in nests.
func (s *Stages) writeNumbers(h int) []SpaceRect {
	b := s.body
	out := SpaceRect{Rect: window.Rect{Rows: 1, Cols: 1}, From: -1}
	_, fine := Written(func() {
		x := NewBuilder(Form{Words: loop.FastLevels})
		env := make([]Ref, len(b.Args)+len(b.Acts))
		made := make([]bool, len(env))
		for _, k := range s.members[h] {
			for _, r := range b.Acts[k].Args {
				switch {
				case made[r]:
				case r < len(b.Args) && s.known[r] != nil:
					env[r] = s.known[r](x)
				default:
					env[r] = x.Outer(b, r)
				}
				made[r] = true
			}
			env[len(b.Args)+k], made[len(b.Args)+k] = x.Act(b, k, env), true
		}
		for _, r := range s.gives[h] {
			x.keepRow(env[r], loop.Num(0), loop.Num(1))
		}
		out.Operands, out.Loop = x.Operands, LoopOf(loop.Merge(x.Done()))
	})
	if !fine {
		return nil
	}
	return []SpaceRect{out}
}
