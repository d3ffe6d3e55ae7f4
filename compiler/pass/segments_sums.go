package pass

// This file is the part of Segments that makes one table of the sums, extremes or variances of all
// groups.

import (
	"slices"

	"flow/compiler/nodes"
	"flow/ir"
	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
)

const (
	// leastSums is the least number of groups for which a table takes less time than a mask for each
	// group.
	leastSums = 12
	// leastPicked is the same where masks choose rows, which are then stored.
	leastPicked = 4
	// mostSums is the most groups of a table.
	mostSums = 1 << 18
	// mostFactors is the most products between a mask and the sum.
	mostFactors = 6
)

// sums describes the nodes of the body of a parfor that are reductions of a group of rows: sums, means,
// counts, extremes, variances.
// The rows of a group are those where columns equal indices of the parfor:
//
//	%4 = parfor(%0, %1) { %3 = eq(%1, i);  %4 = ifelse(%3, %0, 0);  %5 = sum(%4);  .. }
//	->
//	%2 = group.sum(%0, %1);  %4 = parfor(%2) { %5 = element(%2, i, 0);  .. }
//
// The sum of a product of a mask and numbers is the same, unless a number outside of the group is nan
// or infinite: 0 times it is nan. So the rows where 0 times the numbers is nan are counted, in all and
// by group, and the sum is nan if the counts differ. It would be wrong for two masks of floats:
// (m1*w)*(m2*x) is nan where m1 is false and w is infinite, though m2 is true.
type sums struct {
	segments
	by   map[ir.ID]groupSum // by node of the body
	at   map[ir.ID]ir.ID    // results of places
	same []ir.ID            // by node: the first node of the body that computes the same; nil: not known yet
}

// groupSum is a reduction of the rows of a group.
type groupSum struct {
	class   loop.Class
	keys    []groupKey
	filters []ir.ID // masks that are the same for all indices
	of      ir.ID   // the column whose rows are added; ir.None: there are factors, or rows are counted
	picked  ir.ID   // the places of the rows that of has; ir.None: it has all rows
	factors []ir.ID // the operands of a product with the mask, in order
}

// needsRow reports whether the reduction has no value for a group without rows.
func (one groupSum) needsRow() bool {
	return one.class != loop.Sum && one.class != loop.Mean && one.class != loop.Count
}

// groupKey is a column that equals an index of the parfor.
type groupKey struct {
	column ir.ID
	index  int
}

// summed finds the nodes of the body of parfor id that a table of sums can replace.
func summed(g *ir.Graph, id ir.ID, table *op.Table) (s sums) {
	n := &g.Nodes[id]
	by := n.Attrs.Ints("by")
	if n.Op.Role != op.Points || n.Attrs.Bool("pairs") || len(by) == 0 || len(n.Attrs.Ints("n")) != len(by) {
		return sums{}
	}
	s = sums{segments: segments{table: table, r: n.Region}, by: map[ir.ID]groupSum{}, at: map[ir.ID]ir.ID{}}
	for i := range s.r.Graph.Nodes {
		if one, ok := s.sum(g, id, ir.ID(i)); ok {
			s.by[ir.ID(i)] = one
		}
	}
	return s
}

// sum describes node x of the body, if it is a reduction of a group.
func (s *sums) sum(g *ir.Graph, id, x ir.ID) (one groupSum, ok bool) {
	b := s.r.Graph
	n, t := &b.Nodes[x], b.Type(x)
	if !t.IsScalar() || t.Elem != types.F64 && t.Elem != types.I64 || n.Region != nil {
		return one, false
	}
	one = groupSum{class: n.Op.Class, of: ir.None, picked: ir.None}
	switch one.class {
	case loop.Sum, loop.Mean, loop.Count, loop.Least, loop.Greatest, loop.Var, loop.Stddev:
	default:
		if n.Op != s.table.Must("nrow") {
			return one, false
		}
		one.class = loop.Count
	}
	of := b.In(x)[0]
	var conditions []ir.ID
	switch y := b.Type(of); {
	case !y.IsDense() || y.Cols != 1:
		return one, false
	case one.class == loop.Mean && (y.Known() || y.Elem == types.I64): // sums of integers wrap, means do not
		return one, false
	case y.Elem == types.Bool && y.Known():
		conditions = s.conditions(of, nil)
	case one.class == loop.Count && n.Op.Class == loop.Count:
		return one, false
	case !y.Known():
		one.of, one.picked = of, s.places(g, id, of)
		if one.picked == ir.None || !isNumberOf(b, b.In(one.picked)[1], b.Type(b.In(one.picked)[0]).Rows) {
			return one, false
		}
		conditions = s.conditions(b.In(one.picked)[0], nil)
	case s.chosen(x) != ir.None:
		one.of = s.chosen(x)
		conditions = s.conditions(b.In(of)[0], nil)
	case one.class != loop.Sum:
		return one, false
	default:
		if conditions, one.factors = s.product(of, mostFactors); len(conditions) == 0 {
			return one, false
		}
	}
	if !s.keyed(g, id, &one, conditions) {
		return one, false
	}
	rows := b.Type(one.keys[0].column).Rows
	fixed := func(y ir.ID) bool {
		_, ok := s.outside(g, id, y)
		return ok && (b.Type(y).IsScalar() || b.Type(y).Rows == rows)
	}
	switch {
	case one.needsRow() && b.Type(one.of).Elem != t.Elem: // variances of integers
		ok = false
	case one.picked != ir.None:
		ok = s.fits(g, id, one.of, &one)
	case one.of != ir.None:
		ok = fixed(one.of)
	default:
		isColumn := func(y ir.ID) bool { return !b.Type(y).IsScalar() }
		ok = len(one.factors) == 0 || allOf(one.factors, fixed) && slices.ContainsFunc(one.factors, isColumn)
	}
	return one, ok
}

// keyed sets the keys and filters of a sum over the rows where all conditions hold. It returns false if
// they do not describe groups, or if a table of the groups does not pay. Indices that floats
// may not hold exactly are refused, because a key would equal several of them.
func (s sums) keyed(g *ir.Graph, id ir.ID, one *groupSum, conditions []ir.ID) bool {
	b, a := s.r.Graph, g.Nodes[id].Attrs
	groups, rows := int64(1), b.Type(conditions[0]).Rows
	for _, m := range conditions {
		if b.Type(m) != types.DenseOf(types.Bool, rows, 1) {
			return false
		}
		if _, fixed := s.outside(g, id, m); fixed {
			one.filters = append(one.filters, m)
			continue
		}
		if b.Nodes[m].Op != s.table.Infix("==") {
			return false
		}
		x, key := b.In(m)[0], b.In(m)[1]
		if b.Type(x).IsScalar() {
			x, key = key, x
		}
		k := slices.Index(s.r.Args, key)
		by := a.Ints("by")
		if k < 0 || k >= len(by) || slices.ContainsFunc(one.keys, func(o groupKey) bool { return o.index == k }) {
			return false
		}
		_, fixed := s.outside(g, id, x)
		t, lo, n := b.Type(x), a.Ints("lo")[k], a.Ints("n")[k]
		const half = 1 << 52 // of the integers that floats hold; ^x is -x or one less
		if !fixed || t.Elem != types.I64 && t.Elem != types.F64 || n < 1 || max(lo, ^lo) > half || max(by[k], ^by[k]) > half/n {
			return false
		}
		one.keys = append(one.keys, groupKey{x, k})
		groups *= n
	}
	least := int64(leastSums)
	if one.picked != ir.None {
		least = leastPicked
	}
	return len(one.keys) > 0 && groups >= least && groups <= mostSums
}

// places returns the places of the rows from which node x is computed. It returns ir.None if x is not
// elementwise, may fail, or reads rows at different places.
func (s *sums) places(g *ir.Graph, id, x ir.ID) ir.ID {
	if p, known := s.at[x]; known {
		return p
	}
	b, p := s.r.Graph, ir.None
	switch n, in := &b.Nodes[x], b.In(x); {
	case n.Op == s.table.Must("pick.rows"):
		if _, fixed := s.outside(g, id, in[0]); fixed && b.Nodes[in[1]].Op == s.table.Must("places") {
			p = s.first(in[1])
		}
	case nodes.ElementwiseOperator(n) && !n.Op.Fails(b.Type(in[0]).Elem, b.Type(x).Elem):
		for _, y := range in {
			if b.Type(y).IsScalar() && s.ofGroup(g, id, y, nil) {
				continue
			}
			if q := s.places(g, id, y); q == ir.None || p != ir.None && p != q {
				p = ir.None
				break
			} else {
				p = q
			}
		}
	}
	s.at[x] = p
	return p
}

// ofGroup reports whether scalar y is the same for all indices, or computed elementwise of such and of
// sums, means and counts of a group. one: of that group, which has one key, an integer; nil: of any.
func (s *sums) ofGroup(g *ir.Graph, id, y ir.ID, one *groupSum) bool {
	if _, fixed := s.outside(g, id, y); fixed {
		return true
	}
	b := s.r.Graph
	if of, reduced := s.by[y]; reduced {
		return !of.needsRow() && len(of.factors) == 0 && (one == nil || s.sameGroup(of, *one))
	}
	n := &b.Nodes[y]
	return nodes.ElementwiseOperator(n) && len(b.In(y)) > 0 && !n.Op.Fails(b.Type(b.In(y)[0]).Elem, b.Type(y).Elem) &&
		allOf(b.In(y), func(z ir.ID) bool { return b.Type(z).IsScalar() && s.ofGroup(g, id, z, one) })
}

// sameGroup reports whether two reductions are of the same rows, by one key of integers.
func (s *sums) sameGroup(a, b groupSum) bool {
	if len(a.keys) != 1 || len(b.keys) != 1 || s.r.Graph.Type(a.keys[0].column).Elem != types.I64 {
		return false
	}
	same := func(x, y ir.ID) bool { return s.first(x) == s.first(y) }
	return a.keys[0].index == b.keys[0].index && same(a.keys[0].column, b.keys[0].column) && slices.EqualFunc(a.filters, b.filters, same)
}

// first returns the first node of the body that computes the same as x.
func (s *sums) first(x ir.ID) ir.ID {
	if s.same == nil {
		s.same = equals(s.r.Graph).to
	}
	return s.same[x]
}

// fits reports whether all scalars from which the rows x of a group are computed are of that group.
func (s *sums) fits(g *ir.Graph, id, x ir.ID, one *groupSum) bool {
	b := s.r.Graph
	switch {
	case b.Type(x).IsScalar():
		return s.ofGroup(g, id, x, one)
	case b.Nodes[x].Op == s.table.Must("pick.rows"):
		return true
	}
	return allOf(b.In(x), func(y ir.ID) bool { return s.fits(g, id, y, one) })
}

// product returns the conditions of the mask that is a factor of column x, and the other factors in the
// order of the products. It returns no conditions if x is another column.
func (s sums) product(x ir.ID, most int) (conditions, factors []ir.ID) {
	b := s.r.Graph
	if conditions = s.mask(x, most); conditions != nil || most == 0 || b.Nodes[x].Op != s.table.Infix("*") {
		return conditions, nil
	}
	for k, y := range b.In(x) {
		other := b.In(x)[1-k]
		if conditions, factors = s.product(y, most-1); conditions == nil || b.Type(other).Elem != b.Type(x).Elem || len(factors) > 0 && b.Type(y).Elem != b.Type(x).Elem {
			continue
		}
		return conditions, append(factors, other)
	}
	return nil, nil
}

// mask returns the conditions of a column that is 1 where all of them hold, and 0 elsewhere. It returns
// nil if x is another column.
func (s sums) mask(x ir.ID, most int) []ir.ID {
	b := s.r.Graph
	n, t := &b.Nodes[x], b.Type(x)
	switch {
	case !t.IsDense() || most == 0:
		return nil
	case t.Elem == types.Bool:
		return s.conditions(x, nil)
	case n.Op == s.table.Must("f64") || n.Op == s.table.Must("i64"):
		return s.mask(b.In(x)[0], most-1)
	case n.Op == s.table.Infix("*"):
		if p, q := s.mask(b.In(x)[0], most-1), s.mask(b.In(x)[1], most-1); p != nil && q != nil {
			return append(p, q...)
		}
	}
	return nil
}
