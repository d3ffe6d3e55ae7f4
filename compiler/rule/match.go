package rule

import (
	"math"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
)

// form is one rewrite of a rule, compiled for a table.
type form struct {
	rule  *Rule
	from  *pattern
	to    *pattern
	where []condition
}

// site is where a rewrite is tried: a node in the graph or about to be added.
type site struct {
	g      *ir.Graph
	def    *op.Def
	attrs  *op.Attrs
	in     []ir.ID
	typ    types.Type
	origin ir.Origin
	// single reports whether only the matched node above reads a node.
	single func(ir.ID) bool
	// uses counts the readers of a node that are in the graph or to come.
	uses func(ir.ID) int32
	// cut reports whether all readers of a node, those to come included, read a window of it.
	cut func(ir.ID) bool
	// total reports whether neither a node nor its inputs, at any depth, can fail.
	total func(ir.ID) bool
}

// inside reports whether a node belongs to the site's task: it sends to no channel element, or to
// the same.
func (s *site) inside(id ir.ID) bool {
	grid, version, at, ok := s.g.Dest(id)
	if !ok {
		return true
	}
	grid2, version2, at2, ok := s.dest()
	if !ok || grid != grid2 || version != version2 {
		return false
	}
	for k := range at {
		if at[k] != at2[k] {
			return false
		}
	}
	return true
}

// match is a pattern bound to a site.
type match struct {
	set *Set
	s   *site
	f   *form

	vars  bound[ir.ID]
	vals  bound[op.Val]
	alls  bound[*op.Attrs]
	class bound[*op.Def]
	rest  []ir.ID
	inner []ir.ID // the nodes that the pattern names, without the root
	args  []operand
	// pieces is what cutBound has returned for the window of this match; empty: it was not asked.
	pieces [][4]int
}

// bound holds what the letters of a pattern are bound to. They are few, so a list is faster than a map,
// and it is reused without an allocation.
type bound[T any] []binding[T]

type binding[T any] struct {
	name string
	to   T
}

func (b bound[T]) get(name string) (to T, ok bool) {
	for i := range b {
		if b[i].name == name {
			return b[i].to, true
		}
	}
	return to, false
}

// of returns what the letter is bound to, or the zero value if it is not bound.
func (b bound[T]) of(name string) T {
	to, _ := b.get(name)
	return to
}

func (b *bound[T]) bind(name string, to T) { *b = append(*b, binding[T]{name, to}) }

// try matches form f at the site. It returns nil if f does not match. Most forms do not, so the memory
// of a failed match is reused by the next one (see Set.spare).
func (set *Set) try(f *form, s *site) *match {
	if !quick(f.from, s) {
		return nil
	}
	m := set.spare
	if m == nil {
		m = &match{set: set}
	}
	set.spare = m
	m.s, m.f = s, f
	m.vars, m.vals, m.alls, m.class, m.rest, m.inner = m.vars[:0], m.vals[:0], m.alls[:0], m.class[:0], m.rest[:0], m.inner[:0]
	m.pieces = m.pieces[:0]
	if !m.node(f.from, s.def, s.attrs, s.in) || !m.known() {
		return nil
	}
	for i := range f.where {
		if !f.where[i].holds(m) {
			return nil
		}
	}
	set.spare = nil // the plan holds m
	return m
}

// quick compares only the operators of the root's inputs.
func quick(p *pattern, s *site) bool {
	if len(p.args) != len(s.in) {
		return len(p.args) == 1 && listing(p.args[0])
	}
	for k, a := range p.args {
		switch {
		case a.shape == literal && s.g.Nodes[s.in[k]].Op.Role != op.Constant,
			a.shape == node && a.def != nil && !listing(a) && s.g.Nodes[s.in[k]].Op != a.def:
			return false
		}
	}
	return true
}

// listing reports a pattern for all inputs: `..`, `t(..)`.
func listing(p *pattern) bool {
	return p.shape == rest || p.shape == node && !p.class && len(p.args) == 1 && listing(p.args[0])
}

// known reports whether all shapes are known (equal types with an unknown dimension prove nothing)
// and the rule applies to these storage forms.
func (m *match) known() bool {
	fits := func(t types.Type) bool {
		return !t.IsMatrix() || t.Known() && (t.IsDense() || m.f.rule.Sparse)
	}
	ok := fits(m.s.typ)
	for _, x := range m.vars {
		ok = ok && fits(m.s.g.Type(x.to))
	}
	for _, id := range m.rest {
		ok = ok && fits(m.s.g.Type(id))
	}
	return ok
}

// node matches a node pattern against an operator on inputs.
func (m *match) node(p *pattern, d *op.Def, attrs *op.Attrs, in []ir.ID) bool {
	if p.class {
		c, ok := m.class.get(p.name)
		if ok && c != d || !ok && !classes[p.name](d) {
			return false
		}
		if !ok {
			m.class.bind(p.name, d)
		}
	} else if p.def != d {
		return false
	}
	if !m.attributes(p, d, attrs) {
		return false
	}
	if len(p.args) == 1 && listing(p.args[0]) {
		for _, x := range in {
			if !m.one(p.args[0], x) {
				return false
			}
		}
		return true
	}
	if len(p.args) != len(in) {
		return false
	}
	for k, a := range p.args {
		if !m.edge(a, in[k]) {
			return false
		}
	}
	return true
}

// edge matches a pattern against a node of the graph.
func (m *match) edge(p *pattern, id ir.ID) bool {
	g := m.s.g
	switch p.shape {
	case variable:
		if old, ok := m.vars.get(p.name); ok {
			return old == id
		}
		m.vars.bind(p.name, id)
		return true
	case literal:
		v, ok := constantOf(g, id)
		return ok && (v.Elem == types.Bool) == p.truth && math.Float64bits(v.Float()) == math.Float64bits(p.val)
	}
	return m.take(p, id) && m.node(p, g.Nodes[id].Op, g.Nodes[id].Attrs, g.In(id))
}

// take reports whether the match may include an inner node.
func (m *match) take(p *pattern, id ir.ID) bool {
	if m.s.g.Nodes[id].Region != nil || !m.s.inside(id) || p.single && !m.s.single(id) {
		return false
	}
	m.inner = append(m.inner, id)
	return true
}

// one matches one of all inputs against `..` or `t(..)`.
func (m *match) one(p *pattern, id ir.ID) bool {
	g := m.s.g
	if p.shape == node && !g.Type(id).IsScalar() {
		n := &g.Nodes[id]
		if n.Op != p.def || !m.take(p, id) || !m.attributes(p, n.Op, n.Attrs) {
			return false
		}
		return m.one(p.args[0], g.In(id)[0])
	}
	m.rest = append(m.rest, id)
	return true
}

// attributes matches a node's attributes. Those that the pattern does not name must have their
// default.
func (m *match) attributes(p *pattern, d *op.Def, attrs *op.Attrs) bool {
	if p.all != "" {
		if old, ok := m.alls.get(p.all); ok {
			return old.Equal(attrs)
		}
		m.alls.bind(p.all, attrs)
		return true
	}
	for _, a := range attrs.List() {
		if !names(p, a.Name) && !a.Val.Equal(absent(d, a.Name)) {
			return false
		}
	}
	for _, a := range p.attrs {
		v, ok := attrs.Get(a.name)
		if !ok {
			v = absent(d, a.name)
		}
		if len(a.args) == 0 {
			if !v.Equal(a.lit) {
				return false
			}
			continue
		}
		if old, ok := m.vals.get(a.args[0]); ok && !old.Equal(v) {
			return false
		} else if !ok {
			m.vals.bind(a.args[0], v)
		}
	}
	return true
}

func names(p *pattern, attr string) bool {
	for _, a := range p.attrs {
		if a.name == attr {
			return true
		}
	}
	return false
}

// absent returns the value of an absent attribute.
func absent(d *op.Def, name string) op.Val {
	for _, a := range d.Args {
		if a.Name == name && a.Default != nil {
			return *a.Default
		}
		if a.Name == name {
			return op.Val{Kind: a.Kind}
		}
	}
	return op.Val{}
}

// constantOf returns the value of a const node.
func constantOf(g *ir.Graph, id ir.ID) (value.Scalar, bool) {
	n := &g.Nodes[id]
	if n.Op.Role != op.Constant || n.Op.Ref == nil {
		return value.Scalar{}, false
	}
	v, err := n.Op.Ref(&op.Call{Def: n.Op, Attrs: n.Attrs, Type: g.Type(id)})
	if err != nil {
		return value.Scalar{}, false
	}
	s, ok := v.(value.Scalar)
	return s, ok
}
