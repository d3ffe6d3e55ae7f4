package rule

import (
	"fmt"
	"slices"
	"sort"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/value"
)

// Set is the enabled rules of one class, compiled for a table. One goroutine may use it for many
// graphs.
type Set struct {
	*compiled
	off     []string // the names of the rules that are not enabled
	fold    bool
	upright bool // matrices of one row are made columns
	keeps   bool // see KeepArguments
	// Fired counts how often each rule applied.
	Fired map[string]int
	// Deepest is the longest chain of replacements of replacements so far.
	Deepest int
	spare   *match // memory for the next match; nil: none
}

// compiled is the rules of one class for a table. It is read-only once it is made.
type compiled struct {
	constant *op.Def
	buckets  map[*op.Def]*bucket
	fold     bool
}

// bucket holds the forms with one root operator, indexed by an operator at some input.
type bucket struct {
	any  []*form
	kids []kid
}

// kid holds the forms that ask for an operator at one input. They are few, so a list is faster than
// a map.
type kid struct {
	input int
	by    []asked
}

type asked struct {
	def   *op.Def
	forms []*form
}

// New returns the rules of a class except those in off. The table keeps what is compiled of them. A
// mistake in the text of a rule panics.
func New(table *op.Table, class Class, off []string) *Set {
	c := table.Memo(class, func() any {
		return compileAll(table, Rules(), func(r *Rule) bool { return r.Class == class })
	})
	return newSet(c.(*compiled), off)
}

func newSet(c *compiled, off []string) *Set {
	return &Set{compiled: c, off: off, fold: c.fold && !slices.Contains(off, foldConstants), upright: !slices.Contains(off, standRows), Fired: map[string]int{}}
}

func compileAll(table *op.Table, rules []Rule, on func(*Rule) bool) *compiled {
	set := &compiled{constant: table.Named("const"), buckets: map[*op.Def]*bucket{}}
	for i := range rules {
		r := &rules[i]
		if !on(r) {
			continue
		}
		if r.Name == orderChain { // elaboration calls Chain
			continue
		}
		if r.Name == foldConstants {
			set.fold = set.constant != nil
			continue
		}
		forms, err := compile(r, r.Rewrites, r.Where, table)
		if err != nil {
			panic(fmt.Sprintf("BUG: rule %s: %v", r.Name, err))
		}
		for _, f := range forms {
			set.put(f, table)
		}
	}
	return set
}

// compile makes the forms of rewrites, with the inputs of commuting operators in both orders. Forms
// that name missing rows are left out.
func compile(r *Rule, rewrites, where []string, table *op.Table) (out []*form, err error) {
	var conditions []condition
	for _, w := range where {
		c, err := compileCondition(w)
		if err != nil {
			return nil, err
		}
		conditions = append(conditions, c)
	}
	for _, text := range rewrites {
		from, to, err := parseRewrite(text)
		if err != nil {
			return nil, err
		}
		if err := checkWords(from); err != nil {
			return nil, err
		}
		if err := checkWords(to); err != nil {
			return nil, err
		}
		if !resolve(from, table) || !resolve(to, table) {
			continue
		}
		for _, p := range commuted(from) {
			out = append(out, &form{r, p, to, conditions})
		}
	}
	return out, nil
}

// resolve looks up the rows of a pattern. It returns false if the table lacks one.
func resolve(p *pattern, table *op.Table) bool {
	if p.shape == node && !p.class && constantWords[p.name] == nil {
		if p.def = table.Named(p.name); p.def == nil {
			return false
		}
	}
	for _, a := range p.args {
		if !resolve(a, table) {
			return false
		}
	}
	return true
}

// commuted returns p with the inputs of every commuting operator in both orders, p itself first.
func commuted(p *pattern) []*pattern {
	out := []*pattern{p}
	for k, a := range p.args {
		for _, b := range commuted(a)[1:] {
			q := *p
			q.args = slices.Clone(p.args)
			q.args[k] = b
			out = append(out, &q)
		}
	}
	if p.def != nil && p.def.Laws.Has(op.Commutes) && len(p.args) == 2 {
		for _, q := range slices.Clone(out) {
			r := *q
			r.args = []*pattern{q.args[1], q.args[0]}
			out = append(out, &r)
		}
	}
	return out
}

// put stores a form under its root.
func (set *compiled) put(f *form, table *op.Table) {
	for _, d := range table.Rows() {
		if f.from.class && !classes[f.from.name](d) || !f.from.class && d != f.from.def {
			continue
		}
		b := set.buckets[d]
		if b == nil {
			b = &bucket{}
			set.buckets[d] = b
		}
		b.put(f, set.constant)
	}
}

func (b *bucket) put(f *form, constant *op.Def) {
	for k, a := range f.from.args {
		want := a.def
		if a.shape == literal {
			want = constant
		}
		if want == nil || listing(a) {
			continue
		}
		i := slices.IndexFunc(b.kids, func(x kid) bool { return x.input == k })
		if i < 0 {
			b.kids = append(b.kids, kid{input: k})
			i = len(b.kids) - 1
		}
		by := &b.kids[i].by
		j := slices.IndexFunc(*by, func(x asked) bool { return x.def == want })
		if j < 0 {
			*by = append(*by, asked{def: want})
			j = len(*by) - 1
		}
		(*by)[j].forms = append((*by)[j].forms, f)
		return
	}
	b.any = append(b.any, f)
}

// find returns the first rewrite that applies at a site, or nil.
func (set *Set) find(s *site) *plan { return set.buckets[s.def].find(set, s) }

func (b *bucket) find(set *Set, s *site) *plan {
	if b == nil {
		return nil
	}
	for i := range b.kids {
		k := &b.kids[i]
		if k.input >= len(s.in) {
			continue
		}
		d := s.g.Nodes[s.in[k.input]].Op
		for j := range k.by {
			if k.by[j].def != d {
				continue
			}
			if p := set.first(k.by[j].forms, s); p != nil {
				return p
			}
		}
	}
	return set.first(b.any, s)
}

// has reports a form whose rule is enabled.
func (set *Set) has(f *form) bool { return len(set.off) == 0 || !slices.Contains(set.off, f.rule.Name) }

func (set *Set) first(forms []*form, s *site) *plan {
	for _, f := range forms {
		if !set.has(f) {
			continue
		}
		if m := set.try(f, s); m != nil {
			if p := m.plan(); p != nil {
				return p
			}
			set.spare = m
		}
	}
	return nil
}

// folded returns the value of an operator on constants by its definition. ok is false if it has
// none, or fails.
func (set *Set) folded(s *site) (value.Scalar, bool) {
	no := value.Scalar{}
	if !set.fold || len(s.in) == 0 || s.g.Nodes[s.in[0]].Op != set.constant || !s.def.Laws.Has(op.Pure) || s.def.Ref == nil || !s.typ.IsScalar() {
		return no, false
	}
	c := &op.Call{Def: s.def, Attrs: s.attrs, Type: s.typ}
	for _, in := range s.in {
		v, ok := constantOf(s.g, in)
		if !ok {
			return no, false
		}
		c.In = append(c.In, v)
	}
	v, err := s.def.Ref(c)
	out, ok := v.(value.Scalar)
	return out, err == nil && ok && out.Type() == s.typ
}

// Concerns reports whether a rule of the set may apply to an operator.
func (set *Set) Concerns(d *op.Def) bool { return set.buckets[d] != nil }

// Rewrite applies the first rule that matches an operator about to be added to g, and returns the
// node to use instead. The replacement's nodes are added and not rewritten again. single reports
// nodes without another reader, now or later.
func (set *Set) Rewrite(g *ir.Graph, d *op.Def, attrs *op.Attrs, in []ir.ID, at ir.Origin, single func(ir.ID) bool) (ir.ID, bool) {
	if set.buckets[d] == nil {
		return ir.None, false
	}
	t, err := d.Type(&op.Sig{Def: d, Attrs: attrs, In: g.Types(nil, in...)})
	if err != nil {
		return ir.None, false // elaboration says what is wrong
	}
	s := &site{g: g, def: d, attrs: attrs, in: in, typ: t, origin: at, single: single}
	s.total = set.newTotals(g).of
	p := set.find(s)
	if p == nil {
		return ir.None, false
	}
	set.Fired[p.m.f.rule.Name]++
	return p.make(func(n planned, o ir.Origin, in []ir.ID) ir.ID { return g.Add(n.def, n.attrs, n.typ, o, in...) }), true
}

// KeepArguments makes the rules of the set drop no argument of a region. What an argument stands for
// may fail, which the region does not tell.
func (set *Set) KeepArguments() { set.keeps = true }

// totals caches, for the nodes of a growing graph, whether they can fail.
type totals struct {
	g     *ir.Graph
	keeps bool // see Set.KeepArguments
	memo  []bool
}

func (set *Set) newTotals(g *ir.Graph) *totals { return &totals{g: g, keeps: set.keeps} }

func (t *totals) of(id ir.ID) bool {
	for i := len(t.memo); i <= int(id); i++ {
		n := &t.g.Nodes[i]
		typ := t.g.Type(ir.ID(i))
		ok := n.Op.Laws.Has(op.Pure) && t.never(ir.ID(i)) && n.Region == nil && (typ.Known() || !typ.IsMatrix()) && !(t.keeps && n.Op.Role == op.Argument)
		for _, in := range t.g.In(ir.ID(i)) {
			ok = ok && t.memo[in]
		}
		t.memo = append(t.memo, ok)
	}
	return t.memo[id]
}

// never reports a node that cannot fail for inputs of its types.
func (t *totals) never(id ir.ID) bool {
	d, in := t.g.Nodes[id].Op, t.g.In(id)
	return d.Laws.Has(op.Total) || len(in) > 0 && d.TotalOn(t.g.Type(in[0]).Elem, t.g.Type(id).Elem)
}

func sortedWords() []string {
	var out []string
	for w := range conditionWords {
		out = append(out, w)
	}
	sort.Strings(out)
	return out
}
