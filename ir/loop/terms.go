package loop

// This file offers reductions whose contributions are written one by one, for callers that know
// their number.

import "flow/ir/types"

// Terms is a reduction as values that a loop may carry.
type Terms struct{ s *State }

// TermsOf returns a reduction of contributions of e, or nil if a few values cannot carry it. Exact
// sums have this many levels, 2 or 3 (f32: 2). Bits lost beyond them fail the check Uncertain.
func TermsOf(c Class, e types.Elem, levels int) *Terms {
	if e == types.F32 {
		levels = FastLevels
	}
	s := StateOf(c, e, levels)
	if s == nil || s.end == nil {
		return nil
	}
	return &Terms{s}
}

// Begin returns the state before the first contribution.
func (t *Terms) Begin(b *Builder) []Val {
	var out []Val
	for k, e := range t.s.Types {
		out = append(out, b.Const(e, t.s.Empty[k]))
	}
	return out
}

// sums reports an exact sum of f64. Its state starts with the words of the sum, then the lost bits
// and, for a mean, the count.
func (t *Terms) sums() bool {
	return (t.s.class == Sum || t.s.class == Mean) && t.s.elem == types.F64
}

// First returns the state after the first contribution. Words that are still 0 are NoVal: no loop
// carries such a state.
func (t *Terms) First(b *Builder, in []Val) []Val {
	if !t.sums() {
		return t.s.add(b, t.Begin(b), in)
	}
	s := make([]Val, len(t.s.Types))
	for k := range s {
		s[k] = NoVal
	}
	s[0] = in[0]
	if t.s.class == Mean {
		s[len(s)-1] = b.Const(types.I64, 1)
	}
	return s
}

// Add returns the state after one more contribution.
func (t *Terms) Add(b *Builder, s, in []Val) []Val {
	if !t.sums() || s[t.s.Lost] != NoVal {
		return t.s.add(b, s, in)
	}
	for k := range t.s.Lost {
		if s[k] == NoVal { // the error is the word
			out := append([]Val{}, s...)
			x := in[0]
			for i := range k {
				out[i], x = two(b, out[i], x)
			}
			out[k] = x
			if t.s.class == Mean {
				out[len(out)-1] = b.Op(Add, s[len(s)-1], b.Const(types.I64, 1))
			}
			return out
		}
	}
	return t.s.add(b, t.whole(b, s), in)
}

// whole replaces NoVal in a state.
func (t *Terms) whole(b *Builder, s []Val) []Val {
	s = append([]Val{}, s...)
	for k, v := range s {
		if v == NoVal {
			s[k] = b.Const(t.s.Types[k], 0)
		}
	}
	return s
}

// End returns the result.
func (t *Terms) End(b *Builder, s []Val) Val { return t.s.end(b, t.whole(b, s)) }
