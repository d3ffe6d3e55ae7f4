package launch

// This file chooses what the code of a loop is made for: where the operands lie, and the values of scalars that
// functions look at, such as exponents.

import (
	"slices"

	"flow/ir/loop"
	"flow/ir/value"
)

// version is what code is made for: operands of one layout, a number of levels of exact sums and, of some
// scalar operands, the values.
type version struct {
	layout
	levels int
	which  uint64 // the operands with a value, a bit each
	values [mostDecides]loop.Word
}

const (
	// mostDecides is the most operands for whose values code is made.
	mostDecides = 4
	// mostFixed is the most values, or combinations of them, that code of a loop is made for. The others share
	// code for all values.
	mostFixed = 4
	// mostMet is of how many values the points are counted.
	mostMet = 64
)

// FixedFrom is how many points a value must be met on before code is made for it, which takes about as long as
// it saves there. Tests set it.
var FixedFrom = 1 << 18

// MadeFor reports whether the code of the run serves value v of operand k, and no better code may come for it.
func (r *Run) MadeFor(k int, v value.Scalar) bool {
	i := slices.Index(r.loop.decides, k)
	switch {
	case i < 0 || i >= mostDecides || r.Stays>>k&1 == 0:
		return true
	case r.made.which>>k&1 != 0:
		return r.made.values[i] == loop.WordOf(v)
	}
	r.loop.mu.Lock()
	defer r.loop.mu.Unlock()
	return !r.loop.counts()
}

// counts reports that there may be code for more values.
func (l *Loop) counts() bool { return l.met < mostMet && l.fixed < mostFixed }

// deep is the code of a version with deep states.
func (l *Loop) deep(made version) (executable, error) {
	made.levels = loop.DeepLevels
	v, err := l.variant(made)
	return v.code, err
}

// version is the code that a loop runs on operands in, of which those of stays keep their values for a while.
func (l *Loop) version(lay layout, in []value.Value, stays uint64) version {
	free := version{layout: lay, levels: l.levels}
	made := free
	for i, k := range l.decides[:min(len(l.decides), mostDecides)] {
		if x, is := in[k].(value.Scalar); is && stays>>k&1 != 0 {
			made.which |= 1 << k
			made.values[i] = loop.WordOf(x)
		}
	}
	if made.which == 0 || l.small {
		return free
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	v := l.made[made]
	if v == nil {
		if !l.counts() {
			return free
		}
		v = &variant{}
		l.met++
		l.made[made] = v
	}
	if v.code != nil || v.err != nil {
		return made
	}
	rows, cols, _ := extents(l.nest, in)
	if v.points += rows * cols; v.points < FixedFrom || !l.counts() {
		return free
	}
	l.fixed++
	return made
}

// code makes the code of a version.
func (l *Loop) code(made version) (executable, error) {
	if l.small {
		return interpretedCode(l.nest)
	}
	n := l.nest
	if made.which != 0 {
		values := map[int]loop.Word{}
		for i, k := range l.decides {
			if made.which>>k&1 != 0 {
				values[k] = made.values[i]
			}
		}
		n = loop.Fix(n, values)
	}
	return compiled(n, made.layout, made.levels)
}

func (l *Loop) variant(made version) (*variant, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	v := l.made[made]
	if v == nil {
		v = &variant{}
		l.made[made] = v
	}
	if v.code == nil && v.err == nil {
		v.code, v.err = l.code(made)
	}
	return v, v.err
}
