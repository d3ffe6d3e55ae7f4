package launch

// This file chooses what the code of a loop is made for: the layout of the operands, and the values of
// scalars that functions decide by, such as exponents.

import (
	"slices"

	"flow/ir/loop"
	"flow/ir/value"
)

// FixedFrom is the number of points that a value must be met on before code is made for it. Making the
// code takes about as long as it saves on so many points. Tests set it.
var FixedFrom = 1 << 18

// MadeFor reports whether the code of the run serves value v of operand k. If it does not, Bind may
// find better code.
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

// counts reports whether code for more values may be made. l.mu is held.
func (l *Loop) counts() bool { return l.met < mostMet && l.fixed < mostFixed }

// version returns the version that runs on operands in. stays marks the operands that keep their values
// for a while, see Run.Stays.
func (l *Loop) version(lay layout, in []value.Value, stays uint64) version {
	free := version{layout: lay, levels: l.levels[0]}
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
	rows, cols, _ := extents(l.nest, in)
	if !l.meet(made, rows*cols) {
		return free
	}
	return made
}

// meet counts so many points more of a version for some values, and reports whether it has or is worth
// code.
func (l *Loop) meet(made version, points int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	v := l.made[made]
	if v == nil {
		if !l.counts() {
			return false
		}
		v = &variant{}
		l.met++
		l.made[made] = v
	}
	if v.code != nil || v.err != nil {
		return true
	}
	if v.points += points; v.points < FixedFrom || !l.counts() {
		return false
	}
	l.fixed++
	return true
}

// pays counts points of a version for an edge, and reports whether the version has code or is worth it.
func (l *Loop) pays(made version, points int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	v := l.entry(made)
	v.points += points
	return v.code != nil || v.err != nil || v.points >= FixedFrom
}

// code compiles a version.
func (l *Loop) code(made version) (executable, error) {
	if l.small {
		return interpretedCode(l.nest)
	}
	n := l.nest
	if made.core != nil {
		n = made.core.nest
	}
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

// entry returns the variant of a version, which may have no code. The caller holds l.mu.
func (l *Loop) entry(made version) *variant {
	v := l.made[made]
	if v == nil {
		v = &variant{}
		l.made[made] = v
	}
	return v
}

// variant returns a version of the loop, whose code it makes if there is none.
func (l *Loop) variant(made version) (*variant, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	v := l.entry(made)
	if v.code == nil && v.err == nil {
		v.code, v.err = l.code(made)
	}
	return v, v.err
}
