package rule

import (
	"math"
	"slices"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
)

// This file makes a replacement: first as a plan, whose types come from the rows, so that a rewrite
// that does not fit leaves no trace in the graph; then as nodes.

// ref is a node of the graph (at least 0) or of the plan (^index).
type ref int32

// planned is a node to be made.
type planned struct {
	def   *op.Def
	attrs *op.Attrs
	in    []ref
	typ   types.Type
}

// plan is a replacement. Its result is its last node, or a node of the graph.
type plan struct {
	m     *match
	nodes []planned
	root  ref
}

// plan makes the replacement of a match, or nil if it does not fit.
func (m *match) plan() *plan {
	p := &plan{m: m}
	var ok bool
	if p.root, ok = p.add(m.f.to, noPlace); !ok || !p.typeOf(p.root).Equal(m.s.typ) {
		return nil
	}
	if _, _, _, sends := m.s.dest(); sends && p.root >= 0 {
		return nil // one `<-` is one task: a token cannot become another name for one
	}
	return p
}

func (s *site) dest() (grid, version int, at []int32, ok bool) { return s.g.OriginDest(s.origin) }

func (p *plan) typeOf(r ref) types.Type {
	if r >= 0 {
		return p.m.s.g.Type(ir.ID(r))
	}
	return p.nodes[^r].typ
}

// noPlace is the number of the input that `..` stands for where it stands for no single input.
const noPlace = -1

// add plans a pattern. place is the number of the input that `..` stands for, or noPlace.
func (p *plan) add(pat *pattern, place int) (ref, bool) {
	m := p.m
	switch pat.shape {
	case variable:
		return ref(m.vars.of(pat.name)), true
	case rest:
		if place == noPlace {
			return 0, false
		}
		return ref(m.rest[place]), true
	case literal:
		return p.constant(pat)
	}
	if f, ok := constantWords[pat.name]; ok {
		v, ok := constantOf(m.s.g, m.vars.of(pat.args[0].name))
		if ok {
			v, ok = f(v)
		}
		if !ok {
			return 0, false
		}
		return p.scalar(v), true
	}
	d := pat.def
	if pat.class {
		d = m.class.of(pat.name)
	}
	var in []ref
	if len(pat.args) == 1 && listing(pat.args[0]) && place == noPlace {
		binds := classes["Bind"](d)
		for k, x := range m.rest {
			r, made := ref(x), len(p.nodes)
			if ok := true; !m.s.g.Type(x).IsScalar() {
				if r, ok = p.add(pat.args[0], k); !ok {
					return 0, false
				}
			}
			if binds && p.typeOf(r).Count() == 0 {
				p.nodes = p.nodes[:made] // it has no element of the result
				continue
			}
			in = append(in, r)
		}
	} else {
		for _, a := range pat.args {
			r, ok := p.add(a, place)
			if !ok {
				return 0, false
			}
			in = append(in, r)
		}
	}
	attrs, ok := p.attributes(pat, place)
	if !ok {
		return 0, false
	}
	return p.node(d, attrs, in)
}

// node returns a planned or matched node with this operator, attributes and inputs. If there is none,
// it plans one, or a constant if the types of the inputs determine the value.
func (p *plan) node(d *op.Def, attrs *op.Attrs, in []ref) (ref, bool) {
	g := p.m.s.g
	for _, id := range p.m.inner {
		n := &g.Nodes[id]
		same := n.Op == d && n.Attrs.Equal(attrs) && len(g.In(id)) == len(in)
		for k := 0; same && k < len(in); k++ {
			same = ref(g.In(id)[k]) == in[k]
		}
		if same {
			return ref(id), true
		}
	}
	for i, n := range p.nodes {
		if n.def == d && n.attrs.Equal(attrs) && slices.Equal(n.in, in) {
			return ^ref(i), true
		}
	}
	sig := &op.Sig{Def: d, Attrs: attrs}
	for _, r := range in {
		sig.In = append(sig.In, p.typeOf(r))
	}
	t, err := d.Type(sig)
	if err != nil {
		return 0, false
	}
	if d.Shape != nil { // an operator that reads a known size would bring all rows to its rank
		if v, err := d.Shape(sig.In); err == nil && v != nil {
			return p.scalar(v.(value.Scalar)), true
		}
	}
	p.nodes = append(p.nodes, planned{d, attrs, in, t})
	return ^ref(len(p.nodes) - 1), true
}

func (p *plan) attributes(pat *pattern, place int) (*op.Attrs, bool) {
	if pat.all != "" {
		return p.m.alls.of(pat.all), true
	}
	var list []op.Attr
	for _, a := range pat.attrs {
		v := a.lit
		switch {
		case a.word != "":
			f := attributeWords[a.word]
			args := make([]operand, len(a.args))
			for i, name := range a.args {
				args[i] = p.m.operand(name, place)
			}
			var ok bool
			if v, ok = f(args); !ok {
				return nil, false
			}
		case len(a.args) > 0:
			v = p.m.vals.of(a.args[0])
		}
		// a flag that is off is absent
		if v.Kind != op.NoVal && (v.Kind != op.BoolVal || v.I != 0) {
			list = append(list, op.Attr{Name: a.name, Val: v})
		}
	}
	return op.MakeAttrs(list...), true
}

// constant plans a literal, as f32 if the computation is in f32.
func (p *plan) constant(pat *pattern) (ref, bool) {
	switch x := pat.val; {
	case pat.truth:
		return p.scalar(value.Bool(x != 0)), true
	case p.m.s.typ.Elem == types.F32:
		return p.scalar(value.F64(x).Convert(types.F32)), true
	case x == math.Trunc(x) && !math.Signbit(x) || x < 0 && x == math.Trunc(x):
		return p.scalar(value.I64(int64(x))), true
	default:
		return p.scalar(value.F64(x)), true
	}
}

// scalar plans a const node.
func (p *plan) scalar(s value.Scalar) ref {
	p.nodes = append(p.nodes, planned{p.m.set.constant, constantAttrs(s), nil, s.Type()})
	return ^ref(len(p.nodes) - 1)
}

// constantAttrs returns the attributes of the const row for a number or bool, as elaboration writes
// them.
func constantAttrs(s value.Scalar) *op.Attrs {
	switch s.Elem {
	case types.F64:
		return op.MakeAttrs(op.Attr{Name: "value", Val: op.Float(s.F)})
	case types.F32:
		return op.MakeAttrs(op.Attr{Name: "value", Val: op.Float(s.F)}, op.Attr{Name: "elem", Val: op.Str("f32")})
	case types.Bool:
		return op.MakeAttrs(op.Attr{Name: "value", Val: op.Bool(s.I != 0)})
	case types.Str:
		return op.MakeAttrs(op.Attr{Name: "value", Val: op.Str(s.S)})
	}
	return op.MakeAttrs(op.Attr{Name: "value", Val: op.Val{Kind: op.IntVal, I: s.I}})
}

// make adds the planned nodes through emit and returns the result. A node whose operator was matched
// keeps its span, so that a failure names the failing expression. If the root cannot fail and the
// result can, it has the span of the inner node that it replaces. Loop and channel are those of the
// root.
func (p *plan) make(emit func(n planned, o ir.Origin, in []ir.ID) ir.ID) ir.ID {
	if p.root >= 0 {
		return ir.ID(p.root)
	}
	g := p.m.s.g
	ids := make([]ir.ID, len(p.nodes))
	for i, n := range p.nodes {
		o := p.m.s.origin
		if ^p.root != ref(i) && (n.def.Shard.Kind == op.ShardMove || n.def == p.m.set.constant) {
			o = o.NoDest() // as in elaboration, constants and windows belong to no send
		}
		for _, id := range p.m.inner {
			fails := ^p.root == ref(i) && p.m.s.def.Laws.Has(op.Total) && !n.def.Laws.Has(op.Total) && ir.MayFail(g, id)
			if g.Nodes[id].Op == n.def || fails {
				o.Span, o.Call = g.Nodes[id].Span, g.Nodes[id].Call
				break
			}
		}
		in := make([]ir.ID, len(n.in))
		for k, r := range n.in {
			in[k] = ir.ID(r)
			if r < 0 {
				in[k] = ids[^r]
			}
		}
		ids[i] = emit(n, o, in)
	}
	return ids[^p.root]
}
