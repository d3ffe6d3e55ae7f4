package rule

import (
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels"
)

// This file draws random graphs that a pattern matches: inputs are rows of the test, made of
// special values.

var testTable = sync.OnceValue(func() *op.Table {
	table, err := kernels.Table("portable")
	if err != nil {
		panic(err)
	}
	all := append([]*op.Def{dataRow()}, table.Rows()...)
	table, err = op.NewTable(all)
	if err != nil {
		panic(err)
	}
	return table
})

func tableUnderTest(testing.TB) *op.Table { return testTable() }

// dataRow is a matrix or scalar of values that are hard for algebra; small is of small integers.
func dataRow() *op.Def {
	specials := []float64{0, math.Copysign(0, -1), 1, -1, 2, -3, 0.5, 1.5, -2.5, 49, 0.1, 1e16, -1e16, math.Inf(1), math.Inf(-1), math.NaN(),
		5e-324, 1e-300, 1e300, -1e300, math.Pi, 1e-310}
	ints := []int64{0, 1, -1, 2, -3, 7, 1 << 53, 1<<53 + 1, math.MaxInt64, math.MinInt64, 10, 49}
	typ := func(a *op.Attrs) types.Type {
		e, _ := types.ElemNamed(a.Str("elem"))
		if a.Int("rows") == 0 {
			return types.ScalarOf(e)
		}
		return types.DenseOf(e, a.Int("rows"), a.Int("cols"))
	}
	return &op.Def{
		Name: "data", Laws: op.Pure | op.Total,
		Type: func(s *op.Sig) (types.Type, error) { return typ(s.Attrs), nil },
		Ref: func(c *op.Call) (value.Value, error) {
			rng := rand.New(rand.NewPCG(uint64(c.Attrs.Int("seed")), 9))
			one := func(e types.Elem) value.Scalar {
				small := float64(rng.IntN(9) - 4)
				switch {
				case c.Attrs.Bool("small"):
					return value.F64(small).Convert(e)
				case e == types.Bool:
					return value.Bool(rng.IntN(2) == 0)
				case e == types.I64:
					return value.I64(ints[rng.IntN(len(ints))])
				case rng.IntN(3) == 0:
					return value.F64(rng.NormFloat64()).Convert(e)
				}
				return value.F64(specials[rng.IntN(len(specials))]).Convert(e)
			}
			t := typ(c.Attrs)
			if t.IsScalar() {
				return one(t.Elem), nil
			}
			d := value.New(t.Elem, t.Rows, t.Cols)
			// Half of the matrices have no more than two different values: nan and inf
			// hide what others show.
			few := []value.Scalar{one(t.Elem), one(t.Elem)}
			for i := range t.Rows {
				for j := range t.Cols {
					if v := one(t.Elem); c.Attrs.Int("seed")%2 == 0 {
						d.Set(i, j, v)
					} else {
						d.Set(i, j, few[rng.IntN(2)])
					}
				}
			}
			return d, nil
		},
	}
}

// drawer makes a graph that a pattern is the shape of.
type drawer struct {
	rng      *rand.Rand
	table    *op.Table
	integers bool // small ones, of which all sums and products are exact
	nest     bool // variables may be expressions
	square   bool
	sparse   bool // half of the leaves are sparse, else few; leaves are of few types
	g        *ir.Graph
	vars     map[string]ir.ID
	vals     map[string]op.Val
	alls     map[string]*op.Attrs
	class    map[string]*op.Def
}

// pattern draws a graph for the left side of a rewrite.
func (d *drawer) pattern(text string) (g *ir.Graph, root ir.ID, ok bool) {
	from := leftSide(text, d.table)
	if from == nil {
		return nil, 0, false
	}
	d.g, d.vars, d.vals, d.alls, d.class = ir.New(), map[string]ir.ID{}, map[string]op.Val{}, map[string]*op.Attrs{}, map[string]*op.Def{}
	d.square = d.rng.IntN(2) == 0
	d.g.Grow(16) // most graphs are smaller than the first room of a graph
	root, ok = d.draw(from, 0)
	return d.g, root, ok
}

// leftSides has the left sides of the rewrites that graphs were drawn for.
var leftSides sync.Map

// leftSide returns the pattern on the left side of a rewrite; nil: the table lacks a row that it names.
func leftSide(text string, table *op.Table) *pattern {
	known, ok := leftSides.Load(text)
	if !ok {
		from, to, err := parseRewrite(text)
		if err != nil || !resolve(from, table) || !resolve(to, table) {
			from = nil
		}
		known, _ = leftSides.LoadOrStore(text, from)
	}
	return known.(*pattern)
}

func (d *drawer) add(def *op.Def, attrs *op.Attrs, in ...ir.ID) (ir.ID, bool) {
	sig := &op.Sig{Def: def, Attrs: attrs}
	for _, x := range in {
		sig.In = append(sig.In, d.g.Type(x))
	}
	t, err := def.Type(sig)
	if err != nil {
		return 0, false
	}
	return d.g.Add(def, attrs, t, ir.Origin{}, in...), true
}

// leaf is a value that stands for a letter.
func (d *drawer) leaf() (ir.ID, bool) {
	if !d.integers && d.rng.IntN(6) == 0 {
		v := []value.Scalar{value.I64(1), value.I64(0), value.F64(2), value.F64(-0.25), value.I64(4), value.F64(3), value.Bool(true), value.F64(0x1p100), value.F64(0x1p1000),
			value.F64(0.5).Convert(types.F32), value.F64(0)}[d.rng.IntN(11)]
		return d.add(d.table.Must("const"), constantAttrs(v))
	}
	elems := []types.Elem{types.F64, types.F64, types.F64, types.F32, types.I64, types.Bool}
	shapes := [][2]int{{0, 0}, {3, 4}, {4, 3}, {3, 3}, {3, 3}, {1, 4}, {3, 1}, {1, 1}}
	if d.sparse {
		elems, shapes = []types.Elem{types.F64, types.F64, types.I64, types.Bool}, [][2]int{{3, 4}, {3, 4}, {4, 3}, {3, 3}, {1, 4}, {1, 4}, {3, 1}}
	}
	s := shapes[d.rng.IntN(len(shapes))]
	if d.integers {
		s = [][2]int{{40, 5}, {5, 40}, {5, 5}}[d.rng.IntN(3)]
	}
	if d.square && s[0] > 1 {
		s[1] = s[0]
	}
	attrs := []op.Attr{{Name: "elem", Val: op.Str(elems[d.rng.IntN(len(elems))].String())}, {Name: "rows", Val: op.Int(s[0])}, {Name: "cols", Val: op.Int(s[1])},
		{Name: "seed", Val: op.Int(d.rng.IntN(1000))}}
	if d.integers {
		attrs = append(attrs, op.Attr{Name: "small", Val: op.Bool(true)})
	}
	id, ok := d.add(d.table.Must("data"), op.MakeAttrs(attrs...))
	of := 8
	if d.sparse {
		of = 2
	}
	if ok && !d.integers && s[0] > 0 && d.rng.IntN(of) == 0 {
		return d.add(d.table.Must("sparse"), nil, id)
	}
	return id, ok
}

func (d *drawer) draw(p *pattern, depth int) (ir.ID, bool) {
	switch p.shape {
	case variable:
		if id, ok := d.vars[p.name]; ok {
			return id, true
		}
		var id ir.ID
		var ok bool
		if d.nest && depth < 4 && d.rng.IntN(2) == 0 {
			id, ok = d.expression(depth)
		} else {
			id, ok = d.leaf()
		}
		d.vars[p.name] = id
		return id, ok
	case literal:
		v := value.F64(p.val)
		switch {
		case p.truth:
			v = value.Bool(p.val != 0)
		case p.val == math.Trunc(p.val) && !(p.val == 0 && math.Signbit(p.val)) && d.rng.IntN(2) == 0:
			v = value.I64(int64(p.val))
		case d.rng.IntN(4) == 0:
			v = v.Convert(types.F32)
		}
		return d.add(d.table.Must("const"), constantAttrs(v))
	case rest:
		id, ok := d.leaf()
		if ok && d.g.Type(id).IsMatrix() && d.rng.IntN(3) == 0 {
			return d.add(d.table.Must("t"), nil, id)
		}
		return id, ok
	}
	def := p.def
	if p.class {
		if def = d.class[p.name]; def == nil {
			var all []*op.Def
			for _, r := range d.table.Rows() {
				if classes[p.name](r) && !r.Hidden && r.Name != "data" {
					all = append(all, r)
				}
			}
			def = all[d.rng.IntN(len(all))]
			d.class[p.name] = def
		}
	}
	var in []ir.ID
	args := p.args
	if len(args) == 1 && listing(args[0]) && p.class {
		values := 0
		for _, a := range def.Args {
			if !a.Attr {
				values++
			}
			if a.Rest {
				values += d.rng.IntN(3)
			}
		}
		for range values {
			args = append(args, args[0])
		}
		args = args[1:]
	}
	for _, a := range args {
		if a.shape == variable && def.Role == op.Codes {
			if _, ok := d.vars[a.name]; !ok { // few leaves are columns of small numbers
				column := op.MakeAttrs(op.Attr{Name: "elem", Val: op.Str("i64")}, op.Attr{Name: "rows", Val: op.Int(3)}, op.Attr{Name: "cols", Val: op.Int(1)},
					op.Attr{Name: "seed", Val: op.Int(d.rng.IntN(1000))}, op.Attr{Name: "small", Val: op.Bool(true)})
				d.vars[a.name], _ = d.add(d.table.Must("data"), column)
			}
		}
		if a.shape == variable && def.Name == "places" { // few leaves are a mask and its length
			if _, ok := d.vars[a.name]; !ok {
				mask := op.MakeAttrs(op.Attr{Name: "elem", Val: op.Str("bool")}, op.Attr{Name: "rows", Val: op.Int(3)}, op.Attr{Name: "cols", Val: op.Int(1)},
					op.Attr{Name: "seed", Val: op.Int(d.rng.IntN(1000))})
				if len(in) == 0 {
					d.vars[a.name], _ = d.add(d.table.Must("data"), mask)
				} else {
					d.vars[a.name], _ = d.add(d.table.Must("const"), constantAttrs(value.I64(3)))
				}
			}
		}
		id, ok := d.draw(a, depth+1)
		if !ok {
			return 0, false
		}
		in = append(in, id)
	}
	attrs, ok := d.attributes(p, def, in)
	if !ok {
		return 0, false
	}
	return d.add(def, attrs, in...)
}

// expression is some row of few inputs on leaves.
func (d *drawer) expression(depth int) (ir.ID, bool) {
	words := strings.Fields("neg t add sub mul abs not matmul gemm rowsum colmax reverse ifelse pow slice sum item lt floor")
	def := d.table.Must(words[d.rng.IntN(len(words))])
	p := &pattern{shape: node, name: def.Name, def: def}
	for k, a := range def.Args {
		if a.Attr {
			p.attrs = append(p.attrs, attrPattern{name: a.Name, args: []string{string(rune('A'+k)) + string(rune('0'+depth)) + string(rune('0'+d.g.Len()%60))}})
		} else {
			p.args = append(p.args, &pattern{shape: variable, name: string(rune('A'+k)) + string(rune('0'+depth)) + string(rune('0'+d.g.Len()%60))})
		}
	}
	for range 6 {
		if id, ok := d.draw(p, depth+1); ok {
			return id, true
		}
		for _, a := range p.args {
			delete(d.vars, a.name)
		}
	}
	return 0, false
}

func (d *drawer) attributes(p *pattern, def *op.Def, in []ir.ID) (*op.Attrs, bool) {
	if p.all != "" {
		if a, ok := d.alls[p.all]; ok {
			return a, true
		}
		q := &pattern{}
		for _, a := range def.Args {
			if a.Attr {
				q.attrs = append(q.attrs, attrPattern{name: a.Name, args: []string{"!" + a.Name}})
			}
		}
		a, ok := d.attributes(q, def, in)
		d.alls[p.all] = a
		return a, ok
	}
	var list []op.Attr
	for _, a := range p.attrs {
		v := a.lit
		if len(a.args) > 0 {
			old, ok := d.vals[a.args[0]]
			if v = old; !ok {
				v = d.value(a.name, def, in, list)
				d.vals[a.args[0]] = v
			}
		}
		if v.Kind != op.BoolVal || v.I != 0 {
			list = append(list, op.Attr{Name: a.name, Val: v})
		}
	}
	return op.MakeAttrs(list...), true
}

// value is some value of an attribute.
func (d *drawer) value(name string, def *op.Def, in []ir.ID, before []op.Attr) op.Val {
	t := types.DenseOf(types.F64, 1, 1)
	if len(in) > 0 && d.g.Type(in[0]).IsMatrix() {
		t = d.g.Type(in[0])
	}
	switch {
	case name == "at" && def.Name == "item":
		return op.Ints(d.rng.IntN(max(1, t.Rows)), d.rng.IntN(max(1, t.Cols)))
	case name == "at":
		if d.rng.IntN(5) == 0 {
			return op.Ints(0, 0, t.Rows, t.Cols)
		}
		r, c := d.rng.IntN(t.Rows+1), d.rng.IntN(t.Cols+1)
		return op.Ints(r, c, d.rng.IntN(t.Rows-r+1), d.rng.IntN(t.Cols-c+1))
	case def.Name == "reshape" && name == "n":
		n := t.Count()
		for k := 1 + d.rng.IntN(max(n, 1)); ; k-- {
			if k <= 1 || n%k == 0 {
				return op.Int(max(k, 1))
			}
		}
	case def.Name == "reshape":
		return op.Int(t.Count() / int(before[0].Val.I))
	case name == "by":
		return op.Str([]string{"rows", "cols", "both"}[d.rng.IntN(3)])
	case name == "q":
		return op.Float([]float64{0, 0.3, 0.5, 1}[d.rng.IntN(4)])
	case name == "ta" || name == "tb" || name == "sub" || name == "unit":
		return op.Bool(d.rng.IntN(2) == 0)
	case name == "of":
		return op.Str([]string{"max", "min", "sum", "any"}[d.rng.IntN(4)])
	case name == "n" && def.Seeded != "":
		return op.Int(1 + 2*d.rng.IntN(2))
	case name == "x":
		return op.Float([]float64{0, 1, -2.5, math.Inf(1)}[d.rng.IntN(4)])
	}
	return op.Int([]int{3, 4, 3}[d.rng.IntN(3)])
}

// wrong looks for values for which a rewrite changes bits or the type.
func wrong(t *testing.T, table *op.Table, w Wrong) bool {
	r := &Rule{Name: "wrong", Sparse: strings.Contains(w.Rewrite, "sp.")}
	forms, err := compile(r, []string{w.Rewrite}, w.Where, table)
	if err != nil || len(forms) == 0 {
		t.Errorf("%s: %v", w.Rewrite, err)
		return true
	}
	rng := rand.New(rand.NewPCG(5, 5))
	for range 60_000 {
		d := &drawer{rng: rng, table: table}
		g, root, ok := d.pattern(w.Rewrite)
		if !ok {
			continue
		}
		set := newSet(&compiled{constant: table.Must("const"), buckets: map[*op.Def]*bucket{}}, nil)
		set.put(forms[0], table)
		out, to := set.Simplify(g)
		if out != g && both(g, out, root, to[root]) != "" {
			return true
		}
	}
	return false
}

// regexpSections reads an example.
func regexpSections(text string) (before, after string, ok bool) {
	_, rest, ok1 := strings.Cut(text, "-- before --\n")
	before, after, ok2 := strings.Cut(rest, "-- after --\n")
	return before, after, ok1 && ok2
}

// chained is a graph of products from left to right, whose last node is the result, in the order of
// Chain.
func chained(t *testing.T, g *ir.Graph) *ir.Graph {
	var factors []ir.ID
	at := ir.ID(g.Len() - 1)
	for g.Nodes[at].Op.Name == "matmul" {
		factors = append([]ir.ID{g.In(at)[1]}, factors...)
		at = g.In(at)[0]
	}
	factors = append([]ir.ID{at}, factors...)
	out := ir.New()
	var ts []types.Type
	var ids []ir.ID
	for _, f := range factors {
		ids = append(ids, out.CopyNode(g, f))
		ts = append(ts, g.Type(f))
	}
	var build func(s *Split) ir.ID
	build = func(s *Split) ir.ID {
		if s.Left == nil {
			return ids[s.Factor]
		}
		l, r := build(s.Left), build(s.Right)
		d := testTable().Must("matmul")
		typ, err := d.Type(&op.Sig{Def: d, In: []types.Type{out.Type(l), out.Type(r)}})
		if err != nil {
			t.Fatal(err)
		}
		return out.Add(d, nil, typ, ir.Origin{}, l, r)
	}
	build(Chain(full(ts)))
	return out
}
